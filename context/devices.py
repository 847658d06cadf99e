"""Devices: from ``deviceType`` and ``powerPreference`` to execution providers that exist."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = ["PREFERRED", "DeviceFallbackWarning", "Selection", "select", "select_accelerated", "warn_fallback"]

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"
DIRECTML = "DmlExecutionProvider"

#: The providers that serve a device type, best first. The CPU provider stands behind all of them.
PREFERRED: Mapping[str, tuple[str, ...]] = MappingProxyType({"cpu": (), "gpu": (CUDA, DIRECTML), "npu": (DIRECTML,)})


class DeviceFallbackWarning(UserWarning):
    """A requested device does not exist here; the warning says what runs instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a request got.

    Attributes:
        requested: The device type that was asked for.
        providers: The execution providers with their options, best first.
        fallback: No provider for the requested device type exists.
    """

    requested: str
    providers: tuple[tuple[str, Mapping[str, Any]], ...]
    fallback: bool

    @property
    def accelerated(self) -> bool:
        """A provider for a massively parallel device comes first."""
        return self.providers[0][0] != CPU


def select_accelerated(powerPreference: str, available: Sequence[str]) -> Selection:
    """Choose the execution providers of a context that asks for acceleration and for no device.

    Args:
        powerPreference: ``"low-power"`` prefers an NPU to a GPU; otherwise it is the other way round.
        available: The providers that the engine offers.

    Returns:
        What the first of these devices that exists would get; the CPU if none does, which is no fallback.
    """
    order = ("npu", "gpu") if powerPreference == "low-power" else ("gpu", "npu")
    selections = (select(deviceType, available) for deviceType in order)
    return next((selection for selection in selections if selection.accelerated), select("cpu", available))


def select(deviceType: str, available: Sequence[str]) -> Selection:
    """Choose the execution providers of a context.

    Args:
        deviceType: ``"cpu"``, ``"gpu"`` or ``"npu"``.
        available: The providers that the engine offers.
    """
    found = next((name for name in PREFERRED[deviceType] if name in available), None)
    providers: list[tuple[str, Mapping[str, Any]]] = []
    if found is not None:
        providers.append((found, {"device_filter": "npu"} if (found, deviceType) == (DIRECTML, "npu") else {}))
    providers.append((CPU, {}))
    return Selection(requested=deviceType, providers=tuple(providers), fallback=deviceType != "cpu" and found is None)


def warn_fallback(selection: Selection, stacklevel: int) -> None:
    """Warn that a request fell back, once for each place that makes it."""
    if selection.fallback:
        names = ", ".join(PREFERRED[selection.requested])
        warnings.warn(
            f'deviceType "{selection.requested}" runs on the CPU here: none of its execution providers ({names}) is installed',
            DeviceFallbackWarning,
            stacklevel=stacklevel + 1,
        )
