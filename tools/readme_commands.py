"""Run the two command lines of README.md as a stranger would.

    python3 -m tools.readme_commands FOLDER

Each line of the section *Two commands* runs as it stands, in a fresh clone of this checkout below FOLDER. The clone has nothing beside it.
The environment has an empty home, the PATH, and the settings of pip and of the network; nothing else. It needs Python alone, and git.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["clones", "commands", "environment", "main", "run"]

_ROOT = Path(__file__).parents[1]
_SECTION = re.compile(r"^## Two commands\n(?P<text>.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^```bash\n(?P<lines>.*?)^```$", re.DOTALL | re.MULTILINE)
#: Variables that pip needs, beside `PIP_*`, to reach an index on this machine.
_NETWORK = frozenset({"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"})


def commands(text: str) -> tuple[str, str]:
    """Return the two lines of a README.

    Raises:
        ValueError: The section is missing, or it does not have exactly two blocks of one line.
    """
    section = _SECTION.search(text)
    found = _BLOCK.findall(section["text"]) if section else []
    if len(found) != 2 or any(block.count("\n") != 1 for block in found):
        raise ValueError(f"README.md must have a section 'Two commands' with two blocks of one line, got {found}")
    return found[0].strip(), found[1].strip()


def environment(home: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the bare environment of a command.

    Args:
        home: The folder of a user who has no settings.
        variables: The variables of this process.
    """
    kept = {name: value for name, value in variables.items() if name.startswith("PIP_") or name.upper() in _NETWORK}
    return {**kept, "HOME": str(home), "PATH": variables["PATH"]}


def clones(folder: Path, checkout: Path = _ROOT) -> Iterator[tuple[Path, Path]]:
    """Make a clone and a home below a folder, for each command in turn, and yield both."""
    for number in (1, 2):
        clone, home = (folder / str(number) / name for name in ("webnn", "home"))
        home.mkdir(parents=True)
        subprocess.run(["git", "clone", "--quiet", str(checkout), str(clone)], check=True)
        yield clone, home


def run(folder: Path, checkout: Path = _ROOT) -> list[int]:
    """Run both lines, say each one and how it ended, and return the exit statuses.

    Args:
        folder: Where the clones go, `1/webnn` and `2/webnn`. It is made, and must not have them yet.
        checkout: The repository.
    """
    statuses = []
    for line, (clone, home) in zip(commands((checkout / "README.md").read_text(encoding="utf-8")), clones(folder, checkout), strict=True):
        print(f"$ {line}", flush=True)
        begin = time.monotonic()
        status = subprocess.run(["bash", "-c", line], cwd=clone, env=environment(home, os.environ), check=False).returncode
        print(f"exit status {status} after {time.monotonic() - begin:.0f} s", flush=True)
        statuses.append(status)
    return statuses


def main() -> None:
    """Run the lines; end with 1 if one of them fails."""
    parser = argparse.ArgumentParser(description="Run the two command lines of README.md in fresh clones and a bare environment.")
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the clones go")
    sys.exit(any(run(parser.parse_args().folder)))


if __name__ == "__main__":
    main()
