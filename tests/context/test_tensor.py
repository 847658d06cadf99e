"""`MLTensor`: creation, writing, reading, destruction."""

from __future__ import annotations

import array
import asyncio
import ctypes
import gc
import threading
import weakref
from contextlib import nullcontext
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.context.tensors import SHAPE, add_graph, current, filled, full, held, make, negation, value
from tests.support import make_context, refused
from webnn import InvalidStateError, MLContext, MLGraphBuilder, UnknownError, WebNNTypeError
from webnn.context.tensor import MLTensor

CONTENTS = np.arange(8, dtype=np.uint32)


@pytest.fixture
def context() -> MLContext:
    return current()


@pytest.mark.parametrize(
    ("dataType", "shape"), [("float16", [2, 3]), ("float32", [1, 5]), ("int32", [4]), ("uint8", [3, 2, 4]), ("int64", []), ("uint64", [1])]
)
def test_a_new_tensor(context: MLContext, dataType: Any, shape: list[int]) -> None:
    tensor = context.createTensorSync({"dataType": dataType, "shape": shape, "readable": True})
    assert isinstance(tensor, MLTensor)
    assert (tensor.dataType, tensor.shape) == (dataType, tuple(shape))
    assert (tensor.readable, tensor.writable, tensor.constant) == (True, False, False)
    read = context.readTensorSync(tensor)
    assert isinstance(read, np.ndarray)
    assert (read.dtype, read.shape) == (dataType, tuple(shape))
    assert not read.any()


def test_what_a_tensor_shows(context: MLContext) -> None:
    tensor = context.createTensorSync(dataType="int8", shape=[2], writable=True)
    assert repr(tensor) == "<MLTensor int8 [2], writable>"
    tensor.destroy()
    assert repr(tensor) == "<MLTensor int8 [2], writable, destroyed>"
    with pytest.raises(AttributeError):
        tensor.shape = (3,)  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"^MLTensor: illegal constructor"):
        MLTensor(context, {"dataType": "int8", "shape": []})


DESCRIPTORS: list[tuple[str, Any, str]] = [
    ("no dictionary", 3, "conversion"),
    ("nothing", {}, "conversion"),
    ("no shape", {"dataType": "int8"}, "conversion"),
    ("the shape until 2024-06", {"dataType": "int8", "dimensions": [2]}, "draft"),
    ("type", {"dataType": "float64", "shape": []}, "conversion"),
    ("an empty dimension", {"dataType": "int32", "shape": [2, 0, 3]}, "limit"),
    ("a large dimension", {"dataType": "int8", "shape": [2**31]}, "limit"),
    ("no unsigned long", {"dataType": "int32", "shape": [-1]}, "conversion"),
    ("rank", {"dataType": "int32", "shape": [1] * 9}, "limit"),
    ("bytes", {"dataType": "int32", "shape": [2**29]}, "limit"),
    ("many bytes", {"dataType": "int32", "shape": [2**31 - 1] * 3}, "limit"),
]


@pytest.mark.parametrize(("descriptor", "rule"), [case[1:] for case in DESCRIPTORS], ids=[case[0] for case in DESCRIPTORS])
async def test_wrong_descriptors(context: MLContext, descriptor: Any, rule: str) -> None:
    with refused(rule=rule, operation="createTensor"):
        context.createTensorSync(descriptor)
    future = context.createTensor(descriptor)
    with refused(rule=rule, operation="createTensor"):
        await future
    with refused(rule=rule, operation="createConstantTensor"):
        context.createConstantTensorSync(descriptor, np.zeros(1, np.int8))


def test_members_as_keywords_or_as_a_dictionary(context: MLContext) -> None:
    with refused(rule="once", operation="createTensor", argument="descriptor"):
        context.createTensorSync({"dataType": "int8", "shape": []}, readable=True)


