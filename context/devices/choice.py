"""The choice of a context's devices: the order of the execution providers, what exists on a machine, and what a request gets of it.

Nothing here asks the engine. The existing devices come as an `Inventory`, which `webnn.context.engine.discovery` makes.
"""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.context.devices.selection import (
    CPU,
    CUDA,
    DIRECTML,
    OPENVINO,
    QNN,
    REFERENCE,
    WEBGPU,
    Device,
    Options,
    Selection,
    session_settings,
    threads,
)
from webnn.validation.device_type import DEVICE_TYPES

if TYPE_CHECKING:
    from webnn.context.profiles import Profile

__all__ = [
    "DEFAULT_ORDER",
    "Inventory",
    "Order",
    "convert_order",
    "convert_provider_options",
    "select",
    "select_accelerated",
    "select_by_profile",
    "select_engine",
    "select_reference",
]

Order = Mapping[str, tuple[str, ...]]

#: The devices of each device type, best first: providers, or a device type, which includes the row of that type. Of two GPUs the kind that
#: ``powerPreference`` asks for comes first, whichever provider has it. The CPU provider comes after all of them.
DEFAULT_ORDER: Order = MappingProxyType(
    {
        "cpu": (OPENVINO,),
        "gpu": (CUDA, OPENVINO, WEBGPU, DIRECTML),
        "npu": (OPENVINO, QNN, DIRECTML, "gpu"),
    }
)
_SUFFIX = "ExecutionProvider"
_DIRECTML_PREFERENCES = {"default": "default", "high-performance": "high_performance", "low-power": "minimum_power"}
_NONE: Mapping[str, Any] = MappingProxyType({})
#: Systems that a provider exists for, where it is not all of them.
_SYSTEMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {CUDA: ("Linux", "Windows"), DIRECTML: ("Windows",), OPENVINO: ("Linux", "Windows")}
)


# Settings of the user


def convert_order(value: object) -> Order:
    """Convert rows that replace those of `DEFAULT_ORDER`.

    Args:
        value: For each device type the names of providers, best first. The name of a device type includes the row of that type.

    Raises:
        TypeError: The value is not a mapping, or a row is not a list or tuple.
        ValueError: A key is not a device type, an entry is not a provider's name or occurs twice, or rows refer to each other in a circle.
    """
    if not isinstance(value, Mapping):
        raise TypeError(f"order must be a mapping of device types to lists of providers, got {value!r}")
    rows = {key: _convert_row(key, row) for key, row in value.items()}
    merged = {**DEFAULT_ORDER, **rows}
    for start in DEVICE_TYPES:
        _check_circle(merged, (start,))
    return MappingProxyType(rows)


def _convert_row(key: object, row: object) -> tuple[str, ...]:
    if key not in DEVICE_TYPES:
        raise ValueError(f"order must have keys of {list(DEVICE_TYPES)}, got {key!r}")
    if not isinstance(row, list | tuple):
        raise TypeError(f'order["{key}"] must be a list of providers, got {row!r}')
    for index, entry in enumerate(row):
        where = f'order["{key}"][{index}]'
        if entry == CPU:
            raise ValueError(f"{where} must not be {CPU}, which stands behind every row")
        if not _is_provider(entry) and entry not in DEVICE_TYPES:
            raise ValueError(f"{where} must be a provider such as 'CUDA{_SUFFIX}' or one of {list(DEVICE_TYPES)}, got {entry!r}")
        if entry in row[:index]:
            raise ValueError(f"{where} must not be there twice, got {entry!r}")
    return tuple(row)


def _check_circle(rows: Order, path: tuple[str, ...]) -> None:
    """Check that a row does not refer to itself, directly or through other rows."""
    for entry in rows[path[-1]]:
        if entry in path:
            raise ValueError(f"order must not refer to itself, got {' -> '.join((*path, entry))}")
        if entry in DEVICE_TYPES:
            _check_circle(rows, (*path, entry))


def convert_provider_options(value: object) -> Mapping[str, Options]:
    """Convert a mapping from names of providers to mappings of their options, to what the engine takes.

    Raises:
        TypeError: The value, or that of a provider, is not a mapping, or an option is neither text nor a number nor a bool.
        ValueError: A key is not the name of a provider.
    """
    if not isinstance(value, Mapping):
        raise TypeError(f"providerOptions must be a mapping of providers to their options, got {value!r}")
    return MappingProxyType({key: _convert_options(key, options) for key, options in value.items()})


def _convert_options(key: object, options: object) -> Options:
    if not _is_provider(key):
        raise ValueError(f"providerOptions must have keys such as 'CUDA{_SUFFIX}', got {key!r}")
    if not isinstance(options, Mapping):
        raise TypeError(f'providerOptions["{key}"] must be a mapping of options to values, got {options!r}')
    for option, setting in options.items():
        if not isinstance(option, str):
            raise TypeError(f'providerOptions["{key}"] must have texts as keys, got {option!r}')
        if not isinstance(setting, str | int | float):
            raise TypeError(f'providerOptions["{key}"]["{option}"] must be text, a number or a truth value, got {setting!r}')
    return MappingProxyType({option: str(setting) for option, setting in options.items()})


