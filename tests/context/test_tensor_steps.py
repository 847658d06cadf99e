"""`dispatch()`: the draft's steps, the order of the work, threads, and the data path."""

from __future__ import annotations

import asyncio
import threading
from collections import UserDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.context.tensors import SHAPE, add_graph, current, filled, full, held, make, negation, ran_on, scale_graph, value
from tests.support import BROWSERS, make_context, refused, wait_until
from webnn import InvalidStateError, MLContext, MLGraph, MLGraphBuilder
from webnn.context.engine import session
from webnn.context.tensor import MLTensor
from webnn.context.tensor_steps import TensorSteps

Tensors = dict[str, MLTensor]


@pytest.fixture
def context() -> MLContext:
    return current()


@pytest.fixture
def graph(context: MLContext) -> MLGraph:
    return add_graph(context)


@pytest.fixture
def inputs(context: MLContext) -> Tensors:
    return {"x": filled(context, 3), "y": filled(context, 1)}


@pytest.fixture
def outputs(context: MLContext) -> Tensors:
    return {"sum": make(context), "difference": make(context)}


def values(context: MLContext, tensors: Mapping[str, MLTensor]) -> list[float]:
    return [value(context, tensor) for tensor in tensors.values()]


def test_a_dispatch(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    assert context.dispatch(graph, inputs, outputs) is None
    assert values(context, outputs) == [4, 2]
    assert values(context, inputs) == [3, 1]


WRONG: list[tuple[str, Any, str]] = [
    ("no graph", lambda t: {"graph": None}, "conversion"),
    ("no mapping", lambda t: {"inputs": [t.x, t.y]}, "conversion"),
    ("nothing", lambda t: {"outputs": None}, "conversion"),
    ("no tensor", lambda t: {"inputs": {"x": None, "y": t.y}}, "conversion"),
    ("array", lambda t: {"outputs": {"sum": full(0), "difference": t.difference}}, "conversion"),
    ("twice an input", lambda t: {"inputs": {"x": t.x, "y": t.x}}, "overlap"),
    ("twice an output", lambda t: {"outputs": {"sum": t.sum, "difference": t.sum}}, "overlap"),
    ("in and out", lambda t: {"outputs": {"sum": t.x, "difference": t.difference}}, "overlap"),
    ("foreign input", lambda t: {"inputs": {"x": make(current()), "y": t.y}}, "owner"),
    ("foreign output", lambda t: {"outputs": {"sum": make(current()), "difference": t.sum}}, "owner"),
    ("destroyed input", lambda t: {"inputs": {"x": t.destroyed(), "y": t.y}}, "destroyed"),
    ("destroyed output", lambda t: {"outputs": {"sum": t.sum, "difference": t.destroyed()}}, "destroyed"),
    ("constant", lambda t: {"inputs": {"x": t.constant(), "y": t.y}}, "usage"),
    ("none", lambda t: {"inputs": {}, "outputs": {}}, "name"),
    ("input missing", lambda t: {"inputs": {"x": t.x}}, "name"),
    ("input too many", lambda t: {"inputs": {"x": t.x, "y": t.y, "z": t.new()}}, "name"),
    ("input unknown", lambda t: {"inputs": {"x": t.x, "z": t.y}}, "name"),
    ("output missing", lambda t: {"outputs": {"sum": t.sum}}, "name"),
    ("output unknown", lambda t: {"outputs": {"sum": t.sum, "z": t.difference}}, "name"),
    ("type", lambda t: {"inputs": {"x": t.new("int32"), "y": t.y}}, "shape"),
    ("rank too high", lambda t: {"inputs": {"x": t.new(shape=[2, 3, 2]), "y": t.y}}, "shape"),
    ("rank too low", lambda t: {"inputs": {"x": t.new(shape=[3]), "y": t.y}}, "shape"),
    ("size", lambda t: {"outputs": {"sum": t.new(shape=[4, 3]), "difference": t.difference}}, "shape"),
    ("same length", lambda t: {"outputs": {"sum": t.new(shape=[3, 2]), "difference": t.difference}}, "shape"),
    ("a foreign graph", lambda t: {"graph": add_graph(current())}, "owner"),
]


class Parts:
    """The parts of a good call, and what a wrong one has in their place."""

    def __init__(self, context: MLContext, inputs: Tensors, outputs: Tensors) -> None:
        self.context = context
        self.x, self.y = inputs.values()
        self.sum, self.difference = outputs.values()

    def new(self, dataType: str = "float32", shape: Any = SHAPE) -> MLTensor:
        return make(self.context, dataType, shape)

    def destroyed(self) -> MLTensor:
        tensor = self.new()
        tensor.destroy()
        return tensor

    def constant(self) -> MLTensor:
        return self.context.createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, full(0))