def test_no_memory(context: MLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webnn.context.engine.memory.np.zeros", Mock(side_effect=MemoryError("none left")))
    with refused(UnknownError, rule="memory", operation="createTensor", said="none left"):
        context.createTensorSync(dataType="int8", shape=[3])


BUFFERS: list[tuple[str, Any]] = [
    ("array", np.arange(4, dtype=np.int32)),
    ("other type", np.arange(4, dtype=np.uint32)),
    ("shape", np.arange(4, dtype=np.int32).reshape(1, 2, 2)),
    ("bytes", np.arange(4, dtype=np.int32).tobytes()),
    ("bytearray", bytearray(np.arange(4, dtype=np.int32).tobytes())),
    ("memoryview", memoryview(np.arange(4, dtype=np.int32))),
    ("array.array", array.array("i", range(4))),
    ("wider elements", np.arange(4, dtype=np.int32).view(np.float64)),
    ("strided", np.arange(8, dtype=np.int32)[::2] // 2),
    ("transposed", np.array([[0, 2], [1, 3]], np.int32).T),
]


@pytest.mark.parametrize("buffer", [case[1] for case in BUFFERS], ids=[case[0] for case in BUFFERS])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "queued"])
def test_writing(context: MLContext, buffer: Any, busy: bool) -> None:
    tensor = make(context, "int32", [2, 2])
    with held(context) if busy else nullcontext():
        context.writeTensor(tensor, buffer)
    assert context.readTensorSync(tensor).tolist() == [[0, 1], [2, 3]]
    constant = context.createConstantTensorSync({"dataType": "int32", "shape": [2, 2]}, np.ascontiguousarray(buffer).view(np.uint8))
    assert constant._constantArray().tolist() == [[0, 1], [2, 3]]


def test_a_write_takes_the_bytes_at_the_call(context: MLContext) -> None:
    tensor, data = make(context), full(1)
    with held(context):
        context.writeTensor(tensor, data)
        data[...] = 2
    assert value(context, tensor) == 1
    context.writeTensor(tensor, data)
    data[...] = 3
    assert value(context, tensor) == 2


def test_a_read_is_a_copy(context: MLContext) -> None:
    tensor = filled(context, 1)
    first = context.readTensorSync(tensor)
    first[...] = 5
    assert value(context, tensor) == 1


def test_a_scalar(context: MLContext) -> None:
    tensor = make(context, "int32", [])
    context.writeTensor(tensor, np.array([0x2AAABBBB], np.int32))
    read = context.readTensorSync(tensor)
    assert (read.shape, int(read)) == ((), 0x2AAABBBB)


def read_only() -> Any:
    data = full(0)
    data.flags.writeable = False
    return data


def detached() -> Any:
    """An array whose memory a `compute()` transferred, in a context of the other draft."""
    former = make_context()
    graph = negation(former)
    x = full(0)
    former.computeSync(graph, {"x": x}, {"y": full(0)})
    return x


WRONG: list[tuple[str, Any, str]] = [
    ("longer", lambda: np.zeros(7, np.float32), "byte-length"),
    ("shorter", lambda: np.zeros(5, np.float32), "byte-length"),
    ("double precision", lambda: np.zeros(SHAPE), "byte-length"),
    ("objects", lambda: np.array([None] * 3), "type"),
    ("structures", lambda: np.zeros(24, [("a", "V1")]), "type"),
    ("byte order", lambda: np.zeros(SHAPE, ">f4"), "layout"),
    ("no buffer", lambda: [0.0] * 6, "conversion"),
    ("nothing", lambda: None, "conversion"),
    ("a number", lambda: np.float32(1), "conversion"),
    ("detached", detached, "detached"),
]


@pytest.mark.parametrize(("make_buffer", "rule"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
async def test_wrong_buffers(context: MLContext, make_buffer: Any, rule: str) -> None:
    tensor, buffer = filled(context, 7), make_buffer()
    with refused(rule=rule, operation="writeTensor", argument="inputData"):
        context.writeTensor(tensor, buffer)
    assert value(context, tensor) == 7
    with refused(rule=rule, operation="createConstantTensor", argument="inputData"):
        context.createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, buffer)
    future = context.createConstantTensor({"dataType": "float32", "shape": SHAPE}, buffer)
    with refused(rule=rule, operation="createConstantTensor", argument="inputData"):
        await future


def test_a_constant_s_data_has_its_type_or_is_bytes(context: MLContext) -> None:
    with refused(rule="type", operation="createConstantTensor", argument="inputData"):
        context.createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, full(0, np.int32))


INTO: list[tuple[str, Any]] = [
    ("the same length", lambda: np.zeros(8, np.uint32)),
    ("longer", lambda: np.full(16, 99, np.uint32)),
    ("a part", lambda: np.full(20, 99, np.uint32)[1:]),
    ("other elements", lambda: np.zeros(9, np.float64)),
    ("bytearray", lambda: bytearray(32)),
    ("memoryview", lambda: memoryview(bytearray(40))[4:36]),
    ("array.array", lambda: array.array("q", [0] * 4)),
]


