"""Contexts of a device profile: they report its limits, refuse what it refuses, and compute the numbers on the CPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import BROWSERS, CURRENT, FIRST
from webnn import ML, MLContext, MLGraphBuilder, MLOperand, NotSupportedError, WebNNTypeError
from webnn.context.limits import CONTEXT, op_support_limits
from webnn.context.profiles import PROFILES, load_profile
from webnn.validation.drafts import find_revision, with_acceptance

Array = np.ndarray[Any, np.dtype[Any]]

each_profile = pytest.mark.parametrize("name", PROFILES)
# With the engine that needs no process: limits do not depend on it.
CONTEXTS = {name: ML(revision=CURRENT, profile=name, engine="onnxruntime").createContextSync() for name in PROFILES}


@each_profile
def test_the_limits_are_the_data(name: str) -> None:
    limits = CONTEXTS[name].opSupportLimits()
    assert limits == load_profile(name).limits()
    assert limits.keys() == load_profile(name).operations.keys() | set(CONTEXT)
    # The caller may change it.
    limits["add"]["a"]["dataTypes"].clear()
    assert CONTEXTS[name].opSupportLimits() == load_profile(name).limits()


def test_the_limits_without_a_profile_are_the_drafts() -> None:
    plain = ML(revision=CURRENT).createContextSync().opSupportLimits()
    assert plain == op_support_limits(find_revision(CURRENT))
    for name in PROFILES:
        assert plain != CONTEXTS[name].opSupportLimits()
    # The draft of June 2024 has no such limits, its contexts have profiles.
    former = with_acceptance(FIRST, load_profile("ort"))
    assert op_support_limits(former) == load_profile("ort").limits()


def run(context: MLContext, build: Callable[[MLGraphBuilder, MLOperand], MLOperand], value: Array, dataType: str | None = None) -> Array:
    """Compute a graph with one input and one output."""
    builder = MLGraphBuilder(context)
    given: Any = {"dataType": dataType or value.dtype.name, "shape": list(value.shape)}
    output = build(builder, builder.input("x", given))
    graph = builder.buildSync({"y": output})
    x = context.createTensorSync({**given, "writable": True})
    y = context.createTensorSync({"dataType": output.dataType, "shape": output.shape, "readable": True})
    context.writeTensor(x, value)
    context.dispatch(graph, {"x": x}, {"y": y})
    return context.readTensorSync(y)


def constant(builder: MLGraphBuilder, dataType: Any, value: Array, shape: list[int] | None = None) -> MLOperand:
    return builder.constant({"dataType": dataType, "shape": list(value.shape) if shape is None else shape}, value)


def dequantized(dataType: str) -> Callable[[MLGraphBuilder, MLOperand], MLOperand]:
    """Add four integers to the input: 1, 2, 3 and 4, of the type, with the scale 0.5 and the zero point 1."""
    packed = dataType.endswith("int4")
    values = np.array([0x21, 0x43], np.uint8) if packed else np.array([1, 2, 3, 4], dataType)
    one = np.array([1], np.uint8 if packed else dataType)

    def build(builder: MLGraphBuilder, x: MLOperand) -> MLOperand:
        weights = constant(builder, dataType, values, [4])
        scale = constant(builder, "float32", np.array([0.5], np.float32))
        return builder.add(x, builder.dequantizeLinear(weights, scale, constant(builder, dataType, one, [1])))

    return build


def picked(dataType: str) -> Callable[[MLGraphBuilder, MLOperand], MLOperand]:
    return lambda builder, x: builder.gather(x, constant(builder, dataType, np.array([2, 0], dataType)))


FLOATS = np.array([1, 2, 3, 4], np.float32)
#: A graph that each profile takes and what it computes; and the same that only a wider one takes, with the operand at fault.
COMPUTED: dict[str, tuple[Callable[[MLGraphBuilder, MLOperand], MLOperand], Array, list[float]]] = {
    "coreml": (picked("int32"), FLOATS, [3, 1]),
    "coreml-macos14": (dequantized("uint8"), FLOATS, [1, 2.5, 4, 5.5]),
    "dml": (dequantized("uint4"), FLOATS, [1, 2.5, 4, 5.5]),
    "dml-fl4_0": (lambda builder, x: builder.add(x, x), np.array([1, 2], np.uint32), [2, 4]),
    "dml-fl4_1": (lambda builder, x: builder.add(x, x), np.array([1, 2], np.uint64), [2, 4]),
    "dml-fl5_0": (picked("int64"), np.array([1, 2, 3], np.uint8), [3, 1]),
    "dml-fl5_1": (lambda builder, x: builder.relu(x), np.array([-1, 2], np.int8), [0, 2]),
    "dml-fl6_0": (lambda builder, x: builder.div(x, x), np.array([3, 2], np.int64), [1, 1]),
    "dml-fl6_2": (dequantized("int8"), FLOATS, [1, 2.5, 4, 5.5]),
    "ort": (dequantized("int4"), FLOATS, [1, 2.5, 4, 5.5]),
    "ort-openvino": (dequantized("int32"), FLOATS, [1, 2.5, 4, 5.5]),
    "tflite-chromium147": (lambda builder, x: builder.add(x, x), np.array([1, -2], np.int64), [2, -4]),
    "tflite-chromium153": (lambda builder, x: builder.sub(x, x), np.array([1, -2], np.int64), [0, 0]),
}
REFUSED: dict[str, tuple[Callable[[MLGraphBuilder, MLOperand], MLOperand], Array, str]] = {
    "coreml": (picked("uint32"), FLOATS, "gather: indices"),
    "coreml-macos14": (dequantized("uint4"), FLOATS, "dequantizeLinear: input"),
    "dml": (lambda builder, x: builder.relu(x), np.array([1, 2], np.int64), "relu: input"),
    "dml-fl4_0": (lambda builder, x: builder.add(x, x), np.array([1, 2], np.uint64), "add: a"),
    "dml-fl4_1": (lambda builder, x: builder.add(x, x), np.array([1, 2], np.uint8), "add: a"),
    "dml-fl5_0": (lambda builder, x: builder.relu(x), np.array([-1, 2], np.int8), "relu: input"),
    "dml-fl5_1": (lambda builder, x: builder.div(x, x), np.array([3, 2], np.int64), "div: a"),
    "dml-fl6_0": (dequantized("int4"), FLOATS, "constant: descriptor"),
    "dml-fl6_2": (lambda builder, x: builder.cast(x, "int4"), FLOATS, "cast: dataType"),
    "ort": (dequantized("int32"), FLOATS, "dequantizeLinear: input"),
    "ort-openvino": (dequantized("uint32"), FLOATS, "dequantizeLinear: input"),
    "tflite-chromium147": (dequantized("uint4"), FLOATS, "constant: descriptor"),
    "tflite-chromium153": (dequantized("uint4"), FLOATS, "constant: descriptor"),
}


def test_there_are_graphs_for_profiles() -> None:
    assert COMPUTED.keys() == REFUSED.keys() <= set(PROFILES)
    assert len(COMPUTED) >= 13


@pytest.mark.parametrize("name", COMPUTED)
def test_a_graph_that_computes(name: str) -> None:
    build, value, expected = COMPUTED[name]
    assert run(CONTEXTS[name], build, value).tolist() == expected


@pytest.mark.parametrize("name", REFUSED)
def test_a_graph_that_is_refused(name: str) -> None:
    build, value, subject = REFUSED[name]
    with pytest.raises(WebNNTypeError) as caught:
        run(CONTEXTS[name], build, value)
    assert str(caught.value).startswith(f"{subject} must ")
    assert f'] on the device profile "{name}", got ' in str(caught.value)
    # It is the device that refuses it: without the profile it computes.
    assert run(ML(revision=BROWSERS).createContextSync(), build, value).size


# Tensors


def test_the_types_of_tensors() -> None:
    context = CONTEXTS["coreml"]
    assert context.createTensorSync(dataType="int32", shape=[1] * 5).shape == (1,) * 5
    takes = r"must have a data type of \['float32', 'float16', 'int32'\] on the device profile \"coreml\", got uint8$"
    with pytest.raises(WebNNTypeError, match=f"^createTensor: descriptor {takes}") as caught:
        context.createTensorSync(dataType="uint8", shape=[2])
    assert (caught.value.operation, caught.value.argument) == ("createTensor", "descriptor")
    with pytest.raises(WebNNTypeError, match=r'^createTensor: descriptor must have at most 5 dimensions on the device profile "coreml"'):
        context.createTensorSync(dataType="float32", shape=[1] * 6)


def test_constant_tensors_have_limits_of_their_own() -> None:
    context = CONTEXTS["coreml"]
    tensor = context.createConstantTensorSync({"dataType": "uint8", "shape": [2]}, np.array([1, 0], np.uint8))
    builder = MLGraphBuilder(context)
    assert builder.cast(builder.constant(tensor), "float32").shape == (2,)
    with pytest.raises(WebNNTypeError, match=r'^createConstantTensor: descriptor must have a data type of .* "coreml", got int64$'):
        context.createConstantTensorSync({"dataType": "int64", "shape": [2]}, np.array([1, 0], np.int64))
    # The draft comes first.
    with pytest.raises(WebNNTypeError, match=r"^createConstantTensor: inputData must have 16 bytes"):
        context.createConstantTensorSync({"dataType": "int64", "shape": [2]}, bytes(3))


async def test_a_promise_is_rejected() -> None:
    with pytest.raises(WebNNTypeError, match='on the device profile "coreml", got uint8'):
        await CONTEXTS["coreml"].createTensor(dataType="uint8", shape=[2])
    builder = MLGraphBuilder(CONTEXTS["coreml"])
    output = builder.cast(builder.input("x", dataType="float32", shape=[2]), "uint8")
    with pytest.raises(WebNNTypeError, match=r"^build: outputs\['y'\] must have a data type of"):
        await builder.build({"y": output})


@pytest.mark.parametrize(("name", "most"), [("dml", 2**32 - 1), ("ort", 2**31 - 1)])
def test_the_size_of_a_tensor(name: str, most: int) -> None:
    context = CONTEXTS[name]
    assert context.opSupportLimits()["maxTensorByteLength"] == most
    with pytest.raises(WebNNTypeError, match=f'^createTensor: descriptor must have at most {most} bytes on the device profile "{name}"'):
        context.createTensorSync(dataType="uint8", shape=[2**16, 2**16 + 1])


def test_constant_tensors() -> None:
    """A device may have none; without a profile there are some."""
    for name in PROFILES:
        context = ML(revision=CURRENT, profile=name).createContextSync()
        if load_profile(name).constant_tensors:
            assert context.createConstantTensorSync({"dataType": "float32", "shape": [4]}, FLOATS).constant
            continue
        with pytest.raises(NotSupportedError, match=f'^createConstantTensor: the device profile "{name}" has no constant tensors$'):
            context.createConstantTensorSync({"dataType": "float32", "shape": [4]}, FLOATS)
        tensor = context.createTensorSync(dataType="float32", shape=[4])
        with pytest.raises(NotSupportedError, match=f'^constant: the device profile "{name}" has no constant tensors$'):
            MLGraphBuilder(context).constant(tensor)
    assert not load_profile("tflite").constant_tensors


# The draft of June 2024


def test_the_draft_of_june_2024() -> None:
    context = ML(revision="2024-06", profile="tflite").createContextSync()
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", dimensions=[2])
    mask = builder.greater(x, builder.constant("float32", 1))
    graph = builder.buildSync({"y": builder.where(mask, x, builder.neg(x))})
    result = context.computeSync(graph, {"x": np.array([1, 2], np.float32)}, {"y": np.empty(2, np.float32)})
    assert result["outputs"]["y"].tolist() == [-1, 2]
    wide = builder.input("wide", dataType="uint8", dimensions=[2])
    with pytest.raises(
        WebNNTypeError, match=r'^where: input must have a data type of .* on the device profile "tflite-chromium153", got uint8'
    ):
        builder.where(mask, wide, wide)


# A user's file


def test_a_users_file(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps({"_extends": "tflite", "maxTensorByteLength": 16, "tanh": None}), encoding="utf-8")
    context = ML(revision=CURRENT, profile=file).createContextSync()
    limits = context.opSupportLimits()
    assert limits["maxTensorByteLength"] == 16
    assert "tanh" not in limits
    assert run(context, lambda builder, x: builder.relu(x), FLOATS).tolist() == [1, 2, 3, 4]
    with pytest.raises(WebNNTypeError, match=r'^input: descriptor must have at most 16 bytes on the device profile "small\.json"'):
        run(context, lambda builder, x: builder.relu(x), np.zeros(5, np.float32))
    with pytest.raises(WebNNTypeError, match=r'^tanh: the device profile "small\.json" does not have it$'):
        run(context, lambda builder, x: builder.tanh(x), FLOATS)
