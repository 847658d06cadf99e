"""The texts of errors, with their fields: the snapshot beside this file has one entry for each call.

Other tests assert the fields (`tests.support.refused`), so a text changes in two places: where it is made, and here, by
``pytest tests/validation/test_errors_texts.py --snapshot-update``.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

import webnn
from tests.support import CURRENT, make_context, shared_context
from tests.validation.test_steps_each import DRAFT, ROWS, Spec, make_input
from webnn import ML, Document, Faults, GraphDescription, MLGraphBuilder, describe
from webnn.gpu import GPUDevice
from webnn.validation.errors import DOMException, Rule, WebNNTypeError

#: Calls that fail, beside those of `test_steps_each`. `Names` says what the names are.
CALLS = """
builder.relu(1)
builder.relu(alien)
builder.add(x, y, options, label="no")
builder.relu(x, [1])
builder.constant("float32", [1])
builder.constant("float64", 1)
builder.constant(descriptor, np.zeros(2))
builder.constant(descriptor, np.zeros(3, np.float32))
builder.constant(descriptor, np.zeros(2, ">f4"))
builder.constant(descriptor, [1.0, 2.0])
builder.constant(descriptor, stale)
builder.constant(descriptor, stale[:1])
builder.constant(other.createConstantTensorSync(descriptor, two))
builder.constant(tensor)
builder.constant(gone)
builder.input("", descriptor)
builder.input("x", descriptor)
builder.input(object(), descriptor)
builder.input("z", {})
builder.input("z", descriptor, dataType="int8")
builder.input("z", dataType="float64")
builder.input("z", dataType="float32", shape=3)
builder.input("z", dataType="float32", shape=[-1])
builder.input("z", dataType="float32", shape=[0])
builder.input("z", dataType="float32", shape=[1] * 9)
builder.input("z", dataType="float32", shape=[2**20, 2**20])
builder.input("z", dataType="float32", dimensions=[2])
builder.tile(x, [1, 2, 2**33])
builder.tile(x, [-1])
builder.elu(x, alpha=float("inf"))
builder.argMin(x, axes=[0])
builder.cast(x, "int8", type="uint8")
builder.relu()
builder.buildSync({})
builder.buildSync(None)
builder.buildSync({"": builder.neg(x)})
builder.buildSync({"y": None})
builder.buildSync({"y": alien})
builder.buildSync({"y": x})
builder.buildSync({"y": builder.constant("float32", 2)})
built.relu(x)
early.buildSync({"y": early.add(twice(), twice())})
early.elu(twice(), alpha=[1])
early.gruCell(twice(), twice(), twice(), twice(), 1, activations=[early.relu(), MLGraphBuilder(former).relu()])
early.tile(twice(), [1])
MLGraphBuilder(None)
describe({})
describe({"x": x, "y": alien})
GraphDescription.build(describe({"y": builder.neg(x)}), 3)
ml.createContextSync(deviceType="tpu")
ml.createContextSync({}, deviceType="cpu")
ml.createContextSync(powerPreference="low")
ML(revision="2024-06").createContextSync(accelerated=True)
ML(fallback="deny", order={"npu": []}).createContextSync(deviceType="npu")
ML(document=Document({"webnn": False})).createContextSync()
ML(faults=Faults(refuse="cpu")).createContextSync(deviceType="cpu")
former.computeSync(1, {}, {})
former.computeSync(graph, {}, {})
former.computeSync(graph, {"x": two, "z": two}, {})
former.computeSync(graph, {"x": two}, {"z": two})
former.computeSync(graph, [1], {})
former.computeSync(foreign, {"x": two}, {})
former.computeSync(graph, {"x": np.zeros(2)}, {})
former.computeSync(graph, {"x": np.zeros(3, np.float32)}, {})
former.computeSync(graph, {"x": np.zeros(4, np.float32)[::2]}, {})
former.computeSync(graph, {"x": stale}, {})
former.computeSync(graph, {"x": stale[:]}, {})
former.computeSync(graph, {"x": two}, {"y": two})
former.computeSync(graph, {"x": two}, {"y": locked})
failing.buildSync({"y": failing.neg(failing.input("x", dataType="float32", dimensions=[2]))})
context.createTensorSync({})
context.createTensorSync({}, dataType="int8")
context.createTensorSync(descriptor, readable=True)
context.createTensorSync(dataType="float32", shape=[0])
context.createConstantTensorSync(descriptor, np.zeros(1, np.float32))
context.createConstantTensorSync(descriptor, np.zeros(2, np.int32))
context.writeTensor(1, two)
context.writeTensor(strange, two)
context.writeTensor(constant, two)
context.writeTensor(gone, two)
context.writeTensor(tensor, np.zeros(3, np.float32))
context.writeTensor(tensor, stale)
context.writeTensor(tensor, [1])
context.readTensorSync(1)
context.readTensorSync(strange)
context.readTensorSync(constant)
context.readTensorSync(gone)
context.readTensorSync(tensor, np.zeros(1, np.float32))
context.readTensorSync(tensor, np.zeros(4, np.float32)[::2])
context.readTensorSync(tensor, locked)
context.readTensorSync(tensor, stale)
context.dispatch(1, {}, {})
context.dispatch(graph, {}, {})
context.dispatch(plan, {}, {})
context.dispatch(plan, {"x": tensor, "z": tensor}, {})
context.dispatch(plan, {"x": 1}, {"y": tensor})
context.dispatch(plan, {"x": tensor}, {"y": tensor})
context.dispatch(plan, {"x": strange}, {"y": tensor})
context.dispatch(plan, {"x": gone}, {"y": tensor})
context.dispatch(plan, {"x": constant}, {"y": tensor})
context.dispatch(plan, {"x": tensor}, {"y": constant})
context.dispatch(plan, {"x": tensor}, {"y": small})
context.computeSync(plan, {}, {})
lost.createTensorSync(descriptor)
exporting.createExportableTensorSync(descriptor, GPUDevice())
exporting.createExportableTensorSync(descriptor, webnn.GPUDevice())
exporting.createExportableTensorSync(descriptor, {})
exporting.exportToGPU(tensor)
exporting.exportToGPU(kept)
exporting.exportToGPU(1)
exporting.writeTensor(exported, two)
exporting.readTensorSync(exported)
context.exportToGPU(tensor)
plan.run({"x": two}, x=two)
plan.run({})
plan.run({"x": two, "z": two})
plan.run({"x": stale})
plan.run({"x": [1]})
closed.run({"x": two})
closed.description
narrow.createTensorSync(descriptor)
narrow.createConstantTensorSync(descriptor, two)
""".strip().splitlines()


class Names(dict[str, Any]):
    """The objects that the names in `CALLS` mean."""

    def __init__(self) -> None:
        two, locked, stale = (np.zeros(2, np.float32) for _ in range(3))
        locked.flags.writeable = False
        descriptor = {"dataType": "float32", "shape": [2]}
        context, other, lost = (make_context(CURRENT) for _ in range(3))
        former = make_context()
        builder, built = MLGraphBuilder(context), MLGraphBuilder(context)
        x, y = (builder.input(name, descriptor) for name in "xy")
        plan = built.buildSync({"y": built.neg(built.input("x", descriptor))})
        early = MLGraphBuilder(former)
        graphs = []
        for each in (former, make_context()):
            maker = MLGraphBuilder(each)
            graphs.append(maker.buildSync({"y": maker.neg(maker.input("x", dataType="float32", dimensions=[2]))}))
        graph, foreign = graphs
        maker = MLGraphBuilder(context)
        closed = maker.buildSync({"y": maker.neg(maker.input("x", descriptor))})
        closed.destroy()
        former.computeSync(graph, {"x": stale}, {})
        tensor, gone, small = (
            context.createTensorSync(dataType="float32", shape=shape, readable=True, writable=True) for shape in ([2], [2], [1])
        )
        gone.destroy()
        lost.destroy()
        device = GPUDevice()
        exporting: Any = ML(revision="2026-09").createContextSync(device)
        exported, kept = (exporting.createExportableTensorSync(descriptor, device) for _ in range(2))
        exporting.exportToGPU(exported)
        kept.destroy()
        super().__init__(
            alien=MLGraphBuilder(context).input("x", descriptor),
            constant=context.createConstantTensorSync(descriptor, two),
            narrow=ML(revision=CURRENT, faults=Faults(memoryLimit=1)).createContextSync(),
            strange=other.createTensorSync(descriptor),
            twice=lambda: early.input("x", dataType="float32", dimensions=[2]),
            failing=MLGraphBuilder(ML(revision="2024-06", faults=Faults(failBuild=1)).createContextSync()),
            ml=ML(revision=CURRENT),
            options={},
            np=np,
            webnn=webnn,
            describe=describe,
            **{each.__name__: each for each in (ML, Document, Faults, GPUDevice, GraphDescription, MLGraphBuilder)},
            **{name: value for name, value in locals().items() if name not in ("self", "each", "maker", "graphs", "__class__")},
        )


def say(error: WebNNTypeError | DOMException) -> str:
    """Write an error's fields and text. Parts that depend on the machine are left out."""
    fields = " ".join(filter(None, [error.operation, error.argument, error.step]))
    text = re.sub(r"(?<=here, which the fallback policy)(?s:.*)|0x[0-9a-f]+|(?<=got )<.* object at .*>", " ...", str(error))
    return f"{type(error).__name__}, {error.rule}: {fields}\n    {text}"


