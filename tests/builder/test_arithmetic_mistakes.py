"""Mistakes of programs that come from other libraries: names of operations, and Python's operators on operands."""

from __future__ import annotations

import operator
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, each_row, make_context
from webnn import MissingMemberError, MLGraphBuilder, MLOperand, WebNNTypeError

DRAFTS = ("2024-06", CURRENT)


def make(revision: str = CURRENT) -> tuple[MLGraphBuilder, MLOperand]:
    builder = MLGraphBuilder(make_context(revision))
    member = "dimensions" if revision == "2024-06" else "shape"
    return builder, builder.input("x", {"dataType": "float16", member: [2]})  # type: ignore[misc]  # of either draft


@each_row("revision", DRAFTS)
@pytest.mark.parametrize(("name", "meant"), [("relu6", "clamp(minValue=0, maxValue=6)"), ("softMax", "softmax"), ("wwww", "")])
def test_a_name(revision: str, name: str, meant: str) -> None:
    builder, _ = make(revision)
    assert not hasattr(builder, name)
    assert getattr(builder, name, None) is None
    assert name not in dir(builder)
    with pytest.raises(AttributeError) as caught:
        getattr(builder, name)
    advice = f"; did you mean {meant}?" if meant else ""
    assert str(caught.value) == f"'MLGraphBuilder' object has no attribute '{name}'{advice}"
    # Python itself would suggest relu for relu6.
    assert "Did you mean" not in "".join(traceback.format_exception(caught.value))


def test_a_name_of_another_draft_and_private_names() -> None:
    builder, _ = make("2024-06")
    with pytest.raises(MissingMemberError) as caught:
        _ = builder.cumulativeSum
    assert caught.value.operation == "cumulativeSum"
    with pytest.raises(AttributeError, match=r"has no attribute '_relu'$"):
        builder._relu  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="_revision"):
        object.__new__(MLGraphBuilder)._revision  # noqa: B018


OPERATORS: dict[str, tuple[Callable[..., Any], str]] = {
    "+": (operator.add, "add(a, b)"),
    "-": (operator.sub, "sub(a, b)"),
    "*": (operator.mul, "mul(a, b)"),
    "/": (operator.truediv, "div(a, b)"),
    "@": (operator.matmul, "matmul(a, b)"),
    "**": (operator.pow, "pow(a, b)"),
    "<": (operator.lt, "lesser(a, b)"),
    "<=": (operator.le, "lesserOrEqual(a, b)"),
    ">": (operator.gt, "greater(a, b)"),
    ">=": (operator.ge, "greaterOrEqual(a, b)"),
}


@pytest.mark.parametrize(("function", "instead"), OPERATORS.values(), ids=OPERATORS)
@each_row("revision", DRAFTS)
def test_an_operator(revision: str, function: Callable[..., Any], instead: str) -> None:
    builder, x = make(revision)
    method = instead.partition("(")[0]
    assert hasattr(builder, method)
    with pytest.raises(WebNNTypeError) as caught:
        function(x, x)
    assert caught.value.operation == method
    assert str(caught.value).endswith(f": write builder.{instead}")
    for arguments in [
        (x, 2),
        (x, np.ones(2)),
        *([] if instead.startswith(("less", "great")) else [(2, x), (np.float32(2), x), (np.ones(2), x)]),
    ]:
        with pytest.raises(WebNNTypeError) as caught:
            function(*arguments)
        assert str(caught.value).endswith(f': write builder.{instead}, with builder.constant("float16", value) for a number')


@pytest.mark.parametrize(("function", "method"), [(operator.neg, "neg"), (abs, "abs")])
def test_an_operator_on_one_operand(function: Callable[..., Any], method: str) -> None:
    _, x = make()
    with pytest.raises(WebNNTypeError) as caught:
        function(x)
    assert caught.value.operation == method
    assert str(caught.value).endswith(f": write builder.{method}(x)")


def test_what_operands_can_do() -> None:
    """They are keys, and compared by identity, as objects in JavaScript are."""
    builder, x = make()
    y = builder.neg(x)
    assert (x == x, x == y, x != y, bool(x)) == (True, False, True, True)  # noqa: PLR0124
    assert {x: 1, y: 2}[y] == 2
    assert [x] + [y] == [x, y]  # noqa: RUF005
    assert not [name for name in dir(MLOperand) if not name.startswith("_") and name not in {"dataType", "shape", "descriptor"}]
