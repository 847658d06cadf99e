"""Arrays of other libraries, which show their memory by DLPack: read in place, never written to, and not transferred."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, make_context, refused
from webnn import MLContext, MLGraph, MLGraphBuilder

DESCRIPTOR: Any = {"dataType": "float32", "dimensions": [2, 3]}
SHAPED: Any = {"dataType": "float32", "shape": [2, 3]}


class Tensor:
    """Another library's tensor: it has DLPack and nothing else."""

    def __init__(self, array: Any, device: int = 1) -> None:
        self.array = array
        self.device = device

    @property
    def dtype(self) -> str:
        return f"other.{self.array.dtype}"

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)


class Unexportable(Tensor):
    """A tensor that its library does not export."""

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("Can't export tensors that require gradient,\nuse tensor.detach()")


def numbers(start: float = 0) -> Any:
    return np.arange(start, start + 6, dtype=np.float32).reshape(2, 3)


def empty() -> Any:
    return np.empty((2, 3), np.float32)


def sum_graph(context: MLContext) -> MLGraph:
    builder = MLGraphBuilder(context)
    x, y = (builder.input(name, DESCRIPTOR) for name in ("x", "y"))
    return builder.buildSync({"sum": builder.add(x, y)})


def test_a_constant() -> None:
    context = make_context()
    builder = MLGraphBuilder(context)
    array = numbers()
    whole, strided = (builder.constant(DESCRIPTOR, Tensor(each)) for each in (array, numbers().reshape(3, 2).T))
    array[...] = 0  # the bytes were copied at the call, as those of any constant
    graph = builder.buildSync({"whole": builder.identity(whole), "strided": builder.identity(strided)})
    outputs = context.computeSync(graph, {}, {"whole": empty(), "strided": empty()})["outputs"]
    np.testing.assert_array_equal(outputs["whole"], numbers())
    np.testing.assert_array_equal(outputs["strided"], numbers().reshape(3, 2).T)


def test_an_input_is_read_and_can_be_used_again() -> None:
    context = make_context()
    graph, array = sum_graph(context), numbers()
    tensor: Any = Tensor(array)
    result = context.computeSync(graph, {"x": tensor, "y": numbers(1)}, {"sum": empty()})
    assert result["inputs"]["x"] is tensor
    for start in (1, 5):
        # Read in place: what the memory holds at the call counts.
        array[...] = numbers(start)
        result = context.computeSync(graph, result["inputs"], result["outputs"])
        np.testing.assert_array_equal(result["outputs"]["sum"], numbers(start) + numbers(1))


def test_no_copy_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    context = make_context()
    graph, array = sum_graph(context), numbers()
    addresses: list[int] = []
    run = type(graph._implementation).run
    monkeypatch.setattr(type(graph._implementation), "run", lambda self, given: (addresses.extend(given), run(self, given)))
    context.computeSync(graph, {"x": Tensor(array), "y": numbers()}, {"sum": empty()})
    assert addresses[0] == array.ctypes.data


async def test_an_input_of_a_promise() -> None:
    context = make_context()
    result = await context.compute(sum_graph(context), {"x": Tensor(numbers()), "y": numbers()}, {"sum": empty()})
    np.testing.assert_array_equal(result["outputs"]["sum"], numbers() * 2)


def test_inputs_that_are_read_may_share_memory() -> None:
    context = make_context()
    tensor = Tensor(numbers())
    outputs = context.computeSync(sum_graph(context), {"x": tensor, "y": tensor}, {"sum": empty()})["outputs"]
    np.testing.assert_array_equal(outputs["sum"], numbers() * 2)


@pytest.mark.parametrize("place", ["input", "output"])
def test_memory_that_another_view_transfers(place: str) -> None:
    context = make_context()
    graph, array = sum_graph(context), numbers()
    other, result = (array, empty()) if place == "input" else (numbers(), array)
    with refused(rule="overlap", operation="compute"):
        context.computeSync(graph, {"x": Tensor(array), "y": other}, {"sum": result})
    # Nothing was transferred.
    context.computeSync(graph, {"x": numbers(), "y": other}, {"sum": result})


def test_tensors_of_a_context() -> None:
    context = make_context(CURRENT)
    target = context.createTensorSync(dataType="float32", shape=[2, 3], readable=True, writable=True)
    context.writeTensor(target, Tensor(numbers()))
    np.testing.assert_array_equal(context.readTensorSync(target), numbers())
    constant = context.createConstantTensorSync(SHAPED, Tensor(numbers(2)))
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": builder.identity(builder.constant(constant))})
    context.dispatch(graph, {}, {"y": target})
    np.testing.assert_array_equal(context.readTensorSync(target), numbers(2))


def test_nothing_is_written_to_it() -> None:
    context, latest = make_context(), make_context(CURRENT)
    tensor: Any = Tensor(empty())
    with refused(rule="writeable", operation="compute", argument="outputs['sum']"):
        context.computeSync(sum_graph(context), {"x": numbers(), "y": numbers()}, {"sum": tensor})
    source = latest.createTensorSync(SHAPED | {"readable": True})
    with refused(rule="writeable", operation="readTensor", argument="outputData"):
        latest.readTensorSync(source, tensor)


#: Tensors that cannot be read, the rule, and a fact that the error quotes.
WRONG = {
    "a GPU's": (Tensor(numbers(), device=2), "layout", "DLPack's type 2"),
    "of a gradient": (Unexportable(numbers()), "conversion", "Unexportable of other.float32: Can't export tensors"),
    "of another type": (Tensor(numbers().astype(np.float64)), "type", "float64"),
    "of another size": (Tensor(numbers()[:1].copy()), "byte-length", "24"),
    "of a type that has no export": (Tensor(np.array(["a"])), "conversion", "DLPack"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read(name: str) -> None:
    tensor, rule, said = WRONG[name]
    context, latest = make_context(), make_context(CURRENT)
    target = latest.createTensorSync(SHAPED | {"writable": True})
    with refused(rule=rule, operation="constant", argument="bufferView", said=said):
        MLGraphBuilder(context).constant(DESCRIPTOR, tensor)
    with refused(rule=rule, operation="compute", argument="inputs['x']", said=said):
        context.computeSync(sum_graph(context), {"x": tensor, "y": numbers()}, {})
    if name != "of another type":  # a tensor's bytes may come from elements of any type, but these are too many
        with refused(rule=rule, operation="writeTensor", argument="inputData", said=said):
            latest.writeTensor(target, tensor)


def test_a_strided_input() -> None:
    context = make_context()
    with refused(rule="layout", operation="compute", argument="inputs['x']"):
        context.computeSync(sum_graph(context), {"x": Tensor(numbers().reshape(3, 2).T), "y": numbers()}, {})
