"""The record of a session for the status page: its last calls, its graphs, and its warnings. All of it is bounded."""

from __future__ import annotations

import json
import re
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from webnn.inspect.show import printable
from webnn.inspect.timeline_recorder import TimelineRecorder

if TYPE_CHECKING:
    import webnn
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.operand import MLOperand
    from webnn.context.graph import MLGraph
    from webnn.context.placement import Placement

__all__ = ["Built", "Record", "RecordedCall", "read_member"]

_Array = np.ndarray[Any, np.dtype[Any]]

#: How many calls, graphs, different warnings and losses of contexts are kept.
_CALLS, _GRAPHS, _WARNINGS, _LOST = 200, 50, 50, 50
#: How many calls, and pieces of their work, a time line keeps.
_EVENTS = 20_000
#: How much of a request, of an answer and of a warning is kept, in characters, and how much of them is shown.
_LONGEST, _LONGEST_ARGUMENTS, _LONGEST_RESULT = 600, 160, 400
#: The most bytes of inputs that a session keeps, and how often those of a graph are copied, in seconds.
_INPUT_BYTES, _INTERVAL = 1 << 26, 1.0
#: How many inputs, or outputs, of a graph are named, and how many operators the placement has that outlives its graph.
_NAMED, _PLACED = 8, 2000
#: The beginning of a request: interface and member; and with the handle.
_MEMBER = re.compile(r'\["(\w+)", ?"(\w+)"')
_HEAD = re.compile(_MEMBER.pattern + r", ?(?:-?\d+|null), ?")
#: Objects and views in a request that was cut.
_MARK = re.compile(r'\{"\$([hv])": ?(-?\d+)\}')


class RecordedCall(NamedTuple):
    """A call as a person reads it.

    Attributes:
        number: Its number in the session, from 1.
        member: The member, such as ``"MLGraphBuilder.relu"``.
        arguments: The arguments in short.
        result: The result in short, or the message of the error.
        refused: It failed.
        seconds: How long it took in the emulator.
        received: How many bytes of views came with it.
        sent: How many bytes went back.
    """

    number: int
    member: str
    arguments: str
    result: str
    refused: bool
    seconds: float
    received: int
    sent: int


@dataclass(slots=True, eq=False)
class Built:
    """A graph that a page has built. It keeps neither the graph nor its constants.

    Attributes:
        placement: Where its operators run, if a device profile says so of a graph that is not large; it outlives the graph.
        values: The inputs of one of the last computations; ``None`` if there was none, or if they are too large.
    """

    number: int
    inputs: str
    outputs: str
    operators: int
    constants: int
    graph: weakref.ref[MLGraph]
    placement: Placement | None = None
    computations: int = 0
    values: dict[str, _Array] | None = None
    note: str = "the page has not computed it"
    size: int = 0
    taken: float = -_INTERVAL

    def find(self) -> MLGraph | None:
        """Return the graph if the page can still use it."""
        graph = self.graph()
        return None if graph is None or graph._source is None else graph

    def release(self) -> None:
        """Forget its inputs."""
        self.values, self.size = None, 0


