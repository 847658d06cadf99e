"""Writes the rows of the tables as files: one for each operation of the draft."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.upstream.extremes import elementwise, movement, sums
from tools.upstream.extremes.case import Extreme
from webnn.formats.literals import Tree, literal, quote, render
from webnn.wpt_runner.writing.conformance import VARIANTS, check_names, describe_case, head, name_sections

__all__ = ["all_rows", "file_name", "write_extremes"]


def all_rows() -> dict[str, list[Extreme]]:
    """Return the rows of each operation, by its name."""
    found: dict[str, list[Extreme]] = {}
    for table in (elementwise, movement, sums):
        for row in table.rows():
            found.setdefault(row.operation, []).append(row)
    return found


def file_name(operation: str) -> str:
    """Return the name of an operation's file, in the style of web-platform-tests: ``reduceL1`` becomes ``reduce_l1``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operation.replace("NaN", "Nan")).lower()


def write_extremes() -> Iterator[tuple[str, str]]:
    """Yield the path below ``webnn`` and the text of each file."""
    for operation, rows in all_rows().items():
        yield f"conformance_tests/{file_name(operation)}-extremes.https.any.js", _write(operation, rows)


def _write(operation: str, rows: list[Extreme]) -> str:
    cases = [row.case() for row in rows]
    check_names("conformance", [case.name for case in cases])
    tests: list[Tree] = []
    for row, case in zip(rows, cases, strict=True):
        described = describe_case(case, with_tolerance=False)
        graph = described["'graph'"]
        assert isinstance(graph, dict)
        tolerance: dict[str, Tree] = {"metricType": quote(case.tolerance.metric), "value": literal(float(case.tolerance.value))}
        graph["'tolerance'"] = tolerance | ({"signedZero": "true"} if row.signed else {})
        tests.append(described)
    return "\n".join(
        [
            head(f"test WebNN API {operation} at the limits of its types", VARIANTS, "utils_values.js", long=True),
            name_sections(cases),
            f"const {operation}ExtremesTests = {render(tests)};\n",
            f"webnn_values_test({operation}ExtremesTests);\n",
        ]
    )
