"""Which test reaches each step: one run of tests with the plug-in, kept in ``reached.json``."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tools.steps.cited import ROOT, Function, Key, citations, functions, operations, steps
from webnn.validation.drafts import DRAFTS_WITH_TEXT
from webnn.validation.steps import Step, algorithms_of
from webnn.validation.steps.tags import Cite, Tag

__all__ = ["FILE", "failing_files", "gather", "load", "measure", "render", "simplest", "stale"]

FILE = Path(__file__).with_name("reached.json")

#: The step of an error: where it was made, the draft, the operation, the argument, the test.
_Error = tuple[Sequence[tuple[str, int]], str, str, str, str]


def load(file: Path | None = None) -> dict[Key, str]:
    """Return the test that reaches each step, from a file: by default `FILE`."""
    data: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads((file or FILE).read_text(encoding="utf-8"))
    return {
        (draft, name, number): test for draft, named in data.items() for name, numbers in named.items() for number, test in numbers.items()
    }


def render(reached: Mapping[Key, str]) -> str:
    """Return the text of the file, in the order of the drafts' steps."""
    data: dict[str, dict[str, dict[str, str]]] = {}
    for key in citations():
        if key in reached:
            data.setdefault(key[0], {}).setdefault(key[1], {})[key[2]] = reached[key]
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def measure(arguments: Sequence[str]) -> dict[Key, set[str]]:
    """Run tests and return those that reach each step.

    Args:
        arguments: The arguments of pytest.

    Raises:
        subprocess.CalledProcessError: A test failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        variables = {"WEBNN_STEPS_FOLDER": folder, "WEBNN_STEPS_FILES": json.dumps(failing_files()), "PYTHONPATH": str(ROOT)}
        # These tests need not be those on shared data.
        variables["WEBNN_REQUIRE_SHARED"] = ""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.steps.plugin", "-p", "no:cacheprovider", *arguments]
        subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=True)
        records = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(Path(folder).glob("*.json"))]
    return gather(records)


def failing_files() -> list[str]:
    """Return the files with functions that return a failure and throw nothing."""
    return sorted({str(ROOT / function.path) for function, _, _ in _failures()})


def gather(records: Sequence[Mapping[str, Any]]) -> dict[Key, set[str]]:
    """Return the tests that reach each step, from what the processes recorded."""
    reached: defaultdict[Key, set[str]] = defaultdict(set)
    for record in records:
        for error in record["errors"]:
            for key in _of_error(error):
                reached[key].add(error[-1])
        for function, line, keys in _failures():
            for file, lines in record["lines"].items():
                tests = lines.get(str(line), ()) if Path(file).samefile(ROOT / function.path) else ()
                for key in keys if tests else ():
                    reached[key].update(tests)
    return dict(reached)


def simplest(reached: Mapping[Key, Collection[str]], kept: Mapping[Key, str] = MappingProxyType({})) -> dict[Key, str]:
    """Return the test that was kept for each step if it still reaches it, otherwise the simplest one of those that do."""
    return {key: kept[key] if kept.get(key) in tests else min(tests, key=_rank) for key, tests in reached.items()}


def stale(recorded: Mapping[Key, str], reached: Mapping[Key, Collection[str]]) -> Iterator[str]:
    """Yield the steps that the recorded test does not reach."""
    for key, test in recorded.items():
        if test not in reached.get(key, ()):
            yield f"{test} does not reach {key}, though {FILE.name} says so"


def _rank(test: str) -> tuple[bool, bool, int, str]:
    """Order tests: those of the package itself first, then the short names."""
    return not test.startswith(("tests/validation/", "tests/builder/", "tests/context/")), "profile" in test, len(test), test


def _of_error(error: _Error) -> Iterator[Key]:
    """Yield the steps that an error passed."""
    frames, draft, operation, argument, _ = error
    chain = [found for module, line in reversed(frames) if (found := _tag_at(module, line)) is not None]
    for index, (function, tag) in enumerate(chain):
        for each in [draft] if draft in DRAFTS_WITH_TEXT else DRAFTS_WITH_TEXT:
            cites = tag.cites(each)
            inner = chain[index + 1][1].cites(each) if index + 1 < len(chain) else ()
            if len(cites) > 1 and inner and inner[0].is_letter:
                cites = tuple(cites[letter.position] for letter in inner)
            for cite in cites:
                for name, step in _steps(function, cite, each, operation):
                    if not cite.is_kind or not step.operands or _operand(argument) in step.operands:
                        yield each, name, step.number


def _operand(argument: str) -> str:
    return argument.rpartition(".")[2].partition("[")[0]


def _steps(function: Function, cite: Cite, draft: str, operation: str) -> Iterator[tuple[str, Step]]:
    """Yield the steps of a citation that belong to an operation."""
    if cite.is_letter:
        return
    of_operations = cite.is_kind or (operations(function, draft) is not None and not cite.anchor)
    wanted = {each.name for each in algorithms_of(operation, draft)} if of_operations else None
    yield from ((algorithm.name, step) for algorithm, step in steps(function, cite, draft) if wanted is None or algorithm.name in wanted)


def _tag_at(module: str, line: int) -> tuple[Function, Tag] | None:
    """Return the innermost tag that a line belongs to."""
    found = [(each, tag) for each in functions() if each.module == module for tag in each.tags if tag.first <= line <= tag.last]
    return min(found, key=lambda each: each[1].last - each[1].first, default=None)


def _failures() -> Iterator[tuple[Function, int, set[Key]]]:
    """Yield the lines that return a failure and throw nothing, with their steps."""
    for key, cited in citations().items():
        for each in cited:
            if each.step.throws not in ("failure", "false"):
                continue
            for node in ast.walk(each.function.node):
                if isinstance(node, ast.Return) and each.tag.first <= node.lineno <= each.tag.last:
                    yield each.function, node.lineno, {key}
