"""Judges find planted faults, and nothing without one; a finding is shrunk to the call that has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import webnn
from tests.webnn.fuzz.hosts import campaign, emulator, generator
from tests.webnn.javascript.engines import needs_quickjs
from webnn.browser.chromium import PageCrashError, PageTimeoutError
from webnn.calls.dice import Dice
from webnn.context.engine_backend import EngineBackend
from webnn.fuzz import judges
from webnn.fuzz.hosts import Built, Page
from webnn.fuzz.known import SHIPPED, Known, load_known
from webnn.fuzz.programs import SHARED, FuzzProgram
from webnn.fuzz.shrink import remove_steps
from webnn.inspect.subject import Subject

pytestmark = needs_quickjs


def calls(name: str, count: int = 10) -> list[FuzzProgram]:
    return [generator().call(Dice(f"{name}/{index}"), name, f"{name}/{index}") for index in range(count)]


def test_nothing_is_found_without_a_fault() -> None:
    found = campaign()
    found.run([*generator().calls(150), *generator().graphs(25)])
    assert {key: each.finding.text for key, each in found.classes.items()} == {}
    assert found.programs == 175
    assert found.graphs > 100


#: Faults of a browser: the operation that has it, the script, and the finding.
FAULTS = [
    ("relu", "replace(MLGraphBuilder, 'relu', () => { throw new TypeError('no relu 5'); })", ("relu", "refuses", "TypeError: no relu #")),
    ("clamp", "replace(MLGraphBuilder, 'clamp', (call, [x]) => call(x))", ("clamp", "numbers", "")),
    ("sin", "replace(MLGraphBuilder, 'sin', (call, [x], self) => self.cos(x))", ("sin", "numbers", "float")),
    ("cast", "replace(MLGraphBuilder, 'cast', (call, [x], self) => self.identity(x))", ("cast", "result", "")),
    (
        "neg",
        "replace(MLGraphBuilder, 'build', async () => { throw new DOMException('neg is not there', 'NotSupportedError'); })",
        ("build", "refuses", "NotSupportedError: neg is not there"),
    ),
]


@pytest.mark.parametrize(("name", "fault", "wanted"), FAULTS, ids=[name for name, _, _ in FAULTS])
def test_faults_of_a_browser(name: str, fault: str, wanted: tuple[str, str, str]) -> None:
    found = campaign(fault)
    found.run(calls(name))
    assert {(judge, operation, kind.removeprefix("special ")) for judge, operation, kind, _ in found.classes} == {("browser", *wanted[:2])}
    each = next(each for key, each in found.classes.items() if key[2] == wanted[1] and key[3].startswith(wanted[2]))
    before = len(each.program.steps)
    found.shrink(each)
    assert each.again
    assert len(each.program.steps) <= before
    assert set(each.program.operations) <= {name}


@pytest.mark.parametrize("isKnown", [False, True])
def test_a_class_does_not_shrink_to_one_that_is_known(isKnown: bool) -> None:
    entry = Known(judge="browser", operation=("sin",), kind="*numbers", message="is 1.0, and 0.0 is right", reason="Planted by a test.")
    found = campaign("replace(MLGraphBuilder, 'sin', (call, [x], self) => self.cos(x))")
    found.known = [entry] if isKnown else []
    found.run(calls("sin"))
    each = next(each for each in found.classes.values() if each.known is None)
    found.shrink(each)
    assert each.again
    assert (entry.message in each.finding.text) is not isKnown


def test_a_browser_that_accepts_more_and_throws_other_errors() -> None:
    step: dict[str, Any] = {"call": "MLGraphBuilder", "args": [SHARED]}
    wrong = FuzzProgram("wrong", [step, {"call": "input", "on": {"$step": 0}, "args": ["x", {"dataType": "float64", "shape": []}]}])
    found = campaign("replace(MLGraphBuilder, 'input', (call, [name, descriptor]) => call(name, {...descriptor, dataType: 'float32'}))")
    found.run([wrong])
    [(key, each)] = found.classes.items()
    assert key[:3] == ("browser", "input", "accepts")
    assert "must be one of 'float32', 'float16'" in each.finding.text
    other = campaign("replace(MLGraphBuilder, 'input', () => { throw new RangeError('x'); })")
    other.run([wrong])
    assert [key[:3] for key in other.classes] == [("browser", "input", "error")]


def test_a_fault_in_a_graph_is_shrunk_to_its_operation() -> None:
    found = campaign("replace(MLGraphBuilder, 'transpose', (call, [x]) => call(x))")
    found.run(generator(operations=("transpose", "relu", "concat", "add")).graphs(40))
    each = next(each for each in found.classes.values() if each.finding.operation == "transpose")
    found.shrink(each)
    assert each.program.operations == ["transpose"]
    assert len(each.program.steps) <= 9
    kept = [argument for step in each.program.steps for argument in step["args"] if isinstance(argument, dict) and "$view" in argument]
    assert all(len(view["values"]) <= 6 for view in kept)


def test_bits_are_compared() -> None:
    """Equal bits make no finding, and others make one."""
    host, programs = emulator(), calls("neg", 3)
    answers, again = host.run(programs), host.run(programs)
    for program, built, ours, theirs in zip(programs, host.graphs, answers, again, strict=True):
        assert judges.compare_bits(program, built, ours, theirs) is None
        if not (read := theirs[-1].get("ok", {}).get("bytes")):
            continue
        theirs[-1]["ok"]["bytes"] = "7f" * (len(read) // 2)
        wrong = judges.compare_bits(program, built, ours, theirs)
        assert wrong is not None
        assert (wrong.operation, wrong.kind) == ("neg", "numbers")
        assert "here" in wrong.text


def test_operations_that_may_have_caused_other_bits() -> None:
    """Values that were not read may be others in the browser; those that were read are the same."""
    host = emulator()
    found = []
    for program in generator(operations=("neg", "abs", "reshape")).graphs(12):
        [ours], [built], [theirs] = host.run([program]), host.graphs, host.run([program])
        last = theirs[-1].get("ok", {})
        if "bytes" not in last:
            continue
        last["bytes"] = "7f" * (len(last["bytes"]) // 2)
        wrong = judges.compare_bits(program, built, ours, theirs)
        assert wrong is not None
        operators = built[0].description.operators
        if len(built[0].description.outputs) == len(operators):
            assert wrong.operation == operators[-1].operation
        found.append(wrong.operation.split())
        assert set(found[-1]) <= set(program.operations)
    assert any(len(names) > 1 for names in found)


@pytest.mark.parametrize(
    ("kind", "operation", "fits"),
    [("rounding", "exp", True), ("numbers", "reshape", True), ("rounding", "expand", False), ("crash", "exp", False)],
)
def test_a_known_cause_among_several(kind: str, operation: str, fits: bool) -> None:
    entry = Known(judge="browser", operation=(operation,), kind="*", message="behind*ULP", reason="Planted.")
    assert (
        entry.fits(judges.Finding("browser", "exp reshape", kind, "", "reshape of float32, behind exp: y is 1, and 2 here: 9 ULP")) is fits
    )


def test_the_reference_judges_the_emulator() -> None:
    host, programs = emulator(), calls("gelu", 3)
    outcomes = host.run(programs)
    assert judges.judge_numbers("reference", programs[0], host.graphs[0], outcomes[0]) is None
    read = outcomes[0][-1]["ok"]
    read["bytes"] = "ff3f" + read["bytes"][4:]
    wrong = judges.judge_numbers("reference", programs[0], host.graphs[0], outcomes[0])
    assert wrong is not None
    assert (wrong.judge, wrong.operation, wrong.kind) == ("reference", "gelu", "numbers")
    assert "is right (1 of " in wrong.text


@pytest.mark.parametrize("judge", ["optimizer", "parts", "draft"])
def test_other_ways_to_build_a_graph(monkeypatch: pytest.MonkeyPatch, judge: str) -> None:
    host = emulator()
    programs = list(generator(operations=("mul", "relu", "tile")).graphs(6))
    host.run(programs)
    rebuilding = judges.Rebuilding(webnn.ML(revision="2026-06"))
    graphs = [graph for each in host.graphs for graph in each]
    assert [finding for graph in graphs for finding in rebuilding.judge(graph)] == []

    def spoil(values: dict[str, Any]) -> dict[str, Any]:
        return {name: np.asarray(array + 1).astype(array.dtype) for name, array in values.items()}

    compute, without = judges._compute, judges.Rebuilding._without_optimizer

    def spoiled(context: webnn.MLContext, description: webnn.GraphDescription, values: Any) -> Any:
        found = compute(context, description, values)
        return spoil(found) if description.draft.startswith("2024") is (judge == "draft") else found

    if judge == "optimizer":
        monkeypatch.setattr(judges.Rebuilding, "_without_optimizer", lambda self, *given: spoil(without(self, *given)))
    else:
        monkeypatch.setattr(judges, "_compute", spoiled)
    found = [finding for graph in graphs for finding in rebuilding.judge(graph)]
    assert {finding.judge for finding in found} == {judge}
    assert {finding.kind for finding in found} <= {"numbers", "special numbers"}


def test_the_engine_without_its_optimizer_keeps_the_graph() -> None:
    """The session really has the nodes that the optimizer would take away."""
    host = emulator()
    host.run(calls("identity", 1))
    subject = host.graphs[0][0].subject
    seen: list[bool] = []
    original = EngineBackend.compile_and_place

    def compile(self: Any, graph: Any, selection: Any, fallback: Any) -> Any:
        seen.append(selection.settings.optimize)
        return original(self, graph, selection, fallback)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EngineBackend, "compile_and_place", compile)
        judges.Rebuilding(webnn.ML(revision="2026-06")).judge(host.graphs[0][0])
    assert seen == [False, True]  # the other one is the graph in the first draft
    assert subject.state.selection.settings.optimize


def test_a_lost_context_is_replaced() -> None:
    host = emulator()
    host.run(list(generator(operations=("mul", "relu")).graphs(2)))
    rebuilding = judges.Rebuilding(webnn.ML(revision="2026-06"))
    rebuilding._context.destroy()
    assert [finding for each in host.graphs for graph in each for finding in rebuilding.judge(graph)] == []
    assert rebuilding._context.lostSync(0) is None


@pytest.mark.simulators("gpu")
def test_graphs_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the engine's optimizer computes operators of constants on the CPU, and a graph ends with the process of its context."""
    ml = webnn.ML(revision="2026-06", simulators=True, fallback="silent")
    rebuilding, seen = judges.Rebuilding(ml), []
    without = judges.Rebuilding._without_optimizer
    monkeypatch.setattr(judges.Rebuilding, "_without_optimizer", lambda self, graph: (seen.append(graph), without(self, graph))[1])
    context = ml.createContextSync(deviceType="gpu")
    built: list[Built] = []
    for isConstant in (True, False):
        builder = webnn.MLGraphBuilder(context)
        value, descriptor = np.array([np.nan, 1], np.float32), {"dataType": "float32", "shape": [2]}
        x = builder.constant(descriptor, value) if isConstant else builder.input("x", descriptor)
        graph = builder.buildSync({"y": builder.sigmoid(x)})
        built.append(Built(Subject.of(graph, "fuzz"), graph, {} if isConstant else {"x": np.array([-1, 1], np.float32)}, 1))
    assert [rebuilding.judge(each) for each in built] == [[], []]
    assert seen == built[1:]
    context.destroy()
    assert [rebuilding.judge(each) for each in built] == [[], []]
    assert seen == built[1:]


