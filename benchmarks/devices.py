"""Devices: the cost of choosing one, and real networks on an accelerator, if there is one."""

from __future__ import annotations

import onnxruntime

from benchmarks.sides import DeviceType, Providers
from webnn import ML, MLContext
from webnn.context.devices.choice import select
from webnn.context.engine.discovery import discover

__all__ = ["NoDeviceError", "find_providers", "onnx_options", "webnn_contexts"]


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
