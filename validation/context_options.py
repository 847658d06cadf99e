"""The models of ``MLContextOptions``: what `ML.createContext` converts to, by the draft."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import PlainValidator

from webnn.validation import webidl
from webnn.validation.device_type import DEVICE_TYPES
from webnn.validation.dictionary import Boolean, Dictionary

__all__ = ["AcceleratedContextOptions", "ContextOptions", "DeviceContextOptions", "Preferences", "convertDeviceType"]

_POWER_PREFERENCES = ("default", "high-performance", "low-power")

convertDeviceType = webidl.enumeration("MLDeviceType", DEVICE_TYPES)
PowerPreference = Annotated[str, PlainValidator(webidl.enumeration("MLPowerPreference", _POWER_PREFERENCES))]


class Preferences(NamedTuple):
    """The requests that the options of a context make, in any draft.

    Attributes:
        deviceType: A device; ``None`` leaves the choice to ``accelerated``.
        powerPreference: ``"default"``, ``"high-performance"`` or ``"low-power"``.
        accelerated: A GPU or an NPU is preferred to the CPU.
        gpuDevice: A ``GPUDevice`` that the context is for; ``None`` if there is none.
    """

    deviceType: str | None = None
    powerPreference: str = "default"
    accelerated: bool = True
    gpuDevice: Any = None


class ContextOptions(Dictionary):
    """``MLContextOptions`` of any draft, converted.

    Attributes:
        instead: Members of other drafts that are refused, with the members that replace them here.
        device_member: The member that has a ``GPUDevice``; empty if `ML.createContext` takes the device in the place of the options.
    """

    instead: ClassVar[Mapping[str, str]] = MappingProxyType({})
    device_member: ClassVar[str] = ""

    @abstractmethod
    def preferences(self) -> Preferences:
        """Return what the options ask for."""


class DeviceContextOptions(ContextOptions):
    """``MLContextOptions`` until 2024-06, converted."""

    instead: ClassVar[Mapping[str, str]] = MappingProxyType({"accelerated": "deviceType"})

    deviceType: Annotated[str, PlainValidator(convertDeviceType)] = "cpu"
    powerPreference: PowerPreference = "default"

    def preferences(self) -> Preferences:
        """Return what the options ask for."""
        return Preferences(self.deviceType, self.powerPreference)


class AcceleratedContextOptions(ContextOptions):
    """``MLContextOptions`` since 2026-06, converted."""

    powerPreference: PowerPreference = "default"
    accelerated: Boolean = True

    def preferences(self) -> Preferences:
        """Return what the options ask for."""
        return Preferences(None, self.powerPreference, self.accelerated)
