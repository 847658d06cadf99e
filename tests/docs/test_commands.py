"""The commands of the documentation run.

Each line of a ``bash`` block runs, in a folder with a copy of the examples and the document's own files, or `NOT_RUN` says why it does not.
A block whose first line is a comment with the name of a file, without a folder, is that file.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

import webnn
from tests.docs.blocks import DOCUMENTS, Block, blocks, named_file, own_file
from tests.shared import ROOT
from tests.support import each_row

#: The beginning of a line that does not run here, and why.
NOT_RUN = {
    r"(python3 -m venv .venv|\. \.venv)": "it makes an environment: .ci/run does",
    r"(python -m |uv )?pip (un)?install": "it installs packages: .ci/run does",
    r"(site=|export )": "it sets a variable for what follows",
    r"npm ": "it downloads a package: tests/tools/test_ort_web_package.py",
    r"tar ": "it unpacks that package",
    r"webnn serve ": "it serves until Ctrl-C: tests/webnn/serve",
    r"mkdocs serve": "it serves until Ctrl-C: tests/tools/site",
    r"python -m http\.server": "it serves until Ctrl-C",
    r"python examples/page/with_selenium\.py": "it needs a browser and Selenium",
    r"playwright install": "it downloads a browser",
    r"pytest examples/page": "it needs a browser: .ci/browser",
    r"webnn (browser|profiles record|fuzz .*--browser)": "it needs a browser: .ci/browser",
    r"webnn check model\.onnx --dim batch=1$": "docs/check.md has it with --html",
    r"webnn fuzz --seed 1 --calls 1000": "it takes long: tests/webnn/fuzz",
    r"(\.ci/|python -m tools\.(browser|onnx_models|ort_web|mutation)\b)": "it is a job of its own",
    r"python tools/(fetch_wpt|extract_idl)\.py": "it needs the network, or the text of the specification: tests/tools, tests/meta",
    r"(webnn wpt (run|record|new)|pytest) .*\bwpt-20": "it needs a checkout of web-platform-tests: tests/wpt_runner",
    r"webnn wpt compare": "it needs reports of runs: tests/wpt_runner/test_compare.py, test_scores.py",
    r"webnn wpt vectors( +#|\n|$)": "it replays all cases: tests/wpt_runner/test_vectors.py",
    r"webnn wpt vectors --device gpu": "it needs a GPU",
    r"(webnn wpt vectors cases|python -m tools\.pack_vectors)": "it needs cases of a checkout: tests/wpt_runner/test_record_command.py",
    r"(python classify\.py|webnn \w+ model\.mlirbc)": "it needs JAX: tests/webnn/stablehlo",
    r"(python examples/jax_models|cp examples/js/gpt|webnn run .*gpt\.html|webnn check examples/jax)": "it needs jaxlib",
    r"webnn run --root \.\./shared/models": "it needs the weights of SqueezeNet: tests/webnn/javascript",
    r"webnn run .*(webnn-polyfill|--root site program)": "it needs somebody else's programs",
    r"webnn run --revision 2026-06\+proposals": "it needs the draft of the page: tests/validation/drafts",
    r"python -m benchmarks": "it measures: tests/benchmarks",
    r"(dask |webnn .*--executor dask://)": "it needs a cluster: tests/webnn/scale",
}
#: The exit codes of lines that do not end with 0: what they show is refused.
EXIT_CODES = {
    r"webnn check (--all --profile coreml|--profile tflite program\.py)": 1,
    r"webnn (profiles|proposal) diff": 1,
    r"webnn run --device-profile coreml --fallback deny examples/int8": 1,
    r"webnn run --embedder https://news\.test examples": 1,
    r"webnn run --permissions-policy": 1,
    r"webnn run --embedder http://": 1,
}

_MODEL = """
    <ir_version: 9, opset_import: ["" : 20]>
    classify (float[batch, 4] image) => (float[batch, 3] scores)
    <float[4, 3] w = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}>
    { scores = MatMul(image, w) }
"""


def write_model(folder: Path) -> None:
    """Write the reader's model, and an input of it."""
    onnx.save(parser.parse_model(_MODEL), folder / "model.onnx")
    np.save(folder / "image.npy", np.ones((1, 4), np.float32))


def write_program(folder: Path) -> None:
    """Write the reader's program."""
    shutil.copy(ROOT / "examples" / "add_and_multiply.py", folder / "program.py")


def write_graph(folder: Path) -> None:
    """Write the reader's program, and a graph that it builds."""
    write_program(folder)
    run("webnn convert program.py -o model.webnn", folder)


def write_newest(folder: Path) -> None:
    """Write the reader's program and page for the newest draft."""
    (folder / "program.py").write_text("from webnn import navigator\n\nnavigator.ml.createContextSync()\n", encoding="utf-8")
    (folder / "page.html").write_text("<script>navigator.ml.createContext()</script>\n", encoding="utf-8")


