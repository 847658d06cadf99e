"""`compute()`: the draft's steps, transfer, and many computations at once."""

from __future__ import annotations

import array
import asyncio
import ctypes
import gc
import subprocess
import sys
import textwrap
import threading
from collections import UserDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.context.tensors import SHAPE, full, held, ran_on
from tests.support import PATIENCE, make_context, refused
from webnn import ML, GPUDevice, MLContext, MLGraph, MLGraphBuilder, OperationError, WebNNTypeError
from webnn.context import promise as promise_module
from webnn.context.engine import session


def add_graph(context: MLContext) -> MLGraph:
    """x + y as "sum", x - y as "difference"."""
    builder = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "dimensions": SHAPE})
    y = builder.input("y", {"dataType": "float32", "dimensions": SHAPE})
    return builder.buildSync({"sum": builder.add(x, y), "difference": builder.sub(x, y)})


@pytest.fixture
def context() -> MLContext:
    return make_context()


@pytest.fixture
def graph(context: MLContext) -> MLGraph:
    return add_graph(context)


def test_results_are_new_arrays_over_the_callers_memory(context: MLContext, graph: MLGraph) -> None:
    inputs, outputs = {"x": full(3), "y": full(1)}, {"sum": full(0), "difference": full(0)}
    result = context.computeSync(graph, inputs, outputs)
    assert list(result) == ["inputs", "outputs"]
    for given, returned in ((inputs, result["inputs"]), (outputs, result["outputs"])):
        assert list(returned) == list(given)
        for name, old in given.items():
            assert returned[name] is not old
            assert returned[name].ctypes.data == old.ctypes.data
            assert returned[name].shape == SHAPE
    assert result["outputs"]["sum"].tolist() == full(4).tolist()
    assert result["outputs"]["difference"].tolist() == full(2).tolist()


def test_results_can_be_passed_on_for_ever(context: MLContext, graph: MLGraph) -> None:
    inputs, outputs = {"x": full(1), "y": full(0)}, {"sum": full(0)}
    addresses = {array.ctypes.data for array in (*inputs.values(), *outputs.values())}
    for _ in range(50):
        result = context.computeSync(graph, inputs, outputs)
        inputs = {"x": result["inputs"]["x"], "y": result["outputs"]["sum"]}
        outputs = {"sum": result["inputs"]["y"]}
    assert inputs["y"].tolist() == full(50).tolist()
    assert {array.ctypes.data for array in (*inputs.values(), *outputs.values())} == addresses


def test_a_part_of_a_result_can_be_passed_on(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    whole = builder.buildSync({"y": builder.neg(builder.input("x", dataType="float32", dimensions=[4]))})
    half = builder.buildSync({"y": builder.neg(builder.input("x", dataType="float32", dimensions=[2]))})
    first = context.computeSync(whole, {"x": np.arange(4, dtype=np.float32)}, {"y": np.zeros(4, np.float32)})["outputs"]["y"]
    part = first[2:]
    second = context.computeSync(half, {"x": part}, {"y": np.zeros(2, np.float32)})
    assert second["outputs"]["y"].tolist() == [2, 3]
    with refused(rule="detached", operation="compute", argument="inputs['x']"):
        context.computeSync(whole, {"x": first}, {"y": np.zeros(4, np.float32)})
    gc.collect()
    assert second["inputs"]["x"].tolist() == [-2, -3]


def test_outputs_may_be_fewer_and_change(context: MLContext, graph: MLGraph) -> None:
    for names in (["sum"], ["difference"], ["difference", "sum"], ["sum", "difference"], [], ["sum"]):
        result = context.computeSync(graph, {"x": full(3), "y": full(1)}, {name: full(9) for name in names})
        wanted = {name: {"sum": 4, "difference": 2}[name] for name in names}
        assert {name: array[0, 0] for name, array in result["outputs"].items()} == wanted


def test_swapped_output_buffers(context: MLContext, graph: MLGraph) -> None:
    first = context.computeSync(graph, {"x": full(3), "y": full(1)}, {"sum": full(0), "difference": full(0)})
    swapped = {"sum": first["outputs"]["difference"], "difference": first["outputs"]["sum"]}
    second = context.computeSync(graph, first["inputs"], swapped)
    assert (second["outputs"]["sum"][0, 0], second["outputs"]["difference"][0, 0]) == (4, 2)


def test_the_shape_of_the_array_is_the_callers(context: MLContext, graph: MLGraph) -> None:
    flat = np.arange(6, dtype=np.float32)
    result = context.computeSync(graph, {"x": flat, "y": full(0)}, {"sum": np.zeros(6, np.float32)})
    assert result["outputs"]["sum"].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "make",
    [
        lambda: array.array("f", range(6)),
        lambda: memoryview(np.arange(6, dtype=np.float32)),
        lambda: memoryview(bytearray(np.arange(6, dtype=np.float32).tobytes())).cast("f"),
    ],
    ids=["array.array", "memoryview", "bytearray"],
)
def test_other_buffers(context: MLContext, graph: MLGraph, make: Any) -> None:
    buffer = make()
    result = context.computeSync(graph, {"x": buffer, "y": full(1)}, {"sum": full(0)})
    assert result["outputs"]["sum"].ravel().tolist() == [1, 2, 3, 4, 5, 6]
    with refused(rule="detached", operation="compute", argument="inputs['x']"):
        context.computeSync(graph, {"x": buffer, "y": full(1)}, {"sum": full(0)})


