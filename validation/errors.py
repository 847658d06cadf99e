"""The errors that a WebNN program can see.

A specification ``TypeError`` is a Python ``TypeError`` (`WebNNTypeError`), a specification ``DOMException`` is a `DOMException`
whose subclass and ``name`` say which one. Both carry, as attributes, what the message says in words.
"""

from __future__ import annotations

import sys
from typing import Literal

__all__ = [
    "AbortError",
    "DOMException",
    "DataError",
    "InvalidStateError",
    "MissingMemberError",
    "NotSupportedError",
    "OperationError",
    "Requirement",
    "Rule",
    "SecurityError",
    "UnknownError",
    "WebNNTypeError",
    "WebNNWarning",
    "argument_error",
    "escape",
    "label_prefix",
    "where",
]


#: The kinds of things that must hold: the field ``rule`` of an error. The text of a message may change, its rule does not.
Rule = Literal[
    "",  # none of these
    # The form of a call.
    "conversion",  # Web IDL converts the value to the type of the argument
    "draft",  # the draft has the member, or the context has what the member needs
    "once",  # the value is given in one way, not in two
    # Values and operands.
    "axis",  # an axis is less than the rank
    "broadcast",  # the shapes broadcast
    "device",  # the device, or the profile of a device, takes the call
    "different",  # no element or operand occurs twice
    "divisible",  # a number divides another one
    "length",  # a list has the right number of elements
    "limit",  # this implementation or the draft supports the size
    "range",  # a value is one of those allowed
    "rank",
    "result",  # the operand is the result of an operation
    "shape",  # the sizes of dimensions agree
    "type",  # the data type is allowed, or equals another one
    # Names of inputs and outputs.
    "name",  # a name is not empty, not taken, or is one of the graph's
    # Buffers and tensors.
    "byte-length",
    "detached",
    "layout",  # the bytes are contiguous, in this machine's order, and in the CPU's memory
    "overlap",  # no other argument of the call has the same memory or tensor
    "usage",  # the tensor is readable, writable or constant, as the call needs
    "writeable",  # the memory can be written to
    # States.
    "built",  # the builder has not built yet
    "destroyed",  # the object is not destroyed
    "exported",  # the tensor is not exported to a GPUDevice
    "lost",  # the context is not lost
    "owner",  # this builder or context made the object
    # Outside the specification's steps.
    "engine",  # ONNX Runtime does its part
    "fault",  # `Faults` injected no fault
    "memory",  # there is enough memory
    "permission",  # the document may use the feature
]


class Requirement(str):
    """The text of what must hold, to be read behind an argument's name, with its rule: for functions that only return the text."""

    rule: Rule

    def __new__(cls, rule: Rule, text: str) -> Requirement:
        """Make the text."""
        self = super().__new__(cls, text)
        self.rule = rule
        return self

    def __getnewargs__(self) -> tuple[Rule, str]:  # type: ignore[override]  # the arguments of `__new__`, to copy and to pickle it
        return self.rule, str(self)


#: Messages and labels may quote text of any length; at most this much of them is shown.
_LONGEST_MESSAGE = 10_000
_LONGEST_LABEL = 80


def escape(text: str, keep: str = "") -> str:
    r"""Write characters that are not printable as Python's source does, such as ``\x1b`` and ``\ud800``, except those of ``keep``."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in keep else repr(each)[1:-1] for each in text)


def _printable(message: str) -> str:
    """Return a message in a form that is safe to show on every terminal.

    Control characters (bidirectional ones too), surrogates and characters that standard output cannot encode are escaped. Line feeds and
    tabs are kept, because the engine's messages have them. The middle of a very long message is left out.
    """
    if len(message) > _LONGEST_MESSAGE:
        half = _LONGEST_MESSAGE // 2
        message = f"{message[:half]} ... ({len(message) - 2 * half} characters left out) ... {message[-half:]}"
    if message.isascii() and message.isprintable():
        return message
    message = escape(message, "\n\t")
    encoding = getattr(sys.stdout, "encoding", None)
    try:
        return message.encode(encoding, "backslashreplace").decode(encoding) if isinstance(encoding, str) else message
    except (LookupError, ValueError):  # standard output is an object of the program's own
        return ascii(message)[1:-1]


def label_prefix(label: str) -> str:
    """Return the prefix of messages about a labelled operator; empty for an empty label.

    A label may be any text, so it is shown in one line, shortened, and without characters that control a terminal
    (`#dictdef-mloperatoroptions`). The error's attribute ``label`` has the label itself.
    """
    if not label:
        return ""
    return f"[{escape(label if len(label) <= _LONGEST_LABEL else f'{label[: _LONGEST_LABEL - 3]}...')}] "


class WebNNWarning(UserWarning):
    """A warning of this package, reported at the program's own line: a call does not do what it seems to do."""


#: The packages whose comments cite steps.
_CITING = ("webnn.validation.", "webnn.builder.", "webnn.context.")


