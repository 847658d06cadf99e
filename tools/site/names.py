"""The index: every public name, command, option, environment variable and fixture, with its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from tools.site import commands, environment, operations, python_api, testing
from tools.site.text import code, table, titled
from webnn.validation.drafts import DRAFTS, find_revision

__all__ = ["PAGE", "index", "page"]

PAGE = "api/index.md"

#: The JavaScript side, by guides: what a page or a program in JavaScript sees is the specification's.
_JAVASCRIPT = (
    ("`navigator.ml` in a program", "javascript.md", "what a program in JavaScript sees, and how it runs"),
    ("`navigator.ml` in a page", "pages.md", "a page in any browser on the emulator: `webnn serve`, `webnn_page`"),
    ("a real browser", "browser.md", "a browser with WebNN beside the emulator"),
    ("ONNX Runtime Web", "ort-web.md", "its WebNN provider on the emulator"),
    ("modules for pages", "export.md", "a graph as a module in JavaScript"),
)


@cache
def index() -> Mapping[str, Mapping[str, str]]:
    """Return the names of each kind with their pages and anchors."""
    own = [each for each in commands.commands() if each.path != ("webnn",)]
    options = {
        f"{command.name} {name}": f"{command.page}#{command.anchor(option.names[0])}"
        for command in commands.commands()
        for option in command.options
        if not option.is_argument
        for name in option.names
    }
    plugins = testing.plugins()
    return MappingProxyType(
        {
            "Operations": {name: f"{operations.FOLDER}/{name}.md" for name in sorted(operations.operations(), key=str.lower)},
            "Python": python_api.names(),
            "Commands": {each.name: f"{each.page}#{each.anchor()}" for each in own},
            "Options of commands": options,
            "Environment variables": {name: f"{environment.PAGE}#{name}" for name in environment.variables()},
            "Fixtures of pytest": {name: f"{testing.PAGE}#fixtures-{name}" for each in plugins for name in each.fixtures},
            "Markers of pytest": {name: f"{testing.PAGE}#markers-{name}" for each in plugins for name in each.markers},
            "Options of pytest": {name: f"{testing.PAGE}#options-{name.strip('-')}" for each in plugins for name in each.options},
        }
    )


def page() -> str:
    """Return the page of the index."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield from ("# Reference", "", "Every public name, with the page that has it.", "")
    yield from table(
        ["", ""],
        [
            ["[Operations](operations/index.md)", f"the {len(operations.operations())} operations of `MLGraphBuilder`, one page each"],
            ["[Python](python/index.md)", "classes, functions and dictionaries"],
            ["[Compatibility](compatibility.md)", "operations, data types, devices, browsers"],
            ["[Error messages](messages.md)", "causes, and what to change"],
            ["[Errors](errors.md)", "every class, and when it is raised"],
            ["[Commands](commands/index.md)", "every command and option"],
            ["[Environment variables](environment.md)", "what they set, and what a program says in their place"],
            ["[pytest](pytest.md)", "fixtures, markers and options"],
            ["[The drafts](../revisions.md)", f"{', '.join(map(str, DRAFTS))}: what differs"],
        ],
    )
    for kind, names in index().items():
        yield from titled(kind, [_joined(names), ""] if kind != "Options of commands" else _by_command(names))
    yield from titled("JavaScript", table(["", "", ""], ([name, f"[{guide}](../{guide})", about] for name, guide, about in _JAVASCRIPT)))
    yield from titled("Interfaces of the drafts", _interfaces())


def _relative(page: str) -> str:
    return page.removeprefix("api/")


def _joined(names: Mapping[str, str]) -> str:
    return " · ".join(f"[{code(name)}]({_relative(page)})" for name, page in names.items())


def _by_command(names: Mapping[str, str]) -> Iterator[str]:
    """Yield a row for each command, with its options."""
    rows: dict[str, dict[str, str]] = {}
    for name, page in names.items():
        command, _, option = name.rpartition(" ")
        rows.setdefault(command, {})[option] = page
    yield from table(["command", "options"], ([code(command), _joined(options)] for command, options in rows.items()))


def _interfaces() -> Iterator[str]:
    """Yield which draft has which interface and member."""
    members: dict[str, list[str]] = {}
    for draft in DRAFTS:
        for name, interface in find_revision(draft).idl()["interfaces"].items():
            found = [each["name"] for each in (*interface.get("attributes", ()), *interface.get("operations", ()))]
            for member in dict.fromkeys(found):
                if member not in operations.operations():
                    members.setdefault(f"{name}.{member}", []).append(draft)
    yield from table(["member", "drafts"], ([code(name), ", ".join(drafts)] for name, drafts in members.items()))
