"""The operations of exported StableHLO programs, and that MLIR reads them. `python -m tools.evidence.stablehlo_export` runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import webnn
from tests.support import BROWSERS, CURRENT, each_row, make_context
from tests.webnn.formats.examples import LABELS, capture, hostile
from tests.webnn.formats.recorded import recorded
from tests.webnn.hlo.test_reader import jaxlib, read_here
from webnn.hlo.export import RuleError, export
from webnn.hlo.export.graph import RULES
from webnn.hlo.export.rule import ELEMENTS
from webnn.hlo.ir import Function, Module
from webnn.hlo.mlir import write_mlir
from webnn.hlo.names import ARGUMENT, RESULT, write_result
from webnn.hlo.types import TensorType
from webnn.validation.families import OPERATIONS

#: One of this number of recorded cases is exported.
STEP = 12
Make = Callable[[webnn.MLGraphBuilder, webnn.MLOperand], webnn.MLOperand]


def main_of(module: Module) -> Function:
    function = module.find("main")
    assert function is not None
    assert function.body is not None
    return function


def describe(make: Make, dataType: str = "float32", shape: tuple[int, ...] = (2, 3), draft: str = CURRENT) -> webnn.GraphDescription:
    builder = webnn.MLGraphBuilder(make_context(draft))
    x = builder.input("x", {"dataType": dataType, "shape": list(shape)})  # type: ignore[typeddict-item]
    return webnn.describe({"y": make(builder, x)}, name="small")


def names(module: Module) -> list[str]:
    """Return the operations of @main but constants and shapes, without their dialect."""
    body = main_of(module).body
    assert body is not None
    left_out = ("constant", "return", "reshape", "broadcast_in_dim")
    found = [operation.name.partition(".")[2] for operation in body.operations]
    return [name for name in found if name not in left_out]


def check_signature(description: webnn.GraphDescription, module: Module) -> None:
    """Require that @main has the inputs and outputs of a graph, with their names, in their order."""
    main, known = main_of(module), description.descriptors()
    for types, values in (
        (main.type.inputs, list(description.inputs.values())),
        (main.type.results, [known[name] for name in description.outputs.values()]),
    ):
        assert list(types) == [TensorType(shape=each.dimensions, element=ELEMENTS[each.dataType]) for each in values]
    assert [each[ARGUMENT] for each in main.argument_attributes] == list(description.inputs)
    assert [each[RESULT] for each in main.result_attributes] == list(map(write_result, description.outputs))
    assert (main.argument_names, main.result_names) == (tuple(description.inputs), tuple(description.outputs))


def test_operations_have_rules() -> None:
    """An export refuses a new operation by name until it has a rule."""
    assert set(RULES) <= set(OPERATIONS)
    assert len(RULES) >= 95


@pytest.mark.parametrize("level", ["2024-06", "2025-03"])
def test_the_recorded_graphs(level: str) -> None:
    count = 0
    for _, description in recorded(level, STEP):
        check_signature(description, export(description))
        count += 1
    assert count >= 75


@jaxlib
def test_mlir_reads_the_recorded_graphs() -> None:
    for title, description in recorded("2025-03", STEP * 4):
        module = export(description)
        text = "".join(write_mlir(module))
        read = read_here(text)
        check_signature(description, read)
        assert read == read_here("".join(write_mlir(read))), title


# The operations of StableHLO that each operation becomes.


def _int32(builder: webnn.MLGraphBuilder, *values: int) -> webnn.MLOperand:
    return builder.constant({"dataType": "int32", "shape": [len(values)]}, np.array(values, np.int32))


@each_row(
    ("make", "dataType", "made"),
    [
        (lambda b, x: b.identity(x), "float32", []),
        (lambda b, x: b.reshape(x, [3, 2]), "float32", []),
        (lambda b, x: b.relu(x), "float32", ["maximum"]),
        # float16 is computed in float32 where there is more than one rounding.
        (lambda b, x: b.div(x, x), "float16", ["convert", "convert", "divide", "convert"]),
        (lambda b, x: b.mul(x, x), "float16", ["multiply"]),
        (lambda b, x: b.max(x, x), "float16", ["maximum"]),
        (lambda b, x: b.erf(x), "float32", ["composite"]),
        (lambda b, x: b.sigmoid(x), "float32", ["logistic"]),
        # A divisor that is known needs no guard against 0 and -1.
        (lambda b, x: b.div(x, _int32(b, 1, 2, 3)), "int32", ["divide"]),
        (lambda b, x: b.div(x, x), "int32", ["compare", "compare", "negate", "or", "select", "divide", "select", "select"]),
        (lambda b, x: b.div(x, x), "uint32", ["compare", "not", "select", "divide", "select"]),
        (lambda b, x: b.abs(x), "int32", ["abs"]),
        (lambda b, x: b.sign(x), "float32", ["compare", "convert", "compare", "convert", "subtract", "convert"]),
        (lambda b, x: b.cast(x, "int8"), "int32", ["convert"]),
        (lambda b, x: b.cast(x, "int8"), "float32", ["compare", "select", "clamp", "convert"]),
        (lambda b, x: b.cast(x, "int32"), "float32", ["compare", "select", "clamp", "convert", "compare", "select"]),
        (lambda b, x: b.equal(x, x), "float32", ["compare", "convert"]),
        # Indices that are known to be in range are not clamped.
        (lambda b, x: b.gather(x, _int32(b, 1, 0)), "float32", ["gather"]),
        (lambda b, x: b.gather(x, _int32(b, -1)), "float32", ["negate", "maximum", "minimum", "compare", "add", "select", "gather"]),
        (lambda b, x: b.reduceSum(x, {"axes": [1]}), "float32", ["reduce"]),
        (lambda b, x: b.reduceSum(x, {"axes": []}), "float32", []),
        (lambda b, x: b.tile(x, [2, 1]), "float32", []),
        (lambda b, x: b.cumulativeSum(x, 1), "int32", ["reduce_window"]),
        (lambda b, x: b.softmax(x, 1), "float32", ["reduce", "subtract", "exponential", "reduce", "divide"]),
    ],
)
def test_what_an_operation_is_made_of(make: Make, dataType: str, made: list[str]) -> None:
    assert names(export(describe(make, dataType))) == made


def test_an_operator_of_two_types() -> None:
    description = describe(lambda b, x: b.where(b.greater(x, x), x, b.neg(x)))
    assert names(export(description)) == ["compare", "convert", "negate", "compare", "select"]


def test_a_loop_runs_the_steps_of_a_network() -> None:
    def make(builder: webnn.MLGraphBuilder, x: webnn.MLOperand) -> webnn.MLOperand:
        weight, recurrent = [
            builder.constant({"dataType": "float32", "shape": [2, 8, size]}, np.ones((2, 8, size), "f")) for size in (3, 2)
        ]
        return builder.lstm(x, weight, recurrent, 5, 2, {"direction": "both", "returnSequence": True})[2]

    module = export(describe(make, shape=(5, 4, 3)))
    counts = Counter(names(module))
    # The products of the inputs come before the two loops.
    assert (counts["while"], counts["dot_general"]) == (2, 2)
    body = main_of(module).body
    assert body is not None
    assert Counter(each.name for each in body.walk())["stablehlo.dot_general"] == 4


def test_a_composite_has_one_function_for_each_type() -> None:
    def make(builder: webnn.MLGraphBuilder, x: webnn.MLOperand) -> webnn.MLOperand:
        return builder.concat([builder.erf(x), builder.erf(builder.neg(x)), builder.transpose(builder.erf(builder.transpose(x)))], 0)

    module = export(describe(make))
    assert [(each.name, each.public) for each in module.functions] == [("main", True), ("chlo.erf.impl", False), ("chlo.erf.impl_0", False)]


def test_locations_are_labels_and_operations() -> None:
    description = describe(lambda b, x: b.softmax(b.gemm(x, x, {"bTranspose": True, "label": "scores"}), 1))
    body = main_of(export(description)).body
    assert body is not None
    assert {operation.name: operation.location.name for operation in body.operations if operation.name.endswith(("general", "divide"))} == {
        "stablehlo.dot_general": "scores",
        "stablehlo.divide": "softmax",
    }


def test_an_input_that_is_an_output_and_one_that_nothing_takes() -> None:
    builder = webnn.MLGraphBuilder(make_context(CURRENT))
    x, y = [builder.input(name, {"dataType": "float32", "shape": []}) for name in "xy"]
    known = webnn.describe({"same": builder.identity(x), "sum": builder.add(x, y)})
    check_signature(known, export(known))


def test_small_integers() -> None:
    builder = webnn.MLGraphBuilder(make_context(BROWSERS))
    weights = builder.constant({"dataType": "int4", "shape": [3]}, np.array([0xF1, 0x07], np.uint8))
    scale = builder.constant({"dataType": "float32", "shape": [1]}, np.array([0.5], "f"))
    zero = builder.constant({"dataType": "int4", "shape": [1]}, np.array([0], np.uint8))
    module = export(webnn.describe({"y": builder.dequantizeLinear(weights, scale, zero)}))
    body = main_of(module).body
    assert body is not None
    constant = next(operation for operation in body.operations if operation.name == "stablehlo.constant")
    np.testing.assert_array_equal(np.asarray(constant.attributes["value"]), np.array([1, -1, 7], np.int8))
    assert {str(each.type) for operation in body.operations for each in operation.results} >= {"tensor<3xi8>", "tensor<3xi4>"}


# Refusals.


def test_groups_that_do_not_divide_the_channels() -> None:
    builder = webnn.MLGraphBuilder(make_context(CURRENT))
    x = builder.input("x", {"dataType": "float32", "shape": [1, 3, 2, 2]})
    filter = builder.constant({"dataType": "float32", "shape": [3, 1, 1, 1]}, np.ones((3, 1, 1, 1), "f"))
    description = webnn.describe({"y": builder.convTranspose2d(x, filter, {"groups": 2, "label": "up"})})
    with pytest.raises(RuleError, match=r"\[up\] convTranspose2d must have input channels .*, got 3 channels and 2 groups"):
        export(description)


def test_a_name_that_is_not_unicode(tmp_path: Path) -> None:
    # Only the first draft lets it pass.
    builder = webnn.MLGraphBuilder(make_context("2024-06"))
    x = builder.input("\ud800", dataType="float32", dimensions=[2])
    with pytest.raises(webnn.FormatError, match="a name must be Unicode"):
        webnn.describe({"y": builder.relu(x)}).save(tmp_path / "graph.mlir")
    assert list(tmp_path.iterdir()) == []


# Files.


def test_a_file(tmp_path: Path) -> None:
    describe(lambda b, x: b.add(x, b.constant("float32", 0.1), {"label": "shift"})).save(tmp_path / "graph.mlir")
    first, *lines = (tmp_path / "graph.mlir").read_text().splitlines()
    assert first.startswith("// WebNN 2026-06, written by webnn ")
    assert lines == [
        "module @small {",
        '  func.func public @main(%0: tensor<2x3xf32> {jax.arg_info = "x"}) -> (tensor<2x3xf32> {jax.result_info = "y"}) {',
        '    %1 = "stablehlo.constant"() <{value = dense<0.1> : tensor<f32>}> : () -> tensor<f32> loc("shift")',
        '    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32> loc("shift")',
        '    %3 = "stablehlo.add"(%0, %2) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("shift")',
        '    "func.return"(%3) : (tensor<2x3xf32>) -> ()',
        "  }",
        "}",
    ]


@jaxlib
@pytest.mark.parametrize("label", LABELS, ids=range(len(LABELS)))
def test_hostile_names(label: str, tmp_path: Path) -> None:
    """Names and labels are data: MLIR reads the same ones."""
    description = hostile(label)
    description.save(tmp_path / "graph.mlir")
    module = read_here((tmp_path / "graph.mlir").read_bytes())
    check_signature(description, module)
    body = main_of(module).body
    assert body is not None
    assert {operation.location.name for operation in body.operations if operation.name == "stablehlo.add"} == {label}


@jaxlib
@pytest.mark.parametrize("example", ["transformer_block", "int8_graph", "several_outputs", "activations_and_gru"])
def test_examples(example: str, tmp_path: Path) -> None:
    description, _ = capture(example)
    description.save(tmp_path / "graph.mlir")
    check_signature(description, read_here((tmp_path / "graph.mlir").read_bytes()))
