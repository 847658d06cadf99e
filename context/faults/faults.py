"""`Faults`: failures of real browsers on demand. docs/testing.md says what a program sees of each in either draft.

This module decides; `webnn.context.faults.injection` acts. Every decision is made when the program calls, not when the timeline runs the
job: a test that arms a fault, makes a call and disarms the fault gets it in that call.
"""

from __future__ import annotations

import itertools
import operator
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal

from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.device_type import DEVICE_TYPES
from webnn.validation.errors import DOMException, NotSupportedError, OperationError, UnknownError

__all__ = ["CallFaults", "Faults", "Refusals", "Which"]

#: The values of `Faults.failBuild` and `Faults.failCompute`: a number, several, or all; and their converted form.
Which = int | Iterable[int] | Literal["all"]
_Which = int | range | frozenset[int] | Literal["all"]
#: The values of `Faults.refuse`: a device type, several, or a message for each.
Refusals = str | Iterable[str] | Mapping[str, str]

#: More numbers than this are a range, or a mistake such as an endless generator.
_MOST_NUMBERS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFaults:
    """The faults of one call.

    Attributes:
        delay: By how many seconds its work is delayed.
        error: The error that replaces its work; ``None`` for no error.
        loses: Why the context is lost after the call; empty if it is not lost.
    """

    delay: float
    error: DOMException | None
    loses: str = ""


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which calls of a kind a fault hits: numbers, of which 1 is the first call after the fault was set."""

    which: _Which | None = None
    since: int = 0

    @property
    def numbers(self) -> range | frozenset[int]:
        """The numbers of the calls, unless it is all."""
        if isinstance(self.which, int):
            return range(self.which, self.which + 1)
        return frozenset() if self.which is None or isinstance(self.which, str) else self.which

    def hit(self, count: int) -> str:
        """Return the part of the setting that hits a call; an empty string if none does."""
        if self.which == "all":
            return '"all"'
        number = count - self.since
        return str(number) if number in self.numbers else ""

    def pending(self, count: int) -> bool:
        """Tell whether it can still hit a call after this number of calls."""
        numbers = self.numbers
        # A range may be too long to go through.
        ends = (numbers[0], numbers[-1]) if isinstance(numbers, range) and numbers else numbers
        return self.which == "all" or count - self.since < max(ends, default=0)


class Faults:
    """Faults to be injected into contexts: ``ML(faults=Faults(refuse="npu"))``, or for a whole program `webnn.emulate`.

    Each parameter is also an attribute, which may be changed at any time and from any thread; ``None`` disarms it. One object may serve
    several `ML` objects and contexts, which share its counters. The message of each injected error says that it is injected.

    Args:
        refuse: Device types for which `ML.createContext` fails with `NotSupportedError`: ``"npu"``, ``["npu", "gpu"]``, or a mapping from
            the type to a message. Since 2026-06, a request without ``deviceType`` is refused by the type that it would get.
        failBuild: Which builds fail with `OperationError`: 1 is the next one, ``[1, 3]`` the next one and the third,
            ``"all"`` every one.
        failCompute: The same for computations: `MLContext.compute` fails with `OperationError`; `MLContext.dispatch` returns, and the
            context is lost.
        memoryLimit: The largest size that there is memory for, in bytes. A larger tensor fails with `UnknownError`. A build needs the bytes
            of the graph's constants, inputs and outputs, and a computation those of its inputs and outputs. Above the limit they fail as
            with ``failBuild`` and ``failCompute``. Each size is compared with the limit by itself: sizes of several tensors or graphs are
            not added up.
        loseAfter: After this many further computations, the context that runs the last of them is lost, once. In the draft 2024-06, which
            has no lost contexts, its later builds and computations fail with `InvalidStateError`.
        delay: By how many seconds each answer is delayed: that of `ML.createContext`, a build, a computation, the creation and the reading
            of a tensor. The event loop is never blocked.

    Raises:
        TypeError: A parameter has the wrong type.
        ValueError: A parameter has the right type but an invalid value.
    """

    __slots__ = (
        "__weakref__",
        "_builds",
        "_computes",
        "_contexts",
        "_delay",
        "_failBuild",
        "_failCompute",
        "_lock",
        "_loseAfter",
        "_memoryLimit",
        "_refuse",
    )

    def __init__(
        self,
        *,
        refuse: Refusals | None = None,
        failBuild: Which | None = None,
        failCompute: Which | None = None,
        memoryLimit: int | None = None,
        loseAfter: int | None = None,
        delay: float | None = None,
    ) -> None:
        #: Guards the counters, and what is relative to them.
        self._lock = threading.Lock()
        self._contexts = self._builds = self._computes = 0
        self.refuse = refuse
        self.failBuild = failBuild
        self.failCompute = failCompute
        self.memoryLimit = memoryLimit
        self.loseAfter = loseAfter
        self.delay = delay

    @property
    def refuse(self) -> Mapping[str, str]:
        """The device types that are refused, each with its message, which may be empty."""
        return self._refuse

    @refuse.setter
    def refuse(self, value: Refusals | None) -> None:
        self._refuse: Mapping[str, str] = _convertRefusals(value)

    @property
    def failBuild(self) -> _Which | None:
        """Which builds fail; 1 is the next one after this was set."""
        return self._failBuild.which

    @failBuild.setter
    def failBuild(self, value: Which | None) -> None:
        which = _convertWhich("failBuild", value)
        with self._lock:
            self._failBuild = _Plan(which, self._builds)

    @property
    def failCompute(self) -> _Which | None:
        """Which computations fail; 1 is the next one after this was set."""
        return self._failCompute.which

    @failCompute.setter
    def failCompute(self, value: Which | None) -> None:
        which = _convertWhich("failCompute", value)
        with self._lock:
            self._failCompute = _Plan(which, self._computes)

    @property
    def memoryLimit(self) -> int | None:
        """The largest size that there is memory for, in bytes."""
        return self._memoryLimit

    @memoryLimit.setter
    def memoryLimit(self, value: int | None) -> None:
        self._memoryLimit = None if value is None else _convertInteger("memoryLimit", value, 0, "a number of bytes")

    @property
    def loseAfter(self) -> int | None:
        """After how many computations a context is lost, counted from when this was set."""
        which = self._loseAfter.which
        return which if isinstance(which, int) else None

    @loseAfter.setter
    def loseAfter(self, value: int | None) -> None:
        which = None if value is None else _convertInteger("loseAfter", value, 1, "a number of computations")
        with self._lock:
            self._loseAfter = _Plan(which, self._computes)

    @property
    def delay(self) -> float | None:
        """By how many seconds each answer is delayed."""
        return self._delay

    @delay.setter
    def delay(self, value: float | None) -> None:
        self._delay = None if value is None else _convertDelay(value)

    @property
    def contexts(self) -> int:
        """How many contexts were requested, refused ones included; calls with invalid arguments do not count."""
        return self._contexts

    @property
    def builds(self) -> int:
        """How many builds were requested; counted as `contexts` are."""
        return self._builds

    @property
    def computes(self) -> int:
        """How many computations were requested, by `MLContext.compute` and `MLContext.dispatch`; counted as `contexts` are."""
        return self._computes

    def reset(self) -> None:
        """Reset the counters to 0; armed faults count from here as if they had just been set."""
        with self._lock:
            self._contexts = self._builds = self._computes = 0
            self._failBuild = _Plan(self._failBuild.which)
            self._failCompute = _Plan(self._failCompute.which)
            self._loseAfter = _Plan(self._loseAfter.which)

    def __repr__(self) -> str:
        with self._lock:
            plans = {
                "failBuild": (self._failBuild, self._builds),
                "failCompute": (self._failCompute, self._computes),
                "loseAfter": (self._loseAfter, self._computes),
            }
            counted = f"contexts={self._contexts}, builds={self._builds}, computes={self._computes}"
        armed: dict[str, object] = {
            "refuse": list(self.refuse) or None,
            **{name: plan.which for name, (plan, count) in plans.items() if plan.pending(count)},
            "memoryLimit": self.memoryLimit,
            "delay": self.delay,
        }
        text = ", ".join(f"{name}={_write(value)}" for name, value in armed.items() if value is not None)
        return f"<Faults {text or 'nothing armed'}; {counted}>"

    def _admitContext(self, deviceType: str) -> None:
        """Count a request for a context.

        Raises:
            NotSupportedError: A fault refuses the request.
        """
        with self._lock:
            self._contexts += 1
        message = self._refuse.get(deviceType)
        # [#create-a-context 4, #api-ml-createcontext 5.1] No fault refuses the device.
        if message is not None:
            reason = message or f'there is to be no context for "{deviceType}"'
            raise NotSupportedError(
                f"createContext: an injected fault (refuse={_write(deviceType)}): {reason}", operation="createContext", rule="fault"
            )

    def _judgeBuild(self, size: Callable[[], int]) -> CallFaults:
        """Count a build, and decide which fault it gets. The size in bytes is asked for only if there is a limit."""
        with self._lock:
            self._builds += 1
            hit = self._failBuild.hit(self._builds)
        return CallFaults(delay=self._delay or 0.0, error=self._failure("build", "failBuild", hit, size))

    def _judgeCompute(self, operation: str, size: Callable[[], int]) -> CallFaults:
        """Count a computation, and decide which fault it gets."""
        with self._lock:
            self._computes += 1
            hit = self._failCompute.hit(self._computes)
            last = self._loseAfter.hit(self._computes)
        error = self._failure(operation, "failCompute", hit, size)
        return CallFaults(delay=self._delay or 0.0, error=error, loses=f"an injected fault (loseAfter={last})" if last else "")

    def _judgeTensor(self, operation: str, descriptor: OperandDescriptor) -> UnknownError | None:
        """Return the error of the creation of a tensor."""
        reason = self._shortage(descriptor.byte_length)
        return UnknownError(f"{operation}: {reason}, {descriptor}", operation=operation, rule="fault") if reason else None

    def _failure(self, operation: str, setting: str, hit: str, size: Callable[[], int]) -> OperationError | None:
        reason = f"an injected fault ({setting}={hit})" if hit else ""
        if not reason and self._memoryLimit is not None:
            reason = self._shortage(size())
        return OperationError(f"{operation}: {reason}", operation=operation, rule="fault") if reason else None

    def _shortage(self, size: int) -> str:
        """Say why there is no memory for this number of bytes; return an empty string if there is."""
        limit = self._memoryLimit
        return "" if limit is None or size <= limit else f"an injected fault (memoryLimit={limit}): there is no memory for {size} bytes"


def _convertRefusals(value: Refusals | None) -> Mapping[str, str]:
    if value is None:
        return MappingProxyType({})
    if not isinstance(value, Iterable):
        raise TypeError(f"Faults: refuse must be a device type, several of them, or a mapping from them to messages, got {value!r}")
    given = [value] if isinstance(value, str) else value
    refused: dict[str, str] = {}
    for deviceType, message in given.items() if isinstance(given, Mapping) else zip(given, itertools.repeat("")):
        if not isinstance(deviceType, str) or deviceType not in DEVICE_TYPES:
            raise ValueError(f"Faults: refuse must name device types, of {list(DEVICE_TYPES)}, got {deviceType!r}")
        if not isinstance(message, str):
            raise TypeError(f"Faults: refuse[{deviceType!r}] must be a message, a string, got {message!r}")
        refused[deviceType] = message
    return MappingProxyType(refused)


def _convertWhich(name: str, value: Which | None) -> _Which | None:
    if value is None or (isinstance(value, str) and value == "all"):
        return value
    what = 'a number, several of them, or "all"'
    if isinstance(value, range):
        for end in (value[0], value[-1]) if value else ():
            _convertInteger(name, end, 1, what)
        return value
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        numbers = frozenset(_convertInteger(name, number, 1, what) for number in itertools.islice(value, _MOST_NUMBERS + 1))
        if len(numbers) > _MOST_NUMBERS:
            raise ValueError(f"Faults: {name} must have at most {_MOST_NUMBERS} numbers, or be a range")
        return numbers
    return _convertInteger(name, value, 1, what)


def _convertInteger(name: str, value: object, least: int, what: str) -> int:
    """Convert an integer, also NumPy's. A bool is refused, and so is a float, which may have been rounded."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"Faults: {name} must be {what} (an int), got {value!r}") from None
    if number < least:
        raise ValueError(f"Faults: {name} must be {what}, at least {least}, got {value!r}")
    return number


def _convertDelay(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"Faults: delay must be a number of seconds, got {value!r}")
    # Every comparison with NaN is false. An int may be too large for a float.
    seconds: Any = value
    if not 0 <= seconds <= threading.TIMEOUT_MAX:
        raise ValueError(f"Faults: delay must be a number of seconds, from 0 to {threading.TIMEOUT_MAX:.0f}, got {value!r}")
    return float(seconds)


def _write(value: object) -> str:
    """Write a setting as a program writes it; a set as a list, in order."""
    if isinstance(value, frozenset):
        return repr(sorted(value))
    return f'"{value}"' if isinstance(value, str) else repr(value)
