"""The limits of operands: ``MLTensorLimits``, and what `MLContext.opSupportLimits()` returns, `#api-mlcontext-opsupportlimits`."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES, OperandDescriptor, Ranks, Types
from webnn.validation.extension import Extension
from webnn.validation.revision import Revision

__all__ = [
    "CONTEXT",
    "EXCEPTIONS",
    "LOWER_RANKS",
    "MORE_LIMITS",
    "Limits",
    "Operations",
    "TensorLimits",
    "op_support_limits",
    "operand_names",
    "operation_limits",
    "show_limits",
    "write_limits",
]

#: The members of ``MLOpSupportLimits`` that do not belong to an operation.
CONTEXT = ("preferredInputLayout", "maxTensorByteLength", "input", "constant", "output")
_INTEGERS = frozenset(DATA_TYPES) - frozenset(FLOAT_TYPES)

#: Data types that a draft's table allows but this emulator does not run, by operation and operand.
EXCEPTIONS: Mapping[str, Mapping[str, frozenset[str]]] = MappingProxyType(
    # The draft's steps refuse what its table allows.
    {"isInfinite": {"a": _INTEGERS}, "isNaN": {"a": _INTEGERS}}
)

#: Smallest ranks by the draft's steps and prose, where its table gives a larger one; by operation and operand.
LOWER_RANKS: Mapping[str, Mapping[str, int]] = MappingProxyType({"gather": {"output": 0}})

#: More members of operations in ``MLOpSupportLimits``, by operation: limits of something else than operands.
MORE_LIMITS: Extension[Mapping[str, Mapping[str, Any]]] = Extension("more limits")


@dataclass(frozen=True, slots=True)
class TensorLimits:
    """The limits of one operand: ``MLTensorLimits``, `#dictdef-mltensorlimits`.

    Attributes:
        data_types: The data types it may have.
        ranks: The smallest and the largest rank it may have.
    """

    data_types: Types
    ranks: Ranks

    def take(self, descriptor: OperandDescriptor) -> bool:
        """Tell whether an operand is within the limits."""
        low, high = self.ranks
        return descriptor.dataType in self.data_types and low <= len(descriptor.dimensions) <= high

    def dictionary(self) -> dict[str, Any]:
        """Return the IDL's dictionary, a new one each time."""
        low, high = self.ranks
        return {"dataTypes": list(self.data_types), "rankRange": {"min": low, "max": high}}


class Limits(dict[str, Any]):
    """The dictionary ``MLOpSupportLimits``, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        from webnn.display.table import Table, as_html  # noqa: PLC0415 (only notebooks need it)

        rows: list[list[str]] = []
        facts: list[str] = []
        for member, value in self.items():
            if not isinstance(value, dict):
                facts.append(f"{member}: {value}")
                continue
            operands = {"": value} if "dataTypes" in value else value
            rows += [[member, name, *show_limits(each)] for name, each in operands.items() if isinstance(each, dict)]
        return as_html([Table(title="MLOpSupportLimits", facts=facts, columns=("operation", "operand", "ranks", "types"), rows=rows)])


def show_limits(limits: Mapping[str, Any]) -> tuple[str, str]:
    """Return the ranks and the types of an operand's limits, which a program may have changed."""
    ranks = limits.get("rankRange")
    numbers = [str(ranks.get(name, "")) for name in ("min", "max")] if isinstance(ranks, dict) else []
    types = limits.get("dataTypes")
    return " to ".join(dict.fromkeys(numbers)), ", ".join(map(str, types)) if isinstance(types, list) else ""


#: The limits of operands by operation and row, in the order of the IDL's dictionaries.
Operations = Mapping[str, Mapping[str, TensorLimits]]


def op_support_limits(revision: Revision, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Say which tensors a context supports, and which operands each operation: ``MLOpSupportLimits``, `#dictdef-mlopsupportlimits`.

    The limits are those that the draft allows, less `EXCEPTIONS` and with `LOWER_RANKS`. Where the draft leaves the largest rank open, it
    is the revision's. A context of a device profile returns what the profile says.

    Args:
        revision: The draft, or that of a profile.
        without: Data types that the device does not compute.

    Returns:
        The dictionary, with every member that the IDL has, in its order. Operations that a user's profile lacks are left out. The
        dictionary is new each time, so the caller may change it.

    Raises:
        ValueError: The draft has no limits.
    """
    limits = _draft_limits(revision, without) if revision.acceptance is None else revision.acceptance.limits()
    for name, members in (revision.extension(MORE_LIMITS) or {}).items():
        if name in limits:
            limits[name].update(copy.deepcopy(dict(members)))
    return limits


def _draft_limits(revision: Revision, without: Collection[str]) -> dict[str, Any]:
    if revision.limits is None:
        raise ValueError(f"there are no limits of a revision {revision.name!r} here")
    every = TensorLimits(revision.limits.data_types, (0, revision.max_rank))
    limits = write_limits(("nchw", revision.max_byte_length, every, every, every), operation_limits(revision))
    for value in limits.values() if without else ():
        for row in [] if not isinstance(value, dict) else [value] if "dataTypes" in value else value.values():
            row["dataTypes"] = [each for each in row["dataTypes"] if each not in without]
    return limits


def write_limits(context: tuple[str, int, TensorLimits, TensorLimits, TensorLimits], operations: Operations) -> Limits:
    """Make the dictionary ``MLOpSupportLimits`` from the values of the members `CONTEXT` and those of the operations."""
    limits = Limits({**dict(zip(CONTEXT, context, strict=True)), **operations})
    for member, value in limits.items():
        if isinstance(value, TensorLimits):
            limits[member] = value.dictionary()
        elif isinstance(value, Mapping):
            limits[member] = {row: each.dictionary() for row, each in value.items()}
    return limits


def operand_names(revision: Revision) -> dict[str, tuple[str, ...]]:
    """Return the rows of each operation, in the order of the IDL's dictionaries: arguments, options that are operands, outputs."""
    dictionaries = revision.idl()["dictionaries"]
    operations = [member for member in dictionaries["MLOpSupportLimits"]["members"] if member["name"] not in CONTEXT]
    # An addition may have limits of something else than operands.
    rows = {name: tuple(row["name"] for row in each["members"] if row["type"] == "MLTensorLimits") for name, each in dictionaries.items()}
    return {member["name"]: rows[str(member["type"])] for member in operations}


@cache
def operation_limits(revision: Revision) -> Operations:
    """Return the limits of each operation in a draft that has them."""
    assert revision.limits is not None, revision.name
    tables = revision.limits.operations
    operations: dict[str, dict[str, TensorLimits]] = {}
    for operation, names in operand_names(revision).items():
        if operation not in tables:
            continue  # an addition removed it
        rows = operations[operation] = {}
        for operand in names:
            given = tables[operation][operand]
            excepted = EXCEPTIONS.get(operation, {}).get(operand, frozenset())
            low, high = given.ranks
            low = LOWER_RANKS.get(operation, {}).get(operand, low)
            types = tuple(each for each in given.data_types if each not in excepted)
            rows[operand] = TensorLimits(types, (low, revision.max_rank if high is None else high))
    return operations