def test_a_scalar(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.neg(builder.input("x", dataType="float32"))})
    result = context.computeSync(graph, {"x": np.array(2, np.float32)}, {"y": np.array(0, np.float32)})
    assert result["outputs"]["y"].shape == ()
    assert result["outputs"]["y"] == -2


READ_ONLY = full(0)
READ_ONLY.flags.writeable = False

WRONG: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("missing input", {"x": full(0)}, {"sum": full(0)}, "name"),
    ("unknown input", {"x": full(0), "y": full(0), "z": full(0)}, {"sum": full(0)}, "name"),
    ("unknown output", {"x": full(0), "y": full(0)}, {"product": full(0)}, "name"),
    ("element type", {"x": np.zeros(SHAPE), "y": full(0)}, {"sum": full(0)}, "type"),
    ("byte order", {"x": full(0).astype(">f4"), "y": full(0)}, {"sum": full(0)}, "type"),
    ("size", {"x": np.zeros(5, np.float32), "y": full(0)}, {"sum": full(0)}, "byte-length"),
    ("strided", {"x": np.zeros((3, 2), np.float32).T, "y": full(0)}, {"sum": full(0)}, "layout"),
    ("read-only input", {"x": READ_ONLY, "y": full(0)}, {"sum": full(0)}, "writeable"),
    ("read-only output", {"x": full(0), "y": full(0)}, {"sum": READ_ONLY}, "writeable"),
    ("bytes", {"x": bytes(24), "y": full(0)}, {"sum": full(0)}, "type"),
    ("no buffer", {"x": [1.0] * 6, "y": full(0)}, {"sum": full(0)}, "conversion"),
    ("NumPy scalar", {"x": np.float32(1), "y": full(0)}, {"sum": full(0)}, "conversion"),
    ("None", {"x": None, "y": full(0)}, {"sum": full(0)}, "conversion"),
]


@pytest.mark.parametrize(("inputs", "outputs", "rule"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_wrong_buffers_touch_nothing(
    context: MLContext, graph: MLGraph, inputs: dict[str, Any], outputs: dict[str, Any], rule: str
) -> None:
    with refused(rule=rule, operation="compute"):
        context.computeSync(graph, inputs, outputs)
    # The good arrays of the call were not detached by it.
    good = inputs["y"] if "y" in inputs else inputs["x"]
    context.computeSync(graph, {"x": full(0), "y": good.copy()}, {"sum": full(0)})
    if "y" in inputs:
        context.computeSync(graph, {"x": full(0), "y": good}, {"sum": full(0)})
        inputs["y"] = full(0)


BASE = np.zeros(100, np.float32)
MEMORY = bytearray(100)

SHARED: list[tuple[str, Any, Any]] = [
    ("the same array", BASE[:6], BASE[:6]),
    ("overlapping views", BASE[10:16], BASE[12:18]),
    ("disjoint views of one array", BASE[20:26], BASE[30:36]),
    ("one bytearray", np.frombuffer(MEMORY, np.float32, 6), np.frombuffer(MEMORY, np.float32, 6, 48)),
]


@pytest.mark.parametrize(("x", "y"), [case[1:] for case in SHARED], ids=[case[0] for case in SHARED])
def test_shared_memory_is_refused(context: MLContext, graph: MLGraph, x: Any, y: Any) -> None:
    with refused(rule="overlap", operation="compute", argument="view 'y'"):
        context.computeSync(graph, {"x": x, "y": y}, {"sum": full(0)})
    with refused(rule="overlap", operation="compute", argument="view 'sum'"):
        context.computeSync(graph, {"x": x, "y": full(0)}, {"sum": y})


def laid_over(memory: Any, start: int = 0, size: int = 6) -> Any:
    """Return an array over the elements of a `ctypes` array, whose owner is an object of its own."""
    return np.frombuffer((ctypes.c_float * size).from_buffer(memory, 4 * start), np.float32)


def transferred(context: MLContext, x: Any) -> Any:
    """Return the array to which a computation transfers the memory of a vector."""
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.neg(builder.input("x", dataType="float32", dimensions=list(x.shape)))})
    return context.computeSync(graph, {"x": x}, {"y": np.zeros_like(x)})["inputs"]["x"]