@pytest.mark.parametrize("make_buffer", [case[1] for case in INTO], ids=[case[0] for case in INTO])
async def test_reading_into_a_buffer(context: MLContext, make_buffer: Any) -> None:
    tensor = make(context, "int32", [2, 4])
    context.writeTensor(tensor, CONTENTS)
    for asynchronous in (False, True):
        buffer = make_buffer()
        rest = memoryview(buffer).cast("B").tobytes()[32:]
        assert (await context.readTensor(tensor, buffer) if asynchronous else context.readTensorSync(tensor, buffer)) is None
        assert memoryview(buffer).cast("B").tobytes() == CONTENTS.tobytes() + rest


NOT_INTO: list[tuple[str, Any, str]] = [
    ("shorter", lambda: np.zeros(5, np.float32), "byte-length"),
    ("read-only", read_only, "writeable"),
    ("bytes", lambda: bytes(24), "writeable"),
    ("strided", lambda: np.zeros((3, 2), np.float32).T, "layout"),
    ("objects", lambda: np.array([None] * 3), "type"),
    ("no buffer", lambda: [0.0] * 6, "conversion"),
    ("detached", detached, "detached"),
]


@pytest.mark.parametrize(("make_buffer", "rule"), [case[1:] for case in NOT_INTO], ids=[case[0] for case in NOT_INTO])
async def test_what_cannot_be_read_into(context: MLContext, make_buffer: Any, rule: str) -> None:
    tensor, buffer = filled(context, 7), make_buffer()
    with refused(rule=rule, operation="readTensor", argument="outputData"):
        context.readTensorSync(tensor, buffer)
    future = context.readTensor(tensor, buffer)
    with refused(rule=rule, operation="readTensor", argument="outputData"):
        await future


async def test_a_buffer_that_is_detached_while_the_read_is_pending(context: MLContext) -> None:
    former = make_context()
    graph = negation(former)
    tensor, buffer = filled(context, 7), full(0)
    future = context.readTensor(tensor, buffer)
    result = former.computeSync(graph, {"x": buffer}, {"y": full(0)})
    with refused(rule="detached", operation="readTensor", argument="outputData"):
        await future
    assert not result["inputs"]["x"].any()


async def check_refused(context: MLContext, tensor: Any, kind: type[BaseException] = WebNNTypeError, **fields: str) -> None:
    """Expect that a tensor is neither written nor read."""
    with refused(kind, operation="writeTensor", **fields):
        context.writeTensor(tensor, full(0))
    with refused(kind, operation="readTensor", **fields):
        context.readTensorSync(tensor)
    for future in (context.readTensor(tensor), context.readTensor(tensor, full(0))):
        with refused(kind, operation="readTensor", **fields):
            await future


async def test_usage(context: MLContext) -> None:
    await check_refused(context, make(context, readable=False, writable=False), rule="usage", argument="tensor")
    constant = context.createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, full(1))
    assert (constant.readable, constant.writable, constant.constant) == (False, False, True)
    await check_refused(context, constant, rule="usage", argument="tensor")


@pytest.mark.parametrize("wrong", [None, 1, "tensor", np.zeros(SHAPE, np.float32)], ids=["None", "number", "string", "array"])
async def test_no_tensor(context: MLContext, wrong: Any) -> None:
    await check_refused(context, wrong, rule="conversion", argument="tensor")


async def test_another_context_s_tensor(context: MLContext) -> None:
    foreign = make(current())
    await check_refused(context, foreign, rule="owner", argument="tensor")
    # Of several faults, that one is named which comes first in the specification.
    foreign.destroy()
    with refused(rule="owner", operation="writeTensor", argument="tensor"):
        context.writeTensor(foreign, np.zeros(1, np.int8))


async def test_other_faults_come_before_destruction(context: MLContext) -> None:
    tensor, closed, foreign = make(context), make(context, readable=False, writable=False), make(current())
    for each in (tensor, closed, foreign):
        each.destroy()
    faults: list[tuple[MLTensor, Any, str]] = [
        (foreign, full(0), "owner"),
        (closed, full(0), "usage"),
        (tensor, full(0)[:1], "byte-length"),
        (tensor, "data", "conversion"),
    ]
    for wrong, data, rule in faults:
        with refused(rule=rule, operation="writeTensor"):
            context.writeTensor(wrong, data)
        with refused(rule=rule, operation="readTensor"):
            context.readTensorSync(wrong, data)
        with refused(rule=rule, operation="readTensor"):
            await context.readTensor(wrong, data)
    with refused(rule="usage", operation="readTensor", argument="tensor"):
        context.readTensorSync(closed)
    context.destroy()
    with refused(rule="byte-length", operation="writeTensor", argument="inputData"):
        context.writeTensor(tensor, full(0)[:1])
    with refused(InvalidStateError, rule="lost", operation="writeTensor"):
        context.writeTensor(tensor, full(0))


