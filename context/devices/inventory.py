"""The devices of a machine."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType

from webnn.context.selection import CPU, CUDA, DIRECTML, OPENVINO, Device

__all__ = ["Inventory"]

#: Systems that a provider exists for, where it is not all of them.
_SYSTEMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {CUDA: ("Linux", "Windows"), DIRECTML: ("Windows",), OPENVINO: ("Linux", "Windows")}
)


class Inventory:
    """What exists on this machine. Thread-safe.

    A listed device may fail to start. It is tried once, before it is chosen.

    Args:
        devices: The devices of the providers whose devices are known.
        verify: Tries a device. Returns why it does not start, worded to follow the provider's name, or an empty string.
        missing: Why an installed provider has no devices, worded to follow its name.
        built_in: The providers that are a part of the engine; those without a listed device can be used for any type whose row names them.
        system: ``"Linux"``, ``"Windows"`` or ``"Darwin"``.

    Attributes:
        devices: The devices.
        missing: Why a provider has no devices.
        built_in: The providers that are a part of the engine.
        system: The operating system.
    """

    __slots__ = ("_failures", "_lock", "_verify", "built_in", "devices", "missing", "system")

    def __init__(
        self,
        devices: Iterable[Device],
        *,
        verify: Callable[[Device], str],
        missing: Mapping[str, str] = MappingProxyType({}),
        built_in: Collection[str] = (),
        system: str | None = None,
    ) -> None:
        self.devices = tuple(devices)
        self.missing = missing
        self.built_in = tuple(built_in)
        self.system = platform.system() if system is None else system
        self._verify = verify
        self._failures: dict[Device, str] = {}
        self._lock = threading.Lock()

    @property
    def cpu(self) -> Device:
        """The device of the CPU provider, which always exists."""
        return next((device for device in self.devices if device.provider == CPU), Device(provider=CPU, type="cpu"))

    @property
    def providers(self) -> list[str]:
        """The names of the providers that are installed, whether or not they start."""
        return list(dict.fromkeys([*(device.provider for device in self.devices), *self.missing, *self.built_in]))

    def failure(self, device: Device) -> str:
        """Return why a device does not start, worded to follow the provider's name; an empty string if it starts."""
        if device.provider == CPU:
            return ""
        with self._lock:
            if device not in self._failures:
                self._failures[device] = self._verify(device)
            return self._failures[device]

    def find(self, provider: str, deviceType: str) -> list[Device] | str:
        """Return the devices of a type that a provider has; if there is none, the reason."""
        devices = [device for device in self.devices if device.provider == provider]
        found = [device for device in devices if device.type == deviceType]
        if found:
            return found
        if devices:
            return f"{provider} has no device of type {deviceType} here"
        if provider in self.missing:
            return f"{provider} {self.missing[provider]}"
        if provider in self.built_in:
            return [Device(provider=provider, type=deviceType)]
        if self.system in _SYSTEMS.get(provider, (self.system,)):
            return f"{provider} is not installed"
        return f"{provider} exists for {' and '.join(_SYSTEMS[provider])} only"
