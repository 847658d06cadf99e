"""A program as plain data: the steps of a page that uses `navigator.ml`.

A step is ``{"call": member, "on": target, "args": [...]}``. Its result is known by its number. Beside the values of JSON there are

- ``{"$step": 3}``: the result of step 3; with ``"item": 1`` one element of it;
- ``{"$context": true}``: a context with default options, which programs share;
- ``{"$number": "NaN"}``, ``{"$bigint": "5"}``, ``{"$undefined": true}``, ``{"$symbol": "name"}``: values that JSON does not have;
- ``{"$boxed": value}``: the object of a primitive value; ``{"$valueOf": value}``: another object that becomes it;
- ``{"$throws": "RangeError"}``: an object that throws when it is converted to a primitive value or a sequence;
- ``{"$iterable": [...]}``: an iterator, which is not an array;
- ``{"$view": "float32", "values": [...]}``: a typed array. Elements that JSON does not have exactly are texts;
- ``{"$like": operand, ...}``: the type and shape of an operand, with other members beside them.

Three calls have no target: ``createContext``, ``MLGraphBuilder`` (the constructor) and ``view``, whose result is its argument. ``transfer``
detaches the memory of a view. `executor.js` runs programs, in a browser's page and in the emulator's realm.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from webnn.calls.dice import Array, to_array
from webnn.validation.descriptor import BITS, ML_DTYPES, NUMPY_DTYPES, DataType

__all__ = ["SHARED", "FuzzProgram", "Step", "array_of", "executor", "is_reference", "make_view", "references", "rewrite"]

Step = dict[str, Any]

#: The context that programs share.
SHARED = {"$context": True}


@dataclass(frozen=True, slots=True)
class FuzzProgram:
    """A program, named by its kind and its number."""

    name: str
    steps: Sequence[Step] = field(repr=False)

    def json(self) -> str:
        """Return the program as text: one line for each step."""
        lines = ",\n  ".join(json.dumps(step) for step in self.steps)
        return f'{{"name": {json.dumps(self.name)}, "steps": [\n  {lines}\n]}}\n'

    @classmethod
    def parse(cls, text: str) -> FuzzProgram:
        """Read what `json` wrote; raise a `ValueError` if it is something else."""
        found = json.loads(text)
        steps = found.get("steps") if isinstance(found, dict) else None
        if not isinstance(steps, list) or not all(isinstance(step, dict) and isinstance(step.get("call"), str) for step in steps):
            raise ValueError('a program must have "steps", a list of objects with "call"')
        for number, step in enumerate(steps):
            if any(not isinstance(other, int) or not 0 <= other < number for other in references(step)):
                raise ValueError(f"step {number} must refer to steps before it only")
        return cls(str(found.get("name", "")), steps)

    @property
    def operations(self) -> list[str]:
        """The operations that it calls, in their order."""
        builders = {number for number, step in enumerate(self.steps) if step["call"] == "MLGraphBuilder"}
        made = [step["call"] for step in self.steps if is_reference(step.get("on")) and step["on"]["$step"] in builders]
        return [name for name in made if name not in ("input", "constant", "build")]


@cache
def executor() -> str:
    """Return the source of a function that runs programs and returns their outcomes."""
    return (resources.files("webnn.fuzz") / "executor.js").read_text(encoding="utf-8")


def is_reference(value: Any) -> bool:
    """Tell whether a value refers to the result of a step."""
    return isinstance(value, dict) and "$step" in value


def references(value: Any) -> Iterator[Any]:
    """Yield the numbers of the steps to which a step or a value refers."""
    if is_reference(value):
        yield value["$step"]
    elif isinstance(value, dict):
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def rewrite(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy in which ``change`` has replaced objects: it gets each one, and returns it or another value."""
    if isinstance(value, dict):
        changed = change(value)
        return {key: rewrite(each, change) for key, each in changed.items()} if isinstance(changed, dict) else changed
    return [rewrite(each, change) for each in value] if isinstance(value, list) else value


def make_view(dataType: DataType, values: Sequence[Any]) -> dict[str, Any]:
    """Return a view of elements; of types that JavaScript has no array for, of their bits."""
    if dataType not in ML_DTYPES:
        return {"$view": dataType, "values": list(values)}
    with np.errstate(all="ignore"):
        numbers = np.array([float(each) for each in values], np.float32).astype(NUMPY_DTYPES[dataType])
    bits = f"uint{BITS[dataType]}"
    return {"$view": bits, "values": numbers.view(bits).tolist()}


def array_of(view: Any) -> Array:
    """Return the elements of a view."""
    return to_array(view["$view"], view["values"])
