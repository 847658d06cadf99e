"""The variables of a model: their values come in as inputs, and their next values go out as outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from webnn.importing.driver import Driver
from webnn.importing.values import Refused, Value
from webnn.tflite.model import Model

__all__ = ["Variables", "name_of"]


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
        handles = {each.outputs: name_of(each.options) for each in graph.operators if each.key == "VAR_HANDLE"}
        assigned = {each.inputs[:1] for each in graph.operators if each.key == "ASSIGN_VARIABLE" and index not in first}
        if not assigned <= handles.keys():
            return None
        found |= {handles[each] for each in assigned}
    return frozenset(found)


def name_of(options: Any) -> str:
    """Return the name of a variable, from the options of VAR_HANDLE."""
    return "/".join(filter(None, (options.get("Container"), options.get("SharedName")))) or "variable"
