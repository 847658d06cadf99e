"""The commands of the documentation run.

Each line of a ``bash`` block runs, in a folder with a copy of the examples and the document's own files, or `NOT_RUN` says why it does not.
A block whose first line is a comment with the name of a file, without a folder, is that file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from tests.docs.blocks import DOCUMENTS, Block, blocks, named_file, own_file
from tests.docs.files import FILES
from tests.docs.lines import (
    ADDED,
    COMMANDS,
    EXIT_CODES,
    NEEDS,
    NOT_RUN,
    SHELL,
    SMALLER,
    added,
    lines_of,
    missing,
    never,
    reason,
    smaller,
    split,
)
from tests.shared import ROOT
from tests.support import PATIENCE, each_row

#: Documents with programs in JavaScript that do not run here, and why.
FOREIGN = {
    "docs/devices.md": "it needs a GPU in Node: js/test/webgpu.test.mjs",
    "docs/jupyter.md": "it is a cell of a notebook: tests/webnn/notebook",
    "docs/ort-web.md": "it needs ONNX Runtime Web: tests/tools/evidence/test_ort_web_processes.py",
    "docs/viewing.md": "it is a script of a page: tests/webnn/viewer",
    "docs/wpt.md": "it needs a checkout of web-platform-tests: tests/wpt_runner",
}
SCRIPTS = [
    (document, block)
    for document in DOCUMENTS
    for block in blocks(document)
    if block.language in {"html", "javascript"} and own_file(block) is None
]


PROGRAMS = {
    "webnn": [sys.executable, "-m", "webnn"],
    "python": [sys.executable],
    "pytest": [sys.executable, "-m", "pytest"],
    "playwright": [sys.executable, "-m", "playwright"],
    "dask": [sys.executable, "-m", "dask"],
    "tar": ["tar"],
}
RUN = sorted({document for document, line in COMMANDS if never(line) is None})


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one line of a document in a folder."""
    variables, words = split(line)
    if words[0] == "mkdir":
        (folder / words[1]).mkdir()
        return subprocess.CompletedProcess(words, 0, "", "")
    if words[0] == "cp":
        shutil.copy(folder / words[1], folder / words[2])
        return subprocess.CompletedProcess(words, 0, "", "")
    command = [*PROGRAMS[words[0]], *words[1:], *added(line)]
    if "--install-completion" in words:
        # It writes into the user's home, and looks for the shell among the processes that started it.
        variables = {**variables, "HOME": str(folder), "USERPROFILE": str(folder)}
        if bash := shutil.which("bash"):
            command = [bash, "-c", '"$0" "$@"; exit $?', *command]
    if words[:2] in (["webnn", "serve"], ["webnn", "playground"]) or "http.server" in words:
        return serve(command, folder, environment_of(variables))
    return subprocess.run(
        command, cwd=folder, env=environment_of(variables), capture_output=True, encoding="utf-8", timeout=600, check=False
    )


def environment_of(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command that gets some variables."""
    return {**os.environ, "COLUMNS": "80", "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", **variables}


def run_in_shell(lines: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lines in a shell of POSIX, which ends if a variable is used that is not set."""
    # Python is this one.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-euc", "\n".join(lines)],
        cwd=folder,
        env=environment_of({"PATH": path}),
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


def serve(command: list[str], folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a server until it has answered; what it prints differs each time."""
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            page = re.search(r"http://[\w.:]+/[^\s)]*", process.stdout.readline())
            # The address leads to another one, with a cookie.
            answer = build_opener(HTTPCookieProcessor()).open(page[0], timeout=60).status if page and "--proxy" not in command else 200
        finally:
            process.kill()
        _, errors = process.communicate()
    return subprocess.CompletedProcess(command, answer - 200 if page else 1, "", errors)


def as_shown(output: str) -> re.Pattern[str]:
    """Return a pattern for what a document shows: a line `...` matches any lines, and times differ."""
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
    assert len(COMMANDS) > 160
    assert len(RUN) > 18
    assert sum(never(line) is None for _, line in COMMANDS) > 90


def test_no_reason_is_stale() -> None:
    lines = [line for _, line in COMMANDS]
    assert [pattern for pattern in (*NOT_RUN, *NEEDS, *ADDED, *EXIT_CODES) if not any(re.match(pattern, line) for line in lines)] == []
    assert [text for text in SMALLER if not any(text in line for line in lines)] == []
    assert set(FILES) <= {document for document, _ in COMMANDS}
    assert set(FOREIGN) < {document for document, _ in SCRIPTS}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler of Dask, with a worker: the lines of docs/scale.md start them."""
    folder = tmp_path_factory.mktemp("cluster")
    scheduler, worker = (line for document, line in COMMANDS if document == "docs/scale.md" and line.startswith("dask "))
    with ExitStack() as stack:
        stack.enter_context(started(scheduler, folder))
        deadline, file = time.monotonic() + PATIENCE, folder / "scheduler.json"
        while not file.exists() or not file.read_text():
            assert time.monotonic() < deadline, "the scheduler does not start"
            time.sleep(0.1)
        address = str(json.loads(file.read_text())["address"])
        stack.enter_context(started(worker.replace("tcp://HOST:8786", address), folder))
        wait = f"from distributed import Client\nwith Client({address!r}) as client: client.wait_for_workers(1, {PATIENCE})"
        subprocess.run([sys.executable, "-c", wait], cwd=folder, check=True, timeout=2 * PATIENCE)
        yield address.removeprefix("tcp://")


@contextmanager
def started(line: str, folder: Path) -> Iterator[None]:
    """Run a line of Dask until the end of the block."""
    command: Sequence[str] = [*PROGRAMS["dask"], *split(smaller(line))[1][1:], *added(line)]
    with (folder / f"{split(line)[1][1]}.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            yield
            assert process.poll() is None, f"{line} has ended"
        finally:
            # A worker then ends its own process.
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.mark.sample(6)
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
    left = dict[str, str]()
    for block in blocks(document):
        if block.language != "bash":
            continue
        printed, shell = "", list[str]()
        for line in lines_of(block):
            if never(line) is None and (why := missing(line)):
                left[line] = why
            if reason(line) is not None:
                continue
            cluster = request.getfixturevalue("cluster") if "HOST:8786" in line or line.startswith("dask ") else ""
            if line.startswith("dask "):
                continue
            if re.match(SHELL, line):
                # It sees the settings of the lines before it.
                shell.append(line)
                result = run_in_shell(shell, folder)
            else:
                result = run(smaller(line).replace("HOST:8786", cluster), folder)
            expected = next((code for pattern, code in EXIT_CODES.items() if re.match(pattern, line)), 0)
            assert result.returncode == expected, f"{document}:{block.line} {line}\n{result.stdout}{result.stderr}"
            printed += result.stdout
        if block.output is not None and printed:
            assert as_shown(block.output).fullmatch(printed), f"{document}:{block.line} prints\n{printed}"
    if left:
        # All others ran. A run in an environment that has what is missing runs this document again.
        pytest.skip(f"{len(left)} lines did not run: {'; '.join(sorted(set(left.values())))}")


@each_row("line", [line for _, line in COMMANDS])
def test_every_command_can_run_or_has_a_reason(line: str) -> None:
    known = re.match(SHELL, line) is not None or split(line)[1][0] in {*PROGRAMS, "mkdir", "cp"}
    assert reason(line) is not None or known, f"NOT_RUN must say why: {line}"