def test_validators(snapshot: SnapshotAssertion) -> None:
    """Of the newest draft: each row of `test_steps_each`."""
    builder, numbers, texts = MLGraphBuilder(shared_context(DRAFT)), itertools.count(), []

    def made(value: object) -> object:
        if isinstance(value, list):
            return [made(each) for each in value]
        return make_input(builder, f"input{next(numbers)}", value) if isinstance(value, Spec) else value

    for name, _, arguments, options in ROWS:
        members = {member: made(value) for member, value in options.items()}
        with pytest.raises(WebNNTypeError) as raised:
            getattr(builder, name)(*map(made, arguments), **members)
        texts.append(say(raised.value))
    assert "\n".join(texts) == snapshot


def test_calls(snapshot: SnapshotAssertion) -> None:
    names, texts = Names(), []
    for call in CALLS:
        with pytest.raises((WebNNTypeError, DOMException)) as raised:
            eval(call, names)
        texts.append(f"{call}\n    {say(raised.value)}")
    assert "\n".join(texts) == snapshot


def test_each_rule_has_a_text() -> None:
    file = Path(__file__).parent / "__snapshots__" / "test_errors_texts.ambr"
    shown = set(re.findall(r"^ +\w+(?:Error|Exception), ([a-z-]*):", file.read_text(encoding="utf-8"), re.M))
    assert shown == set(get_args(Rule)) - WITHOUT


#: Rules whose texts are the machine's: of ONNX Runtime, and of a provider's memory.
WITHOUT = {"", "engine", "memory"}
