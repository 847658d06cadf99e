"""The documentation is true: its Python runs and prints what it says, its quotations stand in the code, its links lead somewhere.

A document's ``python`` blocks are one program, run from top to bottom. A block of which the first line is a comment with the name of a file
is a quotation: the file has the rest of it, word for word. A ``text`` block that follows a program's block, with nothing between but a line
like "It prints", is what that block prints.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import itertools
import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.shared import ROOT
from tests.support import each_row
from webnn.commands import main as cli

DOCUMENTS = [path.relative_to(ROOT).as_posix() for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.is_file()]
#: Blocks that are shown and not run.
SHOWN = {"bash", "diff", "javascript", "mermaid", "text", "toml"}

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PRINTS = re.compile(r"\s*(?:[\w ]+ prints:?)?\s*", re.IGNORECASE)
_QUOTATION = re.compile(r"# ([\w/.-]+\.\w+)\n")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block.

    Attributes:
        language: What stands behind its fence.
        text: Its lines.
        line: The line of the document before its first one.
        output: What it prints, if the document says so.
    """

    language: str
    text: str
    line: int
    output: str | None = None


def blocks(document: str) -> list[Block]:
    """Return a document's fenced blocks."""
    source = (ROOT / document).read_text(encoding="utf-8")
    matches = list(_FENCE.finditer(source))
    found: list[Block] = []
    for match, following in itertools.zip_longest(matches, matches[1:]):
        shows = following is not None and following[1] == "text" and _PRINTS.fullmatch(source, match.end(), following.start())
        output = following[2] if shows and following is not None else None
        found.append(Block(language=match[1], text=match[2], line=source.count("\n", 0, match.start()) + 1, output=output))
    return found


def quoted_file(block: Block) -> str | None:
    """Return the file that a block quotes, if it is a quotation."""
    match = _QUOTATION.match(block.text)
    return match[1] if match else None


PROGRAMS = {name: [block for block in blocks(name) if block.language == "python" and not quoted_file(block)] for name in DOCUMENTS}
QUOTATIONS = [(name, block) for name in DOCUMENTS for block in blocks(name) if block.language == "python" and quoted_file(block)]


def test_the_amount() -> None:
    assert len(DOCUMENTS) > 5
    assert sum(len(program) for program in PROGRAMS.values()) > 15
    assert len(QUOTATIONS) > 10
    assert sum(block.output is not None for program in PROGRAMS.values() for block in program) > 10


@each_row("document", DOCUMENTS)
def test_every_fence_is_closed_and_named(document: str) -> None:
    found = blocks(document)
    lines = (ROOT / document).read_text(encoding="utf-8").splitlines()
    assert sum(line.lstrip().startswith("```") for line in lines) == 2 * len(found)
    assert {block.language for block in found} <= {"python", *SHOWN}


#: Documents whose programs start a process, which needs the package jaxlib.
_JAXLIB = pytest.mark.skipif(importlib.util.find_spec("jaxlib") is None, reason="needs jaxlib, the extra `stablehlo`")
STABLEHLO = {"docs/stablehlo.md": [pytest.mark.processes, _JAXLIB]}


@pytest.mark.parametrize("document", [pytest.param(name, marks=STABLEHLO.get(name, [])) for name, program in PROGRAMS.items() if program])
def test_the_python_runs(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some write files.
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "snippet"}
    for block in PROGRAMS[document]:
        # With the document's own line numbers, for the traceback of a failure.
        code = compile("\n" * block.line + block.text, str(ROOT / document), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        if block.output is not None:
            assert printed.getvalue() == block.output, f"{document}:{block.line}"


@pytest.mark.parametrize(("document", "block"), [pytest.param(name, block, id=f"{name}:{block.line}") for name, block in QUOTATIONS])
def test_a_quotation_stands_in_the_code(document: str, block: Block) -> None:
    file = quoted_file(block)
    assert file is not None
    quoted = block.text.partition("\n")[2]
    assert quoted.strip()
    assert quoted in (ROOT / file).read_text(encoding="utf-8"), f"{document}:{block.line} quotes what {file} does not have"


def names(text: str) -> list[str]:
    return [line.partition(" ")[0] for line in text.splitlines()]


@pytest.mark.skipif(metadata.packages_distributions().get("onnxruntime") != ["onnxruntime"], reason="the page shows the CPU flavour")
def test_the_devices_are_shown_as_they_are_printed() -> None:
    printed = CliRunner().invoke(cli.app, ["devices"]).stdout
    shown = [names(block.text) for block in blocks("docs/install.md") if block.language == "text"]
    assert names(printed) in shown


@each_row("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    prose = _FENCE.sub("", (ROOT / document).read_text(encoding="utf-8"))
    targets = [target.partition("#")[0] for target in _LINK.findall(prose) if "://" not in target]
    folder = (ROOT / document).parent
    assert [target for target in targets if target and not (folder / Path(target)).exists()] == []
