"""The page of the pytest plugins: fixtures, markers and options, from their code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from tools.site.text import ROOT, code, table, titled

__all__ = ["PAGE", "Plugin", "page", "plugins"]

PAGE = "api/pytest.md"
#: The files of the plugins, each with a title and its guide.
_FILES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "webnn/pytest_plugin.py": ("Faults and device profiles", "testing.md"),
        "webnn/serve/pytest_plugin.py": ("Pages", "pages.md"),
        "wpt_runner/pytest_plugin.py": ("Web-platform-tests", "wpt.md"),
    }
)


class Plugin(NamedTuple):
    """The fixtures and markers of a plugin, each by its name with an explanation."""

    title: str
    about: str
    guide: str
    fixtures: Mapping[str, str]
    markers: Mapping[str, str]
    options: Mapping[str, str]


@cache
def plugins() -> tuple[Plugin, ...]:
    """Return the plugins."""
    return tuple(_read(file, title, guide) for file, (title, guide) in _FILES.items())


def _read(file: str, title: str, guide: str) -> Plugin:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    values = {node.targets[0].id: node.value.value for node in tree.body if _is_text(node)}  # type: ignore[attr-defined]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    fixtures = {
        each.name: ast.get_docstring(each) or ""
        for each in functions
        if any(ast.unparse(d) == "pytest.fixture" for d in each.decorator_list)
    }
    markers: dict[str, str] = {}
    options: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="addinivalue_line"),
                args=[_, ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name(id=name)), *rest])],
            ):
                text = "".join(each.value for each in rest if isinstance(each, ast.Constant) and isinstance(each.value, str))
                markers[str(values[name])] = text.partition("): ")[2]
            case ast.Call(func=ast.Attribute(attr="addoption"), args=[ast.Constant(value=str(name)), *_], keywords=keywords):
                [help] = [each.value for each in keywords if each.arg == "help"]
                options[name] = _text(help, tree)
    return Plugin(title, (ast.get_docstring(tree) or "").partition("\n\n")[0], guide, fixtures, markers, options)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Constant)


def _text(node: ast.expr, tree: ast.Module) -> str:
    """Return a text, or the one that a local variable has."""
    if isinstance(node, ast.Name):
        [value] = [each.value for each in ast.walk(tree) if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == node.id]
        node = value
    return str(ast.literal_eval(node))


def page() -> str:
    """Return the page."""
    lines = ["# pytest", "", "The package brings plugins for pytest. Where it is installed, there is nothing to enable.", ""]
    for plugin in plugins():
        guide = f"[{plugin.guide.removesuffix('.md')}](../{plugin.guide})"
        lines += [f"## {plugin.title}", "", f"{_prose(plugin.about)} The guide is {guide}.", ""]
        lines += _section("Fixtures", plugin.fixtures)
        lines += _section("Markers", plugin.markers)
        lines += _section("Options", plugin.options)
    return "\n".join(lines)


def _section(title: str, members: Mapping[str, str]) -> Iterator[str]:
    rows = [[f'<span id="{title.lower()}-{name.strip("-")}"></span>{code(name)}', _prose(text)] for name, text in members.items()]
    yield from titled(title, table([title.lower().removesuffix("s"), ""], rows) if rows else [], 3)


def _prose(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("``", "`").replace("<", "&lt;")
