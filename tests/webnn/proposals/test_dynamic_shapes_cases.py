"""Recorded cases with names in place of the sizes of their inputs: the bits, and the errors, are those of graphs with sizes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import Array, each_row
from tests.webnn.proposals.test_dynamic_shapes import REVISION, constant, make_builder, matrix
from webnn import GraphDescription, MLGraphBuilder, OperandDescriptor
from webnn.builder.numerics import Numerics
from webnn.validation.drafts import find_revision
from webnn.validation.named_descriptor import NamedDescriptor
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.vectors.cases import load_cases
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.format import CaseError
from webnn.wpt_runner.vectors.graphs import read_graph

#: The bytes of the outputs by name, or the text of an error.
Outcome = Mapping[str, bytes] | str


@dataclass(frozen=True, slots=True)
class Recorded:
    """A case, and the values of its inputs."""

    graph: GraphDescription
    values: Mapping[str, Array]

    def named(self) -> GraphDescription:
        """Return the graph with one name for each size."""
        inputs: dict[str, OperandDescriptor] = {}
        for name, each in self.graph.inputs.items():
            dimensions: Any = tuple([f"size {size}" for size in each.dimensions])
            inputs[name] = NamedDescriptor(each.dataType, dimensions) if dimensions else each
        return replace(self.graph, inputs=inputs)

    def sized(self, sizes: Mapping[int, int]) -> Recorded:
        """Return the case with other sizes; the values are repeated."""
        inputs = {
            name: replace(each, dimensions=tuple([sizes[size] for size in each.dimensions])) for name, each in self.graph.inputs.items()
        }
        values = {name: np.resize(self.values[name], each.array_shape) for name, each in inputs.items()}
        return Recorded(replace(self.graph, inputs=inputs), values)

    def variants(self) -> Iterator[Recorded]:
        """Yield the case, and the same with other sizes."""
        yield self
        sizes = sorted({size for each in self.graph.inputs.values() for size in each.dimensions})
        yield self.sized({size: 2 * size for size in sizes})
        if sizes:
            yield self.sized({size: size + (size == sizes[-1]) for size in sizes})


def read_cases() -> Iterator[Recorded]:
    """Yield the cases of the newest draft that have inputs."""
    levels = {level.name for level in LEVELS if level.revision == "2026-06"}
    for case in load_cases([path for path in bundled_archives() if path.stem in levels]):
        try:
            recorded = read_graph(case)
        except (CaseError, TypeError):  # its form is wrong
            continue
        if recorded.graph.inputs:
            inputs = recorded.graph.inputs
            values = {name: array.reshape(inputs[name].array_shape) for name, array in recorded.inputs.items()}
            yield Recorded(replace(recorded.graph, draft=REVISION), values)


def more_cases() -> Iterator[Recorded]:
    """Yield cases of the operations that the recorded ones lack, or have without inputs."""
    makers: list[Callable[[Any, Any], Any]] = [
        lambda b, x: b.isInfinite(x),
        lambda b, x: b.isNaN(x),
        lambda b, x: b.roundEven(x),
        lambda b, x: b.quantizeLinear(x, constant(b, np.ones((1, 1), np.float32)), constant(b, np.ones((1, 1), np.uint8))),
        lambda b, x: b.tile(x, [2, 3]),
    ]
    values: Any = np.float32([[0, np.inf, 2.5], [np.nan, -1, 7]])
    for make in makers:
        builder = make_builder()
        x = matrix(builder, "x", 2, 3)
        yield Recorded(webnn.describe({"y": make(builder, x)}), {"x": values})


class Machine:
    """Computes cases with sizes and with names."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def build(self, graph: GraphDescription) -> Any:
        """Compile a graph, or return the text of the error."""
        builder = MLGraphBuilder(self.context)
        try:
            return builder.buildSync(graph.build(builder))
        except webnn.WebNNTypeError as error:
            return str(error)

    def compute(self, compiled: Any, case: Recorded) -> Outcome:
        """Compute a case."""
        if isinstance(compiled, str):
            return compiled
        needed = {name: case.graph.inputs[name] for name in compiled._inputDescriptors}
        try:
            shapes = compiled.computeShapes({name: each.dimensions for name, each in needed.items()})
        except webnn.WebNNTypeError as error:
            return str(error)
        given, wanted = {}, {}
        for name, each in needed.items():
            given[name] = self.context.createTensorSync({"dataType": each.dataType, "shape": each.dimensions, "writable": True})
            self.context.writeTensor(given[name], case.values[name])
        for name, shape in shapes.items():
            dataType = compiled._outputDescriptors[name].dataType
            wanted[name] = self.context.createTensorSync({"dataType": dataType, "shape": shape, "readable": True})
        self.context.dispatch(compiled, given, wanted)
        return {name: self.context.readTensorSync(tensor).tobytes() for name, tensor in wanted.items()}

    def check(self, case: Recorded, sessions: Counter[str]) -> bool:
        """Check a case with several sizes; count the sessions that were shared. Tell whether the case computes at all."""
        named, computed = self.build(case.named()), 0
        for each in case.variants():
            expected, found = self.compute(self.build(each.graph), each), self.compute(named, each)
            if isinstance(expected, str):
                assert isinstance(found, str), each.graph
            else:
                assert found == expected, each.graph
                computed += 1
        variants = [] if isinstance(named, str) else named._implementation._variants
        sessions["shared"] += max(0, computed - len([each for each in variants if each.implementation is not None]))
        sessions["own"] += len([each for each in variants if each.refused])
        return computed > 0


def check_each_operation(context: Any) -> None:
    """Check some cases of each operation in a context."""
    machine, checked, sessions = Machine(context), Counter[str](), Counter[str]()
    for case in itertools.chain(read_cases(), more_cases()):
        operations = {each.operation for each in case.graph.operators}
        if any(not checked[each] for each in operations) and machine.check(case, sessions):
            checked.update(operations)
    assert set(find_revision("2026-06").operations) <= set(checked)
    assert sessions["shared"] > sessions["own"]


@each_row("numerics", ["exact", "fast"])
def test_some_cases_of_each_operation(numerics: Numerics) -> None:
    check_each_operation(webnn.ML(revision=REVISION, numerics=numerics).createContextSync())


@pytest.mark.slow
@pytest.mark.timeout(3600)
@each_row("numerics", ["exact", "fast"])
def test_all_cases(numerics: Numerics) -> None:
    machine, sessions = Machine(webnn.ML(revision=REVISION, numerics=numerics).createContextSync()), Counter[str]()
    assert sum([machine.check(case, sessions) for case in read_cases()]) > 1000
    assert sessions["shared"] > sessions["own"]
