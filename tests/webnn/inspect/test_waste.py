"""The copies and allocations of steps: counts, steps, lines, leaks."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import runpy
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import webnn
from tests.context.engine.remote.isolated import isolated
from tests.context.tensors import held
from tests.shared import ROOT
from tests.support import CURRENT, make_context
from tests.webnn.inspect.graphs import build, float_input
from webnn import ML, Faults, MLContext, MLGraph, WebNNTypeError, emulate
from webnn.context.tensor import MLTensor
from webnn.inspect import Waste, WasteRecorder, record_waste, waste_recorder
from webnn.inspect.page import write_tables
from webnn.inspect.waste import NAMES, place
from webnn.validation.drafts import DEFAULT

EXAMPLE = ROOT / "examples" / "decode_loop.py"
#: Elements of a tensor that is not small, and its bytes.
LARGE, BYTES = 1000, 4000


class Loop:
    """A context, two graphs and some tensors, with a short name for each call."""

    def __init__(self, context: MLContext | None = None) -> None:
        self.context = context or make_context(CURRENT)
        self.graphs = [self.negation(LARGE), self.negation(LARGE)]
        self.tensors = [self.make() for _ in range(4)]
        self.token = self.make(1)
        self.kept: list[Any] = []

    def negation(self, size: int) -> MLGraph:
        return build(lambda builder: {"y": builder.neg(float_input(builder, "x", size))}, context=self.context)

    def make(self, size: int = LARGE) -> MLTensor:
        return self.context.createTensorSync(dataType="float32", shape=[size], readable=True, writable=True)

    def dispatch(self, graph: int = 0, x: int = 0, y: int = 1) -> None:
        self.context.dispatch(self.graphs[graph], {"x": self.tensors[x]}, {"y": self.tensors[y]})

    def write(self, size: int = LARGE) -> None:
        self.context.writeTensor(self.tensors[0] if size == LARGE else self.token, np.ones(size, np.float32))

    def read(self, size: int = LARGE, output: Any = None) -> None:
        self.context.readTensorSync(self.tensors[1] if size == LARGE else self.token, output)

    def read_later(self, output: Any = None) -> None:
        async def read() -> None:
            await self.context.readTensor(self.tensors[1], output)

        asyncio.run(read())

    def write_meanwhile(self) -> None:
        with held(self.context):
            self.write()

    def refuse(self) -> None:
        for call in (
            lambda: self.context.dispatch(self.graphs[0], {}, {}),
            lambda: self.context.writeTensor(self.tensors[0], np.ones(3, np.float32)),
            lambda: self.context.createTensorSync(dataType="float32", shape=[-1]),
            lambda: self.context.readTensorSync(self.tensors[0], np.ones(3, np.float32)),
        ):
            with pytest.raises(WebNNTypeError):
                call()


@pytest.fixture(scope="module")
def shared() -> Loop:
    return Loop()


@pytest.fixture
def loop(shared: Loop) -> Iterator[Loop]:
    yield shared
    shared.kept.clear()


def buffer(size: int = LARGE) -> np.ndarray[Any, Any]:
    return np.empty(size, np.float32)


# The decode loop of the example


def decode(*, leak: bool = False, roundTrip: bool = False) -> Waste:
    example = runpy.run_path(str(EXAMPLE))
    context = make_context(CURRENT)
    weights = example["random_weights"]()
    graph = example["build"](context, weights)
    with record_waste(context) as waste:
        # As in the example, they live until the end of the last step: a graph need not keep those of its last dispatch.
        sets = [example["make_tensors"](context) for _ in range(2)]
        tokens = example["decode"](context, graph, sets, leak=leak, roundTrip=roundTrip)
    assert len(set(tokens)) > 20
    assert example["shortfall"](tokens, weights) <= example["TOLERANCE"]
    return waste.report()


def line_of(text: str) -> int:
    """Return the one line of the example that has a text."""
    [found] = [number for number, line in enumerate(EXAMPLE.read_text(encoding="utf-8").splitlines(), 1) if text in line]
    return found


def test_a_decode_loop_with_its_cache_in_tensors_wastes_nothing() -> None:
    waste = decode()
    assert (waste.warmup, waste.count, len(waste.steps)) == (2, 198, 200)
    # The token that the program reads has four bytes; the two sets of tensors take turns.
    expected = dict.fromkeys(NAMES, 0) | {"dispatches": 1, "small": 1, "smallBytes": 4, "rebinds": 1}
    for step in waste.steps[2:]:
        assert {name: getattr(step, name) for name in NAMES} == expected
        assert step.alive == 8
    assert {name: getattr(waste.total, name) for name in NAMES} == {name: 198 * value for name, value in expected.items()}
    assert waste.leaks == ()
    [dispatch] = [each for each in waste.lines if each.method == "dispatch"]
    assert dispatch.combinations == 2


def test_a_leak_is_named_with_its_line() -> None:
    waste = decode(leak=True)
    [leak] = waste.leaks
    assert (leak.method, Path(leak.file), leak.line, leak.kept) == ("createTensor", EXAMPLE, line_of("forgotten.append"), 198)
    assert waste.lines[0] is leak
    assert (waste.total.allocations, waste.total.copies) == (198, 0)
    assert waste.peak == 208
    assert [step.alive for step in waste.steps][:4] == [9, 10, 11, 12]
    assert f"decode_loop.py:{leak.line}" in str(waste)
    assert "leak: 198 not" in str(waste)


def test_a_round_trip_is_named_with_its_line() -> None:
    waste = decode(roundTrip=True)
    line, size = line_of("context.writeTensor("), 4 * 4 * 256 * 8
    read, write = (next(each for each in waste.lines if each.method == name and each.copies) for name in ("readTensor", "writeTensor"))
    assert (read.line, write.line) == (line, line)
    assert (write.copies, write.copiedBytes, write.allocations) == (198, 198 * size, 0)
    # Reads before the next dispatch belong to the step before.
    assert (read.copies, read.copiedBytes, read.allocations) == (197, 197 * size, 197)
    assert waste.leaks == ()


@pytest.mark.parametrize("roundTrip", [False, True])
def test_the_memory_of_a_loop_that_nobody_records(roundTrip: bool) -> None:
    """The recorder's figures about copies are true: NumPy tells `tracemalloc` of every array. Keys and values have 32,768 bytes each."""
    example = runpy.run_path(str(EXAMPLE))
    context = make_context(CURRENT)
    graph = example["build"](context, example["random_weights"]())
    old, new = (example["make_tensors"](context) for _ in range(2))
    peaks = []
    tracemalloc.start()
    try:
        for _ in range(20):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            if roundTrip:
                context.writeTensor(old["keys"], context.readTensorSync(old["keys"]))
            context.dispatch(graph, old, new)
            old, new = new, old
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    assert [peak > 16_384 for peak in peaks[2:]] == [roundTrip] * 18, peaks