BYTES = np.array([1.5, -2], np.float32).tobytes()
ANY_BUFFERS: list[Any] = [
    lambda: bytearray(BYTES),
    lambda: memoryview(bytearray(BYTES)).cast("c"),
    lambda: memoryview(bytearray(BYTES)).cast("b"),
    lambda: memoryview(bytearray(BYTES)).cast("d"),
    lambda: (ctypes.c_char * 8).from_buffer_copy(BYTES),
    lambda: (ctypes.c_ubyte * 8).from_buffer_copy(BYTES),
    lambda: array.array("H", BYTES),
    lambda: np.frombuffer(bytearray(BYTES), "V4"),
    lambda: np.frombuffer(bytearray(BYTES), "S1"),
    lambda: np.frombuffer(bytearray(BYTES), np.float64),
    lambda: np.frombuffer(bytearray(BYTES), np.uint8).view(np.matrix),
]


@pytest.mark.parametrize("make_buffer", ANY_BUFFERS, ids=range(len(ANY_BUFFERS)))
def test_the_bytes_of_any_buffer(context: MLContext, make_buffer: Any) -> None:
    tensor = make(context, "float32", [2])
    context.writeTensor(tensor, make_buffer())
    assert context.readTensorSync(tensor).tolist() == [1.5, -2]
    output = make_buffer()
    context.writeTensor(tensor, np.array([3, 4], np.float32))
    assert context.readTensorSync(tensor, output) is None
    assert np.frombuffer(memoryview(output).tobytes(), np.float32).tolist() == [3, 4]


def test_an_array_cannot_lie_about_its_size(context: MLContext) -> None:
    class Lying(np.ndarray[Any, Any]):
        dtype = property(lambda self: np.dtype(np.float32))  # type: ignore[assignment]  # that is the point
        shape = property(lambda self: SHAPE)  # type: ignore[assignment]
        nbytes = property(lambda self: 24)  # type: ignore[assignment]

    tensor, lying = make(context), np.zeros(1, np.int8).view(Lying)
    calls: list[tuple[Any, str]] = [
        (lambda: context.writeTensor(tensor, lying), "byte-length"),
        (lambda: context.readTensorSync(tensor, lying), "byte-length"),
        (lambda: context.createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, lying), "byte-length"),
        (lambda: MLGraphBuilder(context).constant({"dataType": "float32", "shape": SHAPE}, lying), "type"),
    ]
    for call, rule in calls:
        with refused(rule=rule):
            call()


async def test_a_destroyed_tensor(context: MLContext) -> None:
    tensor = make(context)
    tensor.destroy()
    tensor.destroy()
    await check_refused(context, tensor, InvalidStateError, rule="destroyed")


async def test_reads_that_are_pending_end_with_the_tensor(context: MLContext) -> None:
    tensor, buffer = filled(context, 7), full(0)
    futures = [context.readTensor(tensor), context.readTensor(tensor, buffer), context.readTensor(tensor)]
    futures[2].cancel()
    # Also when the data is there, and the event loop did not pass it on yet.
    context._state.timeline.finish()
    tensor.destroy()
    assert all(future.done() for future in futures)
    for future in futures[:2]:
        with refused(InvalidStateError, rule="destroyed", operation="readTensor"):
            await future
    await asyncio.sleep(0)
    assert not buffer.any()
    assert not tensor._pending


async def test_reads_that_are_pending_say_why_the_context_was_lost(context: MLContext) -> None:
    tensor = filled(context, 7)
    future = context.readTensor(tensor, full(0))
    context._state.timeline.finish()
    context._state.loss.lose("the device went away")
    with refused(InvalidStateError, rule="lost", operation="readTensor", said="the device went away"):
        await future


async def test_reads_fail_in_order(context: MLContext) -> None:
    tensor = make(context)
    order: list[int] = []
    release = threading.Event()
    context._state.timeline.post(lambda: release.wait() and None)
    reads = [context.readTensor(tensor) for _ in range(50)]
    for number, read in enumerate(reads):
        read.add_done_callback(lambda _, number=number: order.append(number))  # type: ignore[misc]
    tensor.destroy()
    release.set()
    await asyncio.gather(*reads, return_exceptions=True)
    assert order == [*range(50)]


async def test_a_tensor_that_another_thread_destroys(context: MLContext) -> None:
    tensor = filled(context, 7)
    loop = asyncio.get_running_loop()
    with held(context) as release:
        future = context.readTensor(tensor)
        waiting = loop.run_in_executor(None, context.readTensorSync, tensor)
        await asyncio.sleep(0.02)
        await loop.run_in_executor(None, tensor.destroy)
        release()
        for each in (future, waiting):
            with refused(InvalidStateError, rule="destroyed", operation="readTensor"):
                await each