#: Views of one memory of 12 elements that begin at the element 0, or at another one, each with an owner of its own.
OWNERS: list[tuple[str, Callable[[MLContext, Any, int], Any]]] = [
    ("a view", lambda _, memory, start: laid_over(memory, start)),
    ("a result", lambda context, memory, start: transferred(context, laid_over(memory, start))),
    ("a part of a result", lambda context, memory, start: transferred(context, laid_over(memory, 0, 12))[start : start + 6]),
    ("a result that was a part", lambda c, memory, start: transferred(c, transferred(c, laid_over(memory, 0, 12))[start:][:6])),
]


@pytest.mark.parametrize("first", [owner[1] for owner in OWNERS], ids=[owner[0] for owner in OWNERS])
@pytest.mark.parametrize("second", [owner[1] for owner in OWNERS], ids=[owner[0] for owner in OWNERS])
def test_memory_of_several_owners(context: MLContext, graph: MLGraph, first: Any, second: Any) -> None:
    """Two objects lie over one memory: an overlap is refused, neighbours are not."""
    for start in (0, 1, 5):
        memory = (ctypes.c_float * 12)(*range(12))
        x, y = first(context, memory, 0), second(context, memory, start)
        for inputs, outputs in (
            ({"x": x, "y": y}, {"sum": full(0)}),
            ({"x": x, "y": full(0)}, {"sum": y}),
            ({"x": full(0), "y": y}, {"sum": x}),
        ):
            with refused(rule="overlap", operation="compute"):
                context.computeSync(graph, inputs, outputs)
        # Nothing was transferred, and nothing computed.
        assert (x.tolist(), y.tolist()) == (list(range(6)), list(range(start, start + 6)))
        assert context.computeSync(graph, {"x": x, "y": full(1)}, {"sum": full(0)})["outputs"]["sum"].ravel().tolist() == list(range(1, 7))
    memory = (ctypes.c_float * 12)(*range(12))
    x, y = first(context, memory, 0), second(context, memory, 6)
    assert context.computeSync(graph, {"x": x, "y": y}, {"sum": full(0)})["outputs"]["sum"].ravel().tolist() == list(range(6, 18, 2))


def test_parts_of_one_result_share_it(context: MLContext, graph: MLGraph) -> None:
    result = transferred(context, np.arange(12, dtype=np.float32))
    for _ in range(2):
        with refused(rule="overlap", operation="compute", argument="view 'y'"):
            context.computeSync(graph, {"x": result[:6], "y": result[6:]}, {"sum": full(0)})
    # The result is not detached by that.
    result = context.computeSync(graph, {"x": result[6:], "y": full(1)}, {"sum": full(0)})["outputs"]["sum"]
    assert result.ravel().tolist() == list(range(7, 13))


def test_another_call_is_faster(context: MLContext, graph: MLGraph) -> None:
    """An array is transferred between its check and its transfer, as another thread may do: its new owner keeps the memory."""
    x = transferred(context, np.arange(6, dtype=np.float32))
    others: list[Any] = []

    class Overtaking:
        """An input by DLPack, which is read after "x" was checked."""

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **options: Any) -> Any:
            others.append(context.computeSync(graph, {"x": x, "y": full(1)}, {"sum": full(0)}))
            return full(0).__dlpack__(**options)

    with refused(rule="detached", operation="compute", argument="view 'x'"):
        context.computeSync(graph, {"x": x, "y": Overtaking()}, {"sum": full(0)})
    (other,) = others
    again = context.computeSync(graph, other["inputs"], {"sum": full(0)})
    assert again["outputs"]["sum"].ravel().tolist() == [1, 2, 3, 4, 5, 6]


