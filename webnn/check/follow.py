"""A run of a program without a profile, followed on many: what each would refuse, and whether the program would go another way there.

Every call that a profile could refuse is put to the profiles, too. A profile that refuses nothing has the run of the program. One that
refuses a call ends it there, if no frame of the program could catch the error. Everything else is not known without a run on the profile:
a program that reads its limits, catches an error, or starts processes.
"""

from __future__ import annotations

import dis
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, ClassVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from webnn.builder.numerics import DEFAULT_NUMERICS
from webnn.builder.semantics import find_switches
from webnn.check.events import Collected, Ended, Job, Replay
from webnn.check.recorder import Recorder, write_error
from webnn.context import limits
from webnn.context.emulation import Settings
from webnn.context.once import compute
from webnn.context.placement.assign import unknown
from webnn.context.processes import KEEPER
from webnn.validation.caller import find_caller
from webnn.validation.errors import DOMException, WebNNTypeError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.builder.graph import ComputationalGraph
    from webnn.context.backend import Implementation, Placed
    from webnn.context.context import MLContext
    from webnn.context.devices.selection import FallbackPolicy, Selection
    from webnn.context.graph import MLGraph
    from webnn.context.ml import Origin
    from webnn.context.profiles import Profile
    from webnn.context.state import ContextState
    from webnn.validation.descriptor import OperandDescriptor
    from webnn.validation.operation import Call, NamedOperand, Role
    from webnn.validation.revision import Revision

