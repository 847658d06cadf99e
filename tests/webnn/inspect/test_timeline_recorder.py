"""Recording the times of calls and of work."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

from tests.support import CURRENT, wait_until
from tests.webnn.commands.test_program import run_here, write
from tests.webnn.inspect.graphs import build, float_input, network
from tests.webnn.javascript.node_support import require_node
from webnn import ML, Faults, MLContext, WebNNTypeError, emulate
from webnn.context.timeline import Timeline
from webnn.inspect import CallTimeline, record_timeline, record_waste, timeline_recorder
from webnn.validation.drafts import DEFAULT

X = np.arange(4, dtype=np.float32)


def make(**settings: object) -> MLContext:
    return ML(revision=CURRENT, **settings).createContextSync(accelerated=False)  # type: ignore[arg-type]  # settings of a test


def work(context: MLContext) -> None:
    graph = build(lambda builder: {"y": builder.neg(float_input(builder, "x", 4))}, context=context)
    x, y = (context.createTensorSync(dataType="float32", shape=[4], readable=True, writable=True) for _ in range(2))
    context.writeTensor(x, X)
    context.dispatch(graph, {"x": x}, {"y": y})
    assert np.array_equal(context.readTensorSync(y), -X)  # type: ignore[arg-type]  # an array: no buffer was given


def named(timeline: CallTimeline, *, isWork: bool) -> list[str]:
    return [each.method for each in timeline.events if each.isWork is isWork]


def test_calls_and_their_work() -> None:
    with record_timeline() as recorder:
        work(make())
    timeline = recorder.report()
    assert named(timeline, isWork=False) == ["build", "createTensor", "createTensor", "writeTensor", "dispatch", "readTensor"]
    assert named(timeline, isWork=True) == ["build", "writeTensor", "dispatch", "readTensor"]
    for each in timeline.events:
        assert each.begin >= 0
        assert each.seconds > 0
        assert each.begin + each.seconds <= timeline.seconds
        assert (Path(each.file).name, each.line > 0) in {(Path(__file__).name, True), ("graphs.py", True)}
        assert each.track == ("context 1, cpu" if each.isWork else f"thread {threading.current_thread().name}")
    calls = {each.call: each for each in timeline.events if not each.isWork}
    for each in timeline.events:
        assert calls[each.call].method == each.method
        assert calls[each.call].begin <= each.begin


def test_promises() -> None:
    """The call ends with the promise; its work may come later, on another thread."""

    async def program() -> None:
        context = await ML(revision=CURRENT).createContext(accelerated=False)
        x = await context.createTensor(dataType="float32", shape=[4], readable=True)
        constant = await context.createConstantTensor({"dataType": "float32", "shape": [4]}, X)
        assert constant.constant
        assert np.array_equal(await context.readTensor(x), np.zeros(4, np.float32))

    with record_timeline() as recorder:
        asyncio.run(program())
    assert named(recorder.report(), isWork=False) == ["createTensor", "createConstantTensor", "readTensor"]
    assert named(recorder.report(), isWork=True) == ["readTensor"]


def test_a_draft_without_tensors() -> None:
    with record_timeline() as recorder:
        context = ML(revision=DEFAULT).createContextSync()
        graph = build(lambda builder: {"y": builder.neg(float_input(builder, "x", 4))}, context=context)
        context.computeSync(graph, {"x": X.copy()}, {"y": np.empty(4, np.float32)})
    assert named(recorder.report(), isWork=False) == ["build", "compute"]
    assert named(recorder.report(), isWork=True) == ["build", "compute"]


def test_a_call_that_fails_ends() -> None:
    with record_timeline() as recorder:
        context = make()
        tensor = context.createTensorSync(dataType="float32", shape=[4])
        with pytest.raises(WebNNTypeError):
            context.writeTensor(tensor, X)
        context.destroy()
    assert named(recorder.report(), isWork=False) == ["createTensor", "writeTensor"]
    assert named(recorder.report(), isWork=True) == []


def test_only_contexts_of_the_block_and_only_within_it() -> None:
    before = make()
    with record_timeline() as recorder:
        work(before)
        inside = make()
    assert not recorder.report().events
    work(inside)
    assert not recorder.report().events
    # It is a timeline like any other again, but for its class.
    assert isinstance(inside._state.timeline, Timeline)
    assert repr(recorder) == "<TimelineRecorder: 0 events>"


def test_a_context_is_not_kept_alive() -> None:
    with record_timeline() as recorder:
        context = make()
        work(context)
        gone = weakref.ref(context)
        del context
        gc.collect()
        wait_until(lambda: gone() is None)
    assert named(recorder.report(), isWork=True) == ["build", "writeTensor", "dispatch", "readTensor"]


def test_beside_other_hooks_and_faults() -> None:
    seen: list[MLContext] = []
    with emulate(on_context=seen.append), record_waste() as waste, record_timeline() as recorder:
        work(make(faults=Faults()))
        work(make())
    assert len(seen) == 2
    assert waste.report().total.builds + waste.report().steps[0].builds >= 1
    tracks = {each.track for each in recorder.report().events if each.isWork}
    assert tracks == {"context 1, cpu", "context 2, cpu"}
    assert named(recorder.report(), isWork=False).count("createTensor") == 4


def test_threads() -> None:
    """The work of one thread is not the other's, whoever does it."""
    with record_timeline() as recorder:
        context = make()
        threads = [threading.Thread(target=work, args=[context], name=f"number {number}") for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    timeline = recorder.report()
    callers = {each.call: each.track for each in timeline.events if not each.isWork}
    for number in range(3):
        own = [each.method for each in timeline.events if each.isWork and callers[each.call] == f"thread number {number}"]
        assert sorted(own) == ["build", "dispatch", "readTensor", "writeTensor"]


@pytest.mark.processes
def test_a_process_of_its_own() -> None:
    """A context with a process has a row for it, whose requests lie within the work that made them."""
    with record_timeline() as recorder:
        work(make(isolate=True))
    timeline = recorder.report()
    requests = [each for each in timeline.events if each.isRequest]
    assert {each.method for each in requests} >= {"build", "dispatch"}
    done = {each.call: each for each in timeline.events if each.isWork and not each.isRequest}
    for each in requests:
        assert each.track == "process of context 1, cpu"
        around = done[each.call]
        assert around.method == each.method
        assert around.begin <= each.begin
        assert each.begin + each.seconds <= around.begin + around.seconds
    rows = [each["args"]["name"] for each in timeline.to_chrome()["traceEvents"] if each["name"] == "thread_name"]
    assert "process of context 1, cpu" in rows


def test_events_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline_recorder, "_MOST", 3)
    with record_timeline() as recorder:
        work(make())
    timeline = recorder.report()
    assert len(timeline.events) == 3
    assert timeline.left == 7


