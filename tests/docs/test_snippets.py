"""The documentation is true: its Python runs and prints what it says, its quotations are in the code, its links lead somewhere.

A document's ``python`` blocks are one program, run from top to bottom. A block of which the first line is a comment with the path of a file
is a quotation: the file has the rest of it, word for word. A name without a folder is that of a file of the reader's (`test_commands.py`).
A ``text`` block that follows a program's block, with nothing between but a line
like "It prints", is what that block prints.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.docs.blocks import DOCUMENTS, FENCE, Block, blocks, quoted_file
from tests.docs.files import FILES
from tests.shared import ROOT
from tests.support import each_row
from webnn.commands import main as cli
from webnn.context.engine import plugins

#: Blocks that are shown and not run.
SHOWN = {"bash", "diff", "html", "javascript", "mermaid", "text", "toml", "yaml"}

_LINK = re.compile(r"\]\(([^)\s]+)\)")


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
    # Some write files, and some read them.
    monkeypatch.chdir(tmp_path)
    if document in ("docs/generate.md", "docs/tflite.md"):
        FILES[document](tmp_path)
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
@pytest.mark.skipif(any(map(plugins.is_installed, plugins.PLUGINS.values())), reason="the page shows an engine without plug-ins")
def test_the_devices_are_shown_as_they_are_printed() -> None:
    printed = CliRunner().invoke(cli.app, ["devices"]).stdout
    shown = [names(block.text) for block in blocks("docs/install.md") if block.language == "text"]
    assert names(printed) in shown


def anchors(document: Path) -> set[str]:
    """Return the anchors that a Git host gives the headings of a document."""
    prose = FENCE.sub("", document.read_text(encoding="utf-8"))
    headings = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_row("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    file = ROOT / document
    prose = FENCE.sub("", file.read_text(encoding="utf-8"))
    targets = [target.partition("#") for target in _LINK.findall(prose) if "://" not in target]
    assert [path for path, _, _ in targets if not (file.parent / path).exists()] == []
    pages = [(file.parent / path if path else file, anchor) for path, _, anchor in targets if anchor]
    assert [anchor for page, anchor in pages if anchor not in anchors(page)] == []