class Record:
    """The record of a session. Any thread may use it."""

    def __init__(self, most: int = _CALLS, on_warning: Callable[[str], None] | None = None) -> None:
        self.refused = 0
        #: The recorder of the contexts, once there is one.
        self.timeline: TimelineRecorder | None = None
        self._on_warning = on_warning
        self.lost: deque[str] = deque(maxlen=_LOST)
        self._lock = threading.Lock()
        #: How often each warning was given, and how many others were.
        self._warnings: dict[str, int] = {}
        self._more_warnings = 0
        self._calls: deque[tuple[str, str, float, int, int]] = deque(maxlen=most)
        self._called = 0
        self._built = 0
        #: The graphs that are kept, by their numbers.
        self._graphs: dict[int, Built] = {}
        self._found: weakref.WeakKeyDictionary[MLGraph, Built] = weakref.WeakKeyDictionary()

    # From the session

    def called(self, text: str, answer: str, seconds: float, received: int, sent: int) -> None:
        """Remember a call. Nothing of it is read before the page asks."""
        with self._lock:
            self._called += 1
            self.refused += answer.startswith('{"error"')
            self._calls.append((text[:_LONGEST], answer[:_LONGEST], seconds, received, sent))

    def warned(self, message: str) -> None:
        """Remember a warning."""
        message = message[:_LONGEST]
        with self._lock:
            if message in self._warnings or len(self._warnings) < _WARNINGS:
                self._warnings[message] = self._warnings.get(message, 0) + 1
            else:
                self._more_warnings += 1
        if self._on_warning is not None:
            self._on_warning(message)

    def watch(self, ml: webnn.ML, *, timeline: bool = False, lines: bool = False) -> webnn.ML:
        """Remember the graphs of an `ML` that has made no context yet, and return it.

        With ``timeline`` its contexts are recorded, with ``lines`` the program's line of each operator.
        """
        if timeline and self.timeline is None:
            self.timeline = TimelineRecorder(newest=_EVENTS)
        recorder = self.timeline if timeline else None
        ml._watch(self._note_build, self._note_compute, None if recorder is None else recorder.watch, lines=lines)
        return ml

    # For the status page

    def calls(self) -> tuple[list[RecordedCall], int]:
        """Return the calls that are kept, the newest first, and how many older ones there were."""
        with self._lock:
            kept, called = list(self._calls), self._called
        numbered = zip(range(called, 0, -1), reversed(kept), strict=False)
        return [_read(number, *each) for number, each in numbered], called - len(kept)

    def warnings(self) -> tuple[dict[str, int], int]:
        """Return how often each warning was given, and how many others were given."""
        with self._lock:
            return dict(self._warnings), self._more_warnings

    def graphs(self) -> tuple[list[Built], int]:
        """Return the graphs that are kept, the newest first, and how many others there were."""
        with self._lock:
            kept, built = list(self._graphs.values()), self._built
        return kept[::-1], built - len(kept)

    def graph(self, number: int) -> Built | None:
        """Return a graph by its number; ``None`` if it is not kept."""
        with self._lock:
            return self._graphs.get(number)

    def counts(self) -> tuple[int, int]:
        """Return how many calls and how many graphs there were."""
        with self._lock:
            return self._called, self._built

    # On the timelines of contexts

    def _note_build(self, source: ComputationalGraph, graph: MLGraph) -> None:
        # With a profile it is known already, and says why operators fall back. Otherwise it is found out when the page asks.
        isKept = graph._state.profile is not None and len(source.operators) <= _PLACED
        placement = graph.placement if isKept else None
        with self._lock:
            self._built += 1
            number = self._built
            built = Built(
                number=number,
                inputs=_name(source.inputs),
                outputs=_name(source.outputs),
                operators=len(source.operators),
                constants=_count_constants(source),
                graph=weakref.ref(graph, self._forgetter(number)),
                placement=placement,
            )
            if len(self._graphs) >= _GRAPHS:
                oldest = self._graphs.pop(next(iter(self._graphs)))
                oldest.release()
                if (old := oldest.graph()) is not None:
                    self._found.pop(old, None)
            self._graphs[number] = built
            self._found[graph] = built

    def _note_compute(self, graph: MLGraph, inputs: Mapping[str, _Array]) -> None:
        built = self._found.get(graph)
        if built is None:
            return
        built.computations += 1
        now = time.monotonic()
        if now - built.taken < _INTERVAL:
            return
        built.taken = now
        size = sum(array.nbytes for array in inputs.values())
        with self._lock:
            built.release()
            for each in self._graphs.values():
                if each.find() is None:
                    each.release()
            if sum(each.size for each in self._graphs.values()) + size > _INPUT_BYTES:
                built.note = f"its inputs have {size:,} bytes, and a session keeps at most {_INPUT_BYTES:,} bytes of inputs"
                return
            built.size = size
        built.values = {name: array.copy() for name, array in inputs.items()}

    def _forgetter(self, number: int) -> Any:
        """Return what is called when a graph is gone. It may be called inside any statement, so it takes no lock."""
        record = weakref.ref(self)

        def forget(_: object) -> None:
            if (living := record()) is not None and (built := living._graphs.get(number)) is not None:
                built.release()

        return forget


