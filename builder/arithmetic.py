"""Python's operators on operands. JavaScript has none for objects, so each one says which method of the builder computes that."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from webnn.validation.errors import WebNNTypeError
from webnn.validation.interfaces import OperandBase

__all__ = ["Arithmetic"]


def _refuse(symbol: str, method: str, arguments: str = "a, b") -> Callable[..., NoReturn]:
    """Return the method for an operator, which raises an error."""

    def refuse(operand: OperandBase, *others: object) -> NoReturn:
        instead = f"write builder.{method}({arguments})"
        if not all(isinstance(each, OperandBase) for each in others):
            instead += f', with builder.constant("{operand.descriptor.dataType}", value) for a number'
        raise WebNNTypeError(f"MLOperand has no operator {symbol}: {instead}", operation=method)

    return refuse


class Arithmetic(OperandBase):
    """The base of `MLOperand` with the operators."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers find the mistake before the program runs
        #: NumPy's arrays leave the operator to the operand.
        __array_ufunc__ = None
        __add__ = __radd__ = _refuse("+", "add")
        __sub__ = __rsub__ = _refuse("-", "sub")
        __mul__ = __rmul__ = _refuse("*", "mul")
        __truediv__ = __rtruediv__ = _refuse("/", "div")
        __matmul__ = __rmatmul__ = _refuse("@", "matmul")
        __pow__ = __rpow__ = _refuse("**", "pow")
        __lt__ = _refuse("<", "lesser")
        __le__ = _refuse("<=", "lesserOrEqual")
        __gt__ = _refuse(">", "greater")
        __ge__ = _refuse(">=", "greaterOrEqual")
        __neg__ = _refuse("-", "neg", "x")
        __abs__ = _refuse("abs()", "abs", "x")
