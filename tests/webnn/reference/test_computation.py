"""`webnn.reference.compute` and `evaluate`: rounded and exact results, errors."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import BROWSERS, CURRENT, make_context
from webnn import OperandDescriptor, reference
from webnn.reference.operations import REFERENCE_NEWEST, operations_of
from webnn.validation.drafts import DRAFTS, find_revision

X16 = np.array([0.1, 1.5, -2, 300], np.float16)


def describe(make: Any, revision: str = CURRENT, **inputs: tuple[str, list[int]]) -> webnn.GraphDescription:
    """Describe the graph that a function makes from a builder and operands."""
    builder = webnn.MLGraphBuilder(make_context(revision))
    operands = [builder.input(name, {"dataType": type, builder._revision.shape: shape}) for name, (type, shape) in inputs.items()]
    made = make(builder, *operands)
    return webnn.describe(made if isinstance(made, dict) else {"y": made})


def test_values_are_rounded_between_operators() -> None:
    """As on a device of float16: the square of 300 is infinite there."""
    graph = describe(lambda builder, x: builder.sqrt(builder.mul(x, x)), x=("float16", [4]))
    y = reference.compute(graph, {"x": X16})["y"]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(y, np.sqrt(X16 * X16), strict=True)
    assert y[-1] == np.inf
    exact = reference.compute(graph, {"x": X16}, exact=True)["y"]
    np.testing.assert_array_equal(exact, np.abs(X16.astype(np.float64)), strict=True)


@pytest.mark.parametrize("dataType", ["float32", "float16"])
def test_exact_results_take_options_in_the_type_of_the_operand(dataType: str) -> None:
    """Only results are exact: `alpha` is a number of the operand's type, and so is the default of `epsilon`."""
    kind: Any = np.dtype(dataType).type
    x = np.array([[1, 3]], dataType)
    graph = describe(lambda builder, x: builder.linear(x, alpha=0.1, beta=0.3), x=(dataType, [1, 2]))
    found = reference.compute(graph, {"x": x}, exact=True)["y"]
    np.testing.assert_array_equal(found, x.astype(np.float64) * float(kind(0.1)) + float(kind(0.3)), strict=True)
    graph = describe(lambda builder, x: builder.layerNormalization(x), x=(dataType, [1, 2]))
    found = reference.compute(graph, {"x": x}, exact=True)["y"]
    np.testing.assert_array_equal(found, [np.array([-1, 1]) / np.sqrt(1 + float(kind(1e-5)))], strict=True)


def test_numbers_are_those_of_the_revision() -> None:
    """A browser makes an infinity of a number beyond float32, and cuts fractions off."""
    for revision, low, filler in ((CURRENT, np.finfo(np.float32).max, 2), (BROWSERS, np.inf, 1)):
        graph = describe(lambda builder, x: builder.clamp(x, minValue=3.4028235e38), revision, x=("float32", [1]))
        for exact in (True, False):
            assert reference.compute(graph, {"x": np.zeros(1, np.float32)}, exact=exact)["y"].tolist() == [low]
        graph = describe(lambda builder, x: builder.pad(x, [1], [0], value=1.5), revision, x=("int32", [1]))
        assert reference.compute(graph, {"x": np.zeros(1, np.int32)})["y"].tolist() == [filler, 0]


def test_exact_casts_do_not_round() -> None:
    graph = describe(lambda builder, x: builder.cast(builder.reciprocal(x), "float16"), x=("float32", [1]))
    assert reference.compute(graph, {"x": np.array([3], np.float32)}, exact=True)["y"].tolist() == [1 / 3]
    graph = describe(lambda builder, x: builder.cast(builder.reciprocal(x), "int32"), x=("float32", [1]))
    found = reference.compute(graph, {"x": np.array([0.3], np.float32)}, exact=True)["y"]
    np.testing.assert_array_equal(found, np.array([3], np.int32), strict=True)


