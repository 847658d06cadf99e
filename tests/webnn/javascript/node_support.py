"""Running programs in Node: the one that ``WEBNN_NODE`` names, or the one that is found.

Without one a test is skipped, or fails where the environment variable ``WEBNN_REQUIRE_NODE`` is set.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from webnn.javascript.files import Files
from webnn.javascript.node import InstalledNode, NodeMissingError, NodeProgram, find_node, run_program
from webnn.javascript.page_scripts import Script

__all__ = ["Outcome", "inline", "require_node", "run", "run_scripts"]


@cache
def _find() -> InstalledNode | str:
    try:
        named = os.environ.get("WEBNN_NODE")
        return find_node(Path(named) if named else None)
    except NodeMissingError as error:
        return str(error)


def require_node() -> InstalledNode:
    found = _find()
    if isinstance(found, InstalledNode):
        return found
    if os.environ.get("WEBNN_REQUIRE_NODE"):
        pytest.fail(found)
    pytest.skip(found)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a program."""

    code: int
    stdout: str
    stderr: str


def run(folder: Path, source: str, kind: Any = "module", node: InstalledNode | None = None, **options: Any) -> Outcome:
    """Run a program of one script in a folder."""
    name = "program.mjs" if kind == "module" else "program.js"
    (folder / name).write_text(source, encoding="utf-8")
    url = f"https://app.test/{name}"
    return run_scripts(folder, [Script(url=url, kind=kind)], url, node, **options)


def run_scripts(
    folder: Path, scripts: list[Script], url: str, node: InstalledNode | None = None, *, verbose: bool = False, **options: Any
) -> Outcome:
    stdout, stderr = BytesIO(), BytesIO()
    program = make_program(folder, scripts, url, **options)
    code = run_program(node or require_node(), program, stdout=stdout, stderr=stderr, verbose=verbose)
    return Outcome(code, stdout.getvalue().decode(), stderr.getvalue().decode())


def make_program(folder: Path, scripts: list[Script], url: str, **options: Any) -> NodeProgram:
    return NodeProgram(scripts=scripts, location=url, arguments=["node", "program", "a b", "--c"], files=Files(folder, folder), **options)


def inline(folder: Path, source: str, **options: Any) -> NodeProgram:
    """Make a program of one module that is not in a file."""
    url = "https://app.test/inline.mjs"
    return make_program(folder, [Script(url=url, kind="module", source=source)], url, **options)
