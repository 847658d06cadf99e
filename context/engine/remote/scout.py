"""Asks another process for devices: those of plug-ins, and whether a device starts. Drivers are not loaded into the program.

A process that registers a plug-in, or tries a device, may die of it. Then that provider counts as absent, with the reason. The process that
found the devices serves the next context, which so need not wait for the engine and the drivers once more.
"""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from webnn.context.devices.selection import Device, Options
from webnn.context.engine import runtime
from webnn.context.engine.remote.channel import Operation, pack_device, read_devices, read_facts, read_text
from webnn.context.engine.remote.host import EngineError, Host
from webnn.context.state import Loss
from webnn.validation.errors import InvalidStateError

if TYPE_CHECKING:
    from webnn.context.engine.cache.models import ModelCache

__all__ = ["Scout", "find_failure", "measure", "open_host", "scout"]

T = TypeVar("T")
#: How long a plug-in may take to register, or a device to start, in seconds.
_LIMIT = 60.0


class Scout:
    """Asks a process, which it starts when it is needed. Thread-safe.

    Attributes:
        host: The process; ``None`` if there is none.
    """

    __slots__ = ("_lock", "_noise", "host")

    def __init__(self) -> None:
        self.host: Host | None = None
        self._lock = threading.Lock()
        self._noise = ""

    def list_devices(self, packages: Sequence[str], provider: str, simulators: bool) -> tuple[Sequence[Device], str]:
        """Return the devices of a plug-in, and why there is none, worded to follow its name.

        Args:
            packages: Packages of plug-ins beside the known ones.
            provider: The provider of one of all these.
            simulators: Devices in software count.
        """
        body = json.dumps({"packages": packages, "provider": provider, "simulators": simulators}).encode()

        def ask(host: Host) -> tuple[Sequence[Device], str]:
            return host.check(read_devices, host.request(Operation.DEVICES, body, method="createContext"), "createContext")

        return self._ask(ask, lambda reason: ([], f"does not register: {reason}"))

    def find_failure(self, packages: Sequence[str], device: Device) -> str:
        """Return why a device does not start, worded to follow the provider's name; an empty string if it starts."""
        return self._ask(lambda host: _verify(host, packages, device, None), lambda reason: f"does not start: {reason}")

    def take(self) -> Host | None:
        """Return the process for a context; ``None`` if there is none."""
        with self._lock:
            host, self.host = self.host, None
            return host

    def noise(self) -> str:
        """Return what drivers wrote to standard error while devices were looked for."""
        host = self.host
        return self._noise if host is None else self._noise + host.noise()

    def missing_walls(self) -> dict[str, str] | None:
        """Return which walls of the system do not stand around the process that looked for devices; ``None`` if it has ended."""
        return None if self.host is None else self._ask(Host.missing_walls, lambda _: None)

    def _ask(self, ask: Callable[[Host], T], fail: Callable[[str], T]) -> T:
        with self._lock:
            host = self.host
            try:
                if host is None or host.end:
                    host = self.host = Host("device", Loss(), hang_limit=_LIMIT)
            except OSError as error:
                # Inside walls, this process may start no other.
                return fail(f"no process for devices can be started: {runtime.one_line(error)}")
            try:
                return ask(host)
            except EngineError as error:
                return fail(runtime.one_line(error))
            except InvalidStateError:
                self.host, self._noise = None, host.noise()
                return fail(host.end)


@functools.cache
def scout() -> Scout:
    """Return the scout of this program."""
    return Scout()


def open_host(name: str, loss: Loss, packages: Sequence[str], hang_limit: float | None, memory_limit: int | None, cache: str = "") -> Host:
    """Return a process for a context: the one that found its devices, or a new one. The arguments are those of `Host`."""
    host = scout().take()
    if host is None or host.end or cache not in ("", host.cache):
        return Host(name, loss, packages, hang_limit=hang_limit, memory_limit=memory_limit, cache=cache)
    host.serve(name, loss, packages, hang_limit, memory_limit)
    return host


def find_failure(host: Host, device: Device, settings: Options | None) -> str:
    """Try a device in a process, as `webnn.context.engine.discovery.find_failure` does in this one."""
    return _verify(host, host.packages, device, settings)


def measure(host: Host, device: Device, settings: Options, types: Iterable[str], cache: ModelCache | None) -> dict[str, str]:
    """Return the facts about data types of a device, as `webnn.context.engine.probes.measure` does in this process."""
    told = {
        "packages": host.packages,
        "device": pack_device(device),
        "settings": dict(settings),
        "types": sorted(types),
        "cache": None if cache is None else [str(cache.folder.path), cache.folder.size],
    }
    return host.check(read_facts, host.request(Operation.PROBE, json.dumps(told).encode(), method="build", work="a probe"), "build")


def _verify(host: Host, packages: Sequence[str], device: Device, settings: Options | None) -> str:
    options = None if settings is None else dict(settings)
    told = {"packages": packages, "device": pack_device(device), "settings": options}
    return read_text(host.request(Operation.VERIFY, json.dumps(told).encode(), method="build"))
