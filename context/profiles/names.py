"""The names of a profile's members: those of the IDL's dictionary ``MLOpSupportLimits``, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from webnn.validation.drafts import for_devices

__all__ = ["CONTEXT", "operand_names", "output_rows"]

#: The members that are no operation's.
CONTEXT = ("preferredInputLayout", "maxTensorByteLength", "input", "constant", "output")


@cache
def operand_names() -> Mapping[str, tuple[str, ...]]:
    """Return the rows of each operation: arguments, options that are operands, outputs."""
    dictionaries = for_devices().idl()["dictionaries"]
    operations = [member for member in dictionaries["MLOpSupportLimits"]["members"] if member["name"] not in CONTEXT]
    return MappingProxyType(
        {member["name"]: tuple(row["name"] for row in dictionaries[str(member["type"])]["members"]) for member in operations}
    )


def output_rows(operation: str, count: int) -> list[tuple[str, str]]:
    """Return, for each output of a call, its name in errors and its row.

    Args:
        operation: The operation.
        count: How many outputs the call has.
    """
    rows = operand_names()[operation]
    if "output" in rows:
        return [("output", "output")] * count
    return [(f"outputs[{index}]", "outputs" if "outputs" in rows else f"output{index}") for index in range(count)]
