"""Writes the refused calls as validation files: one for each operation, and one for builders that have built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import webnn
from tools.upstream.extremes.write import all_rows
from tools.upstream.files import DRAFT
from tools.upstream.refusals.rows import REFUSALS, Operand, Refusal
from webnn.proposals.proposal import Case
from webnn.validation.drafts import find_revision
from webnn.wpt_runner.writing.conformance import VARIANTS
from webnn.wpt_runner.writing.proposal import write_case
from webnn.wpt_runner.writing.validation import ValidationCase, write_validation_test

__all__ = ["write_built", "write_refusals"]


def write_refusals(draft: str) -> Iterator[tuple[str, str]]:
    """Yield the path below ``webnn`` and the text of each file of a draft.

    Raises:
        WritingError: The draft accepts a call.
    """
    rows: dict[str, list[Refusal]] = {}
    for row in REFUSALS[draft]:
        rows.setdefault(row.operation, []).append(row)
    revision = find_revision(draft)
    for operation, refused in rows.items():
        cases = [write_case(Case(_name(row), partial(_call, row, draft), error="TypeError"), revision) for row in refused]
        title = f"validation tests for WebNN API {operation}, steps that no other file reaches"
        yield f"validation_tests/{operation}-steps.https.any.js", write_validation_test(cases, title=title, variants=VARIANTS)


def _name(row: Refusal) -> str:
    return f"[{row.operation}] Throw if {row.about}."


def _call(row: Refusal, draft: str, builder: Any) -> None:
    """Do a refused call with a builder of a draft."""
    count = 0

    def make(value: Any) -> Any:
        nonlocal count
        if isinstance(value, list):
            return [make(each) for each in value]
        if not isinstance(value, Operand):
            return value
        count += 1
        return builder.input(f"input{count}", {"dataType": value.dataType, find_revision(draft).shape: list(value.shape)})

    arguments = [make(each) for each in row.arguments]
    options = {name: make(value) for name, value in row.options.items()}
    # Operators have labels since 2026-06.
    label = {"label": f"{row.operation}_xxx"} if draft == DRAFT else {}
    getattr(builder, row.operation)(*arguments, **options, **label)


def write_built() -> tuple[str, str]:
    """Return the path and the text of the file in which a builder has built: it throws an `InvalidStateError` for each operation."""
    cases: Sequence[ValidationCase] = [_built(operation, rows[0].case().graph) for operation, rows in all_rows().items()]
    text = write_validation_test(cases, title="validation tests for WebNN API MLGraphBuilder after build()", variants=VARIANTS)
    return "validation_tests/operations-after-build.https.any.js", text


def _built(operation: str, graph: webnn.GraphDescription) -> ValidationCase:
    refused = ValidationCase.refused(f"[{operation}] Throw if the builder has built a graph.", graph, "InvalidStateError")
    *lines, call = refused.lines
    first = "builder.input('first', {dataType: 'float32', shape: [2]})"
    return ValidationCase(
        name=refused.name, lines=[*lines, f"await builder.build(\n    {{output: builder.identity(\n        {first})}});", call]
    )