def write_data(folder: Path) -> None:
    """Write the reader's model and data."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    webnn.describe({"scores": builder.relu(builder.input("image", dataType="float32", shape=[1, 4]))}).save(folder / "model.webnn")
    np.save(folder / "images.npy", np.ones((10, 4), np.float32))


#: The files that a document takes for granted.
FILES: dict[str, Callable[[Path], None]] = {
    "README.md": write_program,
    "docs/check.md": write_model,
    "docs/inspect.md": write_program,
    "docs/onnx.md": write_model,
    "docs/proposals.md": write_newest,
    "docs/scale.md": write_data,
    "docs/viewing.md": write_graph,
}


#: Documents with programs in JavaScript that do not run here, and why.
FOREIGN = {
    "docs/jupyter.md": "it is a cell of a notebook: tests/webnn/notebook",
    "docs/ort-web.md": "it needs ONNX Runtime Web: tests/tools/test_ort_web_processes.py",
    "docs/wpt.md": "it needs a checkout of web-platform-tests: tests/wpt_runner",
}
SCRIPTS = [
    (document, block)
    for document in DOCUMENTS
    for block in blocks(document)
    if block.language in {"html", "javascript"} and own_file(block) is None
]


def lines_of(block: Block) -> list[str]:
    """Return the commands of a block."""
    return [line for line in block.text.splitlines() if line.strip()]


COMMANDS = [
    (document, line) for document in DOCUMENTS for block in blocks(document) if block.language == "bash" for line in lines_of(block)
]


def reason(line: str) -> str | None:
    """Return why a line does not run here, if it does not."""
    return next((why for pattern, why in NOT_RUN.items() if re.match(pattern, line)), None)


PROGRAMS = {"webnn": [sys.executable, "-m", "webnn"], "python": [sys.executable]}
RUN = sorted({document for document, line in COMMANDS if reason(line) is None})


def split(line: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables that a line sets for its command, and the words of the command."""
    words = shlex.split(line, comments=True)
    count = next(number for number, word in enumerate(words) if not re.match(r"\w+=", word))
    return dict(word.split("=", 1) for word in words[:count]), words[count:]


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one line of a document in a folder."""
    variables, words = split(line)
    if words[0] == "mkdir":
        (folder / words[1]).mkdir()
        return subprocess.CompletedProcess(words, 0, "", "")
    if words[0] == "cp":
        shutil.copy(folder / words[1], folder / words[2])
        return subprocess.CompletedProcess(words, 0, "", "")
    environment = {**os.environ, "COLUMNS": "80", "PYTHONUTF8": "1", **variables}
    return subprocess.run(
        [*PROGRAMS[words[0]], *words[1:]], cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=600, check=False
    )


def as_shown(output: str) -> re.Pattern[str]:
    """Return a pattern for what a document shows: a line `...` stands for any lines, and times differ."""
    parts = [re.escape(re.sub(r"in [\d.]+ s\b", "in TIME s", part)) for part in output.split("\n...\n")]
    return re.compile("\n(?:.*\n)*".join(parts).replace("TIME", r"[\d.]+"))


@pytest.mark.processes
@pytest.mark.parametrize(
    ("document", "block"), [pytest.param(document, block, id=document) for document, block in SCRIPTS if document not in FOREIGN]
)
def test_the_javascript_runs(document: str, block: Block, tmp_path: Path) -> None:
    # The document's Python comes first: it may write what the program reads.
    python = [each.text for each in blocks(document) if each.language == "python" and named_file(each) is None]
    here = "import tempfile\n\ntempfile.mkdtemp = lambda: '.'\n"
    (tmp_path / "before.py").write_text(here + "".join(python), encoding="utf-8")
    (tmp_path / "program.mjs").write_text(block.text, encoding="utf-8")
    for line in ("python before.py", "webnn run --revision 2026-06 program.mjs"):
        result = run(line, tmp_path)
        assert result.returncode == 0, f"{document}:{block.line} {line}\n{result.stdout}{result.stderr}"


def test_the_amount() -> None:
    assert len(COMMANDS) > 100
    assert len(RUN) > 9
    assert sum(reason(line) is None for _, line in COMMANDS) > 35


def test_no_reason_is_stale() -> None:
    lines = [line for _, line in COMMANDS]
    assert [pattern for pattern in (*NOT_RUN, *EXIT_CODES) if not any(re.match(pattern, line) for line in lines)] == []
    assert set(FILES) <= set(RUN)
    assert set(FOREIGN) < {document for document, _ in SCRIPTS}


@pytest.mark.processes
@pytest.mark.parametrize("document", RUN)
def test_the_commands_run(document: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    for block in blocks(document):
        name = own_file(block)
        if name is not None:
            (tmp_path / name).write_text(block.text, encoding="utf-8")
    if document in FILES:
        FILES[document](tmp_path)
    for block in blocks(document):
        if block.language != "bash":
            continue
        printed = ""
        for line in lines_of(block):
            if reason(line) is not None:
                continue
            result = run(line, tmp_path)
            expected = next((code for pattern, code in EXIT_CODES.items() if re.match(pattern, line)), 0)
            assert result.returncode == expected, f"{document}:{block.line} {line}\n{result.stdout}{result.stderr}"
            printed += result.stdout
        if block.output is not None and printed:
            assert as_shown(block.output).fullmatch(printed), f"{document}:{block.line} prints\n{printed}"


@each_row("line", [line for _, line in COMMANDS])
def test_every_command_can_run_or_has_a_reason(line: str) -> None:
    assert reason(line) is not None or split(line)[1][0] in {*PROGRAMS, "mkdir", "cp"}, f"NOT_RUN must say why: {line}"
