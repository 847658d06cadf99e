"""The ways to set the switches of the semantics, which setting wins, and that it reaches the computation."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, refused
from webnn import ML, MLContext, MLGraphBuilder, OperationError, emulate
from webnn.builder.semantics import SWITCHES
from webnn.context.profiles import load_profile

INFINITY = np.array([-np.inf], np.float32)


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBNN_SEMANTICS", raising=False)


def clamped(context: MLContext) -> str:
    """Tell the value of clampNaN by what a context computes."""
    builder = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "shape": [1]})
    graph = builder.buildSync({"y": builder.clamp(x, minValue=np.nan)})
    tensors = [context.createTensorSync({"dataType": "float32", "shape": [1], "readable": True, "writable": True}) for _ in "xy"]
    context.writeTensor(tensors[0], INFINITY)
    context.dispatch(graph, {"x": tensors[0]}, {"y": tensors[1]})
    result = float(np.asarray(context.readTensorSync(tensors[1])).view(np.float32)[0])
    return {"nan": "nan", "-inf": "ignore", "inf": "maxValue"}[str(result)]


def profile(folder: Path, value: str | None, **members: Any) -> Path | None:
    path = folder / "own.json"
    path.write_text(json.dumps({"_extends": "ort", "_semantics": {"clampNaN": value}, **members}), encoding="utf-8")
    return None if value is None else path


def make(**settings: Any) -> MLContext:
    return ML(revision=CURRENT, **settings).createContextSync()


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize(
    ("own", "block", "variable", "named", "wanted"),
    [
        (None, None, None, None, "nan"),
        ("ignore", None, None, None, "ignore"),
        (None, "ignore", None, None, "ignore"),
        (None, None, "ignore", None, "ignore"),
        (None, None, None, "ignore", "ignore"),
        # The setting further left wins, a default as well.
        ("nan", "ignore", "maxValue", "ignore", "nan"),
        (None, "maxValue", "ignore", "nan", "maxValue"),
        (None, None, "nan", "ignore", "nan"),
        (None, None, "", "maxValue", "maxValue"),
    ],
)
def test_what_sets_it(
    own: Any,
    block: Any,
    variable: str | None,
    named: str | None,
    wanted: str,
    reference: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variable is not None:
        monkeypatch.setenv("WEBNN_SEMANTICS", variable and f"clampNaN={variable}")
    settings = {} if own is None else {"semantics": {"clampNaN": own}}
    with emulate(semantics=None if block is None else {"clampNaN": block}):
        assert clamped(make(profile=profile(tmp_path, named), reference=reference, **settings)) == wanted


def test_one_switch_leaves_the_others_of_the_profile() -> None:
    context = make(profile="tflite", semantics={"signNaN": "zero"})
    assert clamped(context) == "ignore"
    names = dict(load_profile("tflite").semantics)
    assert dict(context._state.semantics).keys() == {each for each in names if names[each] != SWITCHES[each].default and each != "signNaN"}


def test_profiles_that_extend_others(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"_extends": "tflite", "_semantics": {"signNaN": "zero"}}), encoding="utf-8")
    mine = dict(load_profile(tmp_path / "mine.json").semantics)
    assert mine == dict(load_profile("tflite").semantics) | {"signNaN": "zero"}


def test_contexts_travel_with_it() -> None:
    ml = pickle.loads(pickle.dumps(ML(revision=CURRENT, semantics={"clampNaN": "ignore"})))
    assert clamped(ml.createContextSync()) == "ignore"


@pytest.mark.parametrize("make_settings", [ML, emulate])
def test_wrong_settings(make_settings: Any) -> None:
    with pytest.raises(ValueError, match=f"{make_settings.__name__}: semantics: 'clampNaN' must be one of"):
        make_settings(semantics={"clampNaN": "min"})
    with pytest.raises(TypeError, match=f"{make_settings.__name__}: semantics must be a mapping from switches to values, got 3"):
        make_settings(semantics=3)


def test_a_wrong_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_SEMANTICS", "clampNan=ignore")
    with pytest.raises(ValueError, match=r"WEBNN_SEMANTICS: 'clampNan' must be a switch .*perhaps clampNaN"):
        make()


# A build process without CPU fallback


def build(file: Path | None, device: Any, **settings: Any) -> None:
    builder = MLGraphBuilder(ML(revision=CURRENT, profile=file, **settings).createContextSync(deviceType=device))
    x = builder.input("x", {"dataType": "float32", "shape": [2]})
    y = builder.add(builder.relu(x), builder.abs(x, label="first"), label="mixed")
    builder.buildSync({"y": builder.neg(y, label="later")})


@pytest.mark.parametrize("fallback", ["allow", "silent"])
def test_a_profile_without_a_fallback(fallback: Any, tmp_path: Path) -> None:
    native = {"relu": {}, "abs": {}, "add": {"a": {"dataTypes": ["float16"]}}}
    without = profile(tmp_path, "nan", _native=native, _cpuFallback=False)
    with pytest.raises(OperationError) as caught:
        build(without, "npu", fallback=fallback)
    assert str(caught.value) == (
        '[mixed] build: add would run on the CPU in a graph for deviceType "npu", which the device profile "own.json" has no fallback for: '
        "native only for a data type of ['float16'] in a, got float32"
    )
    assert (caught.value.operation, caught.value.label) == ("add", "mixed")
    # Operators on the CPU need none.
    build(without, "cpu", fallback=fallback)


def test_a_profile_whose_device_runs_everything_needs_no_fallback(tmp_path: Path) -> None:
    build(profile(tmp_path, "nan", _cpuFallback=False), "npu", fallback="allow")
    (tmp_path / "mine.json").write_text(json.dumps({"_extends": "./own.json", "_native": ["relu", "add", "neg"]}), encoding="utf-8")
    assert not load_profile(tmp_path / "mine.json").cpu_fallback
    with refused(OperationError, rule="device", operation="abs", label="first"):
        build(tmp_path / "mine.json", "npu")
