"""The import as a whole."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import webnn.tflite
from tests.webnn.tflite.makers import b, c, f, i, ints, one, q
from tests.webnn.tflite.models import Graph, Op, T, write
from tests.webnn.tflite.support import compute, operations, refusals
from webnn.tflite.importer import Settings
from webnn.tflite.model import read

RELU = Op("RELU", [0], [1])


def test_a_model() -> None:
    imported = webnn.tflite.load(
        write(Graph([f(2, 3, name="x"), f(2, 3, name="y"), f(2, 3, name="z")], [RELU, Op("ABS", [1], [2])], [0], [2]))
    )
    assert [(each.operation, each.label) for each in imported.description.operators] == [("relu", "y"), ("abs", "z")]
    assert [(each.name, each.operator, each.outcome) for each in imported.report.nodes] == [
        ("y", "RELU", "converted"),
        ("z", "ABS", "converted"),
    ]


def test_all_refusals_at_once() -> None:
    tensors = [f(2), f(2), f(2), T(type="STRING", shape=[2]), f(2)]
    model = write(Graph(tensors, [Op("FlexErf", [0], [1]), Op("RANDOM_UNIFORM", [1], [2]), Op("ABS", [1], [4])], [0, 3], [4]))
    with pytest.raises(webnn.tflite.RefusedModelError) as caught:
        webnn.tflite.load(model)
    assert [(each.place, each.operator, each.reason) for each in caught.value.report.refusals] == [
        ("inputs['t3']", "", "the element type must be one of WebNN, got STRING"),
        ("t1", "CUSTOM.FlexErf", "there is no rule for the operator CUSTOM.FlexErf"),
        ("t2", "RANDOM_UNIFORM", "there is no rule for the operator RANDOM_UNIFORM"),
    ]
    assert "TFLITE_BUILTINS" in caught.value.report.refusals[1].advice
    assert [each.outcome for each in caught.value.report.nodes] == ["refused", "refused", "converted"]


def test_known_inputs() -> None:
    """A shape that comes from an input must be known."""
    model = one("RESHAPE", [f(2, 3), i(2)], [f(3, 2, open=[0])])
    assert refusals(model) == [("RESHAPE", "the shape, which the file leaves open, must be known at import, got the value 't1'")]
    assert operations(model, constants={"t1": [3, 2]}) == ["reshape"]


def test_shapes() -> None:
    model = one("RELU", [f(1, 4, open=[0])], [f()])
    imported = webnn.tflite.load(model)
    assert imported.inputs["t0"].dimensions == (1, 4)
    assert imported.report.notes[0].startswith("the file leaves sizes of 't0' open, and has [1, 4]")
    assert webnn.tflite.load(model, shapes={"t0": [5, 4]}).inputs["t0"].dimensions == (5, 4)
    assert refusals(model, shapes={"t0": [5, 3]}) == [("", "the shape must fit [?, 4], got [5, 3]")]


def test_the_shape_of_the_file_does_not_fit() -> None:
    """Some files have 1 in the place of each size that they leave open."""
    options = {"StrideH": 1, "StrideW": 1, "Padding": 1}
    model = one("CONV_2D", [f(1, 1, 1, 2, open=[1, 2]), c(1, 3, 3, 2)], [f()], "Conv2DOptions", **options)
    with pytest.raises(webnn.tflite.RefusedModelError) as caught:
        webnn.tflite.load(model)
    assert [each.advice for each in caught.value.report.refusals] == ["", "give them: shapes={'t0': [...]}"]
    assert operations(model, shapes={"t0": [1, 4, 4, 2]}) == ["conv2d"]


def test_a_constant_without_elements() -> None:
    """It has no buffer. As a shape it is that of a scalar."""
    model = write(Graph([f(1, name="x"), i(0), f(name="y")], [Op("RESHAPE", [0, 1], [2])], [0], [2]))
    assert compute(model, {"x": np.array([3])})["y"].tolist() == 3


def test_shapes_are_computed_at_import() -> None:
    tensors = [f(2, 6, name="x"), i(2), ints(1), ints([2]), ints([1]), i(1), ints([-1]), i(2), f(6, 2)]
    steps = [
        Op("SHAPE", [0], [1], ("ShapeOptions", {"OutType": 2})),
        Op("STRIDED_SLICE", [1, 2, 3, 4], [5], ("StridedSliceOptions", {})),
        Op("CONCATENATION", [5, 6], [7], ("ConcatenationOptions", {"Axis": 0})),
        Op("RESHAPE", [0, 7], [8]),
    ]
    imported = webnn.tflite.load(write(Graph(tensors, steps, [0], [8])))
    assert [each.outcome for each in imported.report.nodes] == ["folded", "folded", "folded", "converted"]
    assert imported.description.descriptors()[imported.description.outputs["t8"]].dimensions == (6, 2)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (write(Graph([f(2), f(2)], [Op("ABS", [1], [0])], [0], [0])), "the tensor 't0' must be made once"),
        (write(Graph([f(2), f(2)], [RELU, RELU], [0], [1])), "the tensor 't1' must be made once"),
        (write(Graph([f(2), f(2), f(2)], [Op("ABS", [2], [1])], [0], [1])), "there is no value of the tensor 't2' before the operator"),
        (write(Graph([f(2)], [Op("ABS", [0], [])], [0], [0])), "the operator must have outputs"),
        (write(Graph([f(2), f(2), f(2)], [Op("ABS", [0], [1, 2])], [0], [1])), "the operator must have 1 outputs, got 2"),
        (write(Graph([f(2), f(2)], [Op("PRELU", [0], [1])], [0], [1])), "the input 1 must be given"),
        (write(Graph([f(2), f(2)], [RELU], [0], [])), "the subgraph must have outputs"),
    ],
)
def test_a_wrong_graph(model: bytes, reason: str) -> None:
    assert reason in [each for _, each in refusals(model)]


def test_quantized_integers_that_only_move_stay() -> None:
    assert operations(one("RESHAPE", [q(2, 3), ints(3, 2)], [q(3, 2)])) == ["reshape"]
    assert operations(one("RESHAPE", [q(2, 3), ints(3, 2)], [q(3, 2, scale=0.5)])) == ["dequantizeLinear", "reshape", "quantizeLinear"]


def test_numbers_are_dequantized_once() -> None:
    model = write(Graph([q(2), q(2), q(2)], [Op("RELU", [0], [1], version=2), Op("ABS", [0], [2], version=2)], [0], [1, 2]))
    assert operations(model).count("dequantizeLinear") == 1


BODY = Graph([f(3), f(3)], [Op("FlexErf", [0], [1])], [0], [1], "body")


def test_a_branch_that_is_never_taken() -> None:
    branch = ("IfOptions", {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 2})
    other = Graph([f(3), f(3)], [RELU], [0], [1], "other")
    known = write(Graph([T(np.array([False])), f(3), f(3)], [Op("IF", [0, 1], [2], branch)], [1], [2]), BODY, other)
    assert operations(known) == ["relu"]
    computed = write(Graph([b(1), f(3), f(3)], [Op("IF", [0, 1], [2], branch)], [0, 1], [2]), BODY, other)
    assert "then_branch cannot be imported: t1 (CUSTOM.FlexErf)" in refusals(computed)[0][1]


def test_a_subgraph_that_calls_itself() -> None:
    graph = Graph([f(3), f(3)], [Op("CALL", [0], [1], ("CallOptions", {"Subgraph": 0}))], [0], [1])
    assert any("nested deeper than 64 levels" in reason for _, reason in refusals(write(graph)))


def test_a_loop_without_end() -> None:
    condition = Graph([i(), T(np.array([True]))], [], [0], [1], "always")
    step = Graph([i(), ints(1), i()], [Op("ADD", [0, 1], [2], ("AddOptions", {}))], [0], [2], "step")
    loop = Op("WHILE", [0], [1], ("WhileOptions", {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2}))
    found = refusals(write(Graph([ints(0), i()], [loop], [], [1]), condition, step))
    assert any("the model must have at most 20000 operators when loops and functions are unrolled" in reason for _, reason in found)


def test_labels_of_subgraphs() -> None:
    inner = Graph([f(3), f(3, name="inner")], [RELU], [0], [1])
    call = Op("STABLEHLO_COMPOSITE", [0], [1], ("StableHLOCompositeOptions", {"Name": "my.gelu", "DecompositionSubgraphIndex": 1}))
    outer = Graph([f(3), f(3, name="y"), f(3, name="z")], [call, Op("ABS", [1], [2])], [0], [2])
    found = webnn.tflite.load(write(outer, inner)).description.operators
    assert [each.label for each in found] == ["y/my.gelu/inner", "z"]


def test_float16_weights_stay_small() -> None:
    half = T(np.ones((64, 64), np.float16))
    connect = Op("FULLY_CONNECTED", [0, 2], [3], ("FullyConnectedOptions", {}))
    model = write(Graph([f(1, 64), half, f(64, 64), f(1, 64)], [Op("DEQUANTIZE", [1], [2]), connect], [0], [3]))
    found = webnn.tflite.load(model).description
    assert [each.descriptor.dataType for each in found.constants.values()] == ["float16"]
    assert [each.operation for each in found.operators] == ["cast", "gemm"]


def test_copies_of_one_buffer_take_memory() -> None:
    """A buffer of a file that many tensors share must not become as many arrays."""
    shared = np.zeros(1 << 21, np.int8).tobytes()
    count = 400
    tensors = [T(type="INT16", shape=[1 << 20], raw=shared), *(T(type="INT16", shape=[1 << 20]) for _ in range(count)), i(1 << 20)]
    model = read(write(Graph(tensors, [Op("ADD_N", range(count + 1), [count + 1])], [], [count + 1])))
    for tensor in model.subgraphs[0].tensors[1 : count + 1]:
        tensor.data = model.subgraphs[0].tensors[0].data
    _, report = webnn.tflite.survey(model, Settings())
    assert report.refusals[0].reason.startswith("what is computed at import must have at most 1 GiB")


@pytest.mark.parametrize("source", [3, None, bytearray(b"x")])
def test_a_source_of_another_type(source: Any) -> None:
    with pytest.raises(TypeError, match="load: source must be a file, or the bytes of one, got"):
        webnn.tflite.load(source)


def test_a_wide_padding_of_constants_takes_no_memory() -> None:
    """Inputs and output are small; what the reference would pad has 67 million elements."""
    options = {"StrideW": 1, "StrideH": 1, "DilationWFactor": 1 << 12, "DilationHFactor": 1 << 12}
    model = one("CONV_2D", [c(1, 3, 3, 1), c(1, 3, 3, 1), c(1)], [f()], "Conv2DOptions", **options)
    tracemalloc.start()
    try:
        assert operations(model) == ["conv2d"]
        assert tracemalloc.get_traced_memory()[1] < 1 << 26
    finally:
        tracemalloc.stop()


def test_what_is_known_is_computed() -> None:
    assert operations(one("ADD", [c(2, 3), c(2, 3)], [f()], "AddOptions")) == ["identity"]


def test_known_small_integers_are_computed() -> None:
    between = T(type="INT4", shape=[5])
    model = write(Graph([ints(1, -2, 3, -8, 7), between, i(5)], [Op("CAST", [0], [1]), Op("CAST", [1], [2])], [], [2]))
    assert operations(model) == ["identity"]
    assert compute(model, {})["t2"].tolist() == [1, -2, 3, -8, 7]


def test_a_matrix_of_a_long_diagonal_takes_no_memory() -> None:
    with pytest.raises(webnn.tflite.RefusedModelError, match="what is computed at import must have at most 1 GiB"):
        webnn.tflite.load(one("MATRIX_DIAG", [f(1 << 16)], [f()]))


@pytest.mark.parametrize("settings", [{"shapes": {"nope": [1]}}, {"constants": {"nope": 1}}])
def test_names_of_settings(settings: Mapping[str, Any]) -> None:
    assert refusals(one("RELU", [f(2)], [f()]), **settings) == [("", "must name an input, got 'nope'")]


def test_a_tensor_is_an_input_and_an_output() -> None:
    found = compute(write(Graph([f(2, name="x")], [], [0], [0])), {"x": np.array([1, 2])})
    assert found["x"].tolist() == [1, 2]


def test_int64_can_become_int32() -> None:
    model = one("GATHER", [c(4), i(2, type="INT64")], [f()], "GatherOptions")
    assert webnn.tflite.load(model, int32=True).inputs["t1"].dataType == "int32"