class Fragile:
    """A page that ends, or stops, at programs with some operations."""

    def __init__(self, ends: str, stops: str) -> None:
        self.calls: list[int] = []
        self._faults: list[tuple[str, Exception]] = [(ends, PageCrashError("it ended")), (stops, PageTimeoutError("it stopped"))]

    def evaluate(self, function: str, argument: object = None, *, timeout: float | None = None) -> Any:
        assert "async (programs, state, begin)" in function
        assert isinstance(argument, list)
        self.calls.append(len(argument))
        for name, error in self._faults:
            if any(step["call"] == name for steps in argument for step in steps):
                raise error
        return [[{"ok": {"type": "undefined"}} for _ in steps] for steps in argument]


def test_a_page_that_ends_is_the_result_of_one_program() -> None:
    programs = [*calls("relu", 3), *calls("tan", 1), *calls("relu", 3), *calls("erf", 1)]
    fragile = Fragile("tan", "erf")
    results = Page(fragile).run(programs)
    assert [outcomes[0].get("error", "") for outcomes in results] == ["", "", "", "crash", "", "", "", "hang"]
    assert fragile.calls[0] == len(programs)
    assert all(len(outcomes) == len(program.steps) for outcomes, program in zip(results, programs, strict=True))
    finding = judges.compare_hosts(programs[3], emulator().run(programs)[3], results[3])
    assert finding is not None
    assert (finding.operation, finding.kind) == ("tan", "crash")


