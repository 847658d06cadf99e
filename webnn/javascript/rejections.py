"""Reports of the engine while a program runs: rejected promises without a handler.

Its package for Python passes that on to nobody, so this module asks the library itself to call a function of the realm (`library`). With
versions of the package for which that was not tried such promises go unnoticed.

The same call is a way to run bytecode: there, the package is prepared for a program that calls functions of Python.
"""

from __future__ import annotations

from collections.abc import Callable

from webnn.javascript.bytecode import READ_BYTECODE
from webnn.javascript.library import EXCEPTION, INTEGER, UNDEFINED, Engine, JSValue, Tracker

__all__ = ["Rejections", "watch_rejections"]


class Rejections:
    """Passes rejections to a function of the realm. The realm must keep it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._library = engine.library.released
        self._listener: JSValue | None = None
        #: Bytecode that is to be run.
        self._code: bytes | None = None
        self._ran = False
        self._tracker = Tracker(self._tell)

    def watch(self, hand_over: Callable[[], object]) -> bool:
        """Begin; return whether that is possible. `hand_over` must have the realm reject a promise with the function as its reason."""
        self._library.JS_SetHostPromiseRejectionTracker(self._engine.runtime, self._tracker, None)
        hand_over()
        if self._listener is None:
            self._library.JS_SetHostPromiseRejectionTracker(self._engine.runtime, Tracker(), None)
        return self._listener is not None

    def run(self, code: bytes, hand_over: Callable[[], object]) -> bool:
        """Run the bytecode of a script in the global scope; return whether it ran. It does not if there is no memory for it.

        ``hand_over`` must have the realm reject a promise with a function as its reason, and throw what that is called with: the script's
        error.
        """
        self._code, self._ran = code, False
        try:
            hand_over()
        finally:
            self._code = None
        return self._ran

    def _tell(self, context: int, promise: JSValue, reason: JSValue, is_handled: bool, _: object) -> None:
        if self._listener is None:
            self._listener = reason
        elif self._code is not None:
            code, self._code = self._code, None
            self._run(context, code, reason)
        else:
            self._call(context, self._listener, promise, promise, reason, JSValue(int(is_handled), INTEGER))

    def _run(self, context: int, code: bytes, on_error: JSValue) -> None:
        script = self._library.JS_ReadObject(context, code, len(code), READ_BYTECODE)
        if script.tag == EXCEPTION:
            self._library.JS_FreeValue(context, self._library.JS_GetException(context))
            return
        self._ran = True
        result = self._library.JS_EvalFunction(context, script)
        if result.tag == EXCEPTION:
            error = self._library.JS_GetException(context)
            self._call(context, on_error, JSValue(0, UNDEFINED), error)
            self._library.JS_FreeValue(context, error)
        else:
            self._library.JS_FreeValue(context, result)

    def _call(self, context: int, function: JSValue, this: JSValue, *arguments: JSValue) -> None:
        # The function returns nothing, so that nothing has to be freed; it fails only where there is no memory or no stack left.
        self._library.JS_Call(context, function, this, len(arguments), (JSValue * len(arguments))(*arguments))
        if self._library.JS_HasException(context):
            self._library.JS_FreeValue(context, self._library.JS_GetException(context))


def watch_rejections(engine: Engine | None, hand_over: Callable[[], object]) -> Rejections | None:
    """Have a function of the realm called with a promise, the reason and whether it is handled, when one of these is news.

    Return the object that the realm must keep; ``None`` if nothing can be watched here. For ``hand_over`` see `Rejections.watch`.
    """
    rejections = Rejections(engine) if engine is not None else None
    return rejections if rejections is not None and rejections.watch(hand_over) else None
