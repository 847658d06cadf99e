"""The first build of a process, each side in a process of its own: ``python -m benchmarks.first_build webnn``."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import mobilenet
from benchmarks.sides import Program, Session
from webnn import ML

__all__ = ["run_child"]

ROOT = Path(__file__).parents[1]


def run_child(side: str, size: int = 224, classes: int = 1001, divisor: int = 1) -> dict[str, Any]:
    """Build and compute a network for the first time in a fresh process.

    Args:
        side: ``"webnn"`` or ``"onnxruntime"``.
        size: As for `mobilenet.make_network`.
        classes: As for `mobilenet.make_network`.
        divisor: As for `mobilenet.make_network`.

    Returns:
        ``seconds`` from the first call of the builder to the first result, and the ``output``.
    """
    command = [sys.executable, "-m", "benchmarks.first_build", side, str(size), str(classes), str(divisor)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _prepare(side: str, *settings: int) -> Callable[[], Program | Session]:
    """Make the network's weights, which are in memory before the clock starts; return what builds it."""
    network = mobilenet.make_network(*settings)
    if side == "webnn":
        context = ML().createContextSync()
        return lambda: mobilenet.webnn_side(context, network)
    planes = np.ascontiguousarray(network.image.transpose(0, 3, 1, 2))
    return lambda: mobilenet.onnx_side(network, planes, external=True)


def _main() -> None:
    side = sys.argv[1]
    build = _prepare(side, *map(int, sys.argv[2:]))
    # A small network first, so that loading the modules is not measured.
    _prepare(side, 32, 10, 8)()()
    start = time.perf_counter()
    loop = build()
    output = loop()
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "output": output.tolist()}))


if __name__ == "__main__":
    _main()
