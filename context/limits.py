"""What `MLContext.opSupportLimits()` returns: `#api-mlcontext-opsupportlimits`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES, Types
from webnn.validation.revision import Revision

__all__ = ["EXCEPTIONS", "LOWER_RANKS", "op_support_limits"]

_INTEGERS = frozenset(DATA_TYPES) - frozenset(FLOAT_TYPES)

#: Data types that a draft's table allows but this emulator does not run, by operation and operand.
EXCEPTIONS: Mapping[str, Mapping[str, frozenset[str]]] = MappingProxyType(
    # The draft's steps refuse what its table allows.
    {"isInfinite": {"a": _INTEGERS}, "isNaN": {"a": _INTEGERS}}
)

#: Smallest ranks by the draft's steps and prose, where its table gives a larger one; by operation and operand.
LOWER_RANKS: Mapping[str, Mapping[str, int]] = MappingProxyType({"gather": {"output": 0}})

#: An operand's name, data types, and smallest and largest rank; ``None`` where the draft sets no largest one.
_Row = tuple[str, Types, int, int | None]


def op_support_limits(revision: Revision) -> dict[str, Any]:
    """Say which tensors a context supports, and which operands each operation: ``MLOpSupportLimits``, `#dictdef-mlopsupportlimits`.

    The limits are those that the draft allows, less `EXCEPTIONS` and with `LOWER_RANKS`. Where the draft leaves the largest rank open, it
    is the revision's. A context of a device profile returns what the profile says.

    Args:
        revision: The context's revision, one whose draft has such limits.

    Returns:
        The dictionary, with every member that the IDL has, in its order. Operations that a user's profile lacks are left out. The
        dictionary is new each time, so the caller may change it.

    Raises:
        ValueError: The draft has no limits.
    """
    if revision.acceptance is not None:
        return revision.acceptance.limits()
    if revision.limits is None:
        raise ValueError(f"there are no limits of a revision {revision.name!r} here")
    every = revision.limits.data_types
    limits: dict[str, Any] = {
        "preferredInputLayout": "nchw",
        "maxTensorByteLength": revision.max_byte_length,
        "input": _tensor_limits(every, 0, revision.max_rank),
        "constant": _tensor_limits(every, 0, revision.max_rank),
        "output": _tensor_limits(every, 0, revision.max_rank),
    }
    for operation, rows in _operations(revision):
        limits[operation] = {
            name: _tensor_limits(types, low, revision.max_rank if high is None else high) for name, types, low, high in rows
        }
    return limits


def _tensor_limits(types: Types, low: int, high: int) -> dict[str, Any]:
    """Make the dictionary ``MLTensorLimits``, `#dictdef-mltensorlimits`."""
    return {"dataTypes": list(types), "rankRange": {"min": low, "max": high}}


@cache
def _operations(revision: Revision) -> tuple[tuple[str, tuple[_Row, ...]], ...]:
    """Return the rows of each operation, in the order of the IDL's dictionaries."""
    assert revision.limits is not None  # as just checked
    operations = revision.limits.operations
    dictionaries = revision.idl()["dictionaries"]
    result: list[tuple[str, tuple[_Row, ...]]] = []
    for member in dictionaries["MLOpSupportLimits"]["members"]:
        operation, type = member["name"], str(member["type"])
        if operation not in operations:
            continue  # one of the context's own
        rows: list[_Row] = []
        for operand in (each["name"] for each in dictionaries[type]["members"]):
            given = operations[operation][operand]
            excepted = EXCEPTIONS.get(operation, {}).get(operand, frozenset())
            low, high = given.ranks
            low = LOWER_RANKS.get(operation, {}).get(operand, low)
            rows.append((operand, tuple(each for each in given.data_types if each not in excepted), low, high))
        result.append((operation, tuple(rows)))
    return tuple(result)
