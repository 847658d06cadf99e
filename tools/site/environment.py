"""The page of environment variables, from docs/environment.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from tools.site.text import ROOT, table

__all__ = ["PAGE", "Variable", "find_variables", "page", "variables"]

PAGE = "api/environment.md"
FILE = ROOT / "docs" / "environment.toml"
#: The folders of the package.
_FOLDERS = ("webnn", "builder", "context", "validation", "wpt_runner")
_SUFFIXES = {".py", ".js", ".mjs"}
_NAME = re.compile(r"\bWEBNN_[A-Z0-9_]+\b")


class Variable(NamedTuple):
    """An environment variable: its values, what it does, its default, what a program says in its place, and its guide."""

    value: str
    does: str
    instead: str
    default: str
    guide: str


@cache
def variables() -> Mapping[str, Variable]:
    """Return the variables by their names."""
    return {name: Variable(**entry) for name, entry in tomllib.loads(FILE.read_text(encoding="utf-8")).items()}


def find_variables() -> set[str]:
    """Return the names of the variables that the package's code has."""
    files = {file.resolve() for folder in _FOLDERS for file in (ROOT / folder).rglob("*") if file.suffix in _SUFFIXES}
    return {name for file in files for name in _NAME.findall(file.read_text(encoding="utf-8"))}


def page() -> str:
    """Return the page."""
    lines = [
        "# Environment variables",
        "",
        "They hold for a process and for those that it starts. Options of a program or a command take precedence. An empty value "
        "counts as none. `webnn` checks the variables that concern contexts before it runs a command. `NO_COLOR` switches the colours of "
        "commands off.",
        "",
    ]
    for name, each in variables().items():
        guide = f"[{each.guide.removesuffix('.md')}](../{each.guide})"
        rows = [["value", each.value], ["default", each.default], ["in its place", each.instead], ["guide", guide]]
        lines += [f"## {name} {{ #{name} }}", "", each.does, "", *table(["", ""], rows)]
    return "\n".join(lines)