def where() -> tuple[tuple[str, int], ...]:
    """Return the running modules and lines that may cite a step, the innermost first."""
    frames = []
    frame = sys._getframe(2)
    while frame is not None and (module := str(frame.f_globals.get("__name__"))).startswith("webnn."):
        if module.startswith(_CITING):
            frames.append((module, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]  # None at the end
    return tuple(frames)


class _AtStep:
    """An error with the step of the specification at which it was made."""

    _where: tuple[tuple[str, int], ...] = ()
    rule: Rule = ""
    draft = ""
    operation = ""
    argument = ""

    @property
    def step(self) -> str:
        """The number of the failed step in the draft of the context, for example ``"5.2"``.

        Empty if the error is not from a step of an algorithm, for example from a Web IDL conversion. The number is read from the source of
        this package, so it is empty where only compiled files are installed.
        """
        # Loaded for errors only.
        from webnn.validation.steps import find_step  # noqa: PLC0415

        return find_step(self._where, self.draft, self.operation, self.argument)


class WebNNTypeError(_AtStep, TypeError):
    """A ``TypeError`` of the specification. Its text is printable on every terminal; its attributes are not escaped.

    Attributes:
        operation: The method that was called, for example ``"conv2d"``.
        argument: The argument or dictionary member at fault, for example ``"options.strides"``; empty if it is the call as a whole.
        rule: The kind of what must hold, for example ``"divisible"``; `Rule` lists all. It stays the same if the text changes.
        label: The operator's label, empty if it has none.
        anchor: The section of the specification whose step failed, for example ``"#api-mlgraphbuilder-conv2d"``.
        step: The number of that step, for example ``"15.5"``; empty if none failed.
        draft: The draft that has the step, empty if it was not given.
        path: Where in a `GraphDescription`, if the call is one of a description: ``"operators[3]"``; otherwise empty.
    """

    path = ""

    def __init__(
        self, message: str, *, operation: str = "", argument: str = "", rule: Rule = "", label: str = "", anchor: str = "", draft: str = ""
    ) -> None:
        super().__init__(_printable(message))
        self._where = where()
        self.draft = draft
        self.operation = operation
        self.argument = argument
        self.rule = rule
        self.label = label
        self.anchor = anchor


def argument_error(
    operation: str,
    argument: str,
    requirement: str,
    anchor: str = "",
    *,
    given: tuple[object, ...] = (),
    rule: Rule = "range",
    label: str = "",
    draft: str = "",
) -> WebNNTypeError:
    """Make the ``TypeError`` of an argument.

    Args:
        operation: The method.
        argument: The argument at fault, in the user's own names: ``"input"``, ``"options.strides"``; empty for the call as a whole.
        requirement: The text of the requirement, to be read behind the argument's name: ``"must have 2 elements"``.
        anchor: The section of the specification.
        given: The given values, if they say more.
        rule: The kind of requirement, unless ``requirement`` is a `Requirement`, which has its own.
        label: The operator's label, empty if it has none.
        draft: The draft of the specification.
    """
    subject = f"{argument} " if argument else ""
    got = f", got {', '.join(str(value) for value in given)}" if given else ""
    return WebNNTypeError(
        f"{label_prefix(label)}{operation}: {subject}{requirement}{got}",
        operation=operation,
        argument=argument,
        rule=requirement.rule if isinstance(requirement, Requirement) else rule,
        label=label,
        anchor=anchor,
        draft=draft,
    )


class MissingMemberError(WebNNTypeError, AttributeError):
    """The draft of a context, or the page, lacks the method or attribute. `hasattr` is false, as feature detection in a page is."""


class DOMException(_AtStep, Exception):
    """An error of the web platform: ``name`` says which, as in JavaScript.

    Attributes:
        name: The error's name, for example ``"OperationError"``.
        message: The text, printable on every terminal.
        operation: The method or operator at fault, empty if none.
        rule: The kind of what must hold, for example ``"destroyed"``; `Rule` lists all. It stays the same if the text changes.
        label: The operator's label, empty if it has none.
        step: The number of the step that failed, for example ``"2"``; empty if none did.
        draft: The draft that has the step, empty if it was not given.
    """

    name = "Error"

    def __init__(self, message: str = "", *, operation: str = "", rule: Rule = "", label: str = "", draft: str = "") -> None:
        self.message = _printable(message)
        super().__init__(self.message)
        self._where = where()
        self.draft = draft
        self.operation = operation
        self.rule = rule
        self.label = label


class NotSupportedError(DOMException):
    """The requested device, context type or feature is not supported."""

    name = "NotSupportedError"


class OperationError(DOMException):
    """The engine refused or failed an operation."""

    name = "OperationError"


class InvalidStateError(DOMException):
    """The object is in a state that does not allow the call."""

    name = "InvalidStateError"


class DataError(DOMException):
    """The data given is not adequate."""

    name = "DataError"


class SecurityError(DOMException):
    """The document is not allowed to use the feature."""

    name = "SecurityError"


class AbortError(DOMException):
    """The operation was aborted."""

    name = "AbortError"


class UnknownError(DOMException):
    """The operation failed for a reason that cannot be told more precisely."""

    name = "UnknownError"
