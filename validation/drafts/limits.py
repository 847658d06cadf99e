"""The tables of tensor limits of a draft, as data: which data types and ranks each operation allows, and which it requires.

`tools/extract_limits.py` takes the files ``<draft>.limits.json`` from the drafts that have such tables. Beside its ``source``, a file has:

- ``dataTypes``: the draft's data types, in the order of ``MLOperandDataType``; every list of types is in that order;
- ``tables``: by its anchor, each table: the ``operations`` it is for, and its ``operands`` by name.

Operands have the names of the dictionaries below ``MLOpSupportLimits``: an argument or option its IDL name, an output ``"output"``,
``"outputs"`` (each of the sequence) or ``"output0"``, ``"output1"``. The row of an operand has

- ``dataTypes``: the allowed data types, a list; ``"any"``; or ``{"sameAs": operand}``, the data type that another operand has;
- ``ranks``: the allowed ranks, ``[smallest, largest]``, ``null`` for no largest one; or ``{"sameAs": operand}``, the rank of another one;
- ``requiredDataTypes`` and ``requiredRanks``: the subset that every implementation supports, a list and ``[smallest, largest]``;
- where it applies, ``option``: the operand is a member of the options; ``output``: it is an output; ``sequence``: it is each item of the
  argument, a sequence; ``condition``: the member of the options that must be true for the output to be there.

`read_limits` resolves references.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from webnn.validation.descriptor import MAX_RANK, DataType, Ranks, Types

__all__ = ["Limits", "OperandLimits", "read_limits", "tables", "with_rows", "with_types"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandLimits:
    """The limits of one operand of an operation.

    Attributes:
        data_types: The data types that the operation allows, in the order of ``MLOperandDataType``.
        ranks: The smallest and the largest rank that it allows; the largest is ``None`` if the draft sets none.
        required_data_types: The data types that every implementation supports.
        required_ranks: The smallest and the largest rank that every implementation supports.
        same_type_as: The operand whose data type this one must have or has, empty if there is none.
        same_rank_as: The operand whose rank this one must have or has, empty if there is none.
        sequence: The limits hold for each item of the argument, a sequence.
        condition: The member of the options that must be true for the output to be there, empty if it always is.
    """

    data_types: Types
    ranks: tuple[int, int | None]
    required_data_types: Types
    required_ranks: Ranks
    same_type_as: str = ""
    same_rank_as: str = ""
    option: bool = False
    output: bool = False
    sequence: bool = False
    condition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a draft.

    Attributes:
        source: The draft's title, revision, address and license.
        operations: For each operation the limits of its operands, inputs before options before outputs.
    """

    source: Mapping[str, str]
    data_types: tuple[DataType, ...]
    operations: Mapping[str, Mapping[str, OperandLimits]]


def read_limits(name: str) -> Limits:
    """Read the file of a draft, for example ``"2026-06"``."""
    from importlib import resources  # noqa: PLC0415 (it loads `tempfile`, which most programs do not need)

    file = resources.files("webnn.validation.drafts") / f"{name}.limits.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    operations: dict[str, Mapping[str, OperandLimits]] = {}
    for table in data["tables"].values():
        rows = table["operands"]
        operands = MappingProxyType({name: _operand(row, rows, data["dataTypes"]) for name, row in rows.items()})
        operations.update(dict.fromkeys(table["operations"], operands))
    return Limits(source=MappingProxyType(data["source"]), data_types=tuple(data["dataTypes"]), operations=MappingProxyType(operations))


def with_rows(limits: Limits, rows: Mapping[str, Mapping[str, OperandLimits]]) -> Limits:
    """Return limits with rows replaced or added, by operation and operand."""
    changed = {operation: MappingProxyType({**limits.operations.get(operation, {}), **operands}) for operation, operands in rows.items()}
    return replace(limits, operations=MappingProxyType({**limits.operations, **changed}))


def with_types(limits: Limits, data_types: Types, allowed: Mapping[str, Mapping[str, Types]]) -> Limits:
    """Return limits with new data types. Operations allow those of ``allowed``, by operation and operand."""
    rows = {
        operation: {
            name: replace(row, data_types=row.data_types + operands.get(name, ())) for name, row in limits.operations[operation].items()
        }
        for operation, operands in allowed.items()
    }
    return replace(with_rows(limits, rows), data_types=limits.data_types + data_types)


def _operand(row: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]], every: list[DataType]) -> OperandLimits:
    """Make an operand's limits from its row. A row that is referred to gives the value itself."""
    types, ranks = row["dataTypes"], row["ranks"]
    same_type_as = types["sameAs"] if isinstance(types, dict) else ""
    same_rank_as = ranks["sameAs"] if isinstance(ranks, dict) else ""
    if same_type_as:
        types = rows[same_type_as]["dataTypes"]
    if same_rank_as:
        ranks = rows[same_rank_as]["ranks"]
    low, high = ranks
    least, most = row["requiredRanks"]
    return OperandLimits(
        data_types=tuple(every if types == "any" else types),
        ranks=(low, high),
        required_data_types=tuple(row["requiredDataTypes"]),
        required_ranks=(least, most),
        same_type_as=same_type_as,
        same_rank_as=same_rank_as,
        option=row.get("option", False),
        output=row.get("output", False),
        sequence=row.get("sequence", False),
        condition=row.get("condition", ""),
    )


def tables(limits: Limits, max_rank: int = MAX_RANK) -> tuple[Mapping[str, Mapping[str, Types]], Mapping[str, Mapping[str, Ranks]]]:
    """Make the tables that validators check operands against, `Revision.data_types` and `Revision.ranks`, by operation and operand.

    Every operation has a row for each operand argument (``"input"``) and for each operand option (``"options.bias"``), even if the row
    allows everything. ``"output"`` has a row of data types only where the program chooses the output's type: where it is not another
    operand's type, and more than one type is allowed. The largest rank is ``max_rank`` where the draft sets none.
    """
    data_types: dict[str, Mapping[str, Types]] = {}
    ranks: dict[str, Mapping[str, Ranks]] = {}
    for operation, operands in limits.operations.items():
        inputs = {f"options.{name}" if each.option else name: each for name, each in operands.items() if not each.output}
        chosen = {name: each for name, each in operands.items() if each.output and not each.same_type_as and len(each.data_types) > 1}
        data_types[operation] = MappingProxyType({name: each.data_types for name, each in {**inputs, **chosen}.items()})
        bounds = {name: each.ranks for name, each in inputs.items()}
        ranks[operation] = MappingProxyType({name: (low, max_rank if high is None else high) for name, (low, high) in bounds.items()})
    return MappingProxyType(data_types), MappingProxyType(ranks)