def test_entered_once() -> None:
    recorder = record_timeline()
    with recorder:
        pass
    with pytest.raises(RuntimeError, match="only once"), recorder:
        pass


PYTHON = """
import numpy as np
from webnn import ML, MLGraphBuilder
context = ML(revision="2026-06").createContextSync()
builder = MLGraphBuilder(context)
graph = builder.buildSync({"y": builder.relu(builder.input("x", dataType="float32", shape=[100]))})
x, y = (context.createTensorSync(dataType="float32", shape=[100], readable=True) for _ in range(2))
context.dispatch(graph, {"x": x}, {"y": y})
context.readTensorSync(y)
print("done")
"""
JAVASCRIPT = """const context = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context), some = {dataType: 'float32', shape: [100]};
const graph = await builder.build({y: builder.relu(builder.input('x', some))});
const [x, y] = await Promise.all([1, 2].map(() => context.createTensor({...some, readable: true})));
context.dispatch(graph, {x}, {y});
await context.readTensor(y);
console.log('done');
"""


@pytest.mark.processes
def test_the_command(tmp_path: Path) -> None:
    program, report = write(tmp_path / "program.py", PYTHON), tmp_path / "calls.json"
    result = run_here("--timeline", report, program)
    assert (result.returncode, result.stdout) == (0, "done\n")
    assert result.stderr == f"webnn: wrote {report}\n"
    events = [each for each in json.loads(report.read_text(encoding="utf-8"))["traceEvents"] if each["ph"] == "X"]
    assert ("dispatch", "program.py:8") in {(each["name"], each["args"]["line"]) for each in events if each["cat"] == "call"}


@pytest.mark.processes
def test_a_javascript_program(tmp_path: Path) -> None:
    require_node()
    result = run_here("--timeline", "-", write(tmp_path / "program.mjs", JAVASCRIPT))
    assert (result.returncode, result.stdout) == (0, "done\n")
    lines = [line.split()[:3] for line in result.stderr.splitlines()]
    assert ["program.mjs:5", "dispatch", "1"] in lines
    assert ["program.mjs:3", "build", "1"] in lines


@pytest.mark.processes
def test_refused(tmp_path: Path) -> None:
    program = write(tmp_path / "program.py", PYTHON)
    result = run_here("--timeline", tmp_path / "calls.txt", program)
    assert (result.returncode, result.stdout) == (2, "")
    assert "--timeline must be -, or name a file .json or .html" in " ".join(result.stderr.split())
    result = run_here("--timeline", tmp_path / "missing" / "calls.json", program)
    assert (result.returncode, result.stdout) == (2, "")
    assert "--timeline must name a file in a folder that exists" in result.stderr
    graph = tmp_path / "graph.webnn"
    build(network).description.save(graph)
    result = run_here("--timeline", "-", graph)
    assert result.returncode == 2
    assert "--timeline can only be given for a program" in result.stderr