__all__ = ["Witness", "may_catch"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The modules whose handlers pass every error on.
_PASSING = frozenset({"runpy", "webnn.context.timeline", __name__})
#: The events of Python for the start of a process. A process of the program is held to the profile, too.
_STARTS = frozenset(
    {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.startfile/2", "os.system", "subprocess.Popen"}
)
#: Modules that `multiprocessing` loads when it starts a process.
_POPEN = "multiprocessing.popen_"
#: The threads of `webnn.context.timeline`.
_TIMELINE = "webnn"
#: The most bytes of constants, and of inputs, that are kept to compute again.
_MOST_BYTES = 1 << 28
#: The most computations that are made again.
_MOST_COMPUTATIONS = 64


class Witness:
    """Follows the program on every profile of `Job.replay`.

    An error that reaches the function with the code ``root`` ends the program. If there is none, errors never do.
    """

    def __init__(self, job: Job, recorder: Recorder, root: CodeType | None) -> None:
        self._recorder = recorder
        self._root = root
        self._lock = threading.RLock()
        self._inside = threading.local()
        ways = (False, True) if job.every else (False,)
        self._followers = [_Follower(job, profile, go_on=way) for profile in job.replay for way in ways]
        self._varied: WeakKeyDictionary[MLGraph, _Varied] = WeakKeyDictionary()
        self._held = self._computations = 0
        self._loaded = frozenset(sys.modules)

    def settings(self) -> Settings:
        """Return the settings of every context of the run."""
        return replace(self._recorder.settings(), on_build=self._build, on_compute=self._compute, witness=self)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take every error of the API for a question about the device: the program goes on, and drafts with a profile allow more."""
        before = {kind: kind.__init__ for kind in (WebNNTypeError, DOMException)}

        def watch(make: Callable[..., None]) -> Callable[..., None]:
            def make_error(error: object, *arguments: object, **more: object) -> None:
                make(error, *arguments, **more)
                self.ask()

            return make_error

        for kind, make in before.items():
            kind.__init__ = watch(make)  # type: ignore[method-assign]
        try:
            yield
        finally:
            for kind, make in before.items():
                kind.__init__ = make  # type: ignore[method-assign]

    def audit(self, event: str, arguments: tuple[object, ...]) -> None:
        """Learn from the interpreter that a process starts: a hook of `sys.addaudithook`."""
        if event in _STARTS and threading.current_thread().name != KEEPER:
            self.ask()

    def ask(self) -> None:
        """Note that the program asks something that depends on the device: `webnn.context.emulation.Witness.ask`."""
        if not getattr(self._inside, "on", False):
            for follower in self._followers:
                follower.lose()

    def watch(self, revision: Revision, settings: Settings) -> Revision:
        """Return a draft whose calls are seen: `webnn.context.emulation.Witness.watch`."""
        own = (settings.on_build, settings.on_compute) == (self._build, self._compute)
        if settings.fallback == "deny" or settings.faults is not None or not own:
            # The device decides whether there is a context at all; faults count; hooks of the program replace ours.
            self.ask()
        return replace(revision, acceptance=_Acceptance(self, revision))

    def put(self, question: Callable[[Profile], object], operands: Iterable[OperandDescriptor] = ()) -> None:
        """Put a call to all profiles."""
        largest = max((each.byte_length for each in operands), default=0)
        with self._quietly():
            for follower in self._alive():
                if largest > follower.profile.max_byte_length:
                    # Another error, with its own handling.
                    follower.lose()
                else:
                    self._follow(follower, lambda follower=follower: question(follower.profile))  # type: ignore[misc]

    def finish(self, end: Ended) -> Iterator[Replay]:
        """Yield the program's run on each profile where it is known."""
        if end.code or any(name.startswith(_POPEN) for name in sys.modules.keys() - self._loaded):
            return
        with self._quietly():
            found = {(each.name, each.go_on): each for each in self._followers}
            for name in dict.fromkeys([name for name, _ in found]):
                strict, free = found[name, False], found.get((name, True))
                notes = strict.finish(end)
                if notes is not None:
                    again = None if free is None or not strict.ended else free.finish(end)
                    yield Replay(profile=name, notes=notes, again=again, seconds=round(strict.seconds, 3))

    def _alive(self) -> list[_Follower]:
        return [each for each in self._followers if each.is_alive]

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Follow, with errors and questions of our own."""
        with self._lock:
            self._inside.on = True
            try:
                yield
            finally:
                self._inside.on = False

    def _follow(self, follower: _Follower, step: Callable[[], object]) -> None:
        began = time.perf_counter()
        try:
            step()
        except (WebNNTypeError, DOMException) as error:
            if self._root is None or may_catch(self._root):
                follower.lose()
            else:
                follower.fail(error)
        follower.seconds += time.perf_counter() - began

    def _build(self, graph: GraphDescription, built: MLGraph) -> None:
        """Note a graph, and build it on the profiles: a hook of contexts."""
        with self._quietly():
            self._recorder.note(graph, built)
            state, source, implementation = built._state, built._source, built._implementation
            assert source is not None
            assert implementation is not None
            if state.profile is not None:
                # The program chose it.
                for follower in self._alive():
                    follower.recorder.note(graph, built)
                return
            names = {switch.name for switch in find_switches(operator.operation for operator in graph.operators)}
            varied: _Varied | None = None
            for follower in self._alive():
                if not follower.computes_alike(state, names):
                    if varied is None:
                        varied = self._vary(graph, built, source)
                    if varied is None:
                        follower.lose()
                        continue
                    follower.varied.append(varied)
                self._follow(follower, lambda follower=follower: follower.build(state, source, implementation))  # type: ignore[misc]

    def _vary(self, graph: GraphDescription, built: MLGraph, source: ComputationalGraph) -> _Varied | None:
        """Keep a graph that some profiles compute in another way; ``None`` if it is too large."""
        self._held += sum(each.descriptor.byte_length for each in graph.constants.values())
        if self._held > _MOST_BYTES:
            return None
        varied = self._varied[built] = _Varied(built._state, source)
        return varied

    def _compute(self, graph: MLGraph, inputs: Mapping[str, Array]) -> None:
        """Keep the inputs of a graph that some profiles compute in another way: a hook of contexts."""
        with self._lock:
            varied = self._varied.get(graph)
            if varied is not None and varied.inputs is not None:
                self._held += sum(each.nbytes for each in inputs.values())
                self._computations += 1
                if self._held > _MOST_BYTES or self._computations > _MOST_COMPUTATIONS:
                    varied.inputs = None
                else:
                    varied.inputs.append({name: each.copy() for name, each in inputs.items()})


class _Acceptance:
    """An acceptance that accepts everything, and puts it to the profiles."""

    def __init__(self, witness: Witness, revision: Revision) -> None:
        self._witness = witness
        self._revision = revision
        self.name = ""
        self.max_byte_length = revision.max_byte_length
        self.ruled: Collection[str] = ()

    def accept(self, call: Call, operands: Iterable[NamedOperand], outputs: Sequence[OperandDescriptor], chosen: str = "") -> None:
        given = list(operands)
        descriptors = [*(descriptor for _, _, descriptor in given), *outputs]
        self._witness.put(lambda profile: profile.accept(call, given, outputs, chosen), descriptors)

    def accept_constant_tensor(self, call: Call) -> None:
        self._witness.put(lambda profile: profile.accept_constant_tensor(call))

    def accept_operator(self, call: Call, operator: Any) -> None:
        self._witness.put(lambda profile: profile.accept_operator(call, operator))

    def accept_tensor(self, call: Call, role: Role, argument: str, descriptor: OperandDescriptor, label: str = "") -> None:
        self._witness.put(lambda profile: profile.accept_tensor(call, role, argument, descriptor, label), [descriptor])

    def limits(self) -> dict[str, Any]:
        self._witness.ask()
        return limits.op_support_limits(self._revision)


class _Follower:
    """The known part of the program's run on one profile."""

    def __init__(self, job: Job, name: str, *, go_on: bool) -> None:
        self.name = name
        self.go_on = go_on
        self.notes = Collected()
        self.recorder = Recorder(job.model_copy(update={"profile": name, "go_on": go_on}), self.notes)
        assert self.recorder.profile is not None
        self.profile: Profile = self.recorder.profile
        #: How the program ends before its end.
        self.ended: Ended | None = None
        self.seconds = 0.0
        #: Graphs that the profile computes in another way.
        self.varied: list[_Varied] = []
        self._lost = False
        self._contexts: WeakKeyDictionary[ContextState, MLContext] = WeakKeyDictionary()

    @property
    def is_alive(self) -> bool:
        """The program is still running here."""
        return not self._lost and self.ended is None

    def lose(self) -> None:
        """Note that only a run on the profile shows how the program goes on; nothing happens if it has ended."""
        self._lost = self._lost or self.ended is None

    def fail(self, error: WebNNTypeError | DOMException) -> None:
        """End the program with an uncaught error."""
        self.ended = Ended(code=1, error=write_error(error), fatal=self.recorder.fatal(error))

    def build(self, state: ContextState, source: ComputationalGraph, implementation: Implementation) -> None:
        """Build a graph here, as the program did in a context, without compiling it again."""
        context = self._context(state)._state
        _compile(replace(context, load_backend=lambda: _Compiled(implementation)), source)

    def computes_alike(self, state: ContextState, names: set[str]) -> bool:
        """Tell whether the engine gets the same model here as in a context, for a graph with operations that these switches concern."""
        here = self._context(state)._state
        own = [{name: value for name, value in each.semantics if name in names} for each in (state, here)]
        numerics = _origin(state).settings.numerics
        same = numerics is not None or self.profile.numerics in (None, DEFAULT_NUMERICS)
        return own[0] == own[1] and same and state.selection.is_default

    def finish(self, end: Ended) -> tuple[Any, ...] | None:
        """Return the notes of the run; ``None`` if it is not known."""
        began = time.perf_counter()
        if self._lost or not all(varied.agrees(self.profile) for varied in self.varied):
            return None
        self.recorder.end(self.ended or end)
        self.seconds += time.perf_counter() - began
        return tuple(self.notes.notes)

    def _context(self, state: ContextState) -> MLContext:
        """Return the context that the program has here in the place of another one."""
        if state not in self._contexts:
            self._contexts[state] = _make_again(state, self.recorder.settings())
        return self._contexts[state]


@dataclass(slots=True, eq=False)
class _Varied:
    """A graph that some profiles compute in another way.

    Attributes:
        inputs: The inputs of each computation; ``None`` if there are too many.
        results: The outputs of each computation without a profile.
    """

    state: ContextState
    source: ComputationalGraph
    inputs: list[dict[str, Array]] | None = field(default_factory=list)
    results: list[dict[str, Array]] | None = None

    def agrees(self, profile: Profile) -> bool:
        """Tell whether the engine compiles the graph on a profile, and computes the same."""
        if self.inputs is None:
            return False
        try:
            found = self._run(Settings(profile=replace(profile, observer=None, engine="")))
            if self.results is None:
                self.results = self._run(Settings())
        except (WebNNTypeError, DOMException):
            return False
        return all(
            one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)
            for one, other in zip(found, self.results, strict=True)
        )

    def _run(self, settings: Settings) -> list[dict[str, Array]]:
        context = _make_again(self.state, settings)
        graph = _compile(context._state, self.source)
        return [compute(context, graph, inputs) for inputs in self.inputs or ()]


class _Compiled:
    """A backend for a graph that is compiled already. A context of a profile does not ask it where operators run."""

    takes_times: ClassVar[bool] = False

    def __init__(self, implementation: Implementation) -> None:
        self._implementation = implementation

    def compile(self, graph: ComputationalGraph, selection: Selection) -> Implementation:
        return self._implementation

    def compile_and_place(self, graph: ComputationalGraph, selection: Selection, fallback: FallbackPolicy) -> Placed:
        return self._implementation, lambda: unknown("placement")


def _compile(state: ContextState, source: ComputationalGraph) -> MLGraph:
    from webnn.context.build import compile_graph  # noqa: PLC0415 (it loads onnx)
    from webnn.context.graph_steps import COMPILE  # noqa: PLC0415

    return (state.revision.extension(COMPILE) or compile_graph)(state, source, find_caller())


def _origin(state: ContextState) -> Origin:
    return cast("Origin", state.origin)


def _make_again(state: ContextState, settings: Settings) -> MLContext:
    """Make a context as the program made one, with another profile and other hooks."""
    origin = _origin(state)
    hooks: dict[str, Any] = {"on_build": settings.on_build, "on_compute": None, "on_context": None, "witness": None}
    return replace(origin, settings=replace(origin.settings, profile=settings.profile, **hooks)).create(find_caller())


def may_catch(root: CodeType) -> bool:
    """Tell whether an error of the running call may be caught before it reaches the frame of a function."""
    main = threading.main_thread()
    others = [each for each in threading.enumerate() if each is not main and not each.daemon and each.name != _TIMELINE]
    if threading.current_thread() is not main or others:
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not root:
        if frame.f_globals.get("__name__") not in _PASSING and _handles(frame.f_code, frame.f_lasti):
            return True
        frame = frame.f_back
    return frame is None


def _handles(code: CodeType, offset: int) -> bool:
    """Tell whether an instruction is in a block that handles errors, such as ``try`` or ``with``."""
    entries = getattr(dis.Bytecode(code), "exception_entries", None)
    return entries is None or any(entry.start <= offset < entry.end for entry in entries)
