"""The reference as a device: `ML(reference=True)`."""

from __future__ import annotations

import collections
import subprocess
import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import webnn
from tests.shared import SHARED
from tests.support import BROWSERS, CURRENT
from webnn import reference
from webnn.javascript.idl import load_idl
from webnn.wpt_runner.levels import level_of
from webnn.wpt_runner.vectors.cases import Case, load_cases
from webnn.wpt_runner.vectors.corrections import check_corrections, load_corrections
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.graphs import read_graph
from webnn.wpt_runner.vectors.replay import run_case

#: Of the 2,686 cases every fortieth is computed by day, and all at night.
STEPS = [pytest.param(40, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
COUNTS = {"2024-06": 958, "2025-03": 1728}
#: Operations that round between their steps (docs/numerics.md): how far the result may be from the exact one.
STEPWISE = {"dequantizeLinear": 1.5}


def cases_of(level: str, step: int) -> list[Case]:
    cases = [case for case in load_cases(bundled_archives()) if case.level == level]
    assert len(cases) == COUNTS[level]
    return cases[::step]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("level", COUNTS)
def test_conformance(level: str, step: int) -> None:
    """Every case passes, within the tolerance of web-platform-tests, with the corrections that the engine needs too."""
    found = level_of(level)
    ml = webnn.ML(revision=load_idl(found.revision, found.dialect).revision, reference=True)
    corrections = load_corrections(level)
    # A context for each case: a failure of `dispatch` loses it.
    cases = cases_of(level, step)
    outcomes = [run_case(case, ml.createContextSync(), corrections.get(case.name)) for case in cases]
    assert [f"{outcome.case.name}: {outcome.failure}" for outcome in outcomes if outcome.failure] == []
    names = {case.name for case in cases}
    assert check_corrections({name: each for name, each in corrections.items() if name in names}, outcomes) == []


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("level", COUNTS)
def test_results_are_the_exact_ones_rounded(level: str, step: int) -> None:
    compared: collections.Counter[str] = collections.Counter()
    refused = [name for name, correction in load_corrections(level).items() if correction.error]
    for case in cases_of(level, step):
        if case.name in refused:
            continue
        recorded = read_graph(case)
        # Some cases have int4.
        graph = replace(recorded.graph, draft=BROWSERS if recorded.graph.draft == CURRENT else recorded.graph.draft).infer()
        if len(graph.operators) > 1:
            continue
        [operator] = graph.operators
        operands = {**recorded.inputs, **{name: constant.value for name, constant in graph.constants.items()}}
        known = graph.descriptors()
        rounded = reference.evaluate(operator, graph.draft, operands, descriptors=known)
        exact = reference.evaluate(operator, graph.draft, operands, descriptors=known, exact=True)
        for name, one, other in zip(operator.outputs, rounded, exact, strict=True):
            dataType = known[name].dataType
            assert other.dtype == (np.float64 if dataType.startswith("float") else one.dtype), case.name
            assert reference.ulp_distance(one, other, dataType).max() <= STEPWISE.get(operator.operation, 0.5), case.name
            compared[operator.operation] += 1
    assert len(compared) >= (15 if step > 1 else 70)


def make(**settings: Any) -> webnn.MLContext:
    return webnn.ML(revision=CURRENT, reference=True, **settings).createContextSync()


def build(context: webnn.MLContext, dataType: Any = "float16") -> webnn.MLGraph:
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", {context_shape(context): [3], "dataType": dataType})
    return builder.buildSync({"square": builder.mul(x, x, label="twice"), "sum": builder.add(x, x)})


def context_shape(context: webnn.MLContext) -> Any:
    return context._revision.shape


def test_compute_over_buffers() -> None:
    context = webnn.ML(revision="2024-06", reference=True).createContextSync()
    graph = build(context)
    x = np.array([1, 2, 300], np.float16)
    # Of two outputs, one is wanted.
    result = context.computeSync(graph, {"x": x}, {"square": np.zeros(3, np.float16)})
    assert result["outputs"]["square"].tolist() == [1, 4, np.inf]
    both = context.computeSync(graph, result["inputs"], {"sum": np.zeros(3, np.float16), "square": result["outputs"]["square"]})
    assert both["outputs"]["sum"].tolist() == [2, 4, 600]
    with pytest.raises(TypeError, match="detached"):
        context.computeSync(graph, {"x": x}, {"sum": np.zeros(3, np.float16)})


def test_dispatch_over_tensors() -> None:
    context = make()
    graph = build(context)
    descriptor: Any = {"dataType": "float16", "shape": [3], "readable": True, "writable": True}
    x, square, total = (context.createTensorSync(descriptor) for _ in range(3))
    context.writeTensor(x, np.array([1, 2, 300], np.float16))
    for _ in range(2):
        context.dispatch(graph, {"x": x}, {"sum": total, "square": square})
        context.dispatch(graph, {"x": total}, {"sum": x, "square": square})
    read = context.readTensorSync(x)
    assert read is not None
    assert read.tolist() == [16, 32, 4800]
    square.destroy()
    graph.destroy()


def test_where_it_runs() -> None:
    context = make()
    assert repr(context) == '<MLContext deviceType="cpu" powerPreference="default": reference>'
    assert context.accelerated is False
    graph = build(context)
    assert graph.devices == ["cpu"]
    assert [(each.label, each.device, each.providers) for each in graph.placement.operators] == [
        ("twice", "cpu", ("reference",)),
        ("", "cpu", ("reference",)),
    ]
    assert str(graph.placement).startswith("cpu requested, computed by the reference\n")
    assert graph._implementation is not None
    assert graph._implementation.providers == ["reference"]


def test_another_device_is_not_there() -> None:
    with pytest.warns(webnn.DeviceFallbackWarning, match='"gpu" runs on the CPU here: the reference computes on the CPU'):
        webnn.ML(revision=CURRENT, reference=True).createContextSync(deviceType="gpu")
    with pytest.raises(webnn.NotSupportedError, match="the reference computes on the CPU"):
        webnn.ML(revision=CURRENT, reference=True, fallback="deny").createContextSync(deviceType="npu")


def test_a_device_profile_decides_what_is_accepted() -> None:
    context = make(profile="coreml")
    graph = build(context)
    assert graph.placement.simulated
    builder = webnn.MLGraphBuilder(context)
    with pytest.raises(webnn.WebNNTypeError, match="coreml"):
        builder.input("x", {"dataType": "uint64", "shape": [1]})
    assert "reference" in repr(context)


def test_an_unchanged_program() -> None:
    with webnn.emulate(reference=True):
        context = webnn.ML(revision=CURRENT).createContextSync()
        assert build(context).placement.operators[0].providers == ("reference",)
        own = webnn.ML(revision=CURRENT, reference=False).createContextSync()
    assert build(own).placement.operators[0].providers != ("reference",)
    for wrong in (1, "yes"):
        with pytest.raises(TypeError, match="reference must be a bool"):
            webnn.ML(revision="2024-06", reference=wrong)


def test_a_failure_loses_a_context_with_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Any) -> Any:
        raise MemoryError("no room")

    monkeypatch.setattr("webnn.reference.computation.operations_of", lambda *_: {"mul": lambda *_: fail(0), "add": lambda *_: fail(0)})
    plain = webnn.ML(revision="2024-06", reference=True).createContextSync()
    with pytest.raises(webnn.OperationError, match=r"\[twice\] compute: the reference failed at mul: MemoryError: no room"):
        plain.computeSync(build(plain), {"x": np.zeros(3, np.float16)}, {"square": np.zeros(3, np.float16)})
    context = make()
    descriptor: Any = {"dataType": "float16", "shape": [3], "readable": True}
    x, square, total = (context.createTensorSync(descriptor) for _ in range(3))
    graph = build(context)
    context.dispatch(graph, {"x": x}, {"sum": total, "square": square})
    with pytest.raises(webnn.InvalidStateError, match="the reference failed at mul"):
        context.readTensorSync(square)


def test_an_operation_of_an_addition_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webnn.reference.computation.operations_of", lambda *_: {})
    with pytest.raises(webnn.OperationError, match=r"build: \[twice\] mul: the reference has no such operation"):
        build(make())


PROGRAM = """
import sys
import webnn
context = webnn.ML(revision="2024-06", reference=True).createContextSync()
assert "webnn.reference" not in sys.modules
builder = webnn.MLGraphBuilder(context)
x = builder.input("x", dataType="float32", dimensions=[1])
graph = builder.buildSync({"y": builder.relu(x)})
import numpy as np
context.computeSync(graph, {"x": np.ones(1, np.float32)}, {"y": np.ones(1, np.float32)})
print(*{"onnx", "onnxruntime", "webnn.builder.onnx", "webnn.reference"} & {*sys.modules})
"""


@pytest.mark.processes
def test_it_needs_no_engine() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["webnn.reference"]


@pytest.mark.slow
@pytest.mark.shared
def test_a_real_network() -> None:
    """SqueezeNet: the same answer as a browser."""
    from examples.squeezenet import SqueezeNet

    models = SHARED / "models" / "squeezenet1.0_nhwc"
    context = webnn.ML(revision="2024-06", reference=True).createContextSync()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = SqueezeNet(context, np.load(models / "weights.npz")).build()
    x = (np.load(models / "photo_rgb_224.npy").astype(np.float32) / 127.5 - 1).reshape(1, 224, 224, 3)
    expected = np.load(models / "expected_probabilities.npy").reshape(1, 1001)
    y = context.computeSync(graph, {"input": x}, {"output": np.empty((1, 1001), np.float32)})["outputs"]["output"]
    np.testing.assert_allclose(y, expected, atol=1e-5)
