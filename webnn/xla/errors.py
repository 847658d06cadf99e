"""The errors of `webnn.xla`."""

from __future__ import annotations

__all__ = ["XlaError", "XlaTypeError"]


class XlaError(ValueError):
    """A call breaks a rule of XLA's operation semantics. The builder stays as it was before the call.

    Attributes:
        message: The rule, and the value that breaks it.
        operation: The method that was called, for example ``"Add"``.
        argument: The argument at fault, for example ``"broadcast_dimensions"``; empty if it is the call as a whole.
    """

    def __init__(self, message: str, operation: str = "", argument: str = "") -> None:
        super().__init__(message, operation, argument)
        self.message = message
        self.operation = operation
        self.argument = argument

    def __str__(self) -> str:
        text = f"{self.argument} {self.message}" if self.argument else self.message
        return f"{self.operation}: {text}" if self.operation else text


class XlaTypeError(XlaError, TypeError):
    """An argument is an object of another kind: a number where a `ComputationDataHandle` must be, for example."""
