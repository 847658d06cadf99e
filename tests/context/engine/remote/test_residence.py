"""Numbers stay on a device until the program asks for them. Here other memory of the CPU is the device's, and a software GPU is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest

import webnn
from tests.context.devices.inventories import WEBGPU_DISCRETE
from tests.context.engine.remote.isolated import host_of
from tests.support import BROWSERS, Array, make_context, wait_until
from tests.webnn.proposals.test_dynamic_shapes import matrix
from webnn.context.devices.selection import Selection, SessionSettings
from webnn.context.engine.remote.residence import Make, Residence, Run
from webnn.context.engine.session import CompiledGraph

SHAPE = (3,)


@pytest.fixture(autouse=True)
def copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine copies between a device and the CPU only."""

    def copy(sources: Sequence[Any], targets: Sequence[Any]) -> None:
        for source, target in zip(sources, targets, strict=True):
            target.update_inplace(source.numpy())

    monkeypatch.setattr(onnxruntime, "copy_tensors", copy)


def graph_of(dataType: str = "float32") -> CompiledGraph:
    """Return a graph that doubles its input."""
    builder: Any = webnn.MLGraphBuilder(make_context(BROWSERS))
    x = builder.input("x", dataType=dataType, shape=SHAPE)
    compiled = builder.buildSync({"y": builder.add(x, x) if dataType == "float32" else builder.identity(x)})._implementation
    assert isinstance(compiled, CompiledGraph)
    return compiled


def make(shape: Sequence[int], dtype: Any) -> Any:
    return onnxruntime.OrtValue.ortvalue_from_numpy(np.full(shape, 99, dtype))


def memory(*values: float) -> Array:
    return np.array(values, np.float32)


def prepared(residence: Residence, given: Array, wanted: Array, make: Make = make, changed: bytes = b"\0") -> Run:
    graph = graph_of()
    slots = [*graph.inputs.values(), *graph.outputs.values()]
    return residence.prepare(graph, slots, [given.view(np.uint8), wanted.view(np.uint8)], make, changed)


def test_numbers_come_when_they_are_asked_for() -> None:
    residence, x, y, z = Residence(), memory(1, 2, 3), memory(0, 0, 0), memory(0, 0, 0)
    first, second = prepared(residence, x, y), prepared(residence, y, z)
    first(b"\1")
    second(b"\0")
    assert [*y, *z] == [0] * 6
    residence.fetch(z.ctypes.data)
    assert [*y, *z] == [0, 0, 0, 4, 8, 12]
    # It has nothing newer now.
    z[:] = 7
    residence.fetch(z.ctypes.data)
    assert [*z] == [7] * 3
    residence.fetch(y.ctypes.data)
    assert [*y] == [2, 4, 6]
    residence.fetch(12345)


def test_an_input_goes_to_the_device_when_it_was_written() -> None:
    residence, x, y = Residence(), memory(1, 2, 3), memory(0, 0, 0)
    run = prepared(residence, x, y)
    # Nothing was there yet.
    run(b"\0")
    x[:] = 5
    run(b"\0")
    residence.fetch(y.ctypes.data)
    assert [*y] == [2, 4, 6]
    run(b"\1")
    residence.fetch(y.ctypes.data)
    assert [*y] == [10] * 3


def test_another_graph_writes_the_memory_that_the_program_sees() -> None:
    residence, x, y = Residence(), memory(1, 2, 3), memory(0, 0, 0)
    first, second = prepared(residence, x, y), prepared(residence, y, x)
    first(b"\1")
    y[:] = 1
    residence.replace(y.ctypes.data)
    residence.fetch(y.ctypes.data)
    assert [*y] == [1] * 3
    second(b"\0")
    residence.fetch(x.ctypes.data)
    assert [*x] == [2] * 3
    # The numbers of the program go over those of the device.
    x[:] = 4
    residence.replace(x.ctypes.data)
    first(b"\0")
    residence.fetch(y.ctypes.data)
    assert [*y] == [8] * 3
    residence.replace(12345)


def test_memory_that_another_tensor_gets() -> None:
    residence, x, y = Residence(), memory(1, 2, 3), memory(0, 0, 0)
    prepared(residence, x, y)(b"\1")
    # Another device. The numbers of the first one are not lost.
    prepared(residence, y, x, partial(make))(b"\0")
    assert [*y] == [2, 4, 6]
    residence.fetch(x.ctypes.data)
    assert [*x] == [4, 8, 12]


