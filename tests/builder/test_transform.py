"""Descriptions without a file: `infer`, `digest` and `lift`."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import helper

import webnn.onnx
from tests.support import each_row, make_context, refused
from webnn import DescriptionError, GraphDescription, MLGraphBuilder, WebNNTypeError, describe
from webnn.builder.graph_builder import GraphBuilder


def sketch(calls: Callable[[Any, Callable[..., Any]], Any], revision: str = "2024-06") -> GraphDescription:
    """Describe what a function makes of a builder and of a function that makes inputs."""
    builder = MLGraphBuilder(make_context(revision))
    shape = builder._revision.shape
    count = iter(range(100))

    def make(*dimensions: int, of: str = "float32") -> Any:
        return builder.input(f"input{next(count)}", {"dataType": of, shape: list(dimensions)})  # type: ignore[misc, arg-type]

    return describe({"y": calls(builder, make)})


#: The arguments and options of a lifted call in the later draft.
LIFTED: list[tuple[str, Callable[[Any, Any], Any], dict[str, Any], dict[str, Any]]] = [
    ("argMax", lambda b, x: b.argMax(x(2, 3), axes=[1]), {"axis": 1}, {"outputDataType": "int64"}),
    ("argMin", lambda b, x: b.argMin(x(3), keepDimensions=True), {"axis": 0}, {"keepDimensions": True, "outputDataType": "int64"}),
    ("cast", lambda b, x: b.cast(x(2), "int8"), {"dataType": "int8"}, {}),
    ("maxPool2d", lambda b, x: b.maxPool2d(x(1, 1, 4, 4), roundingType="ceil"), {}, {"outputShapeRounding": "ceil"}),
    ("clamp", lambda b, x: b.clamp(x(2, of="int32"), minValue=2.0), {}, {"minValue": 2.0}),
    ("resample2d", lambda b, x: b.resample2d(x(1, 1, 4, 6), scales=[1.5, 2]), {}, {"scales": (1.5, 2.0)}),
    (
        "gruCell",
        lambda b, x: b.gruCell(x(1, 2), x(9, 2), x(9, 3), x(1, 3), 3, activations=[b.relu(), b.tanh()]),
        {"hiddenSize": 3},
        {"activations": ("relu", "tanh")},
    ),
]


@pytest.mark.parametrize(("operation", "calls", "arguments", "options"), LIFTED, ids=[case[0] for case in LIFTED])
def test_lift(operation: str, calls: Any, arguments: dict[str, Any], options: dict[str, Any]) -> None:
    before = sketch(calls)
    lifted = before.lift()
    assert lifted.draft == "2026-06"
    (operator,) = lifted.operators
    assert (operator.operation, dict(operator.arguments), dict(operator.options)) == (operation, arguments, options)
    # The descriptors are those of the later draft, and the type of the result is kept.
    assert operator.descriptors == before.operators[0].descriptors
    assert describe(lifted.build(MLGraphBuilder(make_context("2026-06")))).digest() == lifted.digest()
    assert lifted.lift() == lifted


def test_lift_renames_operands() -> None:
    lifted = sketch(lambda b, x: b.where(x(2, of="uint8"), x(2), x(2))).lift()
    assert lifted.operators[0].inputs == {"condition": "input0", "trueValue": "input1", "falseValue": "input2"}


@pytest.mark.parametrize("calls", [case[1] for case in LIFTED], ids=[case[0] for case in LIFTED])
def test_lower_is_the_way_back(calls: Any) -> None:
    before = sketch(calls)
    lowered = before.lift().lower("2024-06")
    assert lowered.draft == "2024-06"
    assert [each.descriptors for each in lowered.operators] == [each.descriptors for each in before.operators]
    # Options that the program left out are written out.
    assert lowered.lift() == before.lift()
    assert describe(lowered.build(MLGraphBuilder(make_context("2024-06")))).digest() == lowered.digest()


@each_row(
    ("calls", "message"),
    [
        (
            lambda b, x: b.quantizeLinear(x(2), x(1), x(1, of="int32"), label="q"),
            "quantizeLinear 'q' has no counterpart in the draft 2024-06: ",
        ),
        (lambda b, x: b.dequantizeLinear(x(2, of="int32"), x(1), x(1, of="int32")), "its input is int32, of which single precision"),
        (lambda b, x: b.dequantizeLinear(x(2, of="uint32"), x(1), x(1, of="uint32")), "its input is uint32, of which single precision"),
        (lambda b, x: b.quantizeLinear(x(2), x(1), x(1, of="uint32")), "its result is uint32, of which single precision"),
        (
            lambda b, x: b.scatterElements(x(4096), x(4097, of="int32"), x(4097)),
            "4097 updates of 4096 places are more than 16777216 comparisons",
        ),
        (
            lambda b, x: b.scatterElements(x(4097), x(4096, of="int32"), x(4096)),
            "4096 updates of 4097 places are more than 16777216 comparisons",
        ),
        (lambda b, x: b.resample2d(x(1, 1, 3, 3), scales=[1.5, 1]), "options.scales has 1.5, which is not the quotient"),
        (lambda b, x: b.prelu(x(1, 3), x(2, 3)), "the draft 2024-06 refuses it: prelu: "),
    ],
)
def test_lower_refuses(calls: Any, message: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        sketch(calls, "2026-06").lower("2024-06")
    assert message in str(caught.value)


def test_lower_goes_back_only() -> None:
    with pytest.raises(DescriptionError, match="cannot be moved to the later draft 2026-06"):
        sketch(lambda b, x: b.relu(x(2))).lower("2026-06")


REFUSED: list[tuple[str, Callable[[Any, Any], Any], str]] = [
    ("axes", lambda b, x: b.argMax(x(2, 3), label="best"), "argMax 'best' has no counterpart in the draft 2026-06: it searches 2 axes"),
    ("the last index", lambda b, x: b.argMax(x(3), selectLastIndex=True), "options.selectLastIndex is True"),
    ("a bound", lambda b, x: b.clamp(x(2, of="int32"), minValue=0.5), "options.minValue is 0.5, which int32 does not have"),
    ("a value between integers", lambda b, x: b.pad(x(2, of="int32"), [0], [1], value=1.5), "options.value is 1.5"),
    ("a scale", lambda b, x: b.resample2d(x(1, 1, 3, 3), scales=[1.5, 1]), "options.scales has 1.5, which is not the quotient"),
    ("symmetric", lambda b, x: b.pad(x(3), [1], [1], mode="symmetric"), "the draft 2026-06 refuses it: pad: options.mode must be one of"),
    (
        "an activation",
        lambda b, x: b.gruCell(x(1, 2), x(9, 2), x(9, 3), x(1, 3), 3, activations=[b.elu(alpha=2), b.tanh()]),
        "the activation elu has options",
    ),
    ("a scalar", lambda b, x: b.argMax(x()), "it searches 0 axes"),
]


@pytest.mark.parametrize(("calls", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_lift_refuses(calls: Any, message: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        sketch(calls).lift()
    assert message in str(caught.value)


def test_lift_goes_forward_only() -> None:
    description = sketch(lambda b, x: b.relu(x(2)), "2026-06")
    with pytest.raises(DescriptionError, match="cannot be moved to the earlier draft 2024-06"):
        description.lift("2024-06")
    with pytest.raises(DescriptionError, match="must be one of 2024-06, 2026-06, got '2030'"):
        description.lift("2030")


def test_infer() -> None:
    description = sketch(lambda b, x: b.add(b.split(x(4, 3), 2)[1], b.constant("float32", 1)))
    bare = replace(description, operators=tuple([replace(each, descriptors=()) for each in description.operators]))
    assert [each.descriptors for each in bare.infer().operators] == [each.descriptors for each in description.operators]
    # The constants are not copied.
    assert bare.infer().constants["b"].value.base is description.constants["b"].value.base
    with pytest.raises(DescriptionError, match="draft: there is no revision '1999-01'"):
        replace(description, draft="1999-01").infer()


def test_equal_calls_are_inferred_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that differ in an operand's type or shape, an argument, an option, or the number of results are not equal."""

    def calls(b: Any, x: Any) -> Any:
        value, other = x(2, 6), x(6, 2)
        for _ in range(20):
            value = b.clamp(b.add(value, value), minValue=0)
        value = b.clamp(value, minValue=1)
        cuts = [b.split(value, 2, axis=1)[0], b.split(value, [3, 3], axis=1)[1], b.split(value, 3, axis=1)[2], b.split(value, 2, axis=0)[1]]
        turned = [b.transpose(other), b.transpose(other, permutation=[0, 1]), b.transpose(b.transpose(other))]
        gemms = [b.gemm(value, other), b.gemm(value, other, c=x(1)), b.gemm(value, turned[0], bTranspose=True), b.gemm(other, value)]
        flat = [b.reduceSum(each) for each in (*cuts, *turned, *gemms)]
        return b.concat([b.reshape(each, [1]) for each in flat], 0)

    described = sketch(calls, "2026-06")
    bare = replace(described, operators=tuple([replace(operator, descriptors=()) for operator in described.operators]))
    made: list[str] = []
    connect = GraphBuilder._connect
    monkeypatch.setattr(GraphBuilder, "_connect", lambda self, name, *more: made.append(name) or connect(self, name, *more))
    inferred = bare.infer()
    assert [each.descriptors for each in inferred.operators] == [each.descriptors for each in described.operators]
    assert (made.count("add"), made.count("clamp"), made.count("split"), made.count("gemm")) == (1, 2, 4, 4)
    assert inferred == described


