"""Changes that make a refused call fit: another data type, another rank, or a change that a rule of `build()` names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from webnn.check.report import Change
from webnn.context.profiles.profile import RENAMED
from webnn.context.profiles.rules import demand, described_facts
from webnn.importing.ranges import Interval
from webnn.validation.descriptor import FLOAT_TYPES, DataType, integer_range, is_float
from webnn.validation.drafts import for_devices
from webnn.validation.drafts.limits import OperandLimits

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.profiles import Profile, TensorLimits, Violation

__all__ = ["NEAREST", "give_int32", "keep_native", "loss", "prove", "suggest"]

#: For each data type those that can replace it, best first: types that hold every value before others, and integers before
#: floating-point types. A type that would lose the sign is not among them.
NEAREST: Mapping[DataType, tuple[DataType, ...]] = MappingProxyType(
    {
        "float32": ("float16",),
        "float16": ("float32",),
        "int64": ("int32", "float32", "float16"),
        "uint64": ("int64", "uint32", "int32", "float32", "float16"),
        "int32": ("int64", "float32", "float16"),
        "uint32": ("int64", "uint64", "int32", "float32", "float16"),
        "int8": ("int32", "int64", "float16", "float32"),
        "uint8": ("int32", "uint32", "int64", "uint64", "int8", "float16", "float32"),
        "int4": ("int8", "int32", "int64", "float16", "float32"),
        "uint4": ("uint8", "int8", "int32", "uint32", "int64", "uint64", "float16", "float32"),
        "bfloat16": ("float32", "float16"),
        "float8e4m3": ("float16", "float32"),
    }
)

#: Up to here a floating-point type holds every integer.
_EXACT: Mapping[DataType, int] = MappingProxyType({"float32": 2**24, "float16": 2**11})
#: Values whose data type the method that makes them determines, with the advice for each method.
_TENSORS = MappingProxyType(
    {
        "input": "declare the input as {}",
        "constant": "give the constant as {}",
        "createTensor": "make the tensor as {}",
        "createConstantTensor": "make the tensor as {}",
    }
)
_SHAPE = re.compile(r"\d+-D (\[.*\])")


def loss(given: DataType, to: DataType) -> str:
    """Describe the loss of values that become another data type; empty if there is none."""
    if is_float(given):
        if to == "float32" or given == "float8e4m3":
            return ""
        return f"{'' if given == 'bfloat16' else 'three digits remain, and '}values beyond 65504 do not fit"
    low, high = integer_range(given)
    if to in FLOAT_TYPES:
        exact = _EXACT[to]
        return "" if max(-low, high) <= exact else f"only integers up to {exact} stay exact"
    least, most = integer_range(to)
    if low < least:
        return f"values outside {to} do not fit"
    return f"values above {most} do not fit" if high > most else ""


def suggest(violation: Violation, profile: Profile) -> Change | None:
    """Return the change that makes a refused operand fit and loses the least; ``None`` where nothing is known to help."""
    if violation.change:
        return Change(text=violation.change)
    if violation.kind == "rule":
        return _change_rule(violation)
    if violation.kind == "rank":
        return _change_rank(violation, profile)
    if violation.kind == "operation" or not violation.allowed:
        return None
    given = cast("DataType", violation.given)
    rows = _rows(violation.operation)
    if not rows:
        return _change_tensor(violation.operation, given, violation.allowed, profile)
    return _change_operand(violation, given, rows, profile)


def keep_native(graph: GraphDescription, index: int, profile: Profile) -> str:
    """Return the change that keeps an operator on the device of a profile; empty where nothing is known to help, or it does not leave.

    Args:
        graph: The graph.
        index: The number of the operator.
        profile: The profile.
    """
    operator = next(each for each in graph.operators if each.index == index)
    known = graph.descriptors()
    operands = [(argument, row, known[value]) for argument, row, value in operator.named_values()]
    violation = profile.find_stray(operator.operation, operands, operator.descriptors, partial(described_facts, operator, graph, known))
    if violation is None:
        return ""
    rows = profile.operations.get(operator.operation, {})
    if violation.kind == "dataType":
        # The operands of the same type must be native, too.
        rows = {row: replace(limits, data_types=tuple(set(limits.data_types) & {*violation.allowed})) for row, limits in rows.items()}
    change = suggest(violation, replace(profile, operations={**profile.operations, operator.operation: rows}))
    return "" if change is None else change.text


def _change_rule(violation: Violation) -> Change:
    """Return the demand of a rule, if its profile has no better advice."""
    if violation.demand == demand("constant", wanted=True):
        return Change(text=f"make {violation.argument} a constant: compute its values before the graph is built")
    return Change(text=f"let {violation.argument} {violation.demand.removeprefix('must ')}")


def prove(change: Change, interval: Interval) -> Change:
    """Say that a change to another integer type loses nothing, if the values are proven to lie in its range."""
    to = change.data_type
    if to is None or to in FLOAT_TYPES or not change.loses or not interval.fits(cast("DataType", to)):
        return change
    proof = f"the values are {interval}"
    return Change(text=f"{change.text.removesuffix(f' ({change.loses})')} ({proof})", data_type=to)


def give_int32(violation: Violation, change: Change | None) -> Change | None:
    """Name the option that makes int64 of an imported model int32, where that is the change."""
    if violation.given != "int64" or "int32" not in violation.allowed or (change is not None and change.data_type != "int32"):
        return change
    return _change("give --int32, which computes int64 in int32, inputs and outputs too", "int64", "int32")


def _change_tensor(operation: str, given: DataType, allowed: Sequence[DataType], profile: Profile) -> Change | None:
    """Change a value whose type the method determines, or one that leaves the graph."""
    to = next((each for each in NEAREST[given] if each in allowed), None)
    if to is None:
        return None
    if operation not in _TENSORS:
        # An output of the graph.
        return _change(f"cast it to {to} before it leaves the graph", given, to) if _casts(profile, given, to) else None
    text = _TENSORS[operation].format(to)
    if operation in ("input", "constant") and _casts(profile, to, given):
        text += f", and cast it to {given} where the graph needs that"
    return _change(text, given, to)


def _change_operand(violation: Violation, given: DataType, rows: Mapping[str, OperandLimits], profile: Profile) -> Change | None:
    """Change an operand of an operation, with those that must have the same type."""
    argument = violation.argument
    renamed = RENAMED.get(violation.operation, {})
    row = renamed.get(argument, _row(argument))
    if row not in rows:
        # The argument that determines the type of the output.
        to = next((each for each in NEAREST[given] if each in violation.allowed), None)
        return None if to is None else _change(f"give {argument} as {json.dumps(to)}", given, to)
    # The rows that have one data type with this row, itself among them.
    root = rows[row].same_type_as or row
    tied = [name for name, each in rows.items() if root in (name, each.same_type_as)]
    limits = profile.operations[violation.operation]
    fitting = [each for each in NEAREST[given] if all(each in limits[name].data_types and each in rows[name].data_types for name in tied)]
    operands = [name for name in tied if not rows[name].output]
    if not fitting or not operands:
        return None
    # Types that the profile's own cast can produce come first.
    to = next((each for each in fitting if _casts(profile, given, each)), None)
    names = {name: old for old, name in renamed.items()} if argument in renamed else {}
    others = [f"options.{name}" if rows[name].option else names.get(name, name) for name in operands if name != row]
    what = _list(others) if rows[row].output else row if rows[row].sequence else argument
    with_it = f", {_list(others)} too" if others and not rows[row].output else ""
    if to is None:
        to = fitting[0]
        return _change(f"have {what} as {to} from the start{with_it}: no cast here takes {given} and gives {to}", given, to)
    results = [name for name in tied if rows[name].output]
    back = f", and the result back to {given}" if results and _casts(profile, to, given) else ""
    return _change(f"cast {what} to {to}{with_it}{back}", given, to)


def _change_rank(violation: Violation, profile: Profile) -> Change | None:
    match = _SHAPE.fullmatch(violation.given)
    if match is None:
        return None
    shape: list[int] = json.loads(match[1])
    rank, ones = len(shape), shape.count(1)
    low, high = violation.allowed
    tensor = _TENSORS.get(violation.operation)
    reshape = profile.operations.get("reshape")
    what = violation.argument
    if rank < low:
        how = "with dimensions of size 1 in front"
        if tensor is not None:
            return Change(text=f"{tensor.format(f'{low}-D')}, {how}")
        return Change(text=f"reshape {what} to {low}-D, {how}") if _reshapes(reshape, rank, low) else None
    how = "drop dimensions of size 1" if rank - ones <= high else "merge neighbouring dimensions"
    if tensor is not None:
        return Change(text=f"{tensor.format(f'{high}-D')}: {how}")
    keep = f"keep {what} at {high}-D from the start: {how}"
    rows = _rows(violation.operation)
    if (row := _row(what)) in rows and rows[row].output:
        # It is refused before anything could reshape it.
        return Change(text=keep)
    if not _reshapes(reshape, rank, high):
        return Change(text=f"{keep} (reshape takes no {rank}-D operand here)")
    return Change(text=f"reshape {what} to {high}-D: {how}")


def _rows(operation: str) -> Mapping[str, OperandLimits]:
    """Return the limits of an operation's operands; none if it is not an operation."""
    limits = for_devices().limits
    return {} if limits is None else limits.operations.get(operation, {})


def _row(argument: str) -> str:
    """Return the row of the tables that an argument has: ``"options.bias"`` is ``"bias"``, ``"inputs[1]"`` is ``"inputs"``."""
    return re.sub(r"\[\d+\]$", "", argument.removeprefix("options."))


def _casts(profile: Profile, given: DataType, to: DataType) -> bool:
    """Tell whether the profile's own cast takes a type and gives another one."""
    rows = profile.operations.get("cast")
    return rows is not None and given in rows["input"].data_types and to in rows["output"].data_types


def _reshapes(rows: Mapping[str, TensorLimits] | None, rank: int, to: int) -> bool:
    """Tell whether the profile's own reshape takes a rank and gives another one."""
    return rows is not None and all(low <= each <= high for (low, high), each in ((rows["input"].ranks, rank), (rows["output"].ranks, to)))


def _list(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _change(text: str, given: DataType, to: DataType) -> Change:
    loses = loss(given, to)
    return Change(text=f"{text} ({loses})" if loses else text, data_type=to, loses=loses)