def test_all_views_of_transferred_memory_are_detached(context: MLContext, graph: MLGraph) -> None:
    base = np.zeros(12, np.float32)
    context.computeSync(graph, {"x": base[:6], "y": full(0)}, {"sum": full(0)})
    for view in (base, base[6:], base[:6]):
        with refused(rule="detached", operation="compute", argument="inputs['x']"):
            context.computeSync(graph, {"x": view[:6], "y": full(0)}, {"sum": full(0)})
        with refused(rule="detached", operation="constant", argument="bufferView"):
            MLGraphBuilder(context).constant({"dataType": "float32", "dimensions": [6]}, view[:6])


def test_only_the_last_result_has_the_memory(context: MLContext, graph: MLGraph) -> None:
    results = [context.computeSync(graph, {"x": full(1), "y": full(2)}, {"sum": full(0)})]
    for _ in range(5):
        results.append(context.computeSync(graph, results[-1]["inputs"], results[-1]["outputs"]))
    for result in results[:-1]:
        old = result["inputs"]["x"]
        for view in (old, old[:], old.reshape(6), np.asarray(memoryview(old)), old.view(np.uint8).view(np.float32)):
            with refused(rule="detached", operation="compute", argument="inputs['x']"):
                context.computeSync(graph, {"x": view, "y": full(0)}, {"sum": full(0)})
            with refused(rule="detached", operation="constant", argument="bufferView"):
                MLGraphBuilder(context).constant({"dataType": "float32", "dimensions": SHAPE}, view)
    last = results[-1]["inputs"]["x"]
    del results
    gc.collect()
    # Any view of the last one has its memory.
    for pick in (
        lambda x: x,
        lambda x: x[:],
        lambda x: x.reshape(6),
        lambda x: np.asarray(memoryview(x)),
        lambda x: x.view("u1").view("f4"),
    ):
        last = context.computeSync(graph, {"x": pick(last), "y": full(2)}, {"sum": full(0)})["inputs"]["x"]
        assert last.ravel().tolist() == [1] * 6


def test_a_refused_call_leaves_results_usable(context: MLContext, graph: MLGraph) -> None:
    result = context.computeSync(graph, {"x": full(1), "y": full(2)}, {"sum": full(0)})
    x, y, total = result["inputs"]["x"], result["inputs"]["y"], result["outputs"]["sum"]
    own = full(5)
    for inputs, outputs in (
        ({"x": x, "y": x}, {"sum": total}),
        ({"x": x, "y": y}, {"sum": y.reshape(6)}),
        ({"x": x, "y": own}, {"sum": own}),
        ({"x": own, "y": y}, {"sum": y}),
    ):
        with refused(rule="overlap", operation="compute"):
            context.computeSync(graph, inputs, outputs)
    result = context.computeSync(graph, {"x": x, "y": y}, {"sum": total})
    assert result["outputs"]["sum"].tolist() == full(3).tolist()
    result = context.computeSync(graph, {"x": own, "y": result["inputs"]["y"]}, {"sum": full(0)})
    assert result["outputs"]["sum"].tolist() == full(7).tolist()


def test_detached_arrays_are_forgotten_with_their_memory(context: MLContext, graph: MLGraph) -> None:
    for _ in range(300):
        # New arrays are likely to have the address and the identity of dead ones.
        context.computeSync(graph, {"x": full(1), "y": full(2)}, {"sum": full(0)})


def test_memory_outlives_the_callers_array(context: MLContext, graph: MLGraph) -> None:
    results = [context.computeSync(graph, {"x": full(index), "y": full(1)}, {"sum": full(0)})["outputs"]["sum"] for index in range(50)]
    gc.collect()
    assert [result[0, 0] for result in results] == [index + 1 for index in range(50)]


def test_any_mapping(context: MLContext, graph: MLGraph) -> None:
    result = context.computeSync(graph, UserDict(x=full(1), y=full(2)), UserDict(sum=full(0)))
    assert result["outputs"]["sum"][0, 0] == 3