def test_one_operator() -> None:
    graph = describe(lambda builder, x: builder.elu(x, alpha=0.1, label="bend"), x=("float16", [4]))
    [operator] = graph.operators
    [rounded] = reference.evaluate(operator, CURRENT, {"x": X16})
    [exact] = reference.evaluate(operator, CURRENT, {"x": X16}, exact=True)
    assert (rounded.dtype.name, exact.dtype.name) == ("float16", "float64")
    # The exact results of an operator can be operands of the next one, with the types of the graph.
    [again] = reference.evaluate(operator, CURRENT, {"x": X16.astype(np.float64)}, descriptors=graph.descriptors(), exact=True)
    np.testing.assert_array_equal(again, exact, strict=True)
    assert reference.ulp_distance(rounded, exact, "float16").max() <= 0.5
    with pytest.raises(webnn.DescriptionError, match="input: there is no array for the value 'x'"):
        reference.evaluate(operator, CURRENT, {})
    with pytest.raises(webnn.NotSupportedError, match=r"\[bend\] rotate: the reference has no such operation in the draft 2026-06"):
        reference.evaluate(replace(operator, operation="rotate"), CURRENT, {"x": X16})
    with pytest.raises(ValueError, match="draft must be one of"):
        reference.evaluate(operator, "1999-01", {"x": X16})


def test_results_are_new_arrays() -> None:
    """Also where nothing changes, and where arrays are float64 already."""
    shapes: Any = {"x": ("float32", [4])}
    for name, arguments in (("clamp", []), ("identity", []), ("cast", ["float32"])):
        [operator] = describe(lambda builder, x, name=name, given=arguments: getattr(builder, name)(x, *given), **shapes).operators
        x = np.linspace(-1, 1, 4)
        [result] = reference.evaluate(operator, CURRENT, {"x": x}, exact=True)
        np.testing.assert_array_equal(result, x, strict=True)
        assert not np.shares_memory(result, x)


def test_a_state_is_only_read() -> None:
    shapes: Any = {"x": ("float32", [2, 1, 3]), "w": ("float32", [1, 8, 3]), "r": ("float32", [1, 8, 2]), "h": ("float32", [1, 1, 2])}
    graph = describe(lambda builder, x, w, r, h: builder.lstm(x, w, r, 2, 2, initialHiddenState=h, initialCellState=h)[0], **shapes)
    arrays = {name: np.full(shape, 0.25) for name, (_, shape) in shapes.items()}
    [operator] = graph.operators
    results = reference.evaluate(operator, CURRENT, arrays, exact=True)
    assert all(np.all(array == 0.25) for array in arrays.values())
    assert all(np.all(result != 0.25) for result in results)
    for first, second in zip(results, reference.evaluate(operator, CURRENT, arrays, exact=True), strict=True):
        np.testing.assert_array_equal(first, second)


def test_arguments_may_come_in_any_order() -> None:
    graph = describe(lambda builder, a, b: builder.sub(a, b), a=("int32", [1]), b=("int32", [1]))
    [operator] = graph.operators
    turned = replace(operator, inputs=dict(reversed(operator.inputs.items())))
    [result] = reference.evaluate(turned, CURRENT, {"a": np.array([5], np.int32), "b": np.array([3], np.int32)})
    assert result.tolist() == [2]
    with pytest.raises(webnn.DescriptionError, match="inputs: must be a, b, got a"):
        reference.evaluate(replace(operator, inputs={"a": "a"}), CURRENT, {"a": np.array([5], np.int32)})


def test_activations_of_the_first_draft() -> None:
    def make(builder: webnn.MLGraphBuilder, x: webnn.MLOperand, w: webnn.MLOperand, r: webnn.MLOperand, h: webnn.MLOperand) -> Any:
        activations = [builder.elu(alpha=0.5), builder.relu()]
        return builder.gruCell(x, w, r, h, 2, activations=activations)

    shapes: dict[str, tuple[str, list[int]]] = {
        "x": ("float32", [1, 1]),
        "w": ("float32", [6, 1]),
        "r": ("float32", [6, 2]),
        "h": ("float32", [1, 2]),
    }
    graph = describe(make, "2024-06", **shapes)
    arrays = {name: np.full(shape, -0.5, np.float32) for name, (_, shape) in shapes.items()}
    expected = operations_of("2024-06")["gruCell"](*arrays.values(), 2, activations=[("elu", {"alpha": 0.5}), ("relu", {})])
    np.testing.assert_array_equal(reference.compute(graph, arrays)["y"], expected, strict=True)


