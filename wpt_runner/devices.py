"""The devices of this machine that tests and recorded cases run on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal, TypeAlias

import webnn
from webnn.context import emulation
from webnn.context.devices import choice
from webnn.context.devices.selection import CPU, Device
from webnn.context.engines import ONNX_RUNTIME
from webnn.context.ml import find_inventory

__all__ = ["DeviceType", "Found", "find_device", "select_device"]

DeviceType: TypeAlias = Literal["cpu", "gpu", "npu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The device of this machine that computes, the device profile in use (empty without one), and notes: whether it is a fallback."""

    device: Device
    profile: str = ""
    notes: tuple[str, ...] = ()


def find_device(deviceType: DeviceType) -> Found:
    """Find out which device of this machine computes.

    Raises:
        NotSupportedError: There is no such device.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        webnn.ML().createContextSync(deviceType=deviceType)
    profile = emulation.ambient().profile
    notes = tuple(str(each.message) for each in caught)
    return Found(device=select_device(deviceType), profile="" if profile is None else profile.name, notes=notes)


def select_device(deviceType: DeviceType) -> Device:
    """Return the device that a context gets, if need be of another type."""
    settings = emulation.ambient()
    if settings.profile is not None:
        return Device(provider=CPU, type="cpu")
    if settings.engine not in (None, ONNX_RUNTIME):
        return Device(provider=settings.engine, type="cpu")
    return choice.select(deviceType, find_inventory(settings)).devices[0]
