"""Devices: from ``deviceType`` and ``powerPreference`` to the execution providers of a session.

Nothing here asks the engine: what exists comes as an `Inventory`, which `webnn.context.discovery` makes.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.validation.device_type import DEVICE_TYPES

if TYPE_CHECKING:
    from webnn.validation.profiles import Profile

__all__ = [
    "DEFAULT_ORDER",
    "Device",
    "Inventory",
    "Selection",
    "SessionSettings",
    "emulate",
    "emulate_accelerated",
    "select",
    "select_accelerated",
    "session_settings",
]

Options = Mapping[str, str]
Order = Mapping[str, tuple[str, ...]]

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"
DIRECTML = "DmlExecutionProvider"
OPENVINO = "OpenVINOExecutionProvider"
WEBGPU = "WebGpuExecutionProvider"

#: What serves a device type, best first: providers, or a device type, which stands for all that would serve that one. Of two GPUs the
#: kind that ``powerPreference`` asks for comes first, whichever provider has it. The CPU provider stands behind all of them.
DEFAULT_ORDER: Order = MappingProxyType(
    {
        "cpu": (OPENVINO,),
        "gpu": (CUDA, OPENVINO, WEBGPU, DIRECTML),
        "npu": (OPENVINO, DIRECTML, "gpu"),
    }
)
#: Systems that a provider exists for, where it is not all of them.
_SYSTEMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {CUDA: ("Linux", "Windows"), DIRECTML: ("Windows",), OPENVINO: ("Linux", "Windows")}
)
_DIRECTML_PREFERENCES = {"default": "default", "high-performance": "high_performance", "low-power": "minimum_power"}
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device, as one provider offers it.

    Attributes:
        provider: The provider's name, for example ``"CUDAExecutionProvider"``.
        type: What it is: ``"cpu"``, ``"gpu"`` or ``"npu"``.
        discrete: A GPU with memory of its own; ``None`` if that is not known, or it is no GPU.
        vendor: Who made the device; empty if that is not known.
        plugin: The provider is a plug-in, not a part of the engine.
        options: The provider options that choose the device.
        handle: The engine's own object, which plug-ins are asked for by; ``None`` for a provider that is a part of the engine.
    """

    provider: str
    type: str
    discrete: bool | None = None
    vendor: str = ""
    plugin: bool = False
    options: Options = field(default_factory=lambda: _NONE, hash=False)
    handle: Any = field(default=None, hash=False, repr=False)


