"""The models of ``MLContextOptions``: what `ML.createContext` converts to."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator

from webnn.validation import webidl
from webnn.validation.device_type import DEVICE_TYPES
from webnn.validation.dictionary import Boolean, Dictionary

__all__ = ["AcceleratedContextOptions", "ContextOptions", "convertDeviceType"]

_POWER_PREFERENCES = ("default", "high-performance", "low-power")

convertDeviceType = webidl.enumeration("MLDeviceType", DEVICE_TYPES)
PowerPreference = Annotated[str, PlainValidator(webidl.enumeration("MLPowerPreference", _POWER_PREFERENCES))]


class ContextOptions(Dictionary):
    """``MLContextOptions`` until 2024-06, converted."""

    deviceType: Annotated[str, PlainValidator(convertDeviceType)] = "cpu"
    powerPreference: PowerPreference = "default"


class AcceleratedContextOptions(Dictionary):
    """``MLContextOptions`` since 2026-06, converted."""

    powerPreference: PowerPreference = "default"
    accelerated: Boolean = True
