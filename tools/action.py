"""The steps of action.yml: install the package, `webnn check`, `webnn wpt run`.

The inputs are environment variables, so that no text of theirs becomes part of a script. It needs nothing but Python: the first step runs
before anything is installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

__all__ = ["InputError", "main", "read_lines"]

_PACKAGE = Path(__file__).parents[1]


class InputError(ValueError):
    """An input of the action is wrong."""


def read_lines(name: str, *, options: bool = False) -> list[str]:
    """Return the lines of an input without those that are empty.

    Args:
        name: The input.
        options: Its lines are options of a command; otherwise none of them may look like one.

    Raises:
        InputError: A line is an option and must not be one, or the other way round.
    """
    text = os.environ.get(f"INPUT_{name.upper().replace('-', '_')}", "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if line.startswith("-") != options:
            required = "must begin with a dash, with its value behind '='" if options else "must not begin with a dash"
            raise InputError(f"{name}: each line {required}, got {line!r}")
    return lines


def _install() -> int:
    extras = os.environ.get("INPUT_EXTRAS", "")
    if not re.fullmatch(r"[a-z]*(,[a-z]+)*", extras):
        raise InputError(f"extras: must be names with commas between them, got {extras!r}")
    _tell("reports", str(_reports()))
    # Without -P, pip would import modules of the repository that is checked.
    package = f"{_PACKAGE}[{extras}]" if extras else str(_PACKAGE)
    return subprocess.run([sys.executable, "-P", "-m", "pip", "install", "--quiet", package], check=False).returncode


def _check() -> int:
    programs, options = read_lines("programs"), read_lines("check-options", options=True)
    if not programs:
        raise InputError("programs: must name a file")
    required = [f"--require={name}" for name in read_lines("require")]
    codes = []
    for number, program in enumerate(programs, 1):
        print(f"webnn check {program}", flush=True)
        page = _reports() / f"check-{number}.html"
        codes.append(_run("check", "--annotations", f"--html={page}", *required, *options, program))
    return max(codes)


def _wpt() -> int:
    folders, tests = read_lines("wpt"), read_lines("tests")
    if len(folders) != 1:
        raise InputError(f"wpt: must be one folder, got {folders!r}")
    options = read_lines("wpt-options", options=True)
    files = [f"--html={_reports() / 'wpt.html'}", f"--wptreport={_reports() / 'wptreport.json'}"]
    return _run("wpt", "run", f"--wpt={folders[0]}", "--quiet", "--annotations", *files, *options, *tests)


def _run(*arguments: str) -> int:
    """Run the command line of the installed package, whatever the folder holds from which it is called."""
    return subprocess.run([str(Path(sysconfig.get_path("scripts"), "webnn")), *arguments], check=False).returncode


def _reports() -> Path:
    folder = Path(os.environ["RUNNER_TEMP"], "webnn-reports")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _tell(name: str, value: str) -> None:
    """Set an output of the step."""
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        file.write(f"{name}={value}\n")


def main(step: str) -> int:
    """Run a step, and return its exit code.

    Args:
        step: ``"install"``, ``"check"`` or ``"wpt"``.
    """
    try:
        code = {"install": _install, "check": _check, "wpt": _wpt}[step]()
    except InputError as error:
        message = str(error).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        print(f"::error title=webnn::{message}")
        code = 2
    if step != "install":
        _tell("code", str(code))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