# Counts

#: The counts of a call, beside zeros.
CALLS: Mapping[str, tuple[Callable[[Loop], object], dict[str, int]]] = {
    "write": (Loop.write, {"copies": 1, "copiedBytes": BYTES}),
    "a small write": (lambda loop: loop.write(1), {"small": 1, "smallBytes": 4}),
    "a write while the timeline is busy": (
        Loop.write_meanwhile,
        {"copies": 2, "copiedBytes": 2 * BYTES, "allocations": 1, "allocatedBytes": BYTES},
    ),
    "read": (Loop.read, {"copies": 1, "copiedBytes": BYTES, "allocations": 1, "allocatedBytes": BYTES}),
    "a small read": (lambda loop: loop.read(1), {"small": 1, "smallBytes": 4}),
    "read into": (lambda loop: loop.read(output=buffer()), {"copies": 1, "copiedBytes": BYTES}),
    "an awaited read": (Loop.read_later, {"copies": 1, "copiedBytes": BYTES, "allocations": 1, "allocatedBytes": BYTES}),
    "an awaited read into": (
        lambda loop: loop.read_later(buffer()),
        {"copies": 2, "copiedBytes": 2 * BYTES, "allocations": 1, "allocatedBytes": BYTES},
    ),
    "createTensor": (Loop.make, {"allocations": 1, "allocatedBytes": BYTES}),
    "a small tensor": (lambda loop: loop.make(1), {"allocations": 1, "allocatedBytes": 4}),
    "createConstantTensor": (
        lambda loop: loop.context.createConstantTensorSync({"dataType": "float32", "shape": [LARGE]}, np.ones(LARGE, np.float32)),
        {"copies": 1, "copiedBytes": BYTES, "allocations": 1, "allocatedBytes": BYTES},
    ),
    "dispatch": (Loop.dispatch, {"dispatches": 1}),
    "build": (lambda loop: loop.negation(2), {"builds": 1}),
    "calls that are refused": (Loop.refuse, {}),
}


