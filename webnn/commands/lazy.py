"""Groups of commands that are loaded when they are called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from webnn.commands.registry import Entry

__all__ = ["make_group"]

#: The settings of every command.
_SETTINGS: Mapping[str, Any] = MappingProxyType({"help_option_names": ["-h", "--help"]})
#: The smallest similarity of a misspelt command and the one that is meant, from 0 to 1.
_NEAR = 0.7
#: Frames and colours for people, plain text for pipes.
_LOOKS: Mapping[str, Any] = MappingProxyType(
    {"rich_markup_mode": "rich" if sys.stdout.isatty() else None, "pretty_exceptions_enable": False, "add_completion": False}
)


def make_group(commands: Mapping[str, Entry], *, default: str = "", **settings: Any) -> typer.Typer:
    """Make a group of commands; ``default`` is meant if none is named.

    A module has its command as the function ``command``, with the settings ``CONTEXT_SETTINGS`` and the class ``CLASS`` if it needs some,
    or as the group ``app``. ``settings`` are arguments of `typer.Typer`.
    """

    class Commands(TyperGroup):
        """Finds commands in their modules."""

        #: Whether the commands are being listed, for the help or for a shell, which needs no more of a command than its text.
        _lists = False

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            if ctx.resilient_parsing and not args:
                # A shell completes the name of a command.
                return super().parse_args(ctx, args)
            # A name that is almost that of a command is a mistake, not an argument of the default command.
            isNamed = bool(args) and (args[0] in commands or args[0] in _SETTINGS["help_option_names"] or bool(_meant(args[0], commands)))
            return super().parse_args(ctx, args if isNamed or not default else [default, *args])

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            # typer itself looks among commands that are loaded.
            meant = "" if args[0] in commands or ctx.resilient_parsing else _meant(args[0], commands)
            if meant:
                ctx.fail(f"No such command '{args[0]}'. Did you mean '{meant}'?")
            return super().resolve_command(ctx, args)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            self._lists = True
            try:
                super().format_help(ctx, formatter)
            finally:
                self._lists = False

        def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
            self._lists = True
            try:
                return super().shell_complete(ctx, incomplete)
            finally:
                self._lists = False

        def list_commands(self, ctx: Any) -> list[str]:
            return list(commands)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in commands:
                return None
            entry = commands[cmd_name]
            return TyperCommand(cmd_name, help=entry.help) if self._lists else _load(cmd_name, entry.module)

    return typer.Typer(cls=Commands, context_settings=dict(_SETTINGS), **{**_LOOKS, **settings})


def _meant(name: str, commands: Mapping[str, Entry]) -> str:
    """Return the command that a misspelt name means; empty if there is none."""
    # Imported lazily: most names are right.
    from difflib import get_close_matches  # noqa: PLC0415

    return next(iter(get_close_matches(name, commands, 1, _NEAR)), "")


def _load(name: str, module: str) -> Any:
    found = import_module(module)
    if hasattr(found, "app"):
        command: Any = typer.main.get_group(found.app)
    else:
        app = typer.Typer(**_LOOKS)
        cls = getattr(found, "CLASS", None)
        app.command(name, cls=cls, context_settings={**_SETTINGS, **getattr(found, "CONTEXT_SETTINGS", {})})(found.command)
        command = typer.main.get_command(app)
    command.name = name
    return command
