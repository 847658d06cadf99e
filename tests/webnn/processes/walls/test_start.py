"""A program that is started behind the walls."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from webnn.processes.walls import start, table

pytestmark = [pytest.mark.processes, pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")]


def run(*program: str) -> tuple[int, dict[str, str], str]:
    """Run a program; return its exit code, the missing walls, and the rest of its output."""
    read = [*table.SYSTEM_PATHS, sys.prefix, sys.base_prefix]
    command = [*start.command(1 << 30, read, "no group", {"LANG": "C"}), *program]
    made = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert made.stdout[:3] == b"WNW", made.stderr
    size = int.from_bytes(made.stdout[8:16], "little")
    return made.returncode, json.loads(made.stdout[16 : 16 + size]), (made.stdout[16 + size :] + made.stderr).decode()


@pytest.mark.parametrize("end", [0, 3, -signal.SIGTERM, -signal.SIGABRT, -signal.SIGKILL])
def test_it_ends_as_the_program_does(end: int) -> None:
    source = f"import os; os.kill(os.getpid(), {-end})" if end < 0 else f"raise SystemExit({end})"
    assert run(sys.executable, "-I", "-c", source)[0] == end


def test_what_a_program_sees() -> None:
    source = "import os; print(os.environ['LANG'], 'PATH' in os.environ, os.getpid(), *map(os.path.exists, ['/etc/passwd', '/proc/1']))"
    code, missing, output = run(sys.executable, "-I", "-S", "-c", source)
    assert code == 0, output
    assert set(missing) <= set(table.WALLS)
    if not {"tree", "processes"} & set(missing):
        assert output == "C False 2 False False\n"


def test_a_program_that_is_not_there() -> None:
    code, _, output = run("/usr/missing")
    assert (code, output) == (1, "/usr/missing cannot be started: No such file or directory\n")


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    """All three processes end when the one that started them is killed."""
    read = [*table.SYSTEM_PATHS, sys.prefix, sys.base_prefix]
    program = [sys.executable, "-I", "-S", "-c", "import os, time; os.write(1, b'!'); time.sleep(600)"]
    source = (
        f"import sys, subprocess; sys.path.append({str(Path(start.__file__).resolve().parents[3])!r});"
        "from webnn.processes.walls import start;"
        f"subprocess.run([*start.command(1 << 30, {read!r}, 'no group', {{}}), *{program!r}])"
    )
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        while b"!" not in os.read(parent.stdout.fileno(), 4096):
            pass
        parent.kill()
        # The pipe ends with the last process that has it.
        assert parent.stdout.read() == b""
