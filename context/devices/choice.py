"""The choice of a context's devices.

Nothing here asks the engine. The existing devices come as an `Inventory`, which `webnn.context.devices.discovery` makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.context.devices.order import DEFAULT_ORDER, Order
from webnn.context.selection import CPU, CUDA, DIRECTML, OPENVINO, Device, Options, Selection, session_settings, threads
from webnn.validation.device_type import DEVICE_TYPES

if TYPE_CHECKING:
    from webnn.context.devices.inventory import Inventory
    from webnn.context.profiles import Profile

__all__ = ["select", "select_accelerated", "select_accelerated_by_profile", "select_by_profile"]

_DIRECTML_PREFERENCES = {"default": "default", "high-performance": "high_performance", "low-power": "minimum_power"}
_NONE: Mapping[str, Any] = MappingProxyType({})


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
        The selection for the first of these devices that exists. If none does, the one for the CPU, which is not a fallback.
    """
    return _first_accelerated(
        partial(select, inventory=inventory, powerPreference=powerPreference, order=order, providerOptions=providerOptions), powerPreference
    )


def _first_accelerated(request: Callable[[str], Selection], powerPreference: str) -> Selection:
    """Return the selection for the first accelerator that exists; if none does, the one for the CPU."""
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


def select_by_profile(requested: str, profile: Profile, *, powerPreference: str = "default") -> Selection:
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


def select_accelerated_by_profile(profile: Profile, *, powerPreference: str = "default") -> Selection:
    """Choose the device of a context that emulates one and asks for acceleration and no device: `select_accelerated` for a profile."""
    return _first_accelerated(lambda requested: select_by_profile(requested, profile, powerPreference=powerPreference), powerPreference)


def _candidates(deviceType: str, inventory: Inventory, powerPreference: str, order: Order) -> Iterator[Device | str]:
    """Yield the candidates for a device type, best first: devices, or the reason for a provider without devices."""
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
        # In a row given by the user, the order of the providers takes precedence over the kind of GPU.
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