def _count_constants(graph: ComputationalGraph) -> int:
    """Return how many bytes the constants of a graph have, each counted once."""
    found = dict[int, int]()
    operands = (each for operator in graph.operators for each in (*operator.inputs, *[member for _, member in operator.members]))
    for operand in chain(operands, graph.outputs.values()):
        if operand._value is not None and operand._name is None:
            found[id(operand)] = operand._value.nbytes
    return sum(found.values())


def _name(values: Mapping[str, MLOperand]) -> str:
    """Write the names of inputs or outputs, and what they are."""
    names = [f"{printable(name)}: {operand.descriptor}" for name, operand in islice(values.items(), _NAMED)]
    more = len(values) - len(names)
    return printable(", ".join([*names, *([f"{more} more"] if more else [])]), _LONGEST)


# Requests and answers as text


def read_member(text: str) -> str:
    """Return the member that a request calls, such as ``"MLGraphBuilder.relu"``; empty if it is not a request."""
    head = _MEMBER.match(text)
    return "" if head is None else f"{head[1]}.{head[2]}"


def _read(number: int, text: str, answer: str, seconds: float, received: int, sent: int) -> RecordedCall:
    member, arguments = _read_request(text)
    result, refused = _read_answer(answer)
    return RecordedCall(
        number=number,
        member=printable(member),
        arguments=printable(arguments, _LONGEST_ARGUMENTS),
        result=printable(result, _LONGEST_RESULT),
        refused=refused,
        seconds=seconds,
        received=received,
        sent=sent,
    )


def _read_request(text: str) -> tuple[str, str]:
    """Return the member and the arguments of a request, which may be cut."""
    try:
        interface, member, _, arguments, views, *_ = json.loads(text)
        return f"{interface}.{member}", ", ".join([_write(each, views) for each in arguments])
    except (ValueError, TypeError, RecursionError):
        pass
    head = _HEAD.match(text)
    if head is None:
        return "", text
    arguments = text[head.end() :].removeprefix("[")
    return f"{head[1]}.{head[2]}", _MARK.sub(lambda mark: f"#{mark[2]}" if mark[1] == "h" else "view", arguments)


def _read_answer(text: str) -> tuple[str, bool]:
    """Return the result or the error of an answer, which may be cut, and whether it is an error."""
    refused = text.startswith('{"error"')
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return text.partition(":")[2].strip(" ["), refused
    if refused:
        return ": ".join(map(str, answer["error"])), True
    return _write(answer.get("value"), []) if answer.get("value") is not None else "", False


def _write(value: object, views: object) -> str:
    """Write an argument or a result in short."""
    if isinstance(value, list):
        return f"[{', '.join([_write(each, views) for each in value])}]"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if "$i" in value:
        facts = value.get("$a")
        described = f" {facts.get('dataType')} {facts.get('shape')}" if isinstance(facts, dict) else ""
        return f"{value['$i']} #{value.get('$h')}{described}"
    if len(value) == 1:
        [(form, content)] = value.items()
        if form == "$h":
            return f"#{content}"
        if form == "$v":
            return _write_view(content, views)
        if form in ("$n", "$b", "$x"):
            return f"0x{content}" if form == "$b" else str(content)
        if form == "$r" and isinstance(content, list):
            value = {str(pair[0]): pair[1] for pair in content if isinstance(pair, list) and len(pair) == 2}
    return f"{{{', '.join([f'{name}: {_write(each, views)}' for name, each in value.items()])}}}"


def _write_view(index: object, views: object) -> str:
    if isinstance(views, list) and isinstance(index, int) and 0 <= index < len(views) and isinstance(views[index], dict):
        return f"{views[index].get('kind')} of {views[index].get('length')} bytes"
    return "view"
