"""Operators that run subgraphs, and variables.

WebNN has no control flow: loops are unrolled. The values of variables come in as inputs, and their next values go out as outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from webnn.importing.driver import Driver
from webnn.importing.steps import Result
from webnn.importing.values import Refused, Value
from webnn.tflite.model import Model
from webnn.tflite.node import Node, Rule, Rules

__all__ = ["RULES", "Variables"]


def _values(node: Node, first: int = 0) -> list[Value]:
    return [node.value(index) for index in range(first, len(node.inputs))]


def _if(node: Node) -> list[Result]:
    """Import the branch of a known condition. With a computed one both are computed, and `where` selects; their shapes must agree."""
    arguments = _values(node, 1)

    def branch(name: str) -> Callable[..., list[Value]]:
        subgraph = node.option(f"{name}SubgraphIndex")
        return lambda none, tentative: node.run(subgraph, f"{name.lower()}_branch", arguments, tentative=tentative)

    bodies = {f"{name.lower()}_branch": branch(name) for name in ("Then", "Else")}
    return node.onnx("If", [node.value(0)], outputs=len(node.outputs), bodies=bodies)


def _while(node: Node) -> list[Result]:
    """Unroll the body. The condition before each step must be known; the import limits the number of steps."""
    states = _values(node)
    step = 0
    while True:
        conditions = node.run(node.option("CondSubgraphIndex"), f"cond[{step}]", states)
        known = conditions[0].array if len(conditions) == 1 else None
        if known is None or known.size != 1:
            raise Refused("the condition of each step must be one number that is known at import, but it is computed from data")
        if not known.any():
            return [*states]
        states = node.run(node.option("BodySubgraphIndex"), f"body[{step}]", states)
        step += 1


def _inline(option: str, label: Callable[[Node], str]) -> Rule:
    """Return a rule that imports the subgraph of which the operator is made."""
    return lambda node: [*node.run(node.option(option), label(node), _values(node))]


# Variables.


class Variables:
    """The variables of an import, by numbers. One that only the first subgraph to run writes is known."""

    def __init__(self, importer: Driver[Any, Any], model: Model) -> None:
        self._importer = importer
        self._names: list[str] = []
        self._values: dict[int, Value] = {}
        self._first: dict[int, Value] = {}
        self._written: dict[int, None] = {}
        #: Whether the subgraph runs that gives variables their first values.
        self.is_beginning = False
        self._changed = _changed_names(model)

    def find(self, name: str) -> int:
        """Return the number of a variable."""
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def number(self, handle: Value) -> int:
        """Return the number of a variable by its handle; refuse any other value."""
        number = -1 if handle.array is None or handle.array.size != 1 or handle.array.dtype != np.int32 else int(handle.array.item())
        if not 0 <= number < len(self._names):
            raise Refused("the variable must be the result of VAR_HANDLE")
        return number

    def read(self, number: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Value:
        """Return the value of a variable: what was written last, or the input that it is."""
        first = self._first.get(number)
        if number not in self._values:
            name = self._names[number]
            if first is not None and self._changed is not None and name not in self._changed:
                return first
            self._values[number] = self._importer.define_input(name, dtype, shape)
            array = np.zeros(1, np.int8) if first is None else first.array
            is_uniform = array is not None and array.size and (array == array.flat[0]).all()
            begins = f"with {array.flat[0]} everywhere" if array is not None and is_uniform else "with the values that the model gives it"
            self._importer.operands.notes[f"the variable {name!r} is an input, and its next value an output; it begins {begins}"] = None
        return self._values[number]

    def write(self, number: int, value: Value) -> None:
        """Give a variable a value."""
        if self.is_beginning:
            self._first[number] = value
        else:
            self._values[number] = value
            self._written[number] = None

    def define_outputs(self) -> None:
        """Define the next values of the variables that were written as outputs."""
        for number in self._written:
            name = f"{self._names[number]}.next"
            self._importer.define_output(name, self._values[number], f"outputs[{name!r}]")


def _changed_names(model: Model) -> frozenset[str] | None:
    """Return the names of variables that more than the first subgraph writes; None if it is not known which ones these are."""
    first = {each.options.get("InitSubgraphIndex") for graph in model.subgraphs for each in graph.operators if each.key == "CALL_ONCE"}
    found: set[str] = set()
    for index, graph in enumerate(model.subgraphs):
        handles = {each.outputs: _name_of(each.options) for each in graph.operators if each.key == "VAR_HANDLE"}
        assigned = {each.inputs[:1] for each in graph.operators if each.key == "ASSIGN_VARIABLE" and index not in first}
        if not assigned <= handles.keys():
            return None
        found |= {handles[each] for each in assigned}
    return frozenset(found)


def _name_of(options: Any) -> str:
    """Return the name of a variable, from the options of VAR_HANDLE."""
    return "/".join(filter(None, (options.get("Container"), options.get("SharedName")))) or "variable"


def _call_once(node: Node) -> list[Result]:
    """Import the subgraph that gives variables their first values."""
    node.variables.is_beginning = True
    try:
        node.run(node.option("InitSubgraphIndex"), "initialization", [])
    finally:
        node.variables.is_beginning = False
    return []


def _assign_variable(node: Node) -> list[Result]:
    """Remember the value, which goes out as an output."""
    node.variables.write(node.variables.number(node.value(0)), node.value(1))
    return []


RULES: Rules = {
    "ASSIGN_VARIABLE": _assign_variable,
    "CALL": _inline("Subgraph", lambda node: "subgraph"),
    "CALL_ONCE": _call_once,
    "IF": _if,
    # The variable is an input before something is written.
    "READ_VARIABLE": lambda node: node.variables.read(node.variables.number(node.value(0)), node.outputs[0].dtype, node.outputs[0].shape),
    "STABLEHLO_COMPOSITE": _inline("DecompositionSubgraphIndex", lambda node: node.option("Name", "") or "composite"),
    "VAR_HANDLE": lambda node: np.array(node.variables.find(_name_of(node.operator.options)), np.int32),
    "WHILE": _while,
}
