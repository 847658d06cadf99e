"""Completion by the shell: what bash offers, by the script of `--show-completion`, and what is loaded for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import each_row
from webnn.commands.completion import complete_dialect, complete_output, complete_profile, complete_revision
from webnn.commands.registry import COMMANDS

#: The words after `webnn` when Tab is pressed, and the completions that are offered.
OFFERED = [
    ("", [*COMMANDS]),
    ("pro", ["profiles", "proposal"]),
    ("profiles ", ["show", "diff", "record"]),
    ("profiles show core", ["coreml", "coreml-macos14"]),
    ("profiles diff dml or", ["ort", "ort-openvino"]),
    ("wpt co", ["compare"]),
    ("check --profile core", ["coreml", "coreml-macos14"]),
    ("check --require tfl", ["tflite", "tflite-chromium147", "tflite-chromium153"]),
    ("run --revision 2026", ["2026-06", "2026-06+browsers", "2026-06+compute", "2026-09"]),
    ("run --fallback ", ["allow", "silent", "deny"]),
    ("run --dialect chr", ["chromium-153"]),
    ("convert net.py -o net.m", ["net.mjs", "net.mlir", "net.mmd"]),
    ("demo --im", ["--images"]),
]
BASH = shutil.which("bash")
#: Loads the script, and asks the function that `complete` registered, as bash does.
TAB = r"""
source <("$WEBNN" --show-completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
handler=$(complete -p webnn | sed -E 's/.* -F ([^ ]+) .*/\1/')
"$handler" webnn
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program called webnn, for the Python that runs the tests."""
    program = tmp_path_factory.mktemp("bin") / "webnn"
    program.write_text(f"#!{sys.executable}\nfrom webnn.__main__ import main\nmain()\n", encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32" or BASH is None, reason="there is no bash")
@pytest.mark.parametrize(("line", "offered"), OFFERED)
def test_bash(program: Path, line: str, offered: list[str]) -> None:
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "WEBNN": str(program), "NO_COLOR": "1"}
    # Typer takes the shell from the process that started it, unless this is set.
    environment["_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"] = "1"
    result = subprocess.run(
        [str(BASH), "-c", TAB, "bash", "webnn", *line.split(" ")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )
    assert (result.stderr, sorted(result.stdout.split())) == ("", sorted(offered))


@pytest.mark.processes
@pytest.mark.parametrize(
    ("line", "loaded"), [("webnn ", ""), ("webnn profiles ", "webnn.commands.profiles"), ("webnn wpt ", "webnn.wpt_runner.cli")]
)
def test_a_list_of_commands_loads_none(line: str, loaded: str) -> None:
    """Only the group whose commands are listed; of the engine and NumPy, nothing."""
    code = (
        "import sys, contextlib\n"
        "from webnn.commands.main import app\n"
        "with contextlib.suppress(SystemExit): app(prog_name='webnn')\n"
        "modules = sys.argv[1:]\n"
        "print('loaded', *(name for name in modules if name in sys.modules))\n"
    )
    modules = ["numpy", "onnxruntime", *(entry.module for entry in COMMANDS.values())]
    environment = {**os.environ, "_WEBNN_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    result = subprocess.run(
        [sys.executable, "-c", code, *modules], capture_output=True, text=True, check=True, timeout=120, env=environment
    )
    assert result.stdout.splitlines()[-1].split()[1:] == loaded.split()


@each_row(
    ("complete", "incomplete"),
    [(complete_profile, "x"), (complete_revision, "2027"), (complete_dialect, "?"), (complete_output, "net.x"), (complete_output, "")],
)
def test_nothing_fits(complete: Callable[[str], list[str]], incomplete: str) -> None:
    assert complete(incomplete) == []
