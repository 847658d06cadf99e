"""What the tests of all operations share: run one operation through the public API."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from webnn import ML, MLContext, MLGraph, MLGraphBuilder, MLOperand
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.limits import Limits
from webnn.validation.revision import Revision

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Act:
    """An activation function in a table of test cases: the method of the builder and its options."""

    name: str
    options: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Shape:
    """An operand in a table of validation cases: an input of this type and shape."""

    dataType: str
    dimensions: Sequence[int]


#: How long a test waits for what must happen, in seconds. It ends a hang, and says nothing about speed.
PATIENCE = 240.0

#: The name of the newest draft, and of that with what browsers have beyond it.
CURRENT = "2026-06"
BROWSERS = "2026-06+browsers"
#: The first draft, and the newest one.
FIRST, NEWEST = find_revision("2024-06"), find_revision(CURRENT)


def limits_of(revision: str) -> Limits:
    """Return the tables of limits of a draft that has them."""
    limits = find_revision(revision).limits
    assert limits is not None
    return limits


def make_context(revision: str | Revision = "2024-06") -> MLContext:
    return ML(revision=revision).createContextSync()


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() >= end:
            pytest.fail(f"it did not happen within {PATIENCE:g} s")
        time.sleep(0.001)


class Arguments:
    """Turns test values into what a builder's method takes: arrays become operands, `Act` an activation."""

    def __init__(self, builder: MLGraphBuilder, *, constants: bool = False) -> None:
        self.builder = builder
        self.constants = constants
        self.inputs: dict[str, Array] = {}
        self.count = 0
        #: What the draft calls the shape.
        self.shape = builder._revision.shape

    def convert(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            descriptor: Any = {"dataType": value.dtype.name, self.shape: list(value.shape)}
            if self.constants:
                return self.builder.constant(descriptor, value)
            name = f"input{len(self.inputs)}"
            self.inputs[name] = np.array(value, order="C")
            return self.builder.input(name, descriptor)
        if isinstance(value, Shape):
            self.count += 1
            described: Any = {"dataType": value.dataType, self.shape: value.dimensions}
            return self.builder.input(f"operand{self.count}", described)
        if isinstance(value, Act):
            return getattr(self.builder, value.name)(*([value.options] if value.options else []))
        if isinstance(value, list):
            return [self.convert(element) for element in value]
        return value


def run(name: str, *arguments: Any, constants: bool = False, revision: str = "2024-06", **options: Any) -> list[Array]:
    """Build a graph of one operation, compute it, and return its outputs.

    Args:
        name: The operation.
        arguments: Its positional arguments; an array becomes an operand.
        constants: Make constants of the arrays, not inputs.
        revision: The draft.
        options: Its options; an array becomes an operand.
    """
    context = make_context(revision)
    builder = MLGraphBuilder(context)
    converter = Arguments(builder, constants=constants)
    positional = [converter.convert(argument) for argument in arguments]
    dictionary = {key: converter.convert(value) for key, value in options.items()}
    returned = getattr(builder, name)(*positional, *([dictionary] if dictionary else []))
    operands: list[MLOperand] = returned if isinstance(returned, list) else [returned]
    graph = builder.buildSync({f"output{index}": operand for index, operand in enumerate(operands)})
    if revision == CURRENT:
        return compute_directly(graph, converter.inputs)
    buffers = {f"output{index}": np.zeros(operand.shape(), operand.dataType()) for index, operand in enumerate(operands)}
    result = context.computeSync(graph, converter.inputs, buffers)
    return [result["outputs"][name] for name in buffers]


def compute_directly(graph: MLGraph, inputs: Mapping[str, Array]) -> list[Array]:
    """Compute a graph without buffers or tensors: its outputs, in order."""
    implementation = graph._implementation
    feeds = {slot.value: inputs[name] for name, slot in implementation.inputs.items()}
    outputs: list[Array] = implementation._session.run([slot.value for slot in implementation.outputs.values()], feeds)
    return outputs


def infer(name: str, *arguments: Any, revision: str = "2024-06", **options: Any) -> list[tuple[str, list[int]]]:
    """Call an operation with operands of given types and `Shape`s; return the type and shape of each output."""
    converter = Arguments(MLGraphBuilder(make_context(revision)))
    positional = [converter.convert(argument) for argument in arguments]
    dictionary = {key: converter.convert(value) for key, value in options.items()}
    returned = getattr(converter.builder, name)(*positional, *([dictionary] if dictionary else []))
    operands: list[MLOperand] = returned if isinstance(returned, list) else [returned]
    return [(operand._descriptor.dataType, list(operand._descriptor.dimensions)) for operand in operands]
