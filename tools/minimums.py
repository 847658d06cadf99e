"""Print the lowest versions that pyproject.toml declares, as constraints for pip.

    python -m tools.minimums >lowest.txt
    pip install -c lowest.txt -e '.[test]'

The lower limits are exact versions that exist, so that no second list is needed.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

__all__ = ["constraints", "main", "requirements"]

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(project: Mapping[str, Any], extras: Sequence[str]) -> Iterator[Requirement]:
    """Yield the requirements of a project and of its extras on this machine, extras that these name included.

    Args:
        project: The table ``project``.
        extras: The extras.
    """
    optional = project["optional-dependencies"]
    for text in [*project["dependencies"], *(text for extra in extras for text in optional[extra])]:
        requirement = Requirement(text)
        if requirement.name == project["name"]:
            yield from requirements({**project, "dependencies": []}, sorted(requirement.extras))
        elif requirement.marker is None or requirement.marker.evaluate():
            yield requirement


def constraints(project: Mapping[str, Any], extras: Sequence[str]) -> list[str]:
    """Return a line ``name==version`` for each requirement, the version being its lower limit.

    Args:
        project: The table ``project``.
        extras: The extras.

    Raises:
        ValueError: A requirement does not have exactly one lower limit.
    """
    lines = []
    for requirement in requirements(project, extras):
        lowest = [each.version for each in requirement.specifier if each.operator == ">="]
        if len(lowest) != 1:
            raise ValueError(f"{requirement} must have one lower limit, >=")
        lines.append(f"{requirement.name}=={lowest[0]}")
    return lines


def main() -> None:
    """Print the constraints of the extras that are named, by default those of the tests."""
    project = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]
    print(*constraints(project, sys.argv[1:] or ["test"]), sep="\n")


if __name__ == "__main__":
    main()