def _is_provider(value: object) -> bool:
    # A provider that drives several devices at once has a second part: OpenVINOExecutionProvider.AUTO.
    return isinstance(value, str) and _SUFFIX in value


# The devices that exist


class Inventory:
    """The devices of this machine. Thread-safe.

    A listed device may fail to start. It is tried once, before it is chosen.

    Args:
        devices: The devices of the providers whose devices are known.
        verify: Tries a device. Returns why it does not start, worded to follow the provider's name, or an empty string.
        missing: Why an installed provider has no devices, worded to follow its name.
        named: The providers of the plug-ins that the program named, which come first.
        built_in: The providers that are a part of the engine; those without a listed device can be used for any type whose row names them.
        system: ``"Linux"``, ``"Windows"`` or ``"Darwin"``.
        later: Returns the devices of a provider, or why it has none, worded to follow its name; called once, when the provider is looked
            for. Where such a provider has devices, they replace those that ``devices`` has of it.
    """

    __slots__ = ("_devices", "_failures", "_later", "_lock", "_missing", "_verify", "built_in", "named", "system")

    def __init__(
        self,
        devices: Iterable[Device],
        *,
        verify: Callable[[Device], str],
        missing: Mapping[str, str] = _NONE,
        named: Sequence[str] = (),
        built_in: Collection[str] = (),
        system: str | None = None,
        later: Mapping[str, Callable[[], tuple[Sequence[Device], str]]] = _NONE,
    ) -> None:
        self._devices = tuple(devices)
        self._missing = dict(missing)
        self._later = dict(later)
        self.named = tuple(named)
        self.built_in = tuple(built_in)
        self.system = platform.system() if system is None else system
        self._verify = verify
        self._failures: dict[Device, str] = {}
        self._lock = threading.Lock()

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices of all providers."""
        self._ask(*self._later)
        return self._devices

    @property
    def missing(self) -> Mapping[str, str]:
        """Why an installed provider has no devices, worded to follow its name."""
        self._ask(*self._later)
        return self._missing

    @property
    def cpu(self) -> Device:
        """The device of the CPU provider, which always exists."""
        return next((device for device in self._devices if device.provider == CPU), Device(provider=CPU, type="cpu"))

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

    def _ask(self, *providers: str) -> None:
        """Learn the devices of those providers that were not looked for yet."""
        for provider in providers:
            if provider in self._later:
                with self._lock:
                    self._learn(provider)

    def _learn(self, provider: str) -> None:
        ask = self._later.get(provider)
        # Another thread may have asked meanwhile.
        if ask is None:
            return
        found, reason = ask()
        if found:
            self._devices = (*found, *(device for device in self._devices if device.provider != provider))
        elif reason:
            self._missing[provider] = reason
        del self._later[provider]

    def find(self, provider: str, deviceType: str) -> list[Device] | str:
        """Return the devices of a type that a provider has; if there is none, the reason."""
        self._ask(provider)
        devices = [device for device in self._devices if device.provider == provider]
        found = [device for device in devices if device.type == deviceType]
        if found:
            return found
        if devices:
            return f"{provider} has no device of type {deviceType} here"
        if provider in self._missing:
            return f"{provider} {self._missing[provider]}"
        if provider in self.built_in:
            return [Device(provider=provider, type=deviceType)]
        if self.system in _SYSTEMS.get(provider, (self.system,)):
            return f"{provider} is not installed"
        return f"{provider} exists for {' and '.join(_SYSTEMS[provider])} only"


# The answer to a request


def select_accelerated(choose: Callable[[str], Selection], powerPreference: str) -> Selection:
    """Choose the devices of a context that asks for acceleration and for no device.

    Args:
        choose: Chooses the devices for a device type.
        powerPreference: ``"low-power"`` prefers an NPU to a GPU; otherwise it is the other way round.

    Returns:
        The selection for the first of these devices that exists. If none does, the one for the CPU, which is not a fallback.
    """
    for requested in ("npu", "gpu") if powerPreference == "low-power" else ("gpu", "npu"):
        selection = choose(requested)
        if not selection.fallback:
            return selection
    return choose("cpu")


def select(
    requested: str,
    inventory: Inventory,
    *,
    powerPreference: str = "default",
    order: Order = _NONE,
    providerOptions: Mapping[str, Options] = _NONE,
) -> Selection:
    """Choose the devices of a context: the best one of the requested type, the best CPU provider, and the default CPU provider.

    Args:
        requested: The device type that is asked for.
        inventory: The devices of this machine.
        powerPreference: The ``MLPowerPreference``: which of two GPUs comes first, and how many threads the CPU uses.
        order: Converted rows that replace those of `DEFAULT_ORDER`.
        providerOptions: Converted options for each provider; they override the ones that are set here.
    """
    reasons: list[str] = []
    candidates = partial(_candidates, inventory=inventory, powerPreference=powerPreference, order=order)
    first = _first_that_starts(candidates(requested), inventory, reasons)
    if first is None and requested != "cpu":
        first = _first_that_starts(candidates("cpu"), inventory, [])
    devices = [] if first is None else [first]
    if first is not None and first.type != "cpu":
        # A session accepts each provider once, and either plug-ins or the engine's own providers.
        partners = (each for each in candidates("cpu") if isinstance(each, Device) and _are_partners(first, each))
        second = _first_that_starts(partners, inventory, [])
        devices += [] if second is None else [second]
    devices.append(inventory.cpu)
    return Selection(
        requested=requested,
        device=devices[0].type,
        devices=tuple(devices),
        providers=tuple((device.provider, _options(device, powerPreference, providerOptions)) for device in devices),
        reasons=tuple(dict.fromkeys(reasons)),
        settings=session_settings(devices, powerPreference),
    )


def select_by_profile(requested: str, profile: Profile, *, powerPreference: str = "default", provider: str = CPU) -> Selection:
    """Choose the device of a context that emulates one: the profile says what a request gets, and another provider computes on the CPU."""
    device, reason = profile.device_for(requested)
    return _on_cpu(requested, provider, device, reason, powerPreference)


def select_reference(requested: str) -> Selection:
    """Choose the device of a context that the reference computes for: the CPU, whatever is asked for."""
    return _on_cpu(requested, REFERENCE, "cpu", "" if requested == "cpu" else "the reference computes on the CPU")


def select_engine(requested: str, *, provider: str, powerPreference: str = "default") -> Selection:
    """Choose the device of a context that another engine computes for: the CPU, whatever is asked for."""
    return _on_cpu(requested, provider, "cpu", "" if requested == "cpu" else f"{provider} computes on the CPU", powerPreference)


def _on_cpu(requested: str, provider: str, device: str, reason: str, powerPreference: str = "default") -> Selection:
    """Return a selection of the CPU alone, with the device type that the request got."""
    cpu = Device(provider=provider, type="cpu")
    return Selection(
        requested=requested,
        device=device,
        devices=(cpu,),
        providers=((provider, _NONE),),
        reasons=(reason,) if reason else (),
        settings=session_settings([cpu], powerPreference),
    )


def _candidates(deviceType: str, inventory: Inventory, powerPreference: str, order: Order) -> Iterator[Device | str]:
    """Yield the candidates for a device type, best first: devices, or the reason for a provider without devices."""
    row = order.get(deviceType, DEFAULT_ORDER[deviceType])
    if not row:
        yield f"the order names no provider for {deviceType}"
    found: list[Device | str] = []
    for entry in (*inventory.named, *row):
        if entry in DEVICE_TYPES:
            yield from _sorted(found, powerPreference)
            yield from _candidates(entry, inventory, powerPreference, order)
            found = []
            continue
        devices = inventory.find(entry, deviceType)
        each: list[Device | str] = [devices] if isinstance(devices, str) else [*devices]
        if entry in inventory.named:
            yield from each
            continue
        # In a row given by the user, the order of the providers takes precedence over the kind of GPU.
        found += _sorted(each, powerPreference) if deviceType in order else each
    yield from found if deviceType in order else _sorted(found, powerPreference)


def _sorted(candidates: list[Device | str], powerPreference: str) -> list[Device | str]:
    """Sort by the preferred kind of GPU, those of unknown kind in the middle; simulators come after hardware."""

    def rank(candidate: Device | str) -> tuple[bool, int]:
        if isinstance(candidate, str):
            return False, 1
        if candidate.discrete is None:
            return candidate.simulated, 1
        return candidate.simulated, 0 if candidate.discrete == (powerPreference != "low-power") else 2

    return sorted(candidates, key=rank)


def _first_that_starts(candidates: Iterable[Device | str], inventory: Inventory, reasons: list[str]) -> Device | None:
    """Return the first device that starts, and note why those before it cannot be used."""
    for candidate in candidates:
        if isinstance(candidate, str):
            reasons.append(candidate)
            continue
        failure = inventory.failure(candidate)
        if not failure:
            return candidate
        reasons.append(f"{candidate.provider} {failure}")
    return None


def _are_partners(first: Device, other: Device) -> bool:
    """Tell whether a session can have a CPU provider after an accelerator's."""
    return other.type == "cpu" and other.provider != first.provider and other.plugin == first.plugin


def _options(device: Device, powerPreference: str, providerOptions: Mapping[str, Options]) -> Options:
    options = dict(device.options)
    if device.provider == CUDA and not device.plugin:
        # Its default rounds the factors of float32 products to 10 bits where the GPU can: WPT's tolerances allow that of float16 only.
        options["use_tf32"] = "0"
    elif device.provider == DIRECTML:
        options["performance_preference"] = _DIRECTML_PREFERENCES[powerPreference]
    elif device.provider == OPENVINO and device.type == "cpu" and not device.plugin and (count := threads(powerPreference)):
        # It has threads of its own, which the session options do not control.
        options["num_of_threads"] = str(count)
    return MappingProxyType(options | dict(providerOptions.get(device.provider, _NONE)))
