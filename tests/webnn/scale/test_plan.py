"""Which rows are one run, and which are one part."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import webnn
from tests.support import each_row
from tests.webnn.scale.graphs import WEIGHTS, data, double, expected, several, times
from webnn.scale.plan import Plan

THREADS: dict[str, Any] = {"executor": "threads:1", "progress": False}


@given(rows=st.integers(0, 500), together=st.none() | st.integers(1, 9), multiple=st.integers(1, 20))
def test_every_row_is_in_one_run_of_one_part(rows: int, together: int | None, multiple: int) -> None:
    plan = Plan(rows=rows, together=together, size=multiple * (together or 1))
    found: list[int] = []
    for index in range(plan.parts):
        start, stop = plan.part(index)
        assert 0 < stop - start <= plan.size
        assert stop - start == plan.size or index == plan.parts - 1
        for first, end in plan.runs(stop - start):
            assert 0 < end - first <= (together or 1)
            assert end - first == (together or 1) or (index == plan.parts - 1 and end == stop - start)
            found += range(start + first, start + end)
    assert found == list(range(rows))


@each_row("draft", ["2024-06", "2026-06"])
@each_row("together", [1, 3])
@settings(deadline=None, max_examples=25)
@given(rows=st.integers(0, 25), multiple=st.integers(1, 4))
def test_every_row_is_computed_once_and_in_order(draft: str, together: int, rows: int, multiple: int) -> None:
    given = data(rows)
    made = webnn.batch(times(draft, together), given, batchSize=multiple * together, **THREADS)
    parts = list(made)
    assert [len(part["y"]) for part in parts] == [len(given[start : start + made.batchSize]) for start in range(0, rows, made.batchSize)]
    np.testing.assert_allclose(made.collect()["y"], expected(given), rtol=1e-5, atol=1e-6)


def test_rows_that_are_whole_inputs() -> None:
    rows = data(6).reshape(3, 2, 4)
    found = webnn.batch(times(rows=2), rows, **THREADS).collect()["y"]
    assert found.shape == (3, 2, 2)
    np.testing.assert_allclose(found, rows @ WEIGHTS, rtol=1e-5, atol=1e-6)


def test_the_progress_bar_is_loaded_only_if_it_may_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    assert webnn.batch(times(), data(3), **THREADS).collect()["y"].shape == (3, 2)
    with pytest.raises(ImportError, match="rich"):
        webnn.batch(times(), data(3), **{**THREADS, "progress": True}).collect()


def test_several_inputs_and_outputs() -> None:
    a, b = np.arange(15, dtype=np.float32).reshape(5, 3), np.arange(5, dtype=np.int32)
    found = webnn.batch(several(), {"b": b, "a": a}, batchSize=2, **THREADS).collect()
    np.testing.assert_array_equal(found["a2"], a * 2)
    np.testing.assert_array_equal(found["b2"], b * 2)


def test_a_scalar_input() -> None:
    found = webnn.batch(double("float32", []), np.arange(4, dtype=np.float32), **THREADS).collect()["y"]
    np.testing.assert_array_equal(found, [0, 2, 4, 6])


def test_small_integers_are_bytes() -> None:
    rows = np.arange(12, dtype=np.uint8).reshape(6, 2)
    found = webnn.batch(double("int4", [4]), rows, **THREADS).collect()["y"]
    np.testing.assert_array_equal(found, rows)


def test_the_default_size() -> None:
    assert webnn.batch(times(rows=3), data(1), **THREADS).batchSize == 1023
    big = np.broadcast_to(np.float32(0), (10, 1 << 20))
    assert webnn.batch(double("float32", [1 << 20]), big, **THREADS).batchSize == 4
    assert webnn.batch(double("float32", [64, 1 << 20]), big, **THREADS).batchSize == 64


def test_no_rows() -> None:
    made = webnn.batch(times(), data(0), **THREADS)
    assert (len(made), made.rows, list(made)) == (0, 0, [])
    assert made.collect()["y"].shape == (0, 2)


def without_inputs() -> webnn.GraphDescription:
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    return webnn.describe({"y": builder.relu(builder.constant("float32", 1))})


def transposed() -> webnn.MLGraph:
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    return builder.buildSync({"y": builder.transpose(builder.input("x", dataType="float32", shape=[3, 4]))})


X = np.zeros((5, 4), np.float32)
A, B = np.zeros((5, 3), np.float32), np.zeros(5, np.int32)
WRONG: list[tuple[Any, Any, dict[str, Any], str]] = [
    (times, [[1, 2, 3, 4]], {}, "data['x'] must be an array of NumPy, or a file .npy, .npz or .parquet, got"),
    (times, X.astype(np.float64), {}, "data['x'] must have elements of float32, got float64"),
    (times, X.astype(">f4"), {}, "data['x'] must have elements of float32, got >f4"),
    (times, X[:, :3], {}, "data['x'] must have rows of the shape [1, 4] or [4], of the input or of one of its rows, got [3]"),
    (times, np.array(1, np.float32), {}, "data['x'] must have an axis that counts the samples"),
    (times, {"z": X}, {}, "data must have the inputs 'x', got 'z'"),
    (times, {}, {}, "data must have the inputs 'x', but lacks 'x'"),
    (times, None, {}, "data['x'] must be an array of NumPy"),
    (times, "rows.csv", {}, "data['x'] must be an array of NumPy, or a file .npy, .npz or .parquet, got 'rows.csv'"),
    (several, A, {}, "data must be a mapping with the inputs 'a', 'b', or a file .npz or .parquet"),
    (several, {"a": A, "b": B[:4]}, {}, "data['b'] must have as many rows as data['a'], 5, got 4"),
    (several, {"a": np.zeros((5, 2, 3), np.float32), "b": B}, {}, "data['b'] must be rows that are whole inputs, as data['a'] is"),
    (transposed, X, {}, "a run of 3 rows cannot be divided, because the output 'y' has no first axis of 3, got float32 [4, 3]"),
    (without_inputs, X, {}, "model must have an input, got a graph without one"),
    (lambda: 5, X, {}, "model must be a graph, a description, an ONNX model, or the path of a file, got 5"),
    (times, X, {"batchSize": float("nan")}, "batchSize must be"),
    (times, X, {"batchSize": 0}, "batchSize must be at least 1, got 0"),
    (times, X, {"batchSize": -1}, "batchSize must be"),
    (lambda: times(rows=3), X, {"batchSize": 4}, "batchSize must be a multiple of 3, the rows of one run, got 4"),
    (times, X, {"device": "cpu"}, "device must not be given with an MLGraph"),
    (times, X, {"ml": webnn.ML(revision="2024-06")}, "ml must not be given with an MLGraph"),
    (lambda: times().description, X, {"ml": 1}, "ml must be a webnn.ML, got 1"),
    (lambda: times().description, X, {"device": "tpu"}, "options.deviceType must be"),
    (times, X, {"threads": 0}, "threads must be from 1 to 1024, got 0"),
    (times, X, {"output": 3}, "output must be the path of a folder, got 3"),
    (times, X, {"output": ""}, "output must be the path of a folder, got ''"),
    (times, X, {"progress": 1}, "progress must be a bool, got 1"),
]


@pytest.mark.parametrize(("model", "given", "options", "message"), WRONG)
def test_wrong_arguments(model: Any, given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(webnn.WebNNTypeError) as caught:
        webnn.batch(model(), given, **options)
    assert message in str(caught.value)
    assert str(caught.value).startswith(("batch: ", "createContext: "))


@each_row("executor", ["process", "processes:0", "dask://", "dask://host", "ray://", "", "threads:99999"])
def test_wrong_texts_of_executors(executor: str) -> None:
    with pytest.raises(ValueError, match="executor must be one of processes, processes:N, threads"):
        webnn.batch(times(), X, executor=executor)


def test_no_executor() -> None:
    with pytest.raises(TypeError, match=r"executor must be a concurrent\.futures\.Executor, or one of"):
        webnn.batch(times(), X, executor=4)


def test_what_cannot_travel() -> None:
    with pytest.raises(TypeError, match="faults cannot be pickled"):
        webnn.batch(times().description, X, ml=webnn.ML(revision="2026-06", faults=webnn.Faults()))


def test_models(tmp_path: Path) -> None:
    import onnx

    graph, want = times().description, webnn.batch(times(), data(5), **THREADS).collect()["y"]
    models: list[Any] = [graph]
    for suffix in (".webnn", ".webnn.json", ".onnx"):
        models.append(tmp_path / f"graph{suffix}")
        graph.save(models[-1])
    models.append(onnx.load(models[-1]))
    for model in models:
        np.testing.assert_allclose(webnn.batch(model, data(5), **THREADS).collect()["y"], want, rtol=1e-5)


def test_the_settings_of_an_ml() -> None:
    made = webnn.batch(times().description, data(3), ml=webnn.ML(revision="2026-06", reference=True), device="cpu", **THREADS)
    np.testing.assert_allclose(made.collect()["y"], data(3) @ WEIGHTS, rtol=1e-5)
