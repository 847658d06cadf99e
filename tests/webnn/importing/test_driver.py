"""A small importer of a format that exists only here: lines such as ``y = relu x``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from webnn.builder.description import GraphDescription
from webnn.importing.driver import Driver, make_builder
from webnn.importing.report import Report
from webnn.importing.steps import Operands, Steps
from webnn.importing.values import Array, Blocked, Refused, Value
from webnn.validation.errors import OperationError


class Line(Steps):
    """A line with its inputs."""

    def __init__(self, operands: Operands, inputs: Sequence[Value]) -> None:
        super().__init__(operands)
        self.inputs = inputs


RULES: Mapping[str, Callable[[Line], object]] = {
    "add": lambda line: line.builder.add(*map(line.operand_of, line.inputs)),
    "relu": lambda line: line.builder.relu(line.operand_of(line.inputs[0])),
    "broken": lambda line: line.inputs[7],
}


class Lines(Driver[str, Value]):
    """An import of lines. `x` is the input, float32 [2, 3], and the last result is the output."""

    most_steps = 5
    limit = "the text must have at most {} lines"

    def __init__(self, text: str, constants: Mapping[str, Array]) -> None:
        super().__init__(make_builder(has_small_integers=False), float64=True, advice="")
        self._lines = text.splitlines()
        self._constants = constants
        self._values: dict[str, Value | None] = {}

    def walk(self) -> None:
        self.check_names("constants", self._constants, ["x"], "an input")
        self._values["x"] = self.define_input("x", np.dtype(np.float32), (2, 3), self._constants.get("x"))
        for line in self._lines:
            self.import_top(line)
        name, value = [*self._values.items()][-1]
        if value is not None:
            self.define_output(name, value, f"outputs[{name!r}]")

    def locate(self, node: str) -> tuple[str, str]:
        return node.split(maxsplit=1)[0], node.split()[2]

    def evaluate(self, node: str) -> list[Value]:
        self.take_step()
        _, _, operator, *names = node.split()
        inputs = [value for name in names if (value := self._values[name]) is not None]
        if len(inputs) < len(names):
            raise Blocked
        if operator not in RULES:
            raise Refused(f"there is no rule for {operator}")
        if operator == "relu" and inputs[0].array is not None:
            return [Value.known(np.maximum(inputs[0].array, 0))]
        (operand,) = self.apply(RULES[operator], Line(self.operands, inputs), node, node)
        return [self.typed(operand, inputs[0].dtype)]

    def define(self, node: str, outputs: Sequence[Value | None] | None) -> None:
        self._values[node.split(maxsplit=1)[0]] = None if outputs is None else outputs[0]


def load(text: str, **constants: Array) -> tuple[GraphDescription | None, Report]:
    return Lines(text, constants).survey("lines")


def test_a_graph() -> None:
    description, report = load("y = relu x\nz = add y x")
    assert description is not None
    assert [each.operation for each in description.operators] == ["relu", "add"]
    assert list(description.outputs) == ["z"]
    assert [(each.name, each.operator, each.outcome) for each in report.nodes] == [("y", "relu", "converted"), ("z", "add", "converted")]


def test_reports_have_the_numbers_of_operators() -> None:
    description, report = load("y = relu x\nz = add y x")
    assert description is not None
    assert [index for each in report.nodes for index in each.operators] == [each.index for each in description.operators]


def test_known_inputs_are_folded() -> None:
    description, report = load("y = relu x\nz = add y y", x=np.ones((2, 3)))
    assert [each.outcome for each in report.nodes] == ["folded", "converted"]
    assert description is not None
    assert not description.inputs


def test_refusals() -> None:
    description, report = load("y = sort x\nz = relu y\nv = add x x", y=np.zeros(2))
    assert description is None
    assert [(each.name, each.outcome) for each in report.nodes] == [("y", "refused"), ("z", "blocked"), ("v", "converted")]
    assert [(each.place, each.operator) for each in report.refusals] == [("constants['y']", ""), ("y", "sort")]


def test_too_many_lines_are_refused_once() -> None:
    _, report = load("\n".join(f"y{index} = relu x" for index in range(8)))
    assert [each.outcome for each in report.nodes] == ["converted"] * 5 + ["refused", "blocked", "blocked"]
    (refusal,) = report.refusals
    assert refusal.reason == "the text must have at most 5 lines when loops and functions are unrolled"


def test_a_rule_that_fails() -> None:
    with pytest.raises(OperationError, match=r"y \(broken\): the import failed: IndexError"):
        load("y = broken x")
