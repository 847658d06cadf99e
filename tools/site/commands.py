"""The pages of commands, from the tree of the real command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import typer

from tools.site.text import code, fence, table, titled
from webnn.commands.main import app

__all__ = ["FOLDER", "Command", "Option", "commands", "pages"]

FOLDER = "api/commands"
#: Text that typer appends to the help of an option: its environment variable, its default, its range.
_EXTRAS = re.compile(r"\s*\[([^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]$")
#: Names of files in help texts.
_GUIDE = re.compile(r"\bdocs/([\w-]+)\.md\b")


class Option(NamedTuple):
    """An option or an argument of a command.

    Attributes:
        names: The spellings of an option; of an argument its placeholder.
        is_argument: It is an argument.
        value: The placeholder of the value; empty for a flag.
        help: Its purpose.
        extras: The environment variable, the default and the range, in typer's words.
    """

    names: tuple[str, ...]
    is_argument: bool
    value: str
    help: str
    extras: str


class Command(NamedTuple):
    """A command or a group of them.

    Attributes:
        path: The words that call it: ``("webnn", "wpt", "run")``.
        usage: Its line of usage.
        help: Its help.
        options: Its options and arguments; hidden options are left out.
    """

    path: tuple[str, ...]
    usage: str
    help: str
    options: tuple[Option, ...]

    @property
    def name(self) -> str:
        """The words that call it, as one text."""
        return " ".join(self.path)

    @property
    def page(self) -> str:
        """The page that has it: that of the group or the command directly below ``webnn``."""
        return f"{FOLDER}/{self.path[1] if len(self.path) > 1 else 'index'}.md"

    def anchor(self, name: str = "") -> str:
        """Return the anchor of the command, or of one of its options."""
        return "-".join((*self.path, *filter(None, (name.strip("-"),))))


@cache
def commands() -> tuple[Command, ...]:
    """Return every command, groups before their commands."""
    return tuple(_walk(typer.main.get_command(app), ("webnn",), None))


def _walk(command: Any, path: tuple[str, ...], parent: Any) -> Iterator[Command]:
    # The classes are click's or typer's own copy of them, by the version of typer; their names are the same.
    context = command.make_context(path[-1], [], parent=parent, resilient_parsing=True)
    usage = " ".join(command.get_usage(context).split()).removeprefix("Usage: ")
    yield Command(path, usage, (command.help or "").strip(), tuple(_options(command, context)))
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            yield from _walk(command.get_command(context, name), (*path, name), context)


def _options(command: Any, context: Any) -> Iterator[Option]:
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is None:  # it is hidden
            continue
        shown, help = record
        extras = _EXTRAS.search(help)
        text = help[: extras.start()] if extras else help
        if parameter.param_type_name == "argument":
            yield Option((shown,), True, "", text, extras[1] if extras else "")
        else:
            names = (*parameter.opts, *parameter.secondary_opts)
            value = re.sub(r"^(?:(?:--?[\w-]+)(?:, | / )?)+", "", shown).strip()
            yield Option(names, False, value, text, extras[1] if extras else "")


def pages() -> dict[str, str]:
    """Return the pages by their names: a list, and one for each command below ``webnn``."""
    made: dict[str, list[str]] = {}
    for command in commands():
        made.setdefault(command.page, []).extend(_section(command))
    root, *others = commands()
    rows = ([f"[{code(each.name)}]({each.page.rpartition('/')[2]}#{each.anchor()})", _linked(_first(each.help))] for each in others)
    made[root.page] += [*table(["command", ""], rows), "Every command has `--help`, `-h` for short.", ""]
    return {name: "\n".join(lines) for name, lines in made.items()}


def _first(help: str) -> str:
    return " ".join(help.partition("\n\n")[0].split())


def _section(command: Command) -> Iterator[str]:
    level = "#" if len(command.path) <= 2 else "##"
    title = "Commands" if len(command.path) == 1 else command.name
    yield from (f"{level} {title} {{ #{command.anchor()} }}", "", _linked(command.help), "")
    yield from fence(command.usage)
    below = 2 if len(command.path) <= 2 else 3
    for title, isArgument in (("Arguments", True), ("Options", False)):
        rows = [[_name(command, each), _described(each)] for each in command.options if each.is_argument == isArgument]
        yield from titled(title, table(["", ""], rows) if rows else [], below)


def _name(command: Command, option: Option) -> str:
    """Return the names of an option, with an anchor, and the placeholder of its value."""
    names = "\n".join(map(code, option.names))
    if option.is_argument:
        return names
    return f'<span id="{command.anchor(option.names[0])}"></span>{names}' + (f"\n{code(option.value)}" if option.value else "")


def _described(option: Option) -> str:
    return _linked(option.help) + (f"\n*{_escaped(option.extras)}*" if option.extras else "")


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;")


def _linked(text: str) -> str:
    """Return a help text as Markdown, with links to the guides that it names."""
    return _GUIDE.sub(r"[\1](../../\1.md)", _escaped(text).replace("*", r"\*"))
