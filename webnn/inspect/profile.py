"""The times of operators: `MLGraph.profile`."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webnn.builder.onnx_names import find_scopes
from webnn.context.inspections import GraphProfile, OperatorTime
from webnn.context.runs import Array, Bound, check_inputs
from webnn.inspect.subject import Subject
from webnn.validation import webidl
from webnn.validation.errors import OperationError

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription

__all__ = ["MOST_RUNS", "TimedNode", "measure", "profile_subject", "read_runs"]

#: Runs before the measured ones: the engine plans its memory in the first two.
_WARM_UP = 2
MOST_RUNS = 10_000
_SUFFIX = "_kernel_time"
_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class TimedNode:
    """A node in one run: its name, its ONNX operator, and its time in microseconds."""

    name: str
    kernel: str
    duration: int


@dataclass(slots=True)
class _Share:
    """The nodes that ran for one operator in one run."""

    duration: int = 0
    nodes: int = 0
    kernels: dict[str, None] = field(default_factory=dict)
    others: dict[int, None] = field(default_factory=dict)


def profile_subject(subject: Subject, inputs: Mapping[str, Any], runs: int) -> GraphProfile:
    """Take the times of a graph; see `MLGraph.profile`."""
    if type(runs) is not int:
        raise TypeError(f"profile: runs must be an integer, got {webidl.describe(runs)}")
    if not 1 <= runs <= MOST_RUNS:
        raise ValueError(f"profile: runs must be from 1 to {MOST_RUNS}, got {runs}")
    arrays = check_inputs("profile", subject.description.inputs, inputs)
    return subject.state.timeline.run(lambda: _take(subject, arrays, runs))


def _take(subject: Subject, arrays: Mapping[str, Array], runs: int) -> GraphProfile:
    plain: list[float] = []
    profiled: list[float] = []
    with tempfile.TemporaryDirectory(prefix="webnn-") as folder:
        begin = time.perf_counter()
        session = subject.profiled(str(Path(folder) / "profile"))
        building = time.perf_counter() - begin
        sides = [(Bound(subject.implementation, arrays), plain), (Bound(session, arrays), profiled)]
        # In turns, so that a busy moment of the machine affects both.
        for _ in range(_WARM_UP + runs):
            for bound, times in sides:
                begin = time.perf_counter()
                bound.run()
                times.append(time.perf_counter() - begin)
        for bound, _ in sides:
            bound.release()
        recorded = read_runs(json.loads(Path(session.end_profile()).read_bytes()))
    # The engine stops to record after a million events, in the middle of a run.
    if not recorded[_WARM_UP:]:
        raise OperationError("profile: the engine recorded no complete run: the graph has too many nodes", operation="profile")
    return measure(
        subject.description,
        session.op_types,
        recorded[_WARM_UP:],
        plain=statistics.median(plain[_WARM_UP:]),
        profiled=profiled[_WARM_UP:],
        building=building,
    )


def read_runs(events: Iterable[Mapping[str, Any]]) -> list[list[TimedNode]]:
    """Return the nodes of each complete run, from the events of the engine, in the order in which they end.

    The nodes inside a loop are left out, because the loop's own time contains theirs.
    """
    runs: list[list[TimedNode]] = []
    #: Nodes that ended in executions that did not, with their beginnings.
    pending: list[tuple[int, TimedNode]] = []
    ended: list[TimedNode] = []
    for event in events:
        name, kind = str(event.get("name", "")), event.get("cat")
        if kind == "Node" and name.endswith(_SUFFIX):
            kernel = str(event.get("args", {}).get("op_name", ""))
            pending.append((event["ts"], TimedNode(name.removesuffix(_SUFFIX), kernel, event["dur"])))
        elif kind == "Session" and name.endswith("Executor::Execute"):
            count = len(pending)
            while count and pending[count - 1][0] >= event["ts"]:
                count -= 1
            ended = [node for _, node in pending[count:]]
            del pending[count:]
        elif kind == "Session" and name == "model_run":
            runs.append(ended or [node for _, node in pending])
            pending, ended = [], []
    return runs


def measure(
    description: GraphDescription,
    op_types: Mapping[str, str],
    runs: Sequence[Sequence[TimedNode]],
    *,
    plain: float,
    profiled: Sequence[float],
    building: float,
) -> GraphProfile:
    """Attribute the times of the nodes of each run to operators. All times are in seconds.

    ``op_types`` has the ONNX operator of each node of the translation. ``plain`` is the median of plain runs, ``profiled`` are the times of
    the profiled ones, and ``building`` is how long it took to build the graph again.
    """
    emitted: dict[int, set[str]] = {}
    for name, kernel in op_types.items():
        for _, index in find_scopes(name):
            emitted.setdefault(index, set()).add(kernel)
    shares, engine = _gather(runs, {})
    homes, _ = _Fusions(description, shares[-1], emitted).find()
    # The engine calls a fused node by its last part. Its time belongs to the part whose kernel it still has: a convolution, not the relu.
    owners = {
        (home, kernel): index
        for index, home in homes.items()
        for kernel in emitted.get(index, set()) - emitted.get(home, set())
        if kernel in shares[-1][home].kernels
    }
    shares, engine = _gather(runs, owners)
    last = shares[-1]
    homes, notes = _Fusions(description, last, emitted).find()
    guests: dict[int, list[int]] = {}
    for index, home in homes.items():
        guests.setdefault(home, []).append(index)
    titles = {each.index: _title(each) for each in description.operators}
    operators: list[OperatorTime] = []
    for operator in description.operators:
        own = last.get(operator.index, _Share())
        merged = tuple(dict.fromkeys([*own.others, *guests.get(operator.index, [])]))
        note = notes.get(operator.index, "")
        if merged:
            note = f"with {', '.join(titles.get(each, f'#{each}') for each in merged)}"
        times = [found[operator.index].duration if operator.index in found else 0 for found in shares]
        operators.append(
            OperatorTime(
                index=operator.index,
                operation=operator.operation,
                label=operator.label,
                seconds=statistics.median(times) / _SECOND,
                nodes=own.nodes,
                kernels=tuple(own.kernels),
                merged=merged,
                note=note,
            )
        )
    nodes = [sum(share.duration for share in found.values()) + rest for found, rest in zip(shares, engine, strict=True)]
    return GraphProfile(
        operators=tuple(operators),
        runs=len(runs),
        plain=plain,
        profiled=statistics.median(profiled),
        engine=statistics.median(engine) / _SECOND,
        outside=max(0.0, statistics.median([whole - part / _SECOND for whole, part in zip(profiled, nodes, strict=False)])),
        building=building,
    )


def _gather(runs: Sequence[Sequence[TimedNode]], owners: Mapping[tuple[int, str], int]) -> tuple[list[dict[int, _Share]], list[int]]:
    """Add up the nodes of each operator, and those that the engine added, for each run.

    ``owners`` has, for an operator and a kernel, the operator that such nodes belong to in its place.
    """
    shares: list[dict[int, _Share]] = []
    engine: list[int] = []
    for run in runs:
        found: dict[int, _Share] = {}
        rest = 0
        for node in run:
            indices = list(dict.fromkeys([index for _, index in find_scopes(node.name)]))
            if not indices:
                rest += node.duration
                continue
            owner = owners.get((indices[0], node.kernel))
            if owner is not None:
                indices = list(dict.fromkeys([owner, *indices]))
            share = found.setdefault(indices[0], _Share())
            share.duration += node.duration
            share.nodes += 1
            share.kernels[node.kernel] = None
            share.others.update(dict.fromkeys(indices[1:]))
        shares.append(found)
        engine.append(rest)
    return shares, engine


class _Fusions:
    """Finds out where an operator without nodes runs.

    The engine's nodes have the name of one node that they were made of. The graph shows the other operators that were fused with it: a
    neighbour whose node changed its kind, or else the one before it.
    """

    def __init__(self, description: GraphDescription, ran: Mapping[int, _Share], emitted: Mapping[int, set[str]]) -> None:
        self._operators = description.operators
        self._ran = ran
        self._emitted = emitted
        self._titles = {each.index: _title(each) for each in description.operators}
        self._makers = {name: each.index for each in description.operators for name in each.outputs}
        self._operands = {each.index: list(dict.fromkeys([value for _, _, value in each.named_values()])) for each in self._operators}
        self._users: dict[str, list[int]] = {}
        for each in self._operators:
            for value in self._operands[each.index]:
                self._users.setdefault(value, []).append(each.index)
        #: Values that are known at the build.
        self._fixed = set(description.constants)
        #: The nodes that changed their kind because of an operator that is found already.
        self._explained: set[int] = set()
        self._named = {index: home for home, share in ran.items() for index in share.others}

    def find(self) -> tuple[dict[int, int], dict[int, str]]:
        """Return, for operators without nodes, the operator whose nodes compute them, and a note."""
        homes: dict[int, int] = {}
        notes: dict[int, str] = {}
        for operator in self._operators:
            index = operator.index
            if index in self._ran:
                # Parts beside its operation, such as a transpose, may run apart.
                home = self._carrier(operator, self._emitted.get(index, set()) - {*self._ran[index].kernels})
                if home is not None:
                    homes[index] = home
                    notes[index] = f"a part runs in {self._titles[home]}"
                continue
            if index in self._named:
                notes[index] = f"runs in {self._titles[self._named[index]]}"
            elif self._fixed.issuperset(self._operands[index]):
                self._fixed.update(operator.outputs)
                notes[index] = "computed at the build"
            elif index not in self._emitted:
                notes[index] = "no node of its own"
            else:
                home = self._home(operator)
                notes[index] = "removed" if home is None else f"runs in {self._titles[home]}"
                if home is not None:
                    homes[index] = home
        return homes, notes

    def _home(self, operator: OperatorDescription) -> int | None:
        found = self._carrier(operator, self._emitted[operator.index])
        if found is not None:
            return found
        near = (*self._reach(operator, forward=False), *self._reach(operator, forward=True))
        for index in near:
            if self._changed(index) and index not in self._explained:
                self._explained.add(index)
                return index
        return next(iter(near), None)

    def _carrier(self, operator: OperatorDescription, kinds: set[str]) -> int | None:
        """Return a neighbour with a node of one of these kinds that is not its own: the engine gave it the neighbour's name."""
        if kinds:
            for index in (*self._reach(operator, forward=True), *self._reach(operator, forward=False)):
                if self._changed(index) & kinds:
                    self._explained.add(index)
                    return index
        return None

    def _changed(self, index: int) -> set[str]:
        """Return the kinds of nodes that ran for an operator and are not those of its translation."""
        return set(self._ran[index].kernels) - self._emitted.get(index, set())

    def _reach(self, operator: OperatorDescription, *, forward: bool) -> list[int]:
        """Return the nearest operators with nodes before or behind an operator."""
        work, seen, found = [operator.index], {operator.index}, list[int]()
        outputs = {each.index: each.outputs for each in self._operators} if forward else {}
        while work:
            index = work.pop(0)
            if forward:
                near = [user for value in outputs[index] for user in self._users.get(value, [])]
            else:
                near = [self._makers[value] for value in self._operands[index] if value in self._makers and value not in self._fixed]
            for each in near:
                if each in seen:
                    continue
                seen.add(each)
                (found if each in self._ran else work).append(each)
        return found


def _title(operator: OperatorDescription) -> str:
    name = f"{operator.operation}#{operator.index}"
    return f"{name} {operator.label}" if operator.label else name
