"""The first build of a process, each side in a process of its own: ``python -m benchmarks.first_build webnn array 224 1001 1``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import mobilenet
from benchmarks.memory import Kind
from benchmarks.sides import Program, Session
from webnn import ML

__all__ = ["run_child"]

ROOT = Path(__file__).parents[1]


def run_child(
    side: str, size: int = 224, classes: int = 1001, divisor: int = 1, *, kind: Kind = "array", cache: Path | None = None
) -> dict[str, Any]:
    """Build and compute a network for the first time in a fresh process.

    Args:
        side: ``"webnn"`` or ``"onnxruntime"``.
        kind: How the program keeps the weights.
        cache: The folder of webnn's cache of optimized models; by default it has none.
        size: As for `mobilenet.make_network`.
        classes: As for `mobilenet.make_network`.
        divisor: As for `mobilenet.make_network`.

    Returns:
        ``seconds`` from the first call of the builder to the first result, ``work``, the processor's time of all threads meanwhile, and the
        ``output``.
    """
    command = [sys.executable, "-m", "benchmarks.first_build", side, kind, str(size), str(classes), str(divisor)]
    environment = {name: value for name, value in os.environ.items() if name not in ("WEBNN_CACHE", "WEBNN_CACHE_SIZE")}
    if cache is not None:
        environment["WEBNN_CACHE"] = str(cache)
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _prepare(side: str, kind: str, *settings: int) -> Callable[[], Program | Session]:
    """Make the network's weights, which are in memory before the clock starts; return what builds it."""
    network = mobilenet.make_network(*settings)
    if kind == "bytes":
        network = mobilenet.over_bytes(network)
    if side == "webnn":
        context = ML(revision="2024-06").createContextSync()
        return lambda: mobilenet.webnn_side(context, network)
    planes = np.ascontiguousarray(network.image.transpose(0, 3, 1, 2))
    return lambda: mobilenet.onnx_side(network, planes, external=True)


def _main() -> None:
    side, kind = sys.argv[1:3]
    build = _prepare(side, kind, *map(int, sys.argv[3:]))
    # A small network first, so that loading the modules is not measured.
    _prepare(side, kind, 32, 10, 8)()()
    begin, start = time.process_time(), time.perf_counter()
    loop = build()
    output = loop()
    seconds, work = time.perf_counter() - start, time.process_time() - begin
    print(json.dumps({"seconds": seconds, "work": work, "output": output.tolist()}))


if __name__ == "__main__":
    _main()
