"""Contexts of the CPU provider in processes of their own, and looks at those processes."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np

from tests.support import CURRENT, PATIENCE, wait_until
from webnn import ML, MLContext, MLGraph, MLGraphBuilder
from webnn.context.engine.remote.host import Host

ONES = np.ones((8, 8), np.float32)


def isolated(revision: str = CURRENT, **options: Any) -> MLContext:
    """Make a context whose sessions are in a process."""
    # The CPU, whatever else this machine has.
    return ML(revision=revision, isolate=True, **options).createContextSync(accelerated=False)


def host_of(context: MLContext) -> Host:
    """Return the process of a context."""
    host: Any = context._state.load_backend()._host  # type: ignore[attr-defined]
    assert isinstance(host, Host)
    return host


def build(context: MLContext, factor: float = 2.0) -> MLGraph:
    """softmax(x * factor @ w) as "y", with 8 x 8 float32 throughout."""
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[8, 8])
    w = builder.constant({"dataType": "float32", "shape": [8, 8]}, ONES)
    return builder.buildSync({"y": builder.softmax(builder.matmul(builder.mul(x, builder.constant("float32", factor)), w), 1)})


def started(context: MLContext) -> int:
    """Return the number of the process, once it runs."""
    host = host_of(context)
    wait_until(lambda: host.pid)
    return host.pid


def stop(context: MLContext, number: int = signal.SIGSTOP) -> int:
    """Send a signal to the process of a context; return its number."""
    pid = started(context)
    os.kill(pid, number)
    return pid


def runs(pid: int) -> bool:
    """Tell whether a process exists, be it only to be waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ended(pid: int) -> bool:
    """Tell whether a process has ended."""
    return not runs(pid)


def descriptors() -> int:
    """Return how many segments, connections and pipes this process has open."""
    targets = []
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one that lists them
            targets.append(os.readlink(each))
    return sum(target.startswith(("/memfd:", "socket:", "pipe:")) for target in targets)


def reason_of(context: MLContext) -> str:
    """Return why a context is lost, once it is."""
    info = context.lostSync(PATIENCE)
    assert info is not None
    return info["message"]


def tensors(context: MLContext) -> tuple[Any, Any]:
    x, y = (context.createTensorSync(dataType="float32", shape=[8, 8], readable=True, writable=True) for _ in range(2))
    context.writeTensor(x, ONES)
    return x, y
