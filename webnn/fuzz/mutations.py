"""Near-valid calls: one value of a valid call is replaced by one that should be refused, or is at a border."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from webnn.calls.dice import Dice
from webnn.calls.maker import places
from webnn.fuzz.maker import Maker
from webnn.fuzz.programs import SHARED, Step, is_reference
from webnn.validation.descriptor import DATA_TYPES

__all__ = ["mutate", "own_arguments"]

_NUMBERS: tuple[Any, ...] = ({"$bigint": "1"}, {"$number": "NaN"}, {"$number": "Infinity"})
_WRONG: tuple[Any, ...] = (None, "abc", "3", True, {}, [], {"$undefined": True}, *_NUMBERS)


def mutate(m: Maker, name: str, members: Mapping[str, Any]) -> None:
    """Change one value of the last step, a call of an operation, whose options have the types ``members`` in the IDL."""
    dice, step = m.dice, m.steps.pop()
    found = list(places(own_arguments(step)))
    kind = dice.integer(0, 11)
    if kind == 0 and members:
        _add_option(dice, step, members)
    elif kind == 1:
        if len(step["args"]) > 1 and dice.chance():
            step["args"].pop()
        else:
            step["args"].append(dice.pick(_WRONG))
    elif kind == 2:
        container, key = dice.pick(found)
        container[key] = dice.pick(_WRONG)
    else:
        # Mostly a value becomes another one of its own kind.
        container, key = dice.pick(found)
        value = container[key]
        if is_reference(value):
            container[key] = _other_operand(m, value)
        elif isinstance(value, bool) or value is None:
            container[key] = dice.pick(_WRONG)
        elif isinstance(value, int | float):
            container[key] = _other_number(dice, value)
        elif isinstance(value, str):
            container[key] = dice.pick(("bogus", value.upper(), "", *DATA_TYPES))
        elif isinstance(value, list):
            container[key] = _other_list(dice, value)
        else:
            container[key] = dice.pick((None, 3, "abc", {"label": 5}))
    # Steps that the change added must come before the call.
    m.steps.append(step)


def own_arguments(step: Step) -> list[Any]:
    """Give a step arguments of its own, and return them: those that a change has put there belong to all programs."""
    found: list[Any] = copy.deepcopy(step["args"])
    step["args"] = found
    return found


def _other_number(dice: Dice, value: float) -> Any:
    near = (value + 1, value + 1, value - 1, value - 1, -value, 0, value + 0.5, 2 * value)
    return dice.pick((*near, 2**31, 2**32, 2**53, {"$number": "-0"}, *_WRONG[:4], *_NUMBERS))


def _other_list(dice: Dice, value: list[Any]) -> Any:
    changes: list[Callable[[], Any]] = [
        lambda: value[:-1],
        lambda: [*value, *(value[:1] or [1])],
        lambda: [*value, 1],
        lambda: [value[0] for _ in value] if value else [0],
        lambda: [],
        lambda: value[0] if value else 1,
        lambda: [0 for _ in value],
        lambda: dice.pick((None, "abc", {}, 7)),
    ]
    return dice.pick(changes)()


def _other_operand(m: Maker, reference: Any) -> Any:
    """Return another operand: of another type, rank or size, of another builder, or none at all."""
    dice = m.dice
    known = {value.reference["$step"]: value for value in m.values}
    value = known.get(reference["$step"])
    if value is None or dice.chance(0.12):
        return dice.pick((None, "abc", 1, {}, [], m.builder, [reference]))
    dataType, shape = value.dataType, list(value.shape)
    kind = dice.integer(0, 5)
    if kind == 0:
        dataType = dice.pick(DATA_TYPES)
    elif kind == 1:
        shape.insert(dice.integer(0, len(shape)), dice.integer(1, 2))
    elif kind == 2 and shape:
        shape.pop(dice.integer(0, len(shape) - 1))
    elif kind == 3 and shape:
        axis = dice.integer(0, len(shape) - 1)
        shape[axis] = max(1, shape[axis] + dice.pick((-1, 1)))
    elif kind == 4:
        shape.reverse()
    else:
        # An operand of another builder.
        return m.step("input", "foreign", {"dataType": dataType, "shape": shape}, on=m.step("MLGraphBuilder", SHARED))
    return m.step("input", f"other{len(m.steps)}", {"dataType": dataType, "shape": shape}, on=m.builder)


def _add_option(dice: Dice, step: Step, members: Mapping[str, Any]) -> None:
    """Add one of the options, of the right kind, but for other operands than these."""
    if not isinstance(step["args"][-1], dict) or is_reference(step["args"][-1]):
        step["args"].append({})
    name = dice.pick(sorted(members))
    kind = members[name]
    kind = kind.get("type", kind) if isinstance(kind, dict) and "sequence" not in kind else kind
    if isinstance(kind, dict):
        value: Any = dice.integers(dice.integer(0, 4), 0, 3)
    elif kind == "boolean":
        value = dice.chance()
    elif kind == "MLOperand":
        value = dice.pick([{"$step": 1}, None, 1])
    elif kind in ("unsigned long", "long", "double", "float", "MLNumber"):
        value = dice.pick((0, 1, 2, 7, -1, 1.5, 2**32, {"$number": "NaN"}))
    else:
        value = dice.pick(("nchw", "nhwc", "linear", "edge", "ceil", "both", "int32", "label", "\ud800", ""))
    step["args"][-1][name] = value
