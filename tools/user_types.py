"""Check with mypy and pyright that type checkers see the mistakes of users, and nothing wrong in right programs.

    python -m tools.user_types
    python -m tools.user_types --python OTHER/bin/python

The programs are in tests/types. Behind a wrong line stands what the checkers must report for it, first mypy, then pyright:

    builder.clamp(x, min=0)  # call-arg; reportCallIssue

Without `--python` the checkers see the package of this checkout, through its links; with it, the one that is installed there.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["PROGRAMS", "compare", "main", "parse_expectations", "parse_mypy", "parse_pyright"]

_ROOT = Path(__file__).parents[1]
#: The folder of the programs.
PROGRAMS = _ROOT / "tests" / "types"
#: A place: a file's name and a line.
Place = tuple[str, int]
_EXPECTATION = re.compile(r"  # ([a-z-]+); (report\w+)$")
_MYPY = re.compile(r"^([^:]+):(\d+): error: .*\[([a-z-]+)\]$", re.MULTILINE)


def parse_expectations(name: str, text: str) -> tuple[dict[Place, str], dict[Place, str]]:
    """Return what a program's comments expect of mypy and of pyright."""
    found = {(name, number): match for number, line in enumerate(text.splitlines(), 1) if (match := _EXPECTATION.search(line))}
    return {at: match[1] for at, match in found.items()}, {at: match[2] for at, match in found.items()}


def parse_mypy(text: str) -> dict[Place, set[str]]:
    """Return the codes of the errors in the text that mypy prints."""
    return _gather(((file, int(line)), code) for file, line, code in _MYPY.findall(text))


def parse_pyright(text: str) -> dict[Place, set[str]]:
    """Return the rules of the errors in the JSON that pyright prints."""
    return _gather(
        ((Path(each["file"]).name, each["range"]["start"]["line"] + 1), each.get("rule", "syntax"))
        for each in json.loads(text)["generalDiagnostics"]
    )


def compare(expected: Mapping[Place, str], found: Mapping[Place, set[str]]) -> list[str]:
    """Return a line for each difference: an error that is missing, and one at a line that expects none."""
    missing = [
        (at, f"expected {code}, found {', '.join(sorted(found.get(at, ()))) or 'nothing'}")
        for at, code in expected.items()
        if code not in found.get(at, ())
    ]
    more = [(at, f"not expected: {', '.join(sorted(codes))}") for at, codes in found.items() if at not in expected]
    return [f"{name}:{line}: {what}" for (name, line), what in sorted(missing + more)]


def _gather(errors: Iterable[tuple[Place, str]]) -> dict[Place, set[str]]:
    found = defaultdict[Place, set[str]](set)
    for at, code in errors:
        found[at].add(code)
    return dict(found)


def _run(folder: Path, *arguments: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    # Both end with 1 if they found errors.
    if result.returncode not in {0, 1} or not result.stdout:
        sys.exit(f"{' '.join(arguments)} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def main(python: Annotated[Path | None, typer.Option(help="A Python in whose environment the package is installed.")] = None) -> None:
    """Compare what mypy and pyright report with what the programs expect."""
    programs = {path.name: path.read_text(encoding="utf-8") for path in sorted(PROGRAMS.glob("*.py"))}
    expected: list[dict[Place, str]] = [{}, {}]
    for name, text in programs.items():
        for each, more in zip(expected, parse_expectations(name, text), strict=True):
            each.update(more)
    interpreter = str((python or Path(sys.executable)).absolute())
    paths = [] if python else [str(_ROOT)]
    # Copies, outside the checkout and its settings.
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, text in programs.items():
            folder.joinpath(name).write_text(text, encoding="utf-8")
        folder.joinpath("pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "extraPaths": paths}), encoding="utf-8")
        strict = ["--strict", "--config-file=", "--no-pretty", "--hide-error-context"]
        mypy = parse_mypy(_run(folder, "mypy", *strict, "--python-executable", interpreter, *programs, MYPYPATH=os.pathsep.join(paths)))
        pyright = parse_pyright(_run(folder, "basedpyright", "--outputjson", "--pythonpath", interpreter))
    # mypy takes the files of a checkout for the user's own: what it says of them does not count here.
    mypy = {at: codes for at, codes in mypy.items() if at[0] in programs}
    faults = {"mypy": compare(expected[0], mypy), "pyright": compare(expected[1], pyright)}
    for checker, lines in faults.items():
        for line in lines:
            print(f"{checker}: {line}")
    print(f"{len(programs)} programs, {len(expected[0])} wrong lines: {sum(map(len, faults.values()))} differences")
    if any(faults.values()):
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