def counts_of(result: Any) -> dict[str, int]:
    return {name: value for name in NAMES if (value := getattr(result, name))}


@pytest.mark.parametrize("name", CALLS)
def test_counts(name: str, loop: Loop) -> None:
    call, expected = CALLS[name]
    with record_waste(loop.context, warmup=0) as waste:
        loop.kept.append(call(loop))
    report = waste.report()
    assert counts_of(report.total) == expected
    assert [counts_of(step) for step in report.steps] == ([expected] if expected else [])
    assert sum(each.copiedBytes for each in report.lines) == expected.get("copiedBytes", 0)


def test_results_that_are_not_written_in_place() -> None:
    loop = Loop(ML(revision=CURRENT, reference=True).createContextSync())
    with record_waste(loop.context, warmup=0) as waste:
        loop.dispatch()
    assert counts_of(waste.report().total) == {"dispatches": 1, "allocations": 1, "allocatedBytes": BYTES}


def test_bytes_between_devices() -> None:
    """They are those of the placement, here of a device that is simulated."""
    loop = Loop(ML(revision=CURRENT, profile="coreml").createContextSync({"deviceType": "npu"}))
    with record_waste(loop.context, warmup=0) as waste:
        loop.dispatch()
    assert loop.graphs[0].placement.transferredBytes == 2 * BYTES
    assert counts_of(waste.report().total) == {"dispatches": 1, "transferredBytes": 2 * BYTES}
    assert "8,000 bytes between" in re.sub(r"\s+", " ", str(waste.report()))


# Steps

#: The calls of a program, and how many there are in each step: dispatches of the graphs "a" and "b", reads "r", writes "w", marks "|".
STEPS = [
    ("", []),
    ("a", [1]),
    ("arar", [2, 2]),
    ("warwar", [3, 3]),
    ("wwarrrwarr", [6, 4]),
    ("aaa", [1, 1, 1]),
    ("abab", [2, 2]),
    ("abrabr", [3, 3]),
    ("rwa", [3]),
    ("rrar", [4]),
    ("wrwr", [4]),
    ("a|ar|aar|", [1, 2, 3]),
    ("|ar|ar", [2, 2]),
    ("||a", [0, 1]),
    ("w|a", [1, 1]),
    ("ar|w", [2, 1]),
]


@pytest.mark.parametrize(("calls", "expected"), STEPS)
def test_steps(calls: str, expected: list[int], loop: Loop) -> None:
    with record_waste(loop.context) as waste:
        for call in calls:
            {"a": loop.dispatch, "b": lambda: loop.dispatch(1), "r": loop.read, "w": loop.write, "|": waste.step}[call]()
    steps = waste.report().steps
    assert [step.dispatches + step.copies for step in steps] == expected
    assert (waste.report().warmup, waste.report().count) == (min(len(steps), 2), max(len(steps) - 2, 0))


def test_a_report_before_the_end(loop: Loop) -> None:
    with record_waste(loop.context, warmup=1) as waste:
        for _ in range(3):
            loop.dispatch()
        first = waste.report()
        assert (first.count, first.total.dispatches, len(first.steps)) == (2, 2, 3)
        loop.dispatch()
    assert waste.report().count == 3
    assert first.count == 2


def test_the_first_steps_are_kept(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waste_recorder, "_STEPS", 3)
    with record_waste(loop.context) as waste:
        for _ in range(9):
            loop.dispatch()
    report = waste.report()
    assert (len(report.steps), report.count, report.total.dispatches) == (3, 7, 7)


def test_too_many_lines_are_one(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waste_recorder, "_LINES", 1)
    with record_waste(loop.context, warmup=0) as waste:
        loop.write()
        loop.write()
        for _ in range(2):
            exec(compile("\n" * 7 + "loop.context.writeTensor(loop.tensors[0], data)", "made.py", "exec"), {"loop": loop, "data": buffer()})
    assert [(each.file, each.line, each.copies) for each in waste.report().lines][-1] == ("elsewhere", 0, 2)


# Tensors


def test_rebinds(loop: Loop) -> None:
    with record_waste(loop.context, warmup=0) as waste:
        for x, y in ((0, 1), (0, 1), (1, 0), (0, 1), (2, 3)):
            loop.dispatch(0, x, y)
            loop.dispatch(1)
    report = waste.report()
    assert [step.rebinds for step in report.steps] == [0, 0, 1, 1, 1]
    assert [each.combinations for each in report.lines if each.method == "dispatch"] == [3]