@pytest.mark.parametrize(("removed", "left"), [({1}, ["a", "b", "e"]), ({0}, []), ({3}, ["a", "b", "c"])])
def test_steps_go_with_what_needs_them(removed: set[int], left: Sequence[str]) -> None:
    steps: list[dict[str, Any]] = [
        {"call": "a", "args": []},
        {"call": "c" if 3 in removed else "x", "on": {"$step": 0}, "args": []},
        {"call": "b", "on": {"$step": 0}, "args": []},
        {"call": "d", "args": [{"$step": 1}]},
        {"call": "e", "on": {"$step": 2}, "args": [{"bias": {"$step": 1}}, [{"$step": 1}, {"$step": 2}]]},
    ]
    found = remove_steps(steps, removed)
    if removed == {1}:
        assert [step["call"] for step in found] == left
        assert found[-1] == {"call": "e", "on": {"$step": 1}, "args": [{}, [{"$step": 1}]]}
    elif removed == {0}:
        assert found == []
    else:
        assert sorted(step["call"] for step in found) == ["a", "b", "c", "e"]


def test_a_shared_context_that_is_lost_is_replaced() -> None:
    lost = FuzzProgram("lost", [{"call": "destroy", "on": SHARED, "args": []}, {"call": "MLGraphBuilder", "args": [SHARED]}])
    [first], [second] = ([outcomes] for outcomes in emulator().run([lost, *calls("relu", 1)]))
    assert [outcome.get("error", "") for outcome in first] == ["", "InvalidStateError"]
    assert all("ok" in outcome for outcome in second)


