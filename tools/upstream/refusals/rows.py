"""A table of refused calls of the builder, for each draft: the steps of its operations that no file of web-platform-tests reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = ["REFUSALS", "Operand", "Refusal"]


@dataclass(frozen=True, slots=True)
class Operand:
    """An input of the graph, to be made: its data type and shape."""

    dataType: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that throws a `TypeError`.

    Attributes:
        operation: Its name.
        about: The condition under which it is refused, to be read behind "Throw if".
        arguments: The arguments; an `Operand` becomes an input, in a list too.
        options: The options, likewise.
    """

    operation: str
    about: str
    arguments: Sequence[Any]
    options: Mapping[str, Any] = field(default_factory=dict)


def f(*shape: int) -> Operand:
    return Operand("float32", shape)


def h(*shape: int) -> Operand:
    return Operand("float16", shape)


def i(*shape: int) -> Operand:
    return Operand("int32", shape)


def u(*shape: int) -> Operand:
    return Operand("uint8", shape)


_FAR = 2**31 - 1
_GRU = (f(3, 2, 4), f(1, 15, 4), f(1, 15, 5), 3, 5)
_GRU_CELL = (f(2, 4), f(15, 4), f(15, 5), f(2, 5), 5)
_LSTM = (f(3, 2, 4), f(1, 20, 4), f(1, 20, 5), 3, 5)
_LSTM_CELL = (f(2, 4), f(20, 4), f(20, 5), f(2, 5), f(2, 5), 5)


def _bias(operation: str, call: Sequence[Any], members: Mapping[str, tuple[int, ...]]) -> list[Refusal]:
    """Make the two refusals of each operand among the options: another data type, and another shape."""
    made: list[Refusal] = []
    for name, shape in members.items():
        wrong = (*shape[:-1], shape[-1] - 1)
        made.append(Refusal(operation, f"the data type of options.{name} is not that of the input", call, {name: h(*shape)}))
        made.append(Refusal(operation, f"the shape of options.{name} does not fit", call, {name: f(*wrong)}))
    return made


#: Calls that both drafts refuse.
_BOTH = (
    Refusal("concat", "the sizes along the axis add up to more than a dimension can be", ([u(_FAR), u(1)], 0)),
    Refusal("split", "there are more parts than the input has elements", (f(4), 5), {"axis": 0}),
    Refusal("split", "the lengths of the parts do not add up to the size", (f(4), [1, 1]), {"axis": 0}),
    *_bias("gru", _GRU, {"bias": (1, 15), "recurrentBias": (1, 15), "initialHiddenState": (1, 2, 5)}),
    *_bias("gruCell", _GRU_CELL, {"bias": (15,), "recurrentBias": (15,)}),
    *_bias(
        "lstm",
        _LSTM,
        {
            "bias": (1, 20),
            "recurrentBias": (1, 20),
            "peepholeWeight": (1, 15),
            "initialHiddenState": (1, 2, 5),
            "initialCellState": (1, 2, 5),
        },
    ),
    *_bias("lstmCell", _LSTM_CELL, {"bias": (20,), "recurrentBias": (20,), "peepholeWeight": (15,)}),
    Refusal("gru", "the recurrent weight is of another data type", (*_GRU[:2], h(1, 15, 5), 3, 5)),
    Refusal("lstm", "the weight is of another data type", (_LSTM[0], h(1, 20, 4), *_LSTM[2:])),
    Refusal("gru", "the sequence has another number of steps", (*_GRU[:3], 4, 5)),
    Refusal("lstm", "the sequence has another number of steps", (*_LSTM[:3], 4, 5)),
    Refusal("lstm", "the recurrent weight has another shape", (*_LSTM[:2], f(1, 20, 4), 3, 5)),
)

#: The refused calls of each draft.
REFUSALS: Mapping[str, Sequence[Refusal]] = MappingProxyType(
    {
        "2026-06": (
            *_BOTH,
            Refusal("prelu", "the slope cannot be broadcast to the input", (f(2, 3), f(2))),
            Refusal("prelu", "the slope has more dimensions than can be broadcast", (f(2, 3), f(4, 2, 2))),
            Refusal("conv2d", "the number of output channels is not a multiple of groups", (f(1, 4, 5, 5), f(5, 2, 3, 3)), {"groups": 2}),
            Refusal("logicalAnd", "a is not of data type uint8", (f(2), f(2))),
            Refusal("logicalAnd", "b is not of data type uint8", (u(2), f(2))),
            Refusal("logicalXor", "both operands are not of data type uint8", (i(2), i(2))),
            Refusal("logicalNot", "a is not of data type uint8", (f(2),)),
            Refusal("equal", "the operands have different data types", (f(2), h(2))),
            Refusal("isNaN", "the input is not of a floating-point type", (i(2),)),
            Refusal("isInfinite", "the input is not of a floating-point type", (u(2),)),
            Refusal("pad", "a reflection is as large as the dimension, at its beginning", (f(3), [3], [0]), {"mode": "reflection"}),
            Refusal("pad", "a reflection is as large as the dimension, at its end", (f(3), [0], [3]), {"mode": "reflection"}),
            Refusal("reshape", "the new shape has too many dimensions", (f(1), [1] * 9)),
            Refusal("split", "there are too many parts", (f(8193), [1] * 8193)),
            Refusal("concat", "there is no operand", ([], 0)),
            Refusal("dequantizeLinear", "zeroPoint is not of an allowed data type", (u(2), f(2), f(2))),
            Refusal("dequantizeLinear", "scale and zeroPoint have different shapes", (u(2, 4), f(2, 1), u(1, 4))),
            Refusal("dequantizeLinear", "the size of the input is not a multiple of the scale's", (u(4), f(3), u(3))),
            Refusal("dequantizeLinear", "zeroPoint is larger than the input", (u(2), f(4), u(4))),
            Refusal("quantizeLinear", "scale and zeroPoint have different shapes", (f(2, 4), f(2, 1), u(1, 4))),
            Refusal("quantizeLinear", "the size of the input is not a multiple of the scale's", (f(4), f(3), u(3))),
            Refusal("argMin", "outputDataType is not of an integer type", (f(2, 3), 1), {"outputDataType": "float32"}),
            Refusal("argMax", "outputDataType is not int32 or int64", (f(2, 3), 1), {"outputDataType": "uint8"}),
            Refusal("argMax", "there is no such axis", (f(2, 3), 2)),
            Refusal("scatterElements", "the indices are not of an integer type", (f(4), f(2), f(2)), {"axis": 0}),
            Refusal("scatterND", "the indices are not of an integer type", (f(4), f(2, 1), f(2))),
            Refusal("cumulativeSum", "the input is not of an allowed data type", (u(4), 0)),
        ),
        "2024-06": (
            *_BOTH,
            Refusal("concat", "there is no operand", ([], 0)),
            Refusal("equal", "the operands have different data types", (f(2), h(2))),
            Refusal("equal", "the operands cannot be broadcast", (f(2), f(3))),
            Refusal("greater", "the operands have different data types", (f(2), i(2))),
            Refusal("lesser", "the operands cannot be broadcast", (f(2, 3), f(3, 2))),
            Refusal("split", "there is no part", (f(4), 0)),
            Refusal("split", "the lengths of the parts are 0", (f(4), [0, 4])),
            Refusal("expand", "the new shape has too many dimensions", (f(1), [1] * 9)),
            Refusal("reshape", "the new shape has too many dimensions", (f(1), [1] * 9)),
        ),
    }
)