class Inventory:
    """What exists on this machine. Thread-safe.

    A device that is listed need not start: it is tried when it is about to be chosen, once.

    Args:
        devices: The devices of the providers whose devices are known.
        verify: Tries a device; returns why it does not start, to be read behind the provider's name, or an empty string.
        missing: Why a provider that is installed brings no device at all, to be read behind its name.
        built_in: The providers that are a part of the engine; those without a device serve any type that an order names them for.
        system: ``"Linux"``, ``"Windows"`` or ``"Darwin"``.

    Attributes:
        devices: The devices.
        missing: Why a provider brings none.
        built_in: The providers that are a part of the engine.
        system: The operating system.
    """

    __slots__ = ("_failures", "_lock", "_verify", "built_in", "devices", "missing", "system")

    def __init__(
        self,
        devices: Iterable[Device],
        *,
        verify: Callable[[Device], str],
        missing: Mapping[str, str] = _NONE,
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
        """Return why a device does not start, to be read behind the provider's name; an empty string if it does."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What a session is told beside its providers.

    Attributes:
        threads: How many threads an operator may use; 0 leaves it to the engine, which takes one for each core.
        spinning: Threads wait for work in a loop: faster, but they use power meanwhile.
        sequential: Operators run one after the other, which is said explicitly where a provider demands it.
        memory_pattern: The engine plans its memory from the shapes of the first run.
    """

    threads: int = 0
    spinning: bool = True
    sequential: bool = False
    memory_pattern: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a request got.

    Attributes:
        requested: The device type that was asked for, for example ``"npu"``.
        device: The device type that it got.
        devices: The devices of the session, best first; the CPU provider's is the last one.
        providers: Their providers, each with its options.
        reasons: Why better candidates were left out, one line for each.
        settings: What else the session is told.
    """

    requested: str
    device: str
    devices: tuple[Device, ...]
    providers: tuple[tuple[str, Options], ...]
    reasons: tuple[str, ...] = ()
    settings: SessionSettings = SessionSettings()

    @property
    def fallback(self) -> bool:
        """The request got another device type than it asked for."""
        return self.device != self.requested

    @property
    def accelerated(self) -> bool:
        """The best device is a massively parallel one."""
        return self.device != "cpu"

    def default_only(self) -> Selection:
        """Return the same with the default CPU provider alone."""
        return replace(self, devices=self.devices[-1:], providers=self.providers[-1:])


def select_accelerated(
    inventory: Inventory,
    *,
    powerPreference: str = "default",
    order: Order = _NONE,
    providerOptions: Mapping[str, Options] = _NONE,
) -> Selection:
    """Choose the devices of a context that asks for acceleration and for no device.

    Args:
        inventory: What exists.
        powerPreference: ``"low-power"`` prefers an NPU to a GPU; otherwise it is the other way round.
        order: As for `select`.
        providerOptions: As for `select`.

    Returns:
        What the first of these devices that exists would get; the CPU if none does, which is no fallback.
    """
    return _first_accelerated(
        partial(select, inventory=inventory, powerPreference=powerPreference, order=order, providerOptions=providerOptions), powerPreference
    )


def _first_accelerated(request: Callable[[str], Selection], powerPreference: str) -> Selection:
    """Return what the first accelerator gets that is there; if there is none, what the CPU gets."""
    for requested in ("npu", "gpu") if powerPreference == "low-power" else ("gpu", "npu"):
        selection = request(requested)
        if not selection.fallback:
            return selection
    return request("cpu")


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
        inventory: What exists.
        powerPreference: The ``MLPowerPreference``: which of two GPUs comes first, and how many threads the CPU uses.
        order: Rows in the place of those of `DEFAULT_ORDER`, converted.
        providerOptions: Options for each provider, converted; they go over the ones that are set here.
    """
    reasons: list[str] = []
    candidates = partial(_candidates, inventory=inventory, powerPreference=powerPreference, order=order)
    first = _first_that_starts(candidates(requested), inventory, reasons)
    if first is None and requested != "cpu":
        first = _first_that_starts(candidates("cpu"), inventory, [])
    devices = [] if first is None else [first]
    if first is not None and first.type != "cpu":
        # The engine takes a provider once, and plug-ins or its own providers in one session, not both.
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


def emulate(requested: str, profile: Profile, *, powerPreference: str = "default") -> Selection:
    """Choose the device of a context that emulates one: the profile says what a request gets, and the CPU provider computes.

    Args:
        requested: The device type that is asked for.
        profile: The device profile.
        powerPreference: As for `select`.
    """
    device, reason = profile.device_for(requested)
    cpu = Device(provider=CPU, type="cpu")
    return Selection(
        requested=requested,
        device=device,
        devices=(cpu,),
        providers=((CPU, _NONE),),
        reasons=(reason,) if reason else (),
        settings=session_settings([cpu], powerPreference),
    )


def emulate_accelerated(profile: Profile, *, powerPreference: str = "default") -> Selection:
    """Choose the device of a context that emulates one and asks for acceleration and no device: `select_accelerated` for a profile."""
    return _first_accelerated(lambda requested: emulate(requested, profile, powerPreference=powerPreference), powerPreference)


def session_settings(devices: Iterable[Device], powerPreference: str) -> SessionSettings:
    """Return what a session on these devices is told.

    Args:
        devices: The devices.
        powerPreference: ``"high-performance"`` uses every core that this process may use, ``"low-power"`` a quarter of them, whose threads
            do not spin; otherwise the engine decides.
    """
    directml = any(device.provider == DIRECTML for device in devices)
    return SessionSettings(
        threads=_threads(powerPreference), spinning=powerPreference != "low-power", sequential=directml, memory_pattern=not directml
    )


def _threads(powerPreference: str) -> int:
    """Return how many threads an operator on the CPU may use; 0 leaves it to the engine."""
    if powerPreference == "default":
        return 0
    return usable_cores() if powerPreference == "high-performance" else max(1, usable_cores() // 4)


def usable_cores() -> int:
    """Return how many cores this process may use."""
    # From Python 3.13 on; on Windows and macOS, a process may use every core by default.
    count: Callable[[], int | None] | None = getattr(os, "process_cpu_count", None)
    if count is not None:
        return count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _candidates(deviceType: str, inventory: Inventory, powerPreference: str, order: Order) -> Iterator[Device | str]:
    """Yield what serves a device type, best first: devices, and for each provider that has none the reason."""
    row = order.get(deviceType, DEFAULT_ORDER[deviceType])
    if not row:
        yield f"the order names no provider for {deviceType}"
    found: list[Device | str] = []
    for entry in row:
        if entry in DEVICE_TYPES:
            yield from _sorted(found, powerPreference)
            yield from _candidates(entry, inventory, powerPreference, order)
            found = []
            continue
        devices = inventory.find(entry, deviceType)
        each: list[Device | str] = [devices] if isinstance(devices, str) else [*devices]
        # In a row of the user's own, a provider that stands first comes first, whatever kind of GPU it has.
        found += _sorted(each, powerPreference) if deviceType in order else each
    yield from found if deviceType in order else _sorted(found, powerPreference)


def _sorted(candidates: list[Device | str], powerPreference: str) -> list[Device | str]:
    """Sort by the preferred kind of GPU, those of unknown kind in the middle."""

    def rank(candidate: Device | str) -> int:
        if isinstance(candidate, str) or candidate.discrete is None:
            return 1
        return 0 if candidate.discrete == (powerPreference != "low-power") else 2

    return sorted(candidates, key=rank)


def _first_that_starts(candidates: Iterable[Device | str], inventory: Inventory, reasons: list[str]) -> Device | None:
    """Return the first device that starts, and note why those before it do not serve."""
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
    """Tell whether a CPU provider can stand behind an accelerator, in one session."""
    return other.type == "cpu" and other.provider != first.provider and other.plugin == first.plugin


def _options(device: Device, powerPreference: str, providerOptions: Mapping[str, Options]) -> Options:
    options = dict(device.options)
    if device.provider == CUDA and not device.plugin:
        # Its default rounds the factors of float32 products to 10 bits where the GPU can: WPT's tolerances allow that of float16 only.
        options["use_tf32"] = "0"
    elif device.provider == DIRECTML:
        options["performance_preference"] = _DIRECTML_PREFERENCES[powerPreference]
    elif device.provider == OPENVINO and device.type == "cpu" and not device.plugin and (threads := _threads(powerPreference)):
        # It has threads of its own, which the session's settings do not reach.
        options["num_of_threads"] = str(threads)
    return MappingProxyType(options | dict(providerOptions.get(device.provider, _NONE)))
