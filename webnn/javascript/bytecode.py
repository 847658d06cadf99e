"""Scripts as bytecode: a process parses a script once, for many realms. Bytecode only comes from this process."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from webnn.javascript.library import EXCEPTION, Engine, find_engine

if TYPE_CHECKING:
    import quickjs

__all__ = ["READ_BYTECODE", "compile_script", "load_function"]

#: How many scripts are kept, and the largest one, in characters. Its bytecode has about three times its size.
_MOST_KEPT, _LONGEST = 32, 1 << 20
#: The most bytes that the parser may allocate.
_MEMORY = 1 << 28
_STACK = 4 << 20
#: Flags of the library: compile and do not run; write, or read, functions.
_COMPILE_ONLY, _WRITE_BYTECODE, READ_BYTECODE = 1 << 5, 1, 1


@lru_cache(_MOST_KEPT)
def compile_script(source: str) -> bytes | None:
    """Return the bytecode of a script; ``None`` if it has none here: then the script is to be run as text, which shows its errors."""
    import quickjs  # noqa: PLC0415

    owner = quickjs.Context()
    if (engine := find_engine(owner)) is None or len(source) > _LONGEST:
        return None
    owner.set_memory_limit(_MEMORY)
    owner.set_max_stack_size(_STACK)
    library, context = engine.library.held, engine.context
    try:
        text = source.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return None
    # As the package names scripts.
    script = library.JS_Eval(context, text, len(text), b"<input>", _COMPILE_ONLY)
    if script.tag == EXCEPTION:
        return None
    size = ctypes.c_size_t()
    address = library.JS_WriteObject(context, ctypes.byref(size), script, _WRITE_BYTECODE)
    code = ctypes.string_at(address, size.value) if address else None
    library.js_free(context, address)
    library.JS_FreeValue(context, script)
    return code


def load_function(owner: quickjs.Context, engine: Engine | None, source: str, name: str) -> Any:
    """Return a function whose source is one function expression, in a realm in which no program has run yet.

    ``name`` is a global name that nothing has. The function must remove it, if it is there.
    """
    code = compile_script(source) if engine is not None else None
    if engine is None or code is None:
        return owner.eval(source)
    library, context = engine.library.held, engine.context
    library.JS_UpdateStackTop(engine.runtime)
    script = library.JS_ReadObject(context, code, len(code), READ_BYTECODE)
    # This makes the function, and calls nothing.
    function = script if script.tag == EXCEPTION else library.JS_EvalFunction(context, script)
    if function.tag == EXCEPTION:
        library.JS_FreeValue(context, library.JS_GetException(context))
        return owner.eval(source)
    place = library.JS_GetGlobalObject(context)
    library.JS_SetPropertyStr(context, place, name.encode(), function)
    library.JS_FreeValue(context, place)
    return owner.get(name)