def test_a_mapping_of_another_class(loop: Loop) -> None:
    with record_waste(loop.context, warmup=0) as waste:
        for _ in range(2):
            loop.context.dispatch(loop.graphs[0], MappingProxyType({"x": loop.tensors[0]}), {"y": loop.tensors[1]})
    assert counts_of(waste.report().total) == {"dispatches": 2}


#: The actions of a step with a tensor that it made; how many are alive at the end, and whether they are a leak.
ENDS: Mapping[str, tuple[Callable[[Loop, MLTensor], object], int, bool]] = {
    "destroyed": (lambda _, tensor: tensor.destroy(), 0, False),
    "destroyed twice": (lambda _, tensor: [tensor.destroy() for _ in range(2)], 0, False),
    "kept": (lambda loop, tensor: loop.kept.append(tensor), 9, True),
    "dropped": (lambda *_: gc.collect(), 0, True),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_end_of_tensors(name: str, loop: Loop) -> None:
    end, alive, isLeak = ENDS[name]
    with record_waste(loop.context) as waste:
        for _ in range(9):
            loop.dispatch()
            end(loop, loop.make())
    report = waste.report()
    assert (report.alive, report.aliveBytes) == (alive, alive * BYTES)
    assert [each.kept for each in report.leaks] == ([7] if isLeak else [])
    assert report.total.allocations == 7
    assert [step.alive for step in report.steps] == ([*range(1, 10)] if alive else [0] * 9)
    assert report.peak == max(alive, 1)


#: The tensors that one line makes in each of 40 steps, and those that the step then destroys of the ones that are left, the oldest first;
#: and whether that is a leak.
LIVES: Mapping[str, tuple[Callable[[int], int], Callable[[int, int], int], bool]] = {
    "a cache that grows": (lambda _: 3, lambda step, _: 3 if step else 0, False),
    "a cache that grows, beside a leak": (lambda _: 4, lambda step, _: 3 if step else 0, True),
    "a ring of four": (lambda _: 1, lambda _, left: max(left - 4, 0), False),
    "destroyed together now and then": (lambda _: 2, lambda step, left: left if step % 7 == 6 else 0, False),
    "a pool that is filled once": (lambda step: 2 if step < 8 else 0, lambda *_: 0, False),
    "one kept, and others in turn": (lambda step: 2 if step < 3 else 1, lambda _, left: max(left - 2, 0), False),
    "a leak now and then": (lambda step: step % 6 == 5, lambda *_: 0, True),
    "a leak that begins late": (lambda step: step > 30, lambda *_: 0, True),
}


@pytest.mark.parametrize("steps", [40, 400])
@pytest.mark.parametrize("name", LIVES)
def test_a_leak_grows(name: str, steps: int, loop: Loop) -> None:
    make, end, isLeak = LIVES[name]
    with record_waste(loop.context) as waste:
        for step in range(steps):
            loop.dispatch()
            loop.kept += [loop.make() for _ in range(make(step))]
            for _ in range(end(step, len(loop.kept))):
                loop.kept.pop(0).destroy()
        assert bool(waste.report().leaks) is isLeak
    report = waste.report()
    assert [each.kept for each in report.leaks] == ([len(loop.kept)] if isLeak else [])
    assert ("leak:" in str(report)) is isLeak


def test_a_leak_of_two_steps(loop: Loop) -> None:
    with record_waste(loop.context, warmup=0) as waste:
        for _ in range(2):
            loop.dispatch()
            loop.kept.append(loop.make())
            assert [each.kept for each in waste.report().leaks] == ([2] if len(loop.kept) > 1 else [])
    assert [each.kept for each in waste.report().leaks] == [2]


def test_tensors_made_at_first_are_no_leak(loop: Loop) -> None:
    with record_waste(loop.context) as waste:
        loop.kept = [loop.make() for _ in range(5)]
        for _ in range(5):
            loop.dispatch()
        # One more, and several in one step, neither of which a loop would do.
        loop.kept += [loop.make() for _ in range(2)]
    assert (waste.report().leaks, waste.report().alive) == ((), 7)


def test_a_lost_context_has_no_tensors() -> None:
    context = make_context(CURRENT)
    with record_waste(context) as waste:
        tensors = [context.createTensorSync(dataType="float32", shape=[2]) for _ in range(3)]
        assert waste.report().alive == 3
        context.destroy()
    assert waste.report().alive == 0
    assert tensors[0]._isDestroyed


def test_tensors_are_as_they_were(loop: Loop) -> None:
    """A recorded tensor is written, computed and read like any other, in the block and after it."""
    with record_waste(loop.context):
        x, y = loop.make(), loop.make()
        data = np.arange(LARGE, dtype=np.float32)
        loop.context.writeTensor(x, data)
        loop.context.dispatch(loop.graphs[0], {"x": x}, {"y": y})
        np.testing.assert_array_equal(loop.context.readTensorSync(y), -data)
    loop.context.dispatch(loop.graphs[0], {"x": y}, {"y": x})
    np.testing.assert_array_equal(loop.context.readTensorSync(x), data)
    x.destroy()
    with pytest.raises(WebNNTypeError, match="must not be destroyed"):
        loop.context.dispatch(loop.graphs[0], {"x": y}, {"y": x})


# Contexts


@pytest.mark.processes
def test_a_context_with_a_process() -> None:
    loop = Loop(isolated())
    with record_waste(loop.context, warmup=0) as waste:
        loop.context.writeTensor(made := loop.make(), np.ones(LARGE, np.float32))
        loop.context.dispatch(loop.graphs[0], {"x": made}, {"y": loop.tensors[1]})
        assert (loop.context.readTensorSync(loop.tensors[1]) == -1).all()
        assert waste.report().alive == 1
        made.destroy()
    expected = {"dispatches": 1, "copies": 2, "copiedBytes": 2 * BYTES, "allocations": 2, "allocatedBytes": 2 * BYTES}
    assert counts_of(waste.report().total) == expected
    assert waste.report().alive == 0


def test_nothing_is_left_behind(loop: Loop) -> None:
    before = (loop.context._tensorSteps, loop.context._buildSteps)
    with record_waste(loop.context) as waste:
        assert loop.context._tensorSteps is not before[0]
    assert (loop.context._tensorSteps, loop.context._buildSteps) == before
    loop.dispatch()
    assert waste.report().steps == ()


def test_two_recordings_of_one_context(loop: Loop) -> None:
    before = loop.context._tensorSteps
    outer, inner = record_waste(loop.context), record_waste(loop.context)
    with outer:
        loop.dispatch()
        with inner:
            loop.dispatch()
        loop.dispatch()
    assert (len(outer.report().steps), len(inner.report().steps)) == (3, 1)
    assert loop.context._tensorSteps is before


def test_every_context_of_the_block() -> None:
    with record_waste(warmup=0) as outer, record_waste(warmup=0) as inner:
        former = make_context("2024-06")
        loop = Loop()
        loop.dispatch()
        build(lambda builder: {"y": builder.neg(float_input(builder, "x", 2))}, "2024-06", former)
    for report in (outer.report(), inner.report()):
        assert counts_of(report.total) == {"dispatches": 1, "allocations": 5, "allocatedBytes": 4 * BYTES + 4, "builds": 2}
        assert report.others == 1
        assert "1 contexts were not recorded" in str(report)
    with record_waste(warmup=0) as waste:
        both = make_context(DEFAULT)
        graph = build(lambda builder: {"y": builder.neg(float_input(builder, "x", 2))}, CURRENT, both)
        result = both.computeSync(graph, {"x": np.ones(2, np.float32)}, {"y": np.empty(2, np.float32)})
    assert result["outputs"]["y"].tolist() == [-1, -1]
    assert (waste.report().others, waste.report().computes) == (0, 1)
    assert "1 calls of compute() were not recorded" in str(waste.report())
    with emulate(faults=Faults()):
        assert type(make_context(CURRENT)._tensorSteps).__name__ == "FaultyTensorSteps"


def test_a_context_with_faults() -> None:
    faults = Faults()
    loop = Loop(ML(revision=CURRENT, faults=faults).createContextSync())
    with record_waste(loop.context, warmup=0) as waste:
        faults.memoryLimit = BYTES - 1
        for _ in range(2):
            with pytest.raises(webnn.UnknownError):
                loop.make()
        faults.memoryLimit = None
        assert waste.report().steps == ()
        loop.write()
        loop.dispatch()
        loop.read()
    assert (faults.computes, waste.report().total.dispatches, waste.report().total.copies) == (1, 1, 2)
    faults.failCompute = 1
    loop.dispatch()
    assert loop.context.lostSync(0) is not None


def test_several_threads(loop: Loop) -> None:
    def work() -> None:
        for _ in range(50):
            loop.dispatch()
            loop.write()
            loop.make().destroy()

    with record_waste(loop.context, warmup=0) as waste:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    total = waste.report().total
    assert (total.dispatches, waste.report().alive) == (200, 0)
    # A write while another thread has the timeline makes a copy more.
    assert total.copies == total.allocations >= 200


BAD: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (lambda: 3, {}, WebNNTypeError, "record_waste: context must be an MLContext, got 3"),
    (ML, {}, WebNNTypeError, "record_waste: context must be an MLContext"),
    (
        lambda: make_context("2024-06"),
        {},
        WebNNTypeError,
        "context must follow a draft since 2026-06, which has tensors, got one of",
    ),
    (None, {"warmup": 1.5}, TypeError, "record_waste: warmup must be an integer, got 1.5"),
    (None, {"warmup": True}, TypeError, "warmup must be an integer, got True"),
    (None, {"warmup": -1}, ValueError, "record_waste: warmup must not be negative, got -1"),
]