@pytest.mark.parametrize(("wrong", "rule"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_wrong_calls_touch_nothing(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors, wrong: Any, rule: str) -> None:
    good: dict[str, Any] = {"graph": graph, "inputs": inputs, "outputs": outputs}
    bad = good | wrong(Parts(context, inputs, outputs))
    # A call that was good before makes no other one good.
    for _ in range(2):
        with refused(rule=rule, operation="dispatch"):
            context.dispatch(**bad)
        assert not context._state.timeline._pending
        assert values(context, outputs) == [0, 0]
    context.dispatch(**good)
    assert values(context, outputs) == [4, 2]
    with refused(rule=rule, operation="dispatch"):
        context.dispatch(**bad)


def test_names_are_usv_strings(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"\ud800": builder.neg(builder.input("a\ud800", dataType="float32", shape=SHAPE))})
    x, y = filled(context, 2), make(context)
    for given, wanted in (("a\ud800", "\ud800"), ("a\ufffd", "\ufffd"), ("a\udfff", "\udc00")):
        for _ in range(2):
            context.writeTensor(y, full(0))
            context.dispatch(graph, {given: x}, {wanted: y})
            assert value(context, y) == -2
    # Names that become the same are one name, and the last one counts.
    for _ in range(2):
        context.dispatch(graph, dict(zip(("a\ud800", "a\ufffd"), (make(context), x), strict=True)), {"\ufffd": y})
        assert value(context, y) == -2


class Liar(dict[str, MLTensor]):
    """A mapping whose values come in another order than its entries."""

    def values(self) -> Any:
        return list(super().values())[::-1]

    def items(self) -> Any:
        return [("small", self["small"]), ("large", self["large"])]


def test_a_mapping_that_is_not_what_it_seems(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    small, large = (builder.input(name, dataType="float32", shape=[size]) for name, size in (("small", 1), ("large", 1000)))
    graph = builder.buildSync({"y": builder.add(small, large)})
    inputs = Liar(small=make(context, shape=[1]), large=make(context, shape=[1000]))
    context.writeTensor(inputs["small"], np.array([1], np.float32))
    context.writeTensor(inputs["large"], np.full(1000, 2, np.float32))
    y = make(context, shape=[1000])
    for _ in range(3):
        context.dispatch(graph, inputs, {"y": y})
        assert value(context, y) == 3


def test_what_was_good_once(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    for _ in range(3):
        context.dispatch(graph, inputs, outputs)
    inputs["x"].destroy()
    with refused(rule="destroyed", operation="dispatch", argument="inputs['x']"):
        context.dispatch(graph, inputs, outputs)
    with refused(rule="owner", operation="dispatch", argument="graph"):
        current().dispatch(graph, inputs, outputs)
    inputs["x"] = filled(context, 5)
    context.dispatch(graph, inputs, outputs)
    assert values(context, outputs) == [6, 4]
    graph.destroy()
    with refused(InvalidStateError, rule="destroyed", operation="dispatch"):
        context.dispatch(graph, inputs, outputs)


def test_a_graph_remembers_some_of_the_calls_it_has_seen(context: MLContext) -> None:
    graph, y = scale_graph(context, 2), make(context)
    for index in range(200):
        context.dispatch(graph, {"x": filled(context, index)}, {"y": y})
        assert value(context, y) == 2 * index
    assert 0 < len(graph._checked) <= 64


def test_inputs_and_outputs_may_share_names(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    a, b = (builder.input(name, dataType="float32", shape=SHAPE) for name in ("a", "b"))
    graph = builder.buildSync({"b": builder.neg(a), "a": builder.identity(b)})
    outputs = {"a": make(context), "b": make(context)}
    context.dispatch(graph, {"b": filled(context, 2), "a": filled(context, 1)}, outputs)
    assert values(context, outputs) == [2, -1]


def test_any_mapping(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    for _ in range(2):
        context.dispatch(graph, UserDict(inputs), UserDict(outputs))
        assert values(context, outputs) == [4, 2]


def test_a_graph_without_inputs(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    constant = builder.constant({"dataType": "int32", "shape": [8]}, np.arange(8, dtype=np.int32).tobytes())
    graph = builder.buildSync({"y": builder.identity(constant)})
    y = make(context, "int32", [8])
    context.dispatch(graph, {}, {"y": y})
    assert context.readTensorSync(y).tolist() == list(range(8))


def test_a_destroyed_graph(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    with held(context):
        context.dispatch(graph, inputs, outputs)
        graph.destroy()
        graph.destroy()
    assert values(context, outputs) == [4, 2]
    assert repr(graph).endswith(", destroyed>")
    with refused(InvalidStateError, rule="destroyed", operation="dispatch"):
        context.dispatch(graph, inputs, outputs)


def test_same_tensors_in_other_places(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    x, y = inputs.values()
    total, difference = outputs.values()
    context.dispatch(graph, {"x": x, "y": y}, outputs)
    context.dispatch(graph, {"x": y, "y": x}, {"sum": difference, "difference": total})
    assert values(context, outputs) == [-2, 4]


def test_new_outputs_leave_the_old_ones(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    context.dispatch(graph, inputs, outputs)
    context.writeTensor(inputs["x"], full(10))
    context.dispatch(graph, inputs, {"sum": make(context), "difference": outputs["difference"]})
    assert values(context, outputs) == [4, 9]


def test_outputs_become_inputs(context: MLContext) -> None:
    double, triple = scale_graph(context, 2), scale_graph(context, 3)
    a, b = filled(context, 1), make(context)
    for index in range(6):
        context.dispatch((double, triple)[index % 2], {"x": a}, {"y": b})
        a, b = b, a
    assert (value(context, a), value(context, b)) == (216, 72)


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "queued"])
async def test_the_order_of_the_calls(context: MLContext, *, busy: bool) -> None:
    """Each read sees what was written and dispatched before it, and nothing after it."""
    graph, x, y = scale_graph(context, 2), make(context), make(context)
    futures: list[asyncio.Future[Any]] = []
    with held(context) if busy else nullcontext():
        for index in range(20):
            context.writeTensor(x, full(index))
            context.dispatch(graph, {"x": x}, {"y": y})
            futures.append(context.readTensor(y))
    assert [(await future)[0, 0] for future in futures] == [2 * index for index in range(20)]


async def test_many_programs_on_one_context(context: MLContext) -> None:
    graph = scale_graph(context, 3)

    async def work(index: int) -> float:
        x, y = await asyncio.gather(*(context.createTensor(dataType="float32", shape=SHAPE, readable=True, writable=True) for _ in "xy"))
        for _ in range(5):
            context.writeTensor(x, full(index))
            context.dispatch(graph, {"x": x}, {"y": y})
            read = await context.readTensor(y)
        return float(read[1, 2])

    assert await asyncio.gather(*(work(index) for index in range(20))) == [3 * index for index in range(20)]


def test_many_threads(context: MLContext) -> None:
    graphs = [scale_graph(context, factor) for factor in (2, 3)]

    def work(index: int) -> list[float]:
        x, y = make(context), make(context)
        seen = []
        for count in range(30):
            context.writeTensor(x, full(index + count))
            context.dispatch(graphs[count % 2], {"x": x}, {"y": y})
            seen.append(value(context, y))
        x.destroy()
        return seen

    with ThreadPoolExecutor(8) as pool:
        for index, seen in enumerate(pool.map(work, range(16))):
            assert seen == [(index + count) * (2, 3)[count % 2] for count in range(30)]


def test_several_threads_on_the_same_tensors(context: MLContext) -> None:
    """Whatever the order, no read sees half a write."""
    tensor = make(context, shape=[1000])
    stop = threading.Event()

    def write(number: int) -> None:
        data = np.full(1000, number, np.float32)
        while not stop.is_set():
            context.writeTensor(tensor, data)

    threads = [threading.Thread(target=write, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    seen = {value(context, tensor) for _ in range(100)}
    stop.set()
    for thread in threads:
        thread.join()
    assert seen <= {0, 1, 2, 3}


async def test_a_cancelled_read(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    with held(context):
        futures = []
        for _ in range(10):
            context.dispatch(graph, inputs, outputs)
            futures.append(context.readTensor(outputs["sum"]))
        for future in futures[::2]:
            future.cancel()
    results = await asyncio.gather(*futures, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
    assert all(result[0, 0] == 4 for result in results[1::2])  # type: ignore[index]
    assert not outputs["sum"]._pending
    assert values(context, outputs) == [4, 2]


def test_a_dispatch_returns_at_once(context: MLContext) -> None:
    graph, x, y = scale_graph(context, 2), filled(context, 1), make(context)
    memory = y._memory
    assert memory is not None
    # A dispatch that waited for the work before it would not return here.
    with held(context):
        for _ in range(10):
            context.dispatch(graph, {"x": x}, {"y": y})
        assert not memory.array.any()
    assert value(context, y) == 2


def test_work_that_nobody_reads_is_done(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    context.dispatch(graph, inputs, outputs)
    memory = outputs["sum"]._memory
    assert memory is not None
    wait_until(lambda: memory.array[0, 0] == 4)


def test_builds_keep_their_place(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    context.dispatch(graph, inputs, outputs)
    again = scale_graph(context, 10)
    y = make(context)
    context.dispatch(again, {"x": outputs["sum"]}, {"y": y})
    assert value(context, y) == 40


def test_the_data_is_not_copied(context: MLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of dispatches binds memory to the engine, and what is bound already stays bound."""
    graph = scale_graph(context, 2)
    a, b = filled(context, 1), make(context)
    binding = graph._implementation._binding  # type: ignore[union-attr]
    bound: list[str] = []
    for name in ("bind_ortvalue_input", "bind_ortvalue_output"):
        original = getattr(binding, name)

        def count(slot: str, tensor: Any, original: Any = original) -> None:
            bound.append(slot)
            original(slot, tensor)

        monkeypatch.setattr(binding, name, count)
    for _ in range(10):
        context.dispatch(graph, {"x": a}, {"y": b})
    assert value(context, b) == 2
    assert len(bound) == 2
    for _ in range(3):
        context.dispatch(graph, {"x": b}, {"y": a})
        context.dispatch(graph, {"x": a}, {"y": b})
    assert value(context, b) == 128
    assert len(bound) == 2 + 6 * 2


def test_small_integers() -> None:
    """Beyond the draft, as browsers have them: two elements in a byte."""
    context = make_context(BROWSERS)
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="int4", shape=[3])  # type: ignore[typeddict-item]
    scale = builder.constant({"dataType": "float32", "shape": [1]}, np.ones(1, np.float32))
    zero = builder.constant({"dataType": "int4", "shape": [1]}, np.zeros(1, np.uint8))  # type: ignore[typeddict-item]
    graph = builder.buildSync({"y": builder.dequantizeLinear(x, scale, zero)})
    tensor, y = make(context, "int4", [3]), make(context, shape=[3])
    context.writeTensor(tensor, bytes([0x21, 0x0F]))
    context.dispatch(graph, {"x": tensor}, {"y": y})
    assert context.readTensorSync(y).tolist() == [1, 2, -1]
    assert context.readTensorSync(tensor).tolist() == [0x21, 0x0F]


def test_the_same_tensors_are_checked_once(
    context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = []
    fit = TensorSteps._fit_all
    monkeypatch.setattr(TensorSteps, "_fit_all", lambda *given: checked.append(given) or fit(*given))
    for _ in range(3):
        context.dispatch(graph, inputs, outputs)
    assert values(context, outputs) == [4, 2]
    assert len(checked) == 1


def test_valid_calls_are_recognized_in_one_pass(
    context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps judge the others one by one; they would find the same slots."""
    steps = context._tensorSteps
    implementation = graph._implementation
    assert implementation is not None
    found = steps._fit_all(implementation, inputs, outputs)
    assert found is not None
    assert [list(each) for each in steps._check(graph, inputs, outputs)[1:]] == [list(each) for each in found[1:]]
    monkeypatch.setattr(TensorSteps, "_check", lambda *_: pytest.fail("the steps run"))
    context.dispatch(graph, inputs, outputs)
    assert values(context, outputs) == [4, 2]
    name, tensor = next(iter(inputs.items()))
    other = make(context)
    for wrong in ({}, {**inputs, "more": other}, {**inputs, name: outputs[next(iter(outputs))]}, {**inputs, name: "x"}):
        assert steps._fit_all(implementation, wrong, outputs) is None
    tensor.destroy()
    assert steps._fit_all(implementation, inputs, outputs) is None


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs count as quick, however slow this machine is."""
    monkeypatch.setattr(session, "QUICK", 3600)


def last(graph: MLGraph) -> Any:
    """Return the dispatch that the graph can repeat."""
    implementation: Any = graph._implementation
    return implementation.last


@pytest.mark.usefixtures("quick")
def test_a_repeated_dispatch(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    context.dispatch(graph, inputs, outputs)
    known = last(graph)
    for number in (5, 7):
        context.writeTensor(inputs["x"], full(number))
        context.dispatch(graph, dict(inputs), dict(outputs))
        assert values(context, outputs) == [number + 1, number - 1]
        assert last(graph) is known
    with refused(rule="owner", operation="dispatch", argument="graph"):
        current().dispatch(graph, inputs, outputs)


def test_a_call_that_looks_like_the_last_one(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    other = filled(context, 10)
    context.dispatch(graph, inputs, outputs)
    # The same mapping, changed.
    inputs["x"], former = other, inputs["x"]
    context.dispatch(graph, inputs, outputs)
    assert values(context, outputs) == [11, 9]
    # The same tensors under other names.
    context.dispatch(graph, {"x": inputs["y"], "y": other}, outputs)
    assert values(context, outputs) == [11, -9]
    # The tensors that were bound before.
    context.dispatch(graph, {"x": former, "y": inputs["y"]}, outputs)
    assert values(context, outputs) == [4, 2]
    # Other values, some of which cannot be compared.
    for wrong in (np.ones(6), np.ones(1), None, 1.0, object()):
        with refused(rule="conversion", operation="dispatch", argument="inputs['x']"):
            context.dispatch(graph, {"x": wrong, "y": inputs["y"]}, outputs)  # type: ignore[dict-item]


@pytest.mark.usefixtures("quick")
def test_no_destroyed_tensor_is_used_again(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    context.dispatch(graph, inputs, outputs)
    with held(context):
        # Its memory is unbound only after the work that is queued.
        outputs["sum"].destroy()
        assert last(graph) is None
        with refused(rule="destroyed", operation="dispatch", argument="outputs['sum']"):
            context.dispatch(graph, inputs, outputs)
    outputs["sum"] = make(context)
    # It is destroyed after the check, and before the graph runs.
    job = context._tensorSteps.prepare_dispatch(graph, inputs, outputs)
    outputs["sum"].destroy()
    context._state.timeline.run(job)
    assert last(graph) is None
    with refused(rule="destroyed", operation="dispatch", argument="outputs['sum']"):
        context.dispatch(graph, inputs, outputs)


def test_a_graph_that_is_lost_with_its_context(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    context.dispatch(graph, inputs, outputs)
    context.destroy()
    with refused(InvalidStateError, rule="lost", operation="dispatch"):
        context.dispatch(graph, inputs, outputs)


@pytest.mark.usefixtures("quick")
def test_a_quick_graph_runs_at_once_and_a_slow_one_is_queued(
    context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = ran_on(graph)
    for _ in range(2):
        context.dispatch(graph, inputs, outputs)
    assert threads == [threading.get_ident()] * 2
    with held(context):
        # Queued work comes first.
        context.dispatch(graph, inputs, outputs)
        assert len(threads) == 2
    context._state.timeline.finish()
    monkeypatch.setattr(session, "QUICK", 0)
    context.dispatch(graph, {"x": inputs["y"], "y": inputs["x"]}, outputs)
    assert last(graph) is None
    del threads[:]
    context.dispatch(graph, inputs, outputs)
    wait_until(lambda: bool(threads))
    assert threads[0] != threading.get_ident()


def test_a_graph_that_can_take_long_is_queued_the_first_time(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[8, 8])
    graph = builder.buildSync({"y": builder.matmul(x, x)})
    x_tensor, y_tensor = make(context, shape=[8, 8]), make(context, shape=[8, 8])
    threads = ran_on(graph)
    context.dispatch(graph, {"x": x_tensor}, {"y": y_tensor})
    wait_until(lambda: bool(threads))
    assert threads[0] != threading.get_ident()


@pytest.mark.usefixtures("quick")
def test_an_engine_that_fails_in_a_repeated_dispatch(context: MLContext, graph: MLGraph, inputs: Tensors, outputs: Tensors) -> None:
    context.dispatch(graph, inputs, outputs)
    implementation: Any = graph._implementation
    implementation.repeat = Mock(side_effect=RuntimeError("no memory"))
    context.dispatch(graph, inputs, outputs)
    lost = context.lostSync(0)
    assert lost is not None
    assert "dispatch: the engine failed in the graph: no memory" in lost["message"]


@pytest.mark.parametrize("into", [False, True], ids=["new", "into a buffer"])
async def test_an_awaited_read_ends_with_its_tensor(context: MLContext, *, into: bool) -> None:
    """Though the data is copied at once."""
    tensor, buffer = filled(context, 3), full(0)
    future = context.readTensor(tensor, buffer if into else None)
    assert not future.done()
    tensor.destroy()
    with refused(InvalidStateError, rule="destroyed", operation="readTensor"):
        await future
    assert buffer.tolist() == full(0).tolist()


async def test_an_awaited_read_is_of_its_time(context: MLContext) -> None:
    tensor = filled(context, 3)
    future = context.readTensor(tensor)
    context.writeTensor(tensor, full(4))
    assert (await future).tolist() == full(3).tolist()


def test_arrays_that_are_read_into(context: MLContext) -> None:
    tensor = filled(context, 3)
    base = np.zeros((4, 3), np.float32)
    for buffer in (full(0), base[:2], np.zeros(6, np.float32), np.zeros((2, 3), np.int32), np.zeros(9, np.float32), bytearray(24)):
        assert context.readTensorSync(tensor, buffer) is None
        assert bytes(buffer)[:24] == full(3).tobytes()
    assert base[2:].tolist() == np.zeros((2, 3)).tolist()
    former = make_context()
    stale, part = full(0), base[2:]
    for detached in (stale, part):
        former.computeSync(negation(former), {"x": detached}, {"y": full(0)})
    locked = full(0)
    locked.flags.writeable = False
    for wrong, rule in (
        (stale, "detached"),
        (stale[:], "detached"),
        (base[:2], "detached"),
        (locked, "writeable"),
        (np.zeros((3, 2), np.float32).T, "layout"),
        (np.zeros((2, 2), np.float32), "byte-length"),
    ):
        with refused(rule=rule, operation="readTensor", argument="outputData"):
            context.readTensorSync(tensor, wrong)
    tensor.destroy()
    with refused(InvalidStateError, rule="destroyed", operation="readTensor"):
        context.readTensorSync(tensor, full(0))


def test_views_that_are_written(context: MLContext) -> None:
    """Arrays over memory of other owners, and memory that was transferred, are checked one by one."""
    tensor = make(context)
    base = np.arange(12, dtype=np.float32).reshape(4, 3)
    for view in (base[1:3], base[::2], bytearray(base[:2].tobytes()), np.frombuffer(bytes(24), np.float32).reshape(2, 3)):
        context.writeTensor(tensor, view)
        assert context.readTensorSync(tensor).tobytes() == (view if isinstance(view, bytearray) else np.ascontiguousarray(view).tobytes())
    former = make_context()
    stale, part = base[:2].copy(), base[2:]
    result = former.computeSync(negation(former), {"x": stale}, {"y": full(0)})
    former.computeSync(negation(former), {"x": part}, {"y": full(0)})
    for detached in (stale, stale[:], part, base, base[:2]):
        with refused(rule="byte-length" if detached is base else "detached", operation="writeTensor", argument="inputData"):
            context.writeTensor(tensor, detached)
    context.writeTensor(tensor, result["inputs"]["x"])
    assert context.readTensorSync(tensor).tolist() == base[:2].tolist()
