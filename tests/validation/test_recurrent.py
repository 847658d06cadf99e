"""gru, lstm and their cells: inferred descriptors, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import FIRST, Act, Arguments, Shape, each_row, infer, make_context, refused
from webnn import MLGraphBuilder
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.operation import Call

F, H = "float32", "float16"
S, B, X, N = 2, 3, 4, 5  # steps, batchSize, inputSize, hiddenSize


def weights(gates: int, *directions: int) -> dict[str, Shape]:
    return {"weight": Shape(F, [*directions, gates * N, X]), "recurrentWeight": Shape(F, [*directions, gates * N, N])}


#: A valid call of each operation: the arguments by name.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "gru": {"input": Shape(F, [S, B, X]), **weights(3, 1), "steps": S, "hiddenSize": N},
    "gruCell": {"input": Shape(F, [B, X]), **weights(3), "hiddenState": Shape(F, [B, N]), "hiddenSize": N},
    "lstm": {"input": Shape(F, [S, B, X]), **weights(4, 1), "steps": S, "hiddenSize": N},
    "lstmCell": {"input": Shape(F, [B, X]), **weights(4), "hiddenState": Shape(F, [B, N]), "cellState": Shape(F, [B, N]), "hiddenSize": N},
}


def options(shapes: dict[str, list[int]], layout: str, *activations: Act, **others: Any) -> dict[str, Any]:
    """Return options: operands of these shapes, and the rest."""
    return {**{name: Shape(F, shape) for name, shape in shapes.items()}, "layout": layout, "activations": [*activations], **others}


def halves(name: str) -> dict[str, Any]:
    """Return the operation's operands in float16."""
    return {key: Shape(H, value.dimensions) for key, value in ARGUMENTS[name].items() if isinstance(value, Shape)}


LAST, STATE = (F, [1, B, N]), (F, [B, N])
SIGMOID, RELU, TANH = Act("sigmoid"), Act("relu"), Act("tanh")

VALID: list[tuple[str, dict[str, Any], dict[str, Any], list[tuple[str, list[int]]]]] = [
    # operation, changed arguments, options, outputs
    ("gru", {}, {}, [LAST]),
    ("gru", {"steps": 2.9, "hiddenSize": "5"}, {"direction": "backward", "layout": "rzn", "resetAfter": False}, [LAST]),
    ("gru", halves("gru"), {"returnSequence": True}, [(H, [1, B, N]), (H, [S, 1, B, N])]),
    (
        "gru",
        weights(3, 2),
        options(
            {"bias": [2, 3 * N], "recurrentBias": [2, 3 * N], "initialHiddenState": [2, B, N]},
            *("rzn", SIGMOID, RELU),
            **{"resetAfter": True, "returnSequence": True, "direction": "both"},
        ),
        [(F, [2, B, N]), (F, [S, 2, B, N])],
    ),
    ("gruCell", {}, {}, [STATE]),
    ("gruCell", halves("gruCell"), {}, [(H, [B, N])]),
    ("gruCell", {}, options({"bias": [3 * N], "recurrentBias": [3 * N]}, "rzn", SIGMOID, RELU), [STATE]),
    ("lstm", {}, {}, [LAST, LAST]),
    ("lstm", halves("lstm"), {"direction": "backward", "layout": "ifgo"}, [(H, [1, B, N])] * 2),
    (
        "lstm",
        weights(4, 2),
        options(
            {name: [2, 4 * N] for name in ("bias", "recurrentBias")}
            | {"peepholeWeight": [2, 3 * N], "initialHiddenState": [2, B, N], "initialCellState": [2, B, N]},
            *("ifgo", SIGMOID, RELU, TANH),
            **{"returnSequence": True, "direction": "both"},
        ),
        [(F, [2, B, N]), (F, [2, B, N]), (F, [S, 2, B, N])],
    ),
    ("lstmCell", {}, {}, [STATE, STATE]),
    ("lstmCell", halves("lstmCell"), {}, [(H, [B, N])] * 2),
    (
        "lstmCell",
        {},
        options({"bias": [4 * N], "recurrentBias": [4 * N], "peepholeWeight": [3 * N]}, "ifgo", SIGMOID, RELU, TANH),
        [STATE, STATE],
    ),
]


