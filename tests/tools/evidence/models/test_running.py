"""Models in processes of their own, and the report on devices."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tools.evidence.models.toys import RELU, write_catalog, write_relu
from tools.evidence.models.catalog import load_catalog
from tools.evidence.models.result import Place
from tools.evidence.models.running import Task, options, read_places, run_model


def test_options_of_commands() -> None:
    models = load_catalog()
    assert options(models["yolov8n"]) == ["--dim=batch=1", "--dim=height=320", "--dim=width=320"]
    assert options(models["silero"]) == ["--shape=input=1,576", "--shape=state=2,1,128", "--constant=sr=16000"]
    assert options(replace(RELU, constants={"k": np.array([[1, 2]])})) == ["--shape=x=2,3", "--constant=k=[[1,2]]"]


def describe_run(profile: str | None, verdict: str, left: Sequence[str] | None = None, **more: Any) -> dict[str, Any]:
    """Return the row of a profile as ``webnn check --json`` prints it."""
    graph = {"requested": profile or "cpu", "operators": 3, "fallbacks": [{"operation": each} for each in left or ()]}
    graphs = [] if left is None else [graph]
    return {"profile": profile, "verdict": verdict, "graphs": graphs, "refusals": [], "fatal": None, "error": "", **more}


CHECKED = {
    "baseline": describe_run(None, "builds", []),
    "profiles": [
        describe_run("npu", "builds", ["add", "relu", "relu"]),
        describe_run("gpu", "refused", refusals=[{"kind": "dataType", "message": "relu: no"}]),
        describe_run("old", "failed", error="it ended"),
    ],
}


def test_places() -> None:
    assert list(read_places(CHECKED)) == [
        Place(profile="", verdict="builds", device="cpu", operators=3),
        Place(profile="npu", verdict="builds", device="npu", operators=3, left={"relu": 2, "add": 1}),
        Place(profile="gpu", verdict="refused", why="relu: no"),
        Place(profile="old", verdict="failed", why="it ended"),
    ]


@pytest.mark.processes
def test_a_process_that_needs_too_much(tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path / "models.toml", tmp_path / "make.py", "")
    task = Task(model=load_catalog(catalog)["m"], catalog=catalog, file=write_relu(tmp_path / "m.onnx"), seconds=0.01)
    result = run_model(task)
    assert (result.status, result.message) == ("failed", "it took longer than 0.01 s")
    if sys.platform == "linux":
        result = run_model(replace(task, seconds=60, gigabytes=0.01))
        assert result.status == "failed"
        assert result.message
