"""The state of a context: what its graphs, its tensors and the steps of its methods refer to, and its loss."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypedDict

import numpy as np

from webnn.context import buffers
from webnn.context.promise import Pending, Turns, running_loop
from webnn.context.timeline import Living, Timeline
from webnn.validation.errors import InvalidStateError

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.semantics import Semantics
    from webnn.context.backend import Backend
    from webnn.context.devices.selection import FallbackPolicy, Selection
    from webnn.context.document import Document
    from webnn.context.engine.memory import TensorMemory
    from webnn.context.graph import MLGraph
    from webnn.context.profiles import Profile
    from webnn.validation.caller import Caller
    from webnn.validation.descriptor import OperandDescriptor
    from webnn.validation.revision import Revision

__all__ = ["ContextState", "ContextType", "Loss", "MLContextLostInfo", "Steps"]

ContextType = Literal["default", "webgpu"]


class MLContextLostInfo(TypedDict):
    """The value of `MLContext.lost`. `#dictdef-mlcontextlostinfo`."""

    message: str


class _Member(Protocol):
    """A graph or a tensor, which ends with its context."""

    _endsFirst: ClassVar[bool]

    def _destroy(self) -> None: ...


class _Origin(Protocol):
    """How a context was made: `webnn.context.ml.Origin`."""

    @property
    def gpuDevice(self) -> object: ...

    def create(self, caller: Caller) -> Any: ...


class Loss:
    """Whether a context is lost, and what depends on it. Any thread may call any method.

    Attributes:
        info: Why the context is lost; ``None`` if it is not.
        promises: The pending promises of the context, which end with it.
    """

    __slots__ = ("_first", "_futures", "_members", "_waiting", "info", "promises")

    def __init__(self) -> None:
        self.info: MLContextLostInfo | None = None
        self.promises: dict[Pending[Any], None] = {}
        #: The info of the first loss.
        self._first: dict[None, MLContextLostInfo] = {}
        self._members: Living[_Member] = Living()
        #: A promise for each event loop that asked: a future belongs to one loop.
        self._futures: dict[asyncio.AbstractEventLoop, Pending[MLContextLostInfo]] = {}
        #: The threads that wait: locks that the loss releases.
        self._waiting: deque[threading.Lock] = deque()

    def check(self, operation: str) -> None:
        """Raise InvalidStateError if the context is lost."""
        if self.info is not None:
            raise self.error(operation)

    def error(self, operation: str) -> InvalidStateError:
        """Make the error of a call whose context is lost."""
        reason = "" if self.info is None else f": {self.info['message']}"
        return InvalidStateError(f"{operation}: the context must not be lost, but it is{reason}", operation=operation, rule="lost")

    def add(self, member: _Member, operation: str) -> None:
        """Register a new graph or tensor to be destroyed with the context, unless that is lost already."""
        # The loss looks at the members after it has set the info. So one of the two sees the other.
        self._members.add(member)
        if self.info is not None:
            self._members.discard(member)
            raise self.error(operation)

    def remove(self, member: _Member) -> None:
        """Forget a graph or tensor that was destroyed."""
        self._members.discard(member)

    def lose(self, message: str) -> None:
        """*Lose* the context, `#mlcontext-lose`; nothing happens if it is lost already.

        If an interrupt ends this, the next call does the rest.
        """
        # 1.-2. The info has the message.
        info = self.info = self._first.setdefault(None, MLContextLostInfo(message=message))
        # 3. The promise is resolved with it.
        for waiter in list(self._waiting):
            with contextlib.suppress(RuntimeError):  # it was released already
                waiter.release()
        for each in list(self._futures.values()):
            each.resolve(info.copy)
        # 4.-5. Every graph and every tensor of the context is destroyed. The graphs come first.
        for member in sorted(self._members.all(), key=lambda member: not member._endsFirst):
            member._destroy()
            self._members.discard(member)
        # [2026-06: #api-mlgraphbuilder-build 18.2, #api-mlcontext-createtensor 6.2, #api-mlcontext-createconstanttensor 10.2] All other
        # pending promises are rejected.
        for pending in list(self.promises):
            pending.reject(InvalidStateError(f"the context was lost: {info['message']}", rule="lost"))

    def future(self) -> asyncio.Future[MLContextLostInfo]:
        """Return the future of the running event loop that the loss resolves: the same one each time, unless the program cancelled it."""
        loop = running_loop()
        pending = self._futures.get(loop)
        if pending is None or pending.future.cancelled():
            for other in [each for each in list(self._futures) if each.is_closed()]:
                self._futures.pop(other, None)
            pending = self._futures[loop] = Pending()
        # The loss looks at the futures after it has set the info.
        if self.info is not None and not pending.future.done():
            pending.future.set_result(self.info.copy())
        return pending.future

    def wait(self, timeout: float | None) -> MLContextLostInfo | None:
        """Wait for the loss; return ``None`` if the timeout expires first."""
        waiter = threading.Lock()
        waiter.acquire()
        self._waiting.append(waiter)
        try:
            # The loss looks at those that wait after it has set the info.
            if self.info is None:
                waiter.acquire(timeout=-1 if timeout is None else max(timeout, 0))
        finally:
            self._waiting.remove(waiter)
        return None if self.info is None else self.info.copy()


@dataclass(slots=True)
class Compilations:
    """How many graphs were compiled, and how long the backend took for them, in seconds."""

    count: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count a graph. It is called on the timeline."""
        self.count += 1
        self.seconds += seconds


