"""``MLDeviceType``: what a program can ask for, and where an operator can run."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["DEVICE_TYPES", "DeviceType"]

DeviceType = Literal["cpu", "gpu", "npu"]
DEVICE_TYPES: tuple[DeviceType, ...] = get_args(DeviceType)
