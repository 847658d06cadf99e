"""The errors that a WebNN program can see.

A specification ``TypeError`` is a Python ``TypeError`` (`WebNNTypeError`), a specification ``DOMException`` is a `DOMException`
whose subclass and ``name`` say which one. Both carry, as attributes, what the message says in words.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AbortError",
    "DOMException",
    "DataError",
    "InvalidStateError",
    "NotSupportedError",
    "OperationError",
    "SecurityError",
    "UnknownError",
    "WebNNTypeError",
    "label_prefix",
]


def label_prefix(label: str) -> str:
    """Return what a message begins with that is about a labelled operator; nothing for an empty label."""
    return f"[{label}] " if label else ""


class WebNNTypeError(TypeError):
    """A ``TypeError`` of the specification.

    Attributes:
        operation: The method that was called, for example ``"conv2d"``.
        argument: The argument or dictionary member at fault, for example ``"options.strides"``; empty if it is the call as a whole.
        label: The operator's label, empty if it has none.
        anchor: The section of the specification whose step failed, for example ``"#api-mlgraphbuilder-conv2d"``.
    """

    def __init__(self, message: str, *, operation: str = "", argument: str = "", label: str = "", anchor: str = "") -> None:
        super().__init__(message)
        self.operation = operation
        self.argument = argument
        self.label = label
        self.anchor = anchor


class DOMException(Exception):
    """An error of the web platform: ``name`` says which, as in JavaScript.

    Attributes:
        name: The error's name, for example ``"OperationError"``.
        message: The text.
        operation: The method or operator at fault, empty if none.
        label: The operator's label, empty if it has none.
    """

    name: ClassVar[str] = "Error"

    def __init__(self, message: str = "", *, operation: str = "", label: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.operation = operation
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