@pytest.mark.parametrize(("name", "changed", "options", "outputs"), VALID)
def test_valid(name: str, changed: dict[str, Any], options: dict[str, Any], outputs: list[tuple[str, list[int]]]) -> None:
    assert infer(name, *(ARGUMENTS[name] | changed).values(), **options) == outputs


TYPE, SAME_TYPE, SHAPE = "type", "type", "shape"

INVALID: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    # operation, changed arguments, options, argument at fault, message
    ("gru", {"input": Shape("uint32", [S, B, X])}, {}, "input", TYPE),
    ("gru", {"input": Shape(F, [S, B])}, {}, "input", "rank"),
    ("gru", {"weight": Shape(H, [1, 3 * N, X])}, {}, "weight", SAME_TYPE),
    ("gru", {"recurrentWeight": Shape(H, [1, 3 * N, N])}, {}, "recurrentWeight", SAME_TYPE),
    ("gru", {"steps": 0}, {}, "steps", "shape"),
    ("gru", {"input": Shape(F, [1000, B, X])}, {}, "steps", "shape"),
    ("gru", {"weight": Shape(F, [1, 4 * N, X])}, {}, "weight", SHAPE),
    ("gru", {"weight": Shape(F, [1, 3 * N, X + 1])}, {}, "weight", SHAPE),
    ("gru", {}, {"direction": "both"}, "weight", SHAPE),
    ("gru", {"hiddenSize": 0}, {}, "hiddenSize", "range"),
    ("gru", {"hiddenSize": 4294967295}, {}, "hiddenSize", "range"),
    ("gru", {"recurrentWeight": Shape(F, [1, 3 * N])}, {}, "recurrentWeight", SHAPE),
    ("gru", {"recurrentWeight": Shape(F, [1, 4 * N, N])}, {}, "recurrentWeight", SHAPE),
    ("gru", {}, {"bias": Shape(H, [1, 3 * N])}, "options.bias", SAME_TYPE),
    ("gru", {}, {"bias": Shape(F, [1, N])}, "options.bias", SHAPE),
    ("gru", {}, {"recurrentBias": Shape(H, [1, 3 * N])}, "options.recurrentBias", SAME_TYPE),
    ("gru", {}, {"recurrentBias": Shape(F, [1, 4 * N])}, "options.recurrentBias", SHAPE),
    ("gru", {}, {"initialHiddenState": Shape(H, [1, B, N])}, "options.initialHiddenState", SAME_TYPE),
    ("gru", {}, {"initialHiddenState": Shape(F, [1, B])}, "options.initialHiddenState", SHAPE),
    ("gru", {}, {"activations": [SIGMOID, TANH, RELU]}, "options.activations", "length"),
    ("gru", {}, {"activations": []}, "options.activations", "length"),
    ("gru", {}, {"activations": ["sigmoid", "tanh"]}, "options.activations[0]", "conversion"),
    ("gru", {}, {"layout": "nrz"}, "options.layout", "conversion"),
    ("gru", {}, {"direction": "reverse"}, "options.direction", "conversion"),
    ("gru", {"steps": -1}, {}, "steps", "conversion"),
    ("gruCell", {"input": Shape("uint32", [B, X])}, {}, "input", TYPE),
    ("gruCell", {"input": Shape(F, [B])}, {}, "input", "rank"),
    ("gruCell", {"weight": Shape(H, [3 * N, X])}, {}, "weight", SAME_TYPE),
    ("gruCell", {"recurrentWeight": Shape(H, [3 * N, N])}, {}, "recurrentWeight", SAME_TYPE),
    ("gruCell", {"hiddenState": Shape(H, [B, N])}, {}, "hiddenState", SAME_TYPE),
    ("gruCell", {"weight": Shape(F, [4 * N, X])}, {}, "weight", SHAPE),
    ("gruCell", {"hiddenSize": 0}, {}, "hiddenSize", "range"),
    ("gruCell", {"recurrentWeight": Shape(F, [4 * N, N])}, {}, "recurrentWeight", SHAPE),
    ("gruCell", {"hiddenState": Shape(F, [B, 3 * N])}, {}, "hiddenState", SHAPE),
    ("gruCell", {}, {"bias": Shape("uint8", [3 * N])}, "options.bias", "type"),
    ("gruCell", {}, {"bias": Shape(F, [1, 3 * N])}, "options.bias", SHAPE),
    ("gruCell", {}, {"recurrentBias": Shape(H, [3 * N])}, "options.recurrentBias", SAME_TYPE),
    ("gruCell", {}, {"recurrentBias": Shape(F, [4 * N])}, "options.recurrentBias", SHAPE),
    ("gruCell", {}, {"activations": [SIGMOID]}, "options.activations", "length"),
    ("lstm", {"input": Shape("int8", [S, B, X])}, {}, "input", TYPE),
    ("lstm", {"input": Shape(F, [S, B, X, 1])}, {}, "input", "rank"),
    ("lstm", {"steps": 3}, {}, "steps", "shape"),
    ("lstm", {"weight": Shape(H, [1, 4 * N, X])}, {}, "weight", SAME_TYPE),
    ("lstm", {"recurrentWeight": Shape(H, [1, 4 * N, N])}, {}, "recurrentWeight", SAME_TYPE),
    ("lstm", {"weight": Shape(F, [1, 4 * N, 1000])}, {}, "weight", SHAPE),
    ("lstm", weights(3, 2), {"direction": "both"}, "weight", SHAPE),
    ("lstm", {"hiddenSize": 0}, {}, "hiddenSize", "range"),
    ("lstm", {"recurrentWeight": Shape(F, [1, 4 * N])}, {}, "recurrentWeight", SHAPE),
    ("lstm", {}, {"bias": Shape(H, [1, 4 * N])}, "options.bias", SAME_TYPE),
    ("lstm", {}, {"bias": Shape(F, [1])}, "options.bias", SHAPE),
    ("lstm", {}, {"recurrentBias": Shape(H, [1, 4 * N])}, "options.recurrentBias", SAME_TYPE),
    ("lstm", {}, {"recurrentBias": Shape(F, [1, 1000])}, "options.recurrentBias", SHAPE),
    ("lstm", {}, {"peepholeWeight": Shape(H, [1, 3 * N])}, "options.peepholeWeight", SAME_TYPE),
    ("lstm", {}, {"peepholeWeight": Shape(F, [1, 4 * N])}, "options.peepholeWeight", SHAPE),
    ("lstm", {}, {"initialHiddenState": Shape("uint64", [1, B, N])}, "options.initialHiddenState", "type"),
    ("lstm", {}, {"initialHiddenState": Shape(F, [2, B, N])}, "options.initialHiddenState", SHAPE),
    ("lstm", {}, {"initialCellState": Shape(H, [1, B, N])}, "options.initialCellState", SAME_TYPE),
    ("lstm", {}, {"initialCellState": Shape(F, [1, B, 1000])}, "options.initialCellState", SHAPE),
    ("lstm", {}, {"activations": [SIGMOID, TANH]}, "options.activations", "length"),
    ("lstmCell", {"input": Shape("int32", [B, X])}, {}, "input", TYPE),
    ("lstmCell", {"input": Shape(F, [1, B, X])}, {}, "input", "rank"),
    ("lstmCell", {"weight": Shape(H, [4 * N, X])}, {}, "weight", SAME_TYPE),
    ("lstmCell", {"recurrentWeight": Shape(H, [4 * N, N])}, {}, "recurrentWeight", SAME_TYPE),
    ("lstmCell", {"hiddenState": Shape(H, [B, N])}, {}, "hiddenState", SAME_TYPE),
    ("lstmCell", {"cellState": Shape(H, [B, N])}, {}, "cellState", SAME_TYPE),
    ("lstmCell", {"input": Shape(F, [B, 1000])}, {}, "weight", SHAPE),
    ("lstmCell", {"hiddenSize": 0}, {}, "hiddenSize", "range"),
    ("lstmCell", {"recurrentWeight": Shape(F, [1, 4 * N, N])}, {}, "recurrentWeight", SHAPE),
    ("lstmCell", {"hiddenState": Shape(F, [B])}, {}, "hiddenState", SHAPE),
    ("lstmCell", {"cellState": Shape(F, [B + 1, N])}, {}, "cellState", SHAPE),
    ("lstmCell", {}, {"bias": Shape("int8", [4 * N])}, "options.bias", "type"),
    ("lstmCell", {}, {"bias": Shape(F, [4 * N, 1])}, "options.bias", SHAPE),
    ("lstmCell", {}, {"recurrentBias": Shape(H, [4 * N])}, "options.recurrentBias", SAME_TYPE),
    ("lstmCell", {}, {"recurrentBias": Shape(F, [1000])}, "options.recurrentBias", SHAPE),
    ("lstmCell", {}, {"peepholeWeight": Shape(H, [3 * N])}, "options.peepholeWeight", SAME_TYPE),
    ("lstmCell", {}, {"peepholeWeight": Shape(F, [])}, "options.peepholeWeight", SHAPE),
    ("lstmCell", {}, {"activations": [SIGMOID, TANH, SIGMOID, TANH]}, "options.activations", "length"),
]


