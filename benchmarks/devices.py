"""Devices: the cost of choosing one, and of a process for each context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import onnxruntime

from benchmarks import small
from benchmarks.measure import Effort, Result, SkippedError, compete, summarize_difference
from benchmarks.sides import DeviceType, Providers
from webnn import ML, MLContext
from webnn.context.devices.choice import select
from webnn.context.engine.discovery import discover
from webnn.context.engine.remote.scout import scout

__all__ = ["CASES", "NoDeviceError", "find_providers", "onnx_options", "webnn_contexts"]


class NoDeviceError(Exception):
    """There is no such device here, or the engine cannot be asked for it by a provider's name alone; the message says which."""


def find_providers(deviceType: DeviceType) -> Providers:
    """Return the execution providers that a context of a device type has, for a session of the other side.

    Raises:
        NoDeviceError: There is none.
    """
    selection = select(deviceType, discover())
    if selection.fallback:
        raise NoDeviceError(f"there is no {deviceType} here: {'; '.join(selection.reasons)}")
    if selection.devices[0].plugin:
        raise NoDeviceError(f"{selection.devices[0].provider} is a plug-in, which no session takes by its name")
    return selection.providers


def webnn_contexts(repeats: int) -> list[MLContext]:
    """Create contexts, each by a request for a device that must be looked for."""
    ml = ML(revision="2024-06", fallback="silent")
    return [ml.createContextSync(deviceType="gpu", powerPreference="low-power") for _ in range(repeats)]


def onnx_options(repeats: int) -> list[onnxruntime.SessionOptions]:
    """Make the counterpart of a context on the other side: the options of a session, after a look at the providers."""
    made = []
    for _ in range(repeats):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = len(onnxruntime.get_available_providers())
        made.append(options)
    return made


def _isolated(effort: Effort, deviceType: DeviceType) -> Result:
    """Measure by how much longer a dispatch takes in a process of its own."""
    if deviceType != "cpu" and select(deviceType, discover(simulators=True, isolated=True)).fallback:
        raise SkippedError(f"there is no {deviceType} here: webnn devices --simulators")
    scout().take()
    ours, theirs = (small.webnn_tiny_isolated(deviceType, isolate=isolate) for isolate in (True, False))
    times = compete(ours, theirs, effort, 1000 if deviceType == "cpu" else 100)
    title = f"relu(x + y) on the {deviceType} in a process of its own: write two tensors, dispatch, read"
    return summarize_difference(f"isolated-{deviceType}", title, times, unit="µs", bar=60, against="in this process")


#: The benchmarks of a process for each context.
CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        "isolated-cpu": lambda effort: _isolated(effort, "cpu"),
        "isolated-gpu": lambda effort: _isolated(effort, "gpu"),
        "isolated-npu": lambda effort: _isolated(effort, "npu"),
    }
)