def test_a_sketch_refuses_what_a_builder_refuses() -> None:
    description = sketch(lambda b, x: b.relu(x(2)))
    with refused(rule="limit", operation="input", argument="descriptor"):
        replace(description, inputs={"input0": replace(description.inputs["input0"], dimensions=(0,))}).infer()
    assert issubclass(MLGraphBuilder, GraphBuilder)


def different() -> list[GraphDescription]:
    def constant(value: Any, **options: Any) -> GraphDescription:
        return sketch(lambda b, x: b.add(x(2), b.constant("float32", value), **options))

    return [
        constant(0),
        constant(-0.0),
        constant(1),
        constant(1, label="a"),
        sketch(lambda b, x: b.clamp(x(2), minValue=1)),
        sketch(lambda b, x: b.clamp(x(2), minValue=2)),
        sketch(lambda b, x: b.clamp(x(2), maxValue=1)),
        sketch(lambda b, x: b.clamp(x(3), maxValue=1)),
        sketch(lambda b, x: b.clamp(x(3, of="float16"), maxValue=1)),
        sketch(lambda b, x: b.clamp(x(3), maxValue=1), "2026-06"),
    ]


def test_digests_differ_where_descriptions_do() -> None:
    assert len({each.digest() for each in different()}) == len(different())