def test_names_are_converted(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    x, y = (builder.input(name, dataType="float32", dimensions=SHAPE) for name in ("3", "é"))
    graph = builder.buildSync({"true": builder.sub(x, y)})
    given: Any = {3: full(5), "é": full(1)}
    result = context.computeSync(graph, given, {True: full(0)})["outputs"]  # type: ignore[dict-item]  # converted
    assert result["true"][0, 0] == 4
    # Of names that become the same, the last one counts; so this lacks an input.
    given = {3: full(5), "3": full(1)}
    with refused(rule="name", operation="compute", argument="inputs"):
        context.computeSync(graph, given, {"true": full(0)})
    for wrong, rule in (({(1,): full(5)}, "conversion"), (UserDict(**{"3": full(1)}), "name")):
        with refused(rule=rule, operation="compute", argument="inputs"):
            context.computeSync(graph, wrong, {"true": full(0)})  # type: ignore[arg-type]


@pytest.mark.parametrize(("argument", "value"), [("graph", None), ("graph", "x"), ("inputs", [1]), ("outputs", None)])
def test_wrong_arguments(context: MLContext, graph: MLGraph, argument: str, value: Any) -> None:
    arguments: dict[str, Any] = {"graph": graph, "inputs": {"x": full(0), "y": full(0)}, "outputs": {"sum": full(0)}, argument: value}
    with refused(rule="conversion", operation="compute", argument=argument):
        context.computeSync(**arguments)


def test_another_contexts_graph(graph: MLGraph) -> None:
    with refused(rule="owner", operation="compute", argument="graph"):
        make_context().computeSync(graph, {"x": full(0), "y": full(0)}, {"sum": full(0)})


def test_webgpu_contexts_do_not_compute() -> None:
    context = ML(revision="2024-06").createContextSync(GPUDevice())
    graph = add_graph(context)
    inputs, outputs = {"x": full(0), "y": full(0)}, {"sum": full(0)}
    with refused(OperationError, rule="draft", operation="compute"):
        context.computeSync(graph, inputs, outputs)


async def test_async(context: MLContext, graph: MLGraph) -> None:
    future = context.compute(graph, {"x": full(3), "y": full(1)}, {"sum": full(0)})
    assert isinstance(future, asyncio.Future)
    assert (await future)["outputs"]["sum"][0, 0] == 4


async def test_a_failed_step_rejects_the_future(context: MLContext, graph: MLGraph) -> None:
    future = context.compute(graph, {}, {})
    with refused(rule="name", operation="compute", argument="inputs"):
        await future


def test_no_event_loop(context: MLContext, graph: MLGraph) -> None:
    with pytest.raises(RuntimeError, match="suffix Sync"):
        context.compute(graph, {"x": full(0), "y": full(0)}, {"sum": full(0)})


async def test_arrays_are_detached_at_the_call(context: MLContext, graph: MLGraph) -> None:
    x = full(1)
    future = context.compute(graph, {"x": x, "y": full(1)}, {"sum": full(0)})
    with refused(rule="detached", operation="compute", argument="inputs['x']"):
        await context.compute(graph, {"x": x, "y": full(1)}, {"sum": full(0)})
    await future


async def test_gather_on_several_graphs(context: MLContext) -> None:
    graphs = [add_graph(context) for _ in range(3)]
    results = await asyncio.gather(
        *(context.compute(graphs[index % 3], {"x": full(index), "y": full(1)}, {"sum": full(0)}) for index in range(60))
    )
    assert [result["outputs"]["sum"][0, 0] for result in results] == [index + 1 for index in range(60)]


async def test_cancelling_leaves_the_context_usable(context: MLContext, graph: MLGraph) -> None:
    with held(context):
        futures = [context.compute(graph, {"x": full(index), "y": full(1)}, {"sum": full(0)}) for index in range(40)]
        for future in futures[::2]:
            future.cancel()
    results = await asyncio.gather(*futures, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
    assert [result["outputs"]["sum"][0, 0] for result in results[1::2]] == list(range(2, 41, 2))  # type: ignore[index]

    async def wait() -> None:
        await context.compute(graph, {"x": full(0), "y": full(1)}, {"sum": full(0)})

    with held(context):
        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert context.computeSync(graph, {"x": full(1), "y": full(1)}, {"sum": full(0)})["outputs"]["sum"][0, 0] == 2


async def test_sync_and_async_together(context: MLContext, graph: MLGraph) -> None:
    futures = [context.compute(graph, {"x": full(index), "y": full(1)}, {"sum": full(0)}) for index in range(20)]
    direct = context.computeSync(graph, {"x": full(100), "y": full(1)}, {"sum": full(0)})
    assert direct["outputs"]["sum"][0, 0] == 101
    assert [(await future)["outputs"]["sum"][0, 0] for future in futures] == list(range(1, 21))


def test_many_threads(context: MLContext, graph: MLGraph) -> None:
    graphs = [graph, add_graph(context)]

    def work(index: int) -> float:
        inputs, outputs = {"x": full(index), "y": full(1)}, {"sum": full(0)}
        for _ in range(20):
            result = context.computeSync(graphs[index % 2], inputs, outputs)
            inputs, outputs = result["inputs"], result["outputs"]
        return float(outputs["sum"][1, 2])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(40))) == [index + 1 for index in range(40)]


