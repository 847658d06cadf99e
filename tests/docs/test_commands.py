"""The commands of the documentation run.

Each line of a ``bash`` block runs, in a folder with a copy of the examples and the document's own files, or `NOT_RUN` says why it does not.
A block whose first line is a comment with the name of a file, without a folder, is that file.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.docs.blocks import DOCUMENTS, Block, blocks, named_file, own_file
from tests.docs.files import FILES
from tests.shared import ROOT, SHARED
from tests.support import each_row
from webnn.browser.chromium import VARIABLE

#: The beginning of a line that does not run here, and why.
NOT_RUN = {
    r"(python3 -m venv .venv|\. \.venv)": "it makes an environment: .ci/run does",
    r"(python -m |uv )?pip (un)?install": "it installs packages: .ci/run does",
    r"(site=|export )": "it sets a variable for what follows",
    r"npm ": "it downloads a package: tests/tools/test_ort_web_package.py",
    r"tar ": "it unpacks that package",
    r"mkdocs serve": "it serves until Ctrl-C: tests/tools/site",
    r"python -m http\.server": "it serves until Ctrl-C",
    r"python examples/page/with_selenium\.py": "it needs a browser and Selenium",
    r"playwright install": "it downloads a browser",
    r"pytest examples/page": "it needs a browser: .ci/browser",
    r"webnn browser wpt": "it needs a browser, and the harness of web-platform-tests: tests/wpt_runner/test_browser.py",
    r"webnn (profiles record|fuzz .*--browser)": "it asks a browser for very long: .ci/browser",
    r"webnn check model\.onnx --dim batch=1$": "docs/check.md has it with --html",
    r"webnn fuzz (--seed 1 --calls 1000|--calls 100000)": "it takes long: tests/webnn/fuzz",
    r"(\.ci/|python -m tools\.(browser|onnx_models|ort_web|mutation)\b)": "it is a job of its own",
    r"python tools/(fetch_wpt|extract_idl)\.py": "it needs the network, or the text of the specification: tests/tools, tests/meta",
    r"webnn wpt vectors( +#|\n|$)": "it replays all cases: tests/wpt_runner/test_vectors.py",
    r"webnn wpt vectors --device gpu": "it needs a GPU",
    r"python -m tools\.pack_vectors": "it changes the package: tests/tools",
    r"(python classify\.py|webnn run model\.mlirbc)": "it needs JAX: tests/webnn/stablehlo",
    r"webnn run .*(webnn-polyfill|--root site program)": "it needs somebody else's programs",
    r"python -m benchmarks": "it measures: tests/benchmarks",
    r"dask ": "it starts a cluster: the commands for it run on one of this machine",
}


def installed(package: str) -> bool:
    """Return whether a package is there."""
    return importlib.util.find_spec(package) is not None


_BROWSER, _JAXLIB, _DASK = VARIABLE in os.environ, installed("jaxlib"), installed("distributed")
#: The beginning of a line that runs only where something is there that may be missing: whether it is, and why the line does not run.
NEEDS = {
    r"webnn browser run": (_BROWSER, "it needs a browser: .ci/browser"),
    r"webnn \w+ model\.mlirbc": (_JAXLIB, "it needs the extra stablehlo"),
    r"(python examples/jax_models|cp examples/js/gpt|webnn run .*gpt\.html|webnn check examples/jax)": (
        _JAXLIB,
        "it needs the extra stablehlo",
    ),
    r"webnn .*--executor dask://": (_DASK, "it needs the extra dask"),
    r"webnn run --root \.\./shared/models": (SHARED.is_dir(), "it needs the weights of SqueezeNet, in the shared data"),
}
#: What is added to lines: the servers need ports of their own, and the small checkout has not the tests that are expected.
ADDED = {
    r"webnn serve ": ["--port", "0"],
    r"webnn wpt run ": ["--expectations", "none"],
    r"pytest --wpt ": ["--wpt-expectations", "none"],
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
    missing = {pattern: why for pattern, (there, why) in NEEDS.items() if not there}
    return next((why for pattern, why in {**NOT_RUN, **missing}.items() if re.match(pattern, line)), None)


PROGRAMS = {"webnn": [sys.executable, "-m", "webnn"], "python": [sys.executable], "pytest": [sys.executable, "-m", "pytest"]}
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
    added = next((words for pattern, words in ADDED.items() if re.match(pattern, line)), [])
    command = [*PROGRAMS[words[0]], *words[1:], *added]
    if words[:2] == ["webnn", "serve"]:
        return serve(command, folder, environment)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=600, check=False)


def serve(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a server until it has answered; what it prints differs each time."""
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            page = process.stdout.readline().split()[-1:]
            answer = urlopen(page[0], timeout=60).status if page and "--proxy" not in command else 200
        finally:
            process.kill()
        _, errors = process.communicate()
    return subprocess.CompletedProcess(command, answer - 200, "", errors)


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
    assert len(COMMANDS) > 150
    assert len(RUN) > 15
    assert sum(reason(line) is None for _, line in COMMANDS) > 75


def test_no_reason_is_stale() -> None:
    lines = [line for _, line in COMMANDS]
    assert [pattern for pattern in (*NOT_RUN, *NEEDS, *ADDED, *EXIT_CODES) if not any(re.match(pattern, line) for line in lines)] == []
    assert set(FILES) <= {document for document, _ in COMMANDS}
    assert set(FOREIGN) < {document for document, _ in SCRIPTS}


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a scheduler of Dask, with a worker."""
    from distributed import LocalCluster  # an extra

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as found:
        yield found.scheduler_address.removeprefix("tcp://")


@pytest.mark.processes
@pytest.mark.parametrize("document", RUN)
def test_the_commands_run(document: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    for block in blocks(document):
        name = own_file(block)
        if name is not None:
            (folder / name).write_text(block.text, encoding="utf-8")
    if document in FILES:
        FILES[document](folder)
    for block in blocks(document):
        if block.language != "bash":
            continue
        printed = ""
        for line in lines_of(block):
            if reason(line) is not None:
                continue
            cluster = request.getfixturevalue("cluster") if "HOST:8786" in line else ""
            result = run(line.replace("HOST:8786", cluster), folder)
            expected = next((code for pattern, code in EXIT_CODES.items() if re.match(pattern, line)), 0)
            assert result.returncode == expected, f"{document}:{block.line} {line}\n{result.stdout}{result.stderr}"
            printed += result.stdout
        if block.output is not None and printed:
            assert as_shown(block.output).fullmatch(printed), f"{document}:{block.line} prints\n{printed}"


@each_row("line", [line for _, line in COMMANDS])
def test_every_command_can_run_or_has_a_reason(line: str) -> None:
    assert reason(line) is not None or split(line)[1][0] in {*PROGRAMS, "mkdir", "cp"}, f"NOT_RUN must say why: {line}"
