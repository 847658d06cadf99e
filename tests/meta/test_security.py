"""The promises of docs/security.md: each names tests that try to break it, and those tests exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
PROMISES = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").partition("## The promises")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith("| attacker")
]


@cache
def functions_of(path: str) -> set[str]:
    """Return the names of the functions of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("row", PROMISES, ids=lambda row: row[1])
def test_the_functions_of_a_promise_exist(row: list[str]) -> None:
    named = NAMED.findall(row[3])
    assert named
    assert [f"{path}::{name}" for path, name in named if name not in functions_of(path)] == []
    # A name in another form is not found by the pattern.
    assert row[3].count("`") == 2 * len(named)


def test_each_attacker_has_promises() -> None:
    """But a worker of a cluster, of whom nothing is promised."""
    rows = PAGE.read_text(encoding="utf-8").partition("## The attackers")[2].partition("\n## ")[0].splitlines()
    attackers = [line.split("|")[1].strip() for line in rows if line.startswith("| ") and not line.startswith("| attacker")]
    promised = {row[0] for row in PROMISES}
    assert [each for each in attackers if not any(name in each for name in promised) and "folder" not in each] == ["a worker of a cluster"]