@each_row(("name", "changed", "options", "argument", "rule"), INVALID)
def test_invalid(name: str, changed: dict[str, Any], options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, *(ARGUMENTS[name] | changed).values(), **options)


@pytest.mark.parametrize(
    ("name", "factor", "rule"), [("gru", 3, "range"), ("gruCell", 3, "range"), ("lstm", 4, "range"), ("lstmCell", 4, "range")]
)
@pytest.mark.parametrize("hiddenSize", [0, 2**30])
def test_hidden_size(name: str, factor: int, rule: str, hiddenSize: int) -> None:
    # No operand can be as large or as small as this step wants: only the validator itself gets there.
    operation = FIRST.operations[name]
    shapes = {
        "input": (1, 1),
        "weight": (factor * hiddenSize, 1),
        "recurrentWeight": (factor * hiddenSize, hiddenSize),
        "hiddenState": (1, hiddenSize),
        "cellState": (1, hiddenSize),
    }
    isSequence = not name.endswith("Cell")
    operands = [OperandDescriptor("float32", (1, *shapes[key]) if isSequence else shapes[key]) for key in operation.operands]
    arguments = (1, hiddenSize) if isSequence else (hiddenSize,)
    assert operation.options is not None
    with refused(rule=rule, argument="hiddenSize"):
        operation.infer(Call(name, operation.anchor, FIRST), *operands, *arguments, operation.options())


@pytest.mark.parametrize(
    ("name", "member", "dimensions"),
    [
        ("gru", "initialHiddenState", [1, B, N]),
        ("gruCell", "bias", [3 * N]),
        ("lstm", "recurrentBias", [1, 4 * N]),
        ("lstm", "initialCellState", [1, B, N]),
        ("lstmCell", "peepholeWeight", [3 * N]),
    ],
)
def test_other_builder(name: str, member: str, dimensions: list[int]) -> None:
    converter, other = (Arguments(MLGraphBuilder(make_context())) for _ in range(2))
    arguments = [converter.convert(value) for value in ARGUMENTS[name].values()]
    for options, argument in (
        ({member: other.convert(Shape(F, dimensions))}, f"options.{member}"),
        ({"activations": [converter.convert(RELU), other.convert(RELU)]}, "options.activations[1]"),
    ):
        with refused(rule="owner", argument=argument):
            getattr(converter.builder, name)(*arguments, options)
