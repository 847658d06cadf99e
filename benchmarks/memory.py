"""Peak memory of a graph with large weights, each side in a process of its own: ``python -m benchmarks.memory webnn 25 1024 array``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.measure import Array
from benchmarks.sides import OnnxGraph, Program, Session, constant
from webnn import ML, MLGraphBuilder
from webnn.processes import resident

__all__ = ["Kind", "onnx_side", "peak_bytes", "resident_bytes", "resident_bytes_of", "run_child", "webnn_side"]

ROOT = Path(__file__).parents[1]


#: How a program keeps a weight: in an array of its own, or in an object of bytes, to which nobody can write.
Kind = Literal["array", "bytes"]


def _fetch(index: int, size: int, kind: Kind) -> Array:
    """Make one weight, as a program that fetches it would; only its bytes stay in memory."""
    weight = np.random.default_rng(index).standard_normal((size, size), np.float32)
    weight *= np.float32(size**-0.5)
    return weight if kind == "array" else np.frombuffer(weight.tobytes(), np.float32).reshape(size, size)


def _input(size: int) -> Array:
    return np.linspace(-1, 1, size, dtype=np.float32)[None]


def webnn_side(count: int, size: int, kind: Kind) -> Program:
    """Build ``x @ w0 @ w1 ...``; the program drops each weight once the builder has it."""
    context = ML(revision="2024-06").createContextSync()
    builder = MLGraphBuilder(context)
    value = builder.input("x", {"dataType": "float32", "dimensions": [1, size]})
    for index in range(count):
        value = builder.matmul(value, constant(builder, _fetch(index, size, kind)))
    return Program(context, builder.buildSync({"y": value}), {"x": _input(size)}, {"y": [1, size]})


def onnx_side(count: int, size: int, kind: Kind) -> Session:
    """Make the session of the same graph; it uses the weights in place, so they must stay alive."""
    graph = OnnxGraph(external=True)
    value = graph.input("x", [1, size])
    for index in range(count):
        value = graph.node("MatMul", [value, graph.weight(_fetch(index, size, kind))], "y" if index == count - 1 else "")
    graph.output("y", [1, size])
    return Session(graph, {"x": _input(size)})


def resident_bytes() -> int:
    """Return the amount of memory that this process has resident; elsewhere than on Linux, the largest one so far."""
    return resident.resident_bytes() or peak_bytes()


def resident_bytes_of(pid: int) -> int:
    """Return the amount of memory that another process has resident; 0 elsewhere than on Linux."""
    return resident.resident_bytes(pid) or 0


def peak_bytes() -> int:
    """Return the largest amount of memory that this process had resident so far."""
    return resident.peak_bytes() or 0


def run_child(side: str, count: int, size: int, kind: Kind) -> dict[str, Any]:
    """Build and compute once in a fresh process.

    Returns:
        ``before`` and ``peak`` in bytes, and the ``output``.
    """
    command = [sys.executable, "-m", "benchmarks.memory", side, str(count), str(size), kind]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _main() -> None:
    sides: dict[str, Callable[[int, int, Kind], Program | Session]] = {"webnn": webnn_side, "onnxruntime": onnx_side}
    side = sides[sys.argv[1]]
    kind: Kind = "array" if sys.argv[4] == "array" else "bytes"
    # A small graph first, so that the memory of the modules is not counted.
    side(1, 1, kind)()
    before = peak_bytes()
    loop = side(int(sys.argv[2]), int(sys.argv[3]), kind)
    output = loop()
    print(json.dumps({"before": before, "peak": peak_bytes(), "output": output.tolist()}))


if __name__ == "__main__":
    _main()
