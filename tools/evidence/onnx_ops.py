"""Writes docs/onnx-ops.md: what ONNX's own tests say of the import, operator by operator.

python -m tools.evidence.onnx_ops            runs the tests, and writes the page
python -m tools.evidence.onnx_ops --check    fails if a result is wrong, or the page differs
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import onnx
from onnx import defs

from tools.evidence.onnx_nodes import Outcome, Result, collect, judge, make_context
from tools.written import fill, keep_pages
from webnn.onnx.model import ONNX_DOMAINS
from webnn.onnx.partition import table
from webnn.onnx.rules import RULES

__all__ = ["PAGE", "groups", "main", "page", "rows", "run", "written_for"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "onnx-ops.md"
_COLUMNS: Sequence[Outcome] = ("right", "bound", "folded", "refused", "skipped")
_FAULTS: Sequence[Outcome] = ("wrong", "failed")
#: The most reasons of an operator, and how long one may be.
_REASONS, _LONGEST = 2, 160


def groups() -> dict[str, list[str]]:
    """Return the names of the tests of each operator, in alphabetical order."""
    found: dict[str, list[str]] = {}
    for name, case in collect().items():
        found.setdefault(_operator(case.model), []).append(name)
    return dict(sorted(found.items()))


def run(operators: Collection[str] | None = None) -> dict[str, Result]:
    """Judge the tests of some operators; by default, of all."""
    context, cases = make_context(), collect()
    chosen = groups()
    return {name: judge(cases[name], context) for operator in (chosen if operators is None else operators) for name in chosen[operator]}


def written_for() -> str:
    """Return the version of onnx that the page was written for."""
    found = re.search(r"onnx (\d+\.\d+\.\d+)", PAGE.read_text(encoding="utf-8"))
    return found[1] if found else ""


def page(results: Mapping[str, Result]) -> str:
    """Return the page, with the text that is written by hand."""
    return fill(PAGE, "tools.evidence.onnx_ops", "".join(f"{line}\n" for line in _table(results)))


def _table(results: Mapping[str, Result]) -> Iterator[str]:
    totals = Counter(result.outcome for result in results.values())
    figures = ", ".join(f"{totals[outcome]} {outcome}" for outcome in (*_COLUMNS, *_FAULTS))
    yield ""
    yield f"onnx {onnx.__version__}, {len(results)} tests: {figures}."
    yield ""
    yield f"| operator | import | ONNX Runtime Web {table.source()['version']} | {' | '.join(_COLUMNS)} | why |"
    yield f"|---|---|---|{'---|' * len(_COLUMNS)}---|"
    yield from rows(results)


def rows(results: Mapping[str, Result]) -> Iterator[str]:
    """Return the rows of the page for all operators whose tests were judged."""
    taken = table.rules()
    for operator, names in groups().items():
        found = [results[name] for name in names if name in results]
        if not found:
            continue
        counts = Counter(result.outcome for result in found)
        reasons = Counter(_shorten(result.reason) for result in found if result.outcome in ("refused", *_FAULTS))
        cells = [str(counts[outcome] or "") for outcome in _COLUMNS]
        why = "; ".join(reason for reason, _ in reasons.most_common(_REASONS))
        yield f"| {operator} | {_way(operator)} | {'yes' if operator in taken else ''} | {' | '.join(cells)} | {why} |"


def _operator(model: onnx.ModelProto) -> str:
    """Return the operator that a test is about: that of its only node, or the one whose body the nodes are."""
    nodes = model.graph.node
    if len(nodes) == 1:
        return _key(nodes[0].domain, nodes[0].op_type)
    expanded = re.match(r"([A-Z]\w*?)_test_", next((name for node in nodes for name in node.output if "_test_" in name), ""))
    return expanded[1] if expanded else "several"


def _key(domain: str, operator: str) -> str:
    return operator if domain in ONNX_DOMAINS else f"{domain}.{operator}"


def _way(operator: str) -> str:
    """Say how the import takes an operator."""
    if operator in RULES:
        return "rule"
    schema = defs.get_schema(operator) if defs.has(operator) else None
    return "body" if schema is not None and (schema.has_function or schema.has_context_dependent_function) else ""  # type: ignore[attr-defined]


def _shorten(reason: str) -> str:
    """Return the first reason, without names of values."""
    first = re.sub(r"'[^']*'", "'...'", reason.split("; ", maxsplit=1)[0]).removeprefix(": ").replace("|", "\\|")
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}..."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a result is wrong, or the page differs")
    check = parser.parse_args(arguments).check
    results = run()
    faults = [f"{name}: {result.outcome}: {result.reason}" for name, result in results.items() if result.outcome in _FAULTS]
    print("\n".join([*faults, f"{len(faults)} faults in {len(results)} tests"]))
    return keep_pages({PAGE: page(results)}, "tools.evidence.onnx_ops", check=check) or int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