def test_equal_descriptions_have_one_digest() -> None:
    description = sketch(lambda b, x: b.concat([x(2), x(2), b.constant("float32", float(np.float32(0.1)))][:2], 0))
    assert pickle.loads(pickle.dumps(description)).digest() == description.digest()
    assert replace(description, inputs=dict(reversed(description.inputs.items()))).digest() == description.digest()
    one = sketch(lambda b, x: b.clamp(x(2), minValue=1))
    assert one == sketch(lambda b, x: b.clamp(x(2), minValue=1.0))
    assert one.digest() == sketch(lambda b, x: b.clamp(x(2), minValue=1.0)).digest()


@pytest.mark.processes
def test_a_digest_is_the_same_in_another_process() -> None:
    description = sketch(lambda b, x: b.clamp(x(2), minValue=1, label="é"))
    program = f"import pickle; print(pickle.loads({pickle.dumps(description)!r}).digest())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == description.digest()


def _imported() -> GraphDescription:
    """Return the description of an import, at which nobody has looked."""
    x, c = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3]) for name in "xy")
    weight = helper.make_tensor("w", onnx.TensorProto.FLOAT, [2, 3], range(6))
    nodes = [helper.make_node("Add", ["x", "w"], ["sum"]), helper.make_node("LeakyRelu", ["sum"], ["y"], alpha=0.5)]
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [c], [weight]), opset_imports=[helper.make_opsetid("", 21)])
    return webnn.onnx.load(model).description


@pytest.mark.parametrize("isSeen", [False, True])
def test_an_imported_graph_is_built_without_calls(isSeen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    description = _imported()
    if isSeen:
        assert [each.operation for each in description.operators] == ["add", "leakyRelu"]
    builder = MLGraphBuilder(make_context("2026-06"))
    with monkeypatch.context() as patch:
        patch.setattr(GraphBuilder, "_single", None)
        outputs = description.build(builder)
    assert describe(outputs, name=description.name).operators == describe(replace(description).build(_builder())).operators
    assert builder._count == 2


def _builder() -> MLGraphBuilder:
    return MLGraphBuilder(make_context("2026-06"))


def test_a_changed_description_is_checked() -> None:
    description = _imported()
    cast("dict[str, Any]", description.operators[1].options)["alpha"] = 0.25
    operators = describe(description.build(_builder())).operators
    assert operators[1].options == {"alpha": 0.25}
    cast("dict[str, Any]", description.operators[1].options)["alpha"] = "none"
    with pytest.raises(WebNNTypeError, match="alpha"):
        description.build(_builder())


def test_a_subclass_of_the_builder_is_called() -> None:
    class Counting(MLGraphBuilder):
        calls = 0

        def add(self, *arguments: Any, **options: Any) -> Any:
            Counting.calls += 1
            return super().add(*arguments, **options)

    _imported().build(Counting(make_context("2026-06")))
    assert Counting.calls == 1


def test_an_imported_description_travels() -> None:
    description = _imported()
    copied = pickle.loads(pickle.dumps(description))
    assert copied == description == _imported()
    assert copied.digest() == _imported().digest()
    with pytest.raises(AttributeError, match="'GraphDescription' object has no attribute 'nodes'"):
        _ = _imported().nodes  # type: ignore[attr-defined]
