"""The devices that a context got, the settings of its sessions, and what happens if it got another device than the program asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

from webnn.validation.caller import Caller
from webnn.validation.errors import NotSupportedError, WebNNWarning

__all__ = [
    "CPU",
    "CUDA",
    "DIRECTML",
    "ENGINE_VARIABLE",
    "ISOLATE_VARIABLE",
    "OPENVINO",
    "PLUGINS_VARIABLE",
    "QNN",
    "REFERENCE",
    "SIMULATORS_VARIABLE",
    "WEBGPU",
    "Device",
    "DeviceFallbackWarning",
    "FallbackPolicy",
    "Options",
    "Selection",
    "SessionSettings",
    "answer_selection",
    "convert_policy",
    "may_pin",
    "session_settings",
    "threads",
    "usable_cores",
]

Options = Mapping[str, str]

#: The environment variables that choose devices and their processes, outside of every `emulate` block.
SIMULATORS_VARIABLE = "WEBNN_SIMULATORS"
#: Packages, separated by commas.
PLUGINS_VARIABLE = "WEBNN_PLUGINS"
ISOLATE_VARIABLE = "WEBNN_ISOLATE"
ENGINE_VARIABLE = "WEBNN_ENGINE"

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"
DIRECTML = "DmlExecutionProvider"
OPENVINO = "OpenVINOExecutionProvider"
QNN = "QNNExecutionProvider"
WEBGPU = "WebGpuExecutionProvider"
#: Not the engine's: what `webnn.reference` is called where providers are named.
REFERENCE = "reference"

FallbackPolicy = Literal["allow", "silent", "deny"]
_POLICIES: tuple[FallbackPolicy, ...] = get_args(FallbackPolicy)


class DeviceFallbackWarning(WebNNWarning):
    """A context, or operators of a graph, run on another device than the one that was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device, as one provider offers it.

    Attributes:
        provider: The provider's name, for example ``"CUDAExecutionProvider"``.
        type: The device type: ``"cpu"``, ``"gpu"`` or ``"npu"``.
        discrete: A GPU with memory of its own; ``None`` if that is not known, or for other devices.
        vendor: The maker of the device; empty if that is not known.
        name: The name that its driver gives; empty if that is not known.
        plugin: The provider is a plug-in, not a part of the engine.
        options: The provider options that choose the device.
        simulated: The device is software that the program asked for: a software GPU, or the simulator of an NPU.
        handle: The engine's own object, which selects a plug-in's device; ``None`` for a provider that is a part of the engine.
    """

    provider: str
    type: str
    discrete: bool | None = None
    vendor: str = ""
    name: str = ""
    plugin: bool = False
    simulated: bool = False
    options: Options = field(default_factory=lambda: MappingProxyType({}), hash=False)
    handle: Any = field(default=None, hash=False, repr=False)


#: Longer than the time between two operators that threads share. The engine's own time is 3 to 500 ms, by the processor: the threads of the
#: sessions that are made one after another would keep every core busy.
_SPIN = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """Session options other than the providers.

    Attributes:
        threads: How many threads an operator may use; 0 leaves it to the engine, which takes one for each core.
        spin: For how many microseconds a thread waits for work in a loop before it sleeps: faster, but it uses power meanwhile. ``None``
            leaves it to the engine.
        sequential: Operators run one after the other; set if a provider requires it.
        memory_pattern: The engine plans its memory from the shapes of the first run.
        optimize: The engine may change the graph.
    """

    threads: int = 0
    spin: int | None = _SPIN
    sequential: bool = False
    memory_pattern: bool = True
    optimize: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The answer to a request.

    Attributes:
        requested: The device type that was asked for.
        device: The device type that it got.
        devices: The devices of the session, best first; the CPU provider's is the last one.
        providers: Their providers, each with its options.
        reasons: Why better candidates were left out, one line for each.
        settings: The other session options.
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
    def reason(self) -> str:
        """Why the request got another device type; empty if it did not."""
        return "; ".join(self.reasons) if self.fallback else ""

    @property
    def accelerated(self) -> bool:
        """The best device is a massively parallel one."""
        return self.device != "cpu"

    @property
    def is_default(self) -> bool:
        """The default CPU provider is alone. It has operators and kernels that others lack."""
        return [name for name, _ in self.providers] == [CPU]

    def default_only(self) -> Selection:
        """Return the same with the default CPU provider alone."""
        return replace(self, devices=self.devices[-1:], providers=self.providers[-1:])


def session_settings(devices: Iterable[Device], powerPreference: str) -> SessionSettings:
    """Return the session options for these devices."""
    directml = any(device.provider == DIRECTML for device in devices)
    spin = {"high-performance": None, "low-power": 0}.get(powerPreference, _SPIN)
    return SessionSettings(threads=threads(powerPreference), spin=spin, sequential=directml, memory_pattern=not directml)


def threads(powerPreference: str) -> int:
    """Return how many threads an operator on the CPU may use: every core, or a quarter for "low-power"; 0 leaves it to the engine."""
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


def may_pin() -> bool:
    """Tell whether this process may pin its threads to cores; a sandbox can forbid it."""
    if not hasattr(os, "sched_setaffinity"):
        return True
    try:
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except OSError:
        return False
    return True


def convert_policy(value: object, where: str) -> FallbackPolicy:
    """Convert to a policy; ``where`` says what was given, for example ``"WEBNN_FALLBACK"``.

    Raises:
        ValueError: It is not a policy.
    """
    for policy in _POLICIES:
        if value == policy:
            return policy
    raise ValueError(f"{where} must be one of {list(_POLICIES)}, got {value!r}")


def answer_selection(selection: Selection, policy: FallbackPolicy, caller: Caller) -> None:
    """Apply the policy to a request whose context runs on another device: ``"allow"`` warns, once for each place that asks.

    Raises:
        NotSupportedError: The policy is ``"deny"``.
    """
    if not selection.fallback or policy == "silent":
        return
    device = selection.device.upper()
    if selection.devices[0].type != "cpu":
        device += f" ({selection.providers[0][0]})"
    reasons = f": {'; '.join(selection.reasons)}"
    request = f'deviceType "{selection.requested}"'
    # [#create-a-context 4, #api-ml-createcontext 5.1] The device that was asked for is there.
    if policy == "deny":
        raise NotSupportedError(
            f'createContext: {request} would run on the {device} here, which the fallback policy "deny" refuses{reasons}',
            operation="createContext",
            rule="device",
        )
    caller.warn(f"{request} runs on the {device} here{reasons}", DeviceFallbackWarning)