def test_numbers_of_an_ended_tensor_do_not_come_back() -> None:
    """Its memory belongs to another one, which the program has written."""
    residence, x, y = Residence(), memory(1, 2, 3), memory(0, 0, 0)
    prepared(residence, x, y)(b"\1")
    y[:] = 5
    prepared(residence, y, x, partial(make), b"\1")(b"\1")
    assert [*y] == [5] * 3
    residence.fetch(x.ctypes.data)
    assert [*x] == [10] * 3


@pytest.mark.parametrize(
    "end", [lambda residence, y: residence.forget(y.ctypes.data - 4, 8), lambda residence, _: residence.clear()], ids=["part", "all"]
)
def test_memory_that_ends(end: Callable[[Residence, Array], None]) -> None:
    residence, x, y = Residence(), memory(1, 2, 3), memory(0, 0, 0)
    prepared(residence, x, y)(b"\1")
    residence.forget(y.ctypes.data + 4, 100)
    residence.forget(y.ctypes.data - 4, 4)
    end(residence, y)
    residence.fetch(y.ctypes.data)
    assert [*y] == [0] * 3


class Memory(SimpleNamespace):
    """Facts about the memory of a device, as a plug-in tells them."""

    device_id, device_vendor_id = 0, 0


def selection(info: Any, *, plugin: bool = True, options: dict[str, str] | None = None, type: str = "cpu") -> Selection:
    def memory_info(_: object) -> Any:
        if isinstance(info, Exception):
            raise info
        return info

    device = replace(WEBGPU_DISCRETE, type=type, plugin=plugin, handle=SimpleNamespace(memory_info=memory_info))
    return Selection(
        requested="gpu",
        device="gpu",
        devices=(device,),
        providers=((device.provider, MappingProxyType(options or {})),),
        settings=SessionSettings(),
    )


def test_where_numbers_stay() -> None:
    residence, graph = Residence(), graph_of()
    found = residence.find(graph, selection(Memory()))
    assert found is not None
    assert found((2,), np.float32).shape() == [2]
    # Of the same device it is the same.
    assert residence.find(graph, selection(Memory(), options={"forceCpuNodeNames": "a"})) is found


@pytest.mark.parametrize(
    ("given", "dataType"),
    [
        pytest.param(selection(Memory(), plugin=False), "float32", id="of the engine's own"),
        pytest.param(selection(Memory(), options={"deviceId": "1"}), "float32", id="another device"),
        pytest.param(selection(Memory()), "int4", id="no such values"),
        pytest.param(selection(None), "float32", id="no memory"),
        pytest.param(selection(RuntimeError("no")), "float32", id="an error"),
        pytest.param(selection(Memory(), type="gpu"), "float32", id="no GPU"),
    ],
)
def test_where_they_do_not(given: Selection, dataType: str) -> None:
    assert Residence().find(graph_of(dataType), given) is None


def test_numbers_that_do_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "copy_tensors", lambda *_: None)
    assert Residence().find(graph_of(), selection(Memory())) is None


def tensor(context: webnn.MLContext, values: Sequence[float] | None = None, dataType: str = "float32") -> webnn.MLTensor:
    made: webnn.MLTensor = context.createTensorSync(dataType=dataType, shape=SHAPE, readable=True, writable=True)
    if values is not None:
        context.writeTensor(made, memory(*values))
    return made


@pytest.fixture
def context() -> webnn.MLContext:
    return webnn.ML(simulators=True, fallback="silent").createContextSync(deviceType="gpu")


def doubled(context: webnn.MLContext, shape: Sequence[int | str] = SHAPE) -> webnn.MLGraph:
    builder: Any = webnn.MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[*shape])
    graph: webnn.MLGraph = builder.buildSync({"y": builder.add(x, x)})
    return graph