async def test_promises(context: MLContext) -> None:
    future = context.createTensor({"dataType": "float32", "shape": SHAPE, "readable": True, "writable": True})
    assert isinstance(future, asyncio.Future)
    assert not future.done()
    tensor = await future
    assert context.writeTensor(tensor, full(3)) is None
    read = await context.readTensor(tensor)
    assert read.tolist() == full(3).tolist()
    constant = await context.createConstantTensor({"dataType": "float32", "shape": SHAPE}, full(3))
    assert constant.constant
    assert not context._state.loss.promises
    assert not tensor._pending


def test_no_event_loop(context: MLContext) -> None:
    tensor = make(context)
    for call in (lambda: context.readTensor(tensor), lambda: context.createTensor(dataType="int8", shape=[]), lambda: context.lost):
        with pytest.raises(RuntimeError, match="suffix Sync"):
            call()


def test_a_loop_that_ends_before_its_reads(context: MLContext) -> None:
    tensor = filled(context, 7)

    async def main() -> None:
        context.readTensor(tensor)

    with held(context):
        asyncio.run(main())
    context._state.timeline.finish()
    assert not tensor._pending
    assert value(context, tensor) == 7


def test_constants_of_several_graphs(context: MLContext) -> None:
    constant = context.createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, full(10))
    graphs = []
    for _ in range(2):
        builder = MLGraphBuilder(context)
        x = builder.input("x", dataType="float32", shape=SHAPE)
        graphs.append(builder.buildSync({"y": builder.add(x, builder.constant(constant))}))
    # A graph keeps the data of its constants.
    constant.destroy()
    ones, result = filled(context, 1), make(context)
    for graph in graphs:
        context.dispatch(graph, {"x": ones}, {"y": result})
        assert value(context, result) == 11
        context.writeTensor(result, full(0))
    with refused(rule="destroyed", operation="constant", argument="tensor"):
        MLGraphBuilder(context).constant(constant)
    with refused(rule="usage", operation="constant", argument="tensor"):
        MLGraphBuilder(context).constant(ones)


def test_a_constant_of_another_context(context: MLContext) -> None:
    foreign = current().createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, full(10))
    with refused(rule="owner", operation="constant", argument="tensor"):
        MLGraphBuilder(context).constant(foreign)
    # That is checked first.
    foreign.destroy()
    with refused(rule="owner", operation="constant", argument="tensor"):
        MLGraphBuilder(context).constant(foreign)


def test_a_constant_that_is_destroyed_before_the_graph_is_built(context: MLContext) -> None:
    constant = context.createConstantTensorSync({"dataType": "float32", "shape": SHAPE}, full(10))
    builder = MLGraphBuilder(context)
    y = builder.add(builder.input("x", dataType="float32", shape=SHAPE), builder.constant(constant))
    constant.destroy()
    ones, result = filled(context, 1), make(context)
    context.dispatch(builder.buildSync({"y": y}), {"x": ones}, {"y": result})
    assert value(context, result) == 11


def test_the_memory_goes_with_the_tensor(context: MLContext) -> None:
    graph = add_graph(context)
    tensors = {name: make(context) for name in ("x", "y", "sum", "difference")}
    memory = [weakref.ref(tensor._memory.array) for tensor in tensors.values() if tensor._memory is not None]
    context.dispatch(graph, {name: tensors[name] for name in ("x", "y")}, {name: tensors[name] for name in ("sum", "difference")})
    with held(context):
        for tensor in tensors.values():
            tensor.destroy()
        # The dispatch that is queued needs it.
        assert all(reference() is not None for reference in memory)
    context._state.timeline.finish()
    gc.collect()
    assert [reference() for reference in memory] == [None] * 4


def test_a_tensor_that_nobody_has(context: MLContext) -> None:
    tensor = make(context)
    reference = weakref.ref(tensor)
    del tensor
    assert reference() is None
    assert len(context._state.loss._members) == 0


def test_limits(context: MLContext) -> None:
    limits = context.opSupportLimits()
    assert "float32" in limits["input"]["dataTypes"]
    length = limits["maxTensorByteLength"]
    with refused(rule="limit", operation="createTensor", argument="descriptor"):
        context.createTensorSync(dataType="int32", shape=[(length + 1) // 4])
    # The caller may change what it got.
    limits.clear()
    assert context.opSupportLimits()