def test_two_threads_cannot_transfer_one_array(context: MLContext, graph: MLGraph) -> None:
    barrier, shared = threading.Barrier(2), full(1)

    def work(_: int) -> Any:
        barrier.wait()
        with suppress(WebNNTypeError):
            return context.computeSync(graph, {"x": shared, "y": full(1)}, {"sum": full(0)})
        return None

    with ThreadPoolExecutor(2) as pool:
        for index in range(60):
            [won] = filter(None, pool.map(work, range(2)))
            # First memory of the program, then the result of the call that won.
            shared = won["inputs"]["x"] if index % 5 else full(1)


@pytest.mark.processes
@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)", "loop.stop()"])
def test_exit_with_work_in_flight(ending: str) -> None:
    program = f"""
    import asyncio
    import numpy as np
    from webnn import ML, MLGraphBuilder

    async def main():
        context = await ML(revision="2024-06").createContext()
        builder = MLGraphBuilder(context)
        x = y = builder.input("x", dataType="float32", dimensions=[128, 128])
        for _ in range(20):
            y = builder.matmul(y, x)
        graph = await builder.build({{"y": y}})
        size = (128, 128)
        futures = [context.compute(graph, {{"x": np.zeros(size, np.float32)}}, {{"y": np.zeros(size, np.float32)}}) for _ in range(20)]
        loop = asyncio.get_running_loop()
        {ending}

    try:
        asyncio.run(main())
    except RuntimeError:
        pass
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == (3 if "SystemExit" in ending else 0), run.stderr
    assert "Traceback" not in run.stderr


async def test_a_quick_graph_is_computed_at_once(context: MLContext, graph: MLGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = ran_on(graph)
    # However slow this machine is.
    monkeypatch.setattr(promise_module, "_STRETCH", 3600)
    monkeypatch.setattr(session, "QUICK", 3600)
    ready = []
    inputs, outputs = {"x": full(1), "y": full(2)}, {"sum": full(0)}
    for _ in range(4):
        future = context.compute(graph, inputs, outputs)
        ready.append(future.done())
        result = await future
        inputs, outputs = result["inputs"], result["outputs"]
        assert outputs["sum"].tolist() == full(3).tolist()
    # The first one comes from the event loop, which has its turn then.
    assert ready == [False, True, True, True]
    with held(context):
        future = context.compute(graph, inputs, outputs)
        assert not future.done()
    await future
    graph._implementation.took(7200)
    await context.compute(graph, {"x": full(1), "y": full(2)}, {"sum": full(0)})
    assert set(threads[:4]) == {threading.get_ident()}
    assert threads[5] != threading.get_ident()


async def test_other_tasks_get_their_turns(context: MLContext, graph: MLGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promise_module, "_STRETCH", 0)
    turns, stop = 0, False

    async def count() -> None:
        nonlocal turns
        while not stop:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.ensure_future(count())
    for _ in range(20):
        await context.compute(graph, {"x": full(1), "y": full(2)}, {"sum": full(0)})
    stop = True
    await task
    assert turns >= 20


async def test_a_large_graph_never_runs_on_the_event_loops_thread(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    x = y = builder.input("x", {"dataType": "float32", "dimensions": [512, 512]})
    for _ in range(8):
        y = builder.tanh(builder.matmul(y, x))
    graph = builder.buildSync({"y": y})
    threads = ran_on(graph)
    inputs, outputs = {"x": np.zeros((512, 512), np.float32)}, {"y": np.zeros((512, 512), np.float32)}
    for _ in range(3):
        result = await context.compute(graph, inputs, outputs)
        inputs, outputs = result["inputs"], result["outputs"]
    assert len(threads) == 3
    assert threading.get_ident() not in threads


async def test_an_engine_that_fails_at_once(context: MLContext, graph: MLGraph) -> None:
    implementation: Any = graph._implementation
    implementation.repeat = Mock(side_effect=RuntimeError("no memory"))
    future = context.compute(graph, {"x": full(1), "y": full(2)}, {"sum": full(0)})
    with pytest.raises(OperationError, match="compute: the engine failed in the graph: no memory"):
        await future
