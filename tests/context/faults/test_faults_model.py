"""Random programs under random faults, against a model that knows of no timeline, no lock and no engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.context.faults.faulty import compute, double, outcome
from tests.context.tensors import full, make, scale_graph, value
from tests.support import CURRENT
from webnn import ML, MLContext, MLGraph
from webnn.context.faults import Faults
from webnn.context.tensor import MLTensor

#: Memory in bytes: of a tensor, of a computation with its input and output, and of a build, which has a scalar beside them.
TENSOR, RUN, BUILD = 24, 48, 52
#: The model keeps every number that a fault hits: of the calls of one program, which are fewer.
MOST_CALLS = 200

SMALL = st.integers(1, 3)
WHICH = st.one_of(st.sampled_from([None, "all", range(2, MOST_CALLS, 2)]), SMALL, st.lists(SMALL, max_size=2))
LIMITS = st.sampled_from([None, BUILD, BUILD - 1, RUN, RUN - 1, TENSOR, TENSOR - 1])
DEVICES = st.sampled_from(["cpu", "gpu", "npu"])
#: A method of `Program` and its arguments. A context, tensor or graph is a number, from the latest one backwards.
STEPS = st.one_of(
    st.tuples(st.just("arm"), st.sampled_from(["failBuild", "failCompute"]), WHICH),
    st.tuples(st.just("arm"), st.just("loseAfter"), st.none() | SMALL),
    st.tuples(st.just("limit_memory"), LIMITS),
    st.tuples(st.just("refuse"), st.frozensets(DEVICES, max_size=2)),
    st.tuples(st.just("reset")),
    st.tuples(st.just("create"), DEVICES),
    st.tuples(st.just("build"), SMALL),
    st.tuples(st.just("create_tensor"), SMALL),
    st.tuples(st.just("run"), SMALL, SMALL),
    st.tuples(st.just("run_often"), SMALL, SMALL),
    st.tuples(st.just("destroy"), SMALL),
)


@dataclass
class Page:
    """A context, and what the program made of it."""

    context: MLContext
    lost: bool = False
    graphs: list[MLGraph] = field(default_factory=list)
    tensors: list[MLTensor] = field(default_factory=list)


@dataclass
class Calls:
    """How many calls of a kind there were, and the numbers of those that each fault hits."""

    count: int = 0
    hit: dict[str, frozenset[int]] = field(default_factory=dict)

    def arm(self, fault: str, which: int | Iterable[int] | str | None) -> None:
        numbers: Any = range(1, MOST_CALLS) if which == "all" else [which] if isinstance(which, int) else which or ()
        self.hit[fault] = frozenset(self.count + number for number in numbers)

    def next(self) -> set[str]:
        """Count a call; return the faults that hit it."""
        self.count += 1
        return {fault for fault, numbers in self.hit.items() if self.count in numbers}


class Program:
    """A program of several contexts, graphs and tensors, while what goes wrong changes: each step checks what it does."""

    def __init__(self, revision: str) -> None:
        self.faults = Faults()
        self.former = revision != CURRENT
        self.ml = ML(revision=revision, fallback="silent", faults=self.faults)
        self.pages: list[Page] = []
        self.armed: dict[str, Any] = {}
        self.begin()
        self.create("cpu")

    def begin(self) -> None:
        self.contexts, self.builds, self.computes = Calls(), Calls(), Calls()
        for fault in ("failBuild", "failCompute", "loseAfter"):
            self.calls(fault).arm(fault, self.armed.get(fault))

    def calls(self, fault: str) -> Calls:
        return self.builds if fault == "failBuild" else self.computes

    def is_short(self, size: int) -> bool:
        limit = self.armed.get("memoryLimit")
        return limit is not None and size > limit

    def check_counts(self) -> None:
        counted = [calls.count for calls in (self.contexts, self.builds, self.computes)]
        assert [self.faults.contexts, self.faults.builds, self.faults.computes] == counted
        assert [repr(page.context).endswith(", lost>") for page in self.pages] == [page.lost for page in self.pages]

    # The faults

    def arm(self, fault: str, which: Any) -> None:
        setattr(self.faults, fault, which)
        self.armed[fault] = which
        self.calls(fault).arm(fault, which)

    def limit_memory(self, limit: int | None) -> None:
        self.faults.memoryLimit = self.armed["memoryLimit"] = limit

    def refuse(self, devices: frozenset[str]) -> None:
        self.faults.refuse = self.armed["refuse"] = devices

    def reset(self) -> None:
        self.faults.reset()
        self.begin()

    # The program's steps

    def create(self, device: str) -> None:
        self.contexts.next()
        expected = "NotSupportedError" if device in self.armed.get("refuse", ()) else "ok"
        assert append(self.pages, lambda: Page(self.ml.createContextSync(deviceType=device))) == expected
        if expected == "ok":
            # Most have what they need for a computation.
            self.build(1)
            self.create_tensor(1)
            self.create_tensor(1)

    def build(self, index: int) -> None:
        page = pick(self.pages, index)
        fails = not page.lost and (self.builds.next() or self.is_short(BUILD))
        done = append(page.graphs, lambda: double(page.context) if self.former else scale_graph(page.context, 2))
        assert done == ("InvalidStateError" if page.lost else "OperationError" if fails else "ok")

    def create_tensor(self, index: int) -> None:
        if self.former:
            return
        page = pick(self.pages, index)
        done = append(page.tensors, lambda: make(page.context))
        assert done == ("InvalidStateError" if page.lost else "UnknownError" if self.is_short(TENSOR) else "ok")

    def run(self, index: int, number: int) -> None:
        page = pick(self.pages, index)
        if page.graphs and (self.former or len(page.tensors) > 1):
            graph = pick(page.graphs, number)
            if self.former:
                self.compute(page, graph)
            else:
                self.dispatch(page, graph, pick(page.tensors, number), pick(page.tensors, number + 1), number)

    def run_often(self, index: int, number: int) -> None:
        for _ in range(4):
            self.run(index, number)

    def compute(self, page: Page, graph: MLGraph) -> None:
        faults = set() if page.lost else self.computes.next()
        fails = "failCompute" in faults or self.is_short(RUN)
        results: list[float] = []
        done = append(results, lambda: compute(page.context, graph))
        assert done == ("InvalidStateError" if page.lost else "OperationError" if fails else "ok")
        assert results == ([2] if done == "ok" else [])
        page.lost |= "loseAfter" in faults

    def dispatch(self, page: Page, graph: MLGraph, x: MLTensor, y: MLTensor, number: int) -> None:
        def queue() -> None:
            page.context.writeTensor(x, full(number))
            page.context.dispatch(graph, {"x": x}, {"y": y})

        assert outcome(queue) == ("InvalidStateError" if page.lost else "ok")
        if not page.lost:
            page.lost = bool(self.computes.next()) or self.is_short(RUN)
            # Earlier dispatches are done before that is reported.
            assert (page.context.lostSync(0) is not None) == page.lost
        results: list[float] = []
        assert append(results, lambda: value(page.context, y)) == ("InvalidStateError" if page.lost else "ok")
        assert results == ([] if page.lost else [2 * number])

    def destroy(self, index: int) -> None:
        if not self.former:
            page = pick(self.pages, index)
            page.context.destroy()
            page.lost = True


def pick(made: list[Any], index: int) -> Any:
    return made[-index % len(made)]


def append(made: list[Any], call: Callable[[], Any]) -> str:
    """Append what a call returns; return what it does, in a word."""
    return outcome(lambda: made.append(call()))


@pytest.mark.parametrize("examples", [20, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("revision", ["2024-06", CURRENT])
def test_programs_under_faults(revision: str, examples: int) -> None:
    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(st.lists(STEPS, min_size=25, max_size=50))
    def run(steps: list[tuple[Any, ...]]) -> None:
        program = Program(revision)
        for method, *arguments in steps:
            getattr(program, method)(*arguments)
            program.check_counts()

    run()