def test_a_judge_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise MemoryError("32 GiB")

    monkeypatch.setattr(judges, "find_wrong", fail)
    found = campaign()
    found.run(calls("relu", 2))
    [(key, each)] = found.classes.items()
    assert key == ("emulator", "relu", "fault", "MemoryError")
    assert "a judge failed: 32 GiB" in each.finding.text
    assert each.count == 2


@pytest.mark.parametrize(
    ("here", "there", "flushes"),
    [
        ("010000000000803f", "000000000000803f", True),
        ("ffff7f80", "00000080", True),
        ("0000800000000000", "0000000000000000", False),
        ("0100000000000040", "000000000000803f", False),
        ("01000000", "0000803f", False),
        ("0100", "0000", False),
        ("0100000001000000", "00000000", False),
    ],
)
def test_numbers_that_a_browser_takes_as_0(here: str, there: str, flushes: bool) -> None:
    program = FuzzProgram.parse('{"name": "x", "steps": [{"call": "readTensor", "on": {"$context": true}, "args": []}]}')
    outcomes = [[{"ok": {"type": "ArrayBuffer", "bytes": each}}] for each in (here, there)]
    found = judges.judge_numbers("browser", program, [], *outcomes)
    assert found is not None
    assert found.kind == "bytes"
    assert ("below the normal ones" in found.text) is flushes
    assert any(each.fits(found) for each in load_known(SHIPPED["onnxruntime"])) is flushes