class _Watched(Protocol):
    """The process of a context, as `webnn.context.engine.remote.host.Host`."""

    watch: Callable[[float, float], None] | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False, weakref_slot=True)
class ContextState:
    """The state of one context. It refers to neither the `MLContext` nor its graphs and tensors: there are no reference cycles.

    A graph or a tensor belongs to a context if both have the same state.

    Attributes:
        allocate: Returns the memory of a new tensor, all zeros; raises `MemoryError` if there is none.
        briefHooks: The functions below take little time, and raise nothing.
        compilations: The graphs that were compiled: by `build`, and by the first dispatch where shapes are known then.
        fallback: The policy if an operator does not get its device.
        host: The process that does the context's work; ``None`` without one.
        inject: Adds the fault that a computation gets to its job: given the operation, the graph and the job. ``None`` without faults.
        lines: Builders note the program's line of each operator, for those who look at the graph.
        load_backend: Loads what compiles the graphs; called on the timeline, because the engine's takes long to load.
        on_ask: Called when the program reads what depends on its device: `Witness.ask`.
        on_build: Called on the timeline with every graph that is built: its description, and the graph. With ``briefHooks`` it gets the
            collected graph instead of the description.
        on_compute: Called on the timeline before every computation, with the graph and its inputs.
        origin: How the context was made.
        profile: The device profile, if there is one; the revision accepts what the profile accepts.
        semantics: The values of switches that differ from the defaults.
    """

    allocate: Callable[[OperandDescriptor], TensorMemory]
    briefHooks: bool
    contextType: ContextType
    document: Document
    fallback: FallbackPolicy
    inject: Callable[[ContextState, str, MLGraph, Callable[[], Any]], Callable[[], Any]] | None
    load_backend: Callable[[], Backend]
    on_ask: Callable[[], None] | None
    on_build: Callable[[Any, MLGraph], None] | None
    on_compute: Callable[[MLGraph, Mapping[str, np.ndarray[Any, np.dtype[Any]]]], None] | None
    origin: _Origin
    powerPreference: str
    profile: Profile | None
    revision: Revision
    selection: Selection
    semantics: Semantics
    compilations: Compilations = field(default_factory=Compilations)
    host: _Watched | None = None
    lines: bool = False
    loss: Loss = field(default_factory=Loss)
    #: Identifies the context where it was pickled.
    token: str = field(default_factory=lambda: os.urandom(16).hex())
    timeline: Timeline = field(default_factory=Timeline)
    turns: Turns = field(default_factory=Turns)

    def detached_reason(self, view: np.ndarray[Any, np.dtype[Any]]) -> str:
        """Say that an array's memory was transferred by an earlier `compute()`; empty if it was not."""
        return buffers.detached_reason(view)


class Steps:
    """The base of the steps of a context's methods.

    Attributes:
        direct: Whether a call that needs nothing but the work itself may skip its steps.
    """

    __slots__ = ("_prompt", "_state", "direct")

    def __init__(self, state: ContextState, *, direct: bool = True) -> None:
        self._state = state
        isDefault = state.contextType == "default"
        self.direct = direct and isDefault and state.on_compute is None
        self._prompt = isDefault and (state.on_compute is None or state.briefHooks)

    @property
    def prompt(self) -> bool:
        """Whether quick work may be done at once, in the thread of the call."""
        return self._prompt
