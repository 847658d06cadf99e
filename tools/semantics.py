"""Writes the tables of docs/semantics.md from the switches and the device profiles.

python -m tools.semantics            writes the page
python -m tools.semantics --check    fails if it is outdated
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.written import fill, keep_pages
from webnn.builder.semantics import SWITCHES, Source, Switch
from webnn.commands.semantics import find_profiles

__all__ = ["PAGE", "main", "render", "switch_lines"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "semantics.md"


def switch_lines(switch: Switch) -> Iterator[str]:
    """Yield the table of the values of a switch, and its sources."""
    yield from ("| value | meaning | profiles |", "|---|---|---|")
    profiles = find_profiles(switch)
    for value, meaning in switch.values.items():
        names = ["the default"] if value == switch.default else []
        names += [f"`{name}`" for name, chosen in profiles.items() if chosen == value]
        yield f'| `"{value}"` | {meaning} | {", ".join(names)} |'
    yield from ("", *[f"- {_source(each)}: {each.says}." for each in switch.sources])


def _source(source: Source) -> str:
    return f"[{source.name}]({source.url})" if source.url else source.name


def render() -> str:
    """Return the page with new tables."""
    lines: list[str] = []
    for switch in SWITCHES.values():
        operations = ", ".join(f"`{each}`" for each in switch.operations)
        lines += ["", f"### {switch.name}", "", f"{operations}: {switch.about}.", "", *switch_lines(switch)]
    return fill(PAGE, "tools.semantics", "".join(f"{line}\n" for line in [*lines, ""]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return its exit status."""
    parser = argparse.ArgumentParser(description="Write the tables of docs/semantics.md.")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if the page is outdated")
    options = parser.parse_args(arguments)
    return keep_pages({PAGE: render()}, "tools.semantics", check=options.check)


if __name__ == "__main__":
    sys.exit(main())