@pytest.mark.processes
@pytest.mark.simulators("gpu")
class TestGPU:
    """A software GPU, in the process of its context."""

    def test_a_chain(self, context: webnn.MLContext) -> None:
        graph, (x, y, z) = doubled(context), (tensor(context, [1, 2, 3]), tensor(context), tensor(context))
        assert graph._implementation._leaves  # type: ignore[union-attr]
        context.dispatch(graph, {"x": x}, {"y": y})
        context.dispatch(graph, {"x": y}, {"y": z})
        assert z._memory is not None
        wait_until(lambda: z._memory.isAway)  # type: ignore[union-attr]
        assert context.readTensorSync(z).tolist() == [4, 8, 12]
        assert not z._memory.isAway
        # It is read before the program writes it, and after.
        context.writeTensor(y, memory(1, 1, 1))
        assert context.readTensorSync(y).tolist() == [1, 1, 1]
        context.dispatch(graph, {"x": y}, {"y": z})
        context.dispatch(graph, {"x": z}, {"y": x})
        assert context.readTensorSync(x).tolist() == [4, 4, 4]

    async def test_a_promise(self, context: webnn.MLContext) -> None:
        graph, x, y = doubled(context), tensor(context, [1, 2, 3]), tensor(context)
        for _ in range(3):
            context.dispatch(graph, {"x": x}, {"y": y})
            context.dispatch(graph, {"x": y}, {"y": x})
            into = np.zeros(3, np.float32)
            await context.readTensor(x, into)
        assert (await context.readTensor(x)).tolist() == into.tolist() == [64, 128, 192]

    def test_a_graph_on_the_cpu_between(self) -> None:
        """A device has no memory for 4 bits: such a graph takes and leaves numbers where the program sees them."""
        context = webnn.ML(revision=BROWSERS, simulators=True, fallback="silent").createContextSync(deviceType="gpu")
        builder: Any = webnn.MLGraphBuilder(context)
        x, half = builder.input("x", dataType="float32", shape=SHAPE), builder.input("half", dataType="int4", shape=SHAPE)
        mixed = builder.buildSync({"y": builder.add(x, builder.cast(half, "float32")), "z": builder.identity(half)})
        assert not mixed._implementation._leaves  # type: ignore[union-attr]
        graph, (a, b, c) = doubled(context), (tensor(context, [1, 2, 3]), tensor(context), tensor(context))
        given, unused = tensor(context, dataType="int4"), tensor(context, dataType="int4")
        for number in range(3):
            context.dispatch(graph, {"x": a}, {"y": b})
            context.dispatch(mixed, {"x": b, "half": given}, {"y": c, "z": unused})
            context.dispatch(graph, {"x": c}, {"y": a})
            assert context.readTensorSync(a).tolist() == [4 ** (number + 1) * each for each in (1, 2, 3)]

    def test_tensors_that_end_and_come_again(self, context: webnn.MLContext) -> None:
        graph = doubled(context)
        for number in range(5):
            x, y = tensor(context, [number] * 3), tensor(context)
            assert context.readTensorSync(y).tolist() == [0] * 3
            context.dispatch(graph, {"x": x}, {"y": y})
            assert context.readTensorSync(y).tolist() == [2 * number] * 3
            # The next ones get the memory, in other places.
            y.destroy()
            x.destroy()

    def test_sizes_with_names(self) -> None:
        context = webnn.ML(revision="2026-06+dynamic-shapes", simulators=True, fallback="silent").createContextSync(deviceType="gpu")
        builder: Any = webnn.MLGraphBuilder(context)
        x = matrix(builder, "x", "n", 4)
        graph = builder.buildSync({"y": builder.add(x, x)})
        for size in (3, 5, 3, 1):
            a, b = (context.createTensorSync(dataType="float32", shape=[size, 4], readable=True, writable=True) for _ in range(2))
            context.writeTensor(a, np.ones((size, 4), np.float32))
            context.dispatch(graph, {"x": a}, {"y": b})
            context.dispatch(graph, {"x": b}, {"y": a})
            assert context.readTensorSync(a).tolist() == [[4] * 4] * size

    async def test_the_process_ends_before_the_read(self, context: webnn.MLContext) -> None:
        graph, x, y = doubled(context), tensor(context, [1, 2, 3]), tensor(context)
        context.dispatch(graph, {"x": x}, {"y": y})
        host_of(context)._process.kill()
        with pytest.raises(webnn.InvalidStateError, match="must not be lost"):
            context.readTensorSync(y)
        with pytest.raises(webnn.InvalidStateError, match="must not be lost"):
            await context.readTensor(y)
