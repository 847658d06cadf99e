"""The data types and ranks of an operation's operands, in each draft and on each device profile, as one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tools.site.text import code, table
from webnn.context.limits import TensorLimits
from webnn.context.profiles import PROFILES, load_profile
from webnn.validation.drafts import DRAFTS_OF_GRAPHS, find_revision
from webnn.validation.drafts.limits import Limits, OperandLimits
from webnn.validation.revision import Revision

__all__ = ["limits_table", "rules_table"]

#: Operands that have another name in drafts without tables of limits.
_EARLIER = {"where": {"trueValue": "input", "falseValue": "other"}}
#: The cell for a draft without an entry.
_UNSTATED = "-"
#: More profiles than these, all with the same limits, are called all.
_EVERY = len(PROFILES)


class _Row(NamedTuple):
    """A draft, or profiles with the same limits: what it is called, and the text for each operand."""

    title: str
    cells: tuple[str, ...]


def limits_table(operation: str) -> list[str]:
    """Return the table: a row for each draft and for profiles with the same limits, a column for operands with the same limits."""
    limits = find_revision(DRAFTS_OF_GRAPHS[-1]).limits
    assert limits is not None
    operands = limits.operations[operation]
    rows = [row for draft in DRAFTS_OF_GRAPHS for row in _of_draft(find_revision(draft), operation, operands)]
    rows += _of_profiles(operation, operands, len(limits.data_types))
    joined: dict[tuple[str, ...], list[str]] = {}
    for index, (name, operand) in enumerate(operands.items()):
        joined.setdefault((_remark(operand), *(row.cells[index] for row in rows)), []).append(code(name))
    columns = [(",\n".join(names) + remark, cells) for (remark, *cells), names in joined.items()]
    return table(
        ["", *(title for title, _ in columns)], [[row.title, *(cells[index] for _, cells in columns)] for index, row in enumerate(rows)]
    )


def rules_table(operation: str) -> list[str]:
    """Return a table of what device profiles refuse when a graph is built; nothing if there is none."""
    rules: dict[tuple[str, str, str], list[str]] = {}
    for name in PROFILES:
        for rule in load_profile(name).rules.get(operation, ()):
            rules.setdefault((rule.sentence, code(rule.error), rule.change), []).append(code(name))
    head = ["what must hold in `build()`", "otherwise", "what helps", "profiles"]
    return table(head, ([*rule, ", ".join(names)] for rule, names in rules.items())) if rules else []


def _remark(row: OperandLimits) -> str:
    if row.condition:
        return f"\nwith {code(row.condition)}"
    return "\neach of them" if row.sequence else "\noption" if row.option else ""


def _of_draft(revision: Revision, operation: str, rows: Mapping[str, OperandLimits]) -> Iterator[_Row]:
    """Yield the rows of a draft: one, or with tables of limits another one with what every device supports."""
    if operation not in revision.operations:
        return
    if revision.limits is None:
        yield _Row(revision.name, tuple(_of_tables(revision, operation, name, row) for name, row in rows.items()))
        return
    own = revision.limits.operations[operation]
    yield _Row(revision.name, tuple(_cell(_types(own[name], revision.limits), _ranks(own[name].ranks)) for name in rows))
    required = [
        _cell(_listed(own[name].required_data_types, len(revision.limits.data_types)), _ranks(own[name].required_ranks)) for name in rows
    ]
    yield _Row(f"{revision.name}, every device", tuple(required))


def _of_tables(revision: Revision, operation: str, name: str, row: OperandLimits) -> str:
    key = _EARLIER.get(operation, {}).get(name, f"options.{name}" if row.option else name)
    types = revision.data_types.get(operation, {}).get(key)
    ranks = revision.ranks.get(operation, {}).get(key)
    if types is None and ranks is None:
        return _UNSTATED
    return _cell(
        _listed(types, 0) if types else "", _ranks((ranks[0], ranks[1] if ranks[1] < revision.max_rank else None)) if ranks else ""
    )


def _types(row: OperandLimits, limits: Limits) -> str:
    return f"that of {code(row.same_type_as)}" if row.same_type_as else _listed(row.data_types, len(limits.data_types))


def _of_profiles(operation: str, rows: Mapping[str, OperandLimits], count: int) -> list[_Row]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in PROFILES:
        taken = load_profile(name).operations.get(operation)
        cells = tuple("not supported" if taken is None else _of_profile(taken[row], count) for row in rows)
        groups.setdefault(cells, []).append(name)
    return [_Row("all profiles" if len(names) == _EVERY else ", ".join(map(code, names)), cells) for cells, names in groups.items()]


def _of_profile(limits: TensorLimits, count: int) -> str:
    return _cell(_listed(limits.data_types, count), _ranks(limits.ranks)) if limits.data_types else "none"


def _listed(types: Sequence[str], count: int) -> str:
    return "any type" if len(types) == count else ", ".join(types)


def _ranks(ranks: tuple[int, int | None]) -> str:
    low, high = ranks
    if high is None:
        return f"rank {low} or more" if low else "any rank"
    return f"rank {low}" if low == high else f"rank {low} to {high}"


def _cell(types: str, ranks: str) -> str:
    return "\n".join(filter(None, (types, ranks)))