def test_small_integers_are_packed() -> None:
    def make(builder: webnn.MLGraphBuilder, x: webnn.MLOperand, f: webnn.MLOperand) -> dict[str, webnn.MLOperand]:
        return {
            "turned": builder.transpose(x),
            "wide": builder.cast(x, "int32"),
            "wrapped": builder.cast(builder.cast(builder.cast(x, "int32"), "uint8"), "uint4"),
            "clipped": builder.cast(f, "int4"),
        }

    graph = describe(make, BROWSERS, x=("int4", [3, 1]), f=("float32", [3]))
    x = reference.pack(np.array([-8, 7, -1], np.int8))
    found = reference.compute(graph, {"x": x, "f": np.array([-100, 2.9, 100], np.float32)})
    assert found["turned"].tolist() == x.tolist() == [0x78, 0x0F]
    assert found["wide"].tolist() == [[-8], [7], [-1]]
    assert reference.unpack(found["wrapped"], "uint4", (3, 1)).tolist() == [[8], [7], [15]]
    assert reference.unpack(found["clipped"], "int4", (3,)).tolist() == [-8, 2, 7]


INPUTS: list[tuple[dict[str, Any], str]] = [
    ({}, r"inputs must be the inputs of the graph, \['x'\], got \[\]"),
    ({"x": X16, "z": X16}, r"got \['x', 'z'\]"),
    ({"x": X16.astype(np.float32)}, r"inputs\['x'\] must have elements of float16, got float32"),
    ({"x": X16[:3]}, r"inputs\['x'\] must have 8 bytes for float16 \[4\], got 6"),
    ({"x": "text"}, r"inputs\['x'\] must have elements of float16"),
]


@pytest.mark.parametrize(("inputs", "message"), INPUTS)
def test_wrong_inputs(inputs: dict[str, Any], message: str) -> None:
    graph = describe(lambda builder, x: builder.relu(x), x=("float16", [4]))
    with pytest.raises(webnn.WebNNTypeError, match=f"compute: .*{message}"):
        reference.compute(graph, inputs)


def test_inputs_in_another_layout_are_taken_in_row_major_order() -> None:
    graph = describe(lambda builder, x: builder.identity(x), x=("float32", [3, 2]))
    x = np.arange(6, dtype=np.float32).reshape(2, 3).T
    np.testing.assert_array_equal(reference.compute(graph, {"x": x})["y"], x, strict=True)


def test_a_description_without_descriptors_and_a_wrong_one() -> None:
    graph = describe(lambda builder, x: builder.relu(x), x=("float16", [4]))
    bare = replace(graph, operators=tuple([replace(each, descriptors=()) for each in graph.operators]))
    np.testing.assert_array_equal(reference.compute(bare, {"x": X16})["y"], np.maximum(X16, 0), strict=True)
    wrong = replace(graph, inputs={"x": OperandDescriptor("uint8", (4,))})
    with pytest.raises(webnn.WebNNTypeError, match="relu: input must have a data type of"):
        reference.compute(wrong, {"x": np.zeros(4, np.uint8)})


def test_a_failure_names_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise MemoryError("no room")

    graph = describe(lambda builder, x: builder.relu(x, label="first"), x=("float16", [4]))
    monkeypatch.setattr("webnn.reference.computation.operations_of", lambda *_: {"relu": fail})
    with pytest.raises(webnn.OperationError, match=r"\[first\] compute: the reference failed at relu: MemoryError: no room") as caught:
        reference.compute(graph, {"x": X16})
    assert (caught.value.operation, caught.value.label) == ("relu", "first")


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_option_of_a_draft_is_known(draft: str) -> None:
    for name, row in find_revision(draft).operations.items():
        parameters = inspect.signature(operations_of(draft)[name]).parameters
        open_ended = any(each.kind == each.VAR_KEYWORD for each in parameters.values())
        options = set() if row.options is None else {*row.options.model_fields} - {"label"}
        # The vectors have every option of the pools.
        assert options <= {*parameters} or (open_ended and name.endswith("Pool2d")), name
        positional = [each.name for each in parameters.values() if each.kind == each.POSITIONAL_OR_KEYWORD]
        wanted = len(row.operands) + len(row.arguments)
        assert len(positional) == wanted or any(each.kind == each.VAR_POSITIONAL for each in parameters.values()), name


def test_clamp_of_a_scalar_beyond_int64() -> None:
    clamped = REFERENCE_NEWEST["clamp"](np.array(2**64 - 1, np.uint64), minValue=3)
    assert (clamped.dtype, clamped.shape, int(clamped)) == (np.dtype(np.uint64), (), 2**64 - 1)