@pytest.mark.parametrize(("context", "options", "kind", "message"), BAD, ids=[message for _, _, _, message in BAD])
def test_what_is_refused(context: Any, options: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        record_waste(None if context is None else context(), **options)


def test_a_recording_is_entered_once(loop: Loop) -> None:
    waste = record_waste(loop.context)
    with pytest.raises(RuntimeError, match="step: the block of the recording must be open"):
        waste.step()
    with waste, pytest.raises(RuntimeError, match="only once"), waste:
        pass
    with pytest.raises(RuntimeError, match="must be open"):
        waste.step()
    with pytest.raises(RuntimeError, match="only once"), waste:
        pass


# Tables


def report_of(loop: Loop) -> Waste:
    with record_waste(loop.context, warmup=1) as waste:
        for _ in range(3):
            loop.write()
            loop.write(1)
            loop.dispatch()
            loop.read()
    return waste.report()


def test_text_and_data(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    report = report_of(loop)
    lines = str(report).splitlines()
    assert lines[:6] == [
        "Waste",
        "2 steps after 1 for warm-up; the average step:",
        "                 count  bytes",
        "copies               2  8,000",
        "small copies         1      4",
        "allocations          1  4,000",
    ]
    assert any(re.fullmatch(r"test_waste\.py:\d+ +readTensor +2 +4,000 +1 +4,000", line) for line in lines), lines
    data = json.loads(report.to_json())
    assert data["total"] == asdict(report.total)
    assert [each["method"] for each in data["lines"]] == [each.method for each in report.lines]
    assert Path(data["lines"][0]["file"]) == Path(__file__)


def test_nothing_happened(loop: Loop) -> None:
    with record_waste(loop.context) as waste:
        pass
    assert "0 steps after 0 for warm-up" in str(waste.report())
    assert repr(waste) == "<WasteRecorder: 0 steps>"
    assert isinstance(waste, WasteRecorder)


def test_a_page(loop: Loop, tmp_path: Path) -> None:
    with record_waste(loop.context, warmup=0) as waste:
        source = compile("loop.write()\ncontext.writeTensor(tensor, data)", "<script>alert(1)</script>.py", "exec")
        exec(source, {"loop": loop, "context": loop.context, "tensor": loop.tensors[0], "data": buffer()})
    write_tables(tmp_path / "page.html", waste.report(), "<b>program")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<summary>Waste</summary>" in page
    assert "&lt;/script&gt;.py:2" in page or "script&gt;.py:2" in page
    assert "<script>alert" not in page
    assert "<b>program" not in page


@pytest.mark.parametrize(
    ("file", "files", "expected"),
    [
        ("/a/loop.py", ["/a/loop.py", "/a/other.py"], "loop.py:7"),
        ("/a/loop.py", ["/a/loop.py", "/b/loop.py"], "/a/loop.py:7"),
        ("https://app.test/x/loop.mjs", [], "loop.mjs:7"),
        ("<stdin>", [], "<stdin>:7"),
        ("", [], ":7"),
    ],
)
def test_lines_in_short(file: str, files: list[str], expected: str) -> None:
    assert place(file, 7, files) == expected
    assert place(file, 0, files) == expected.removesuffix(":7")
