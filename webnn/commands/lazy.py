"""Groups of commands that are loaded when they are called."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import typer
from typer.core import TyperGroup

__all__ = ["make_group"]

#: What every command has.
_SETTINGS: Mapping[str, Any] = MappingProxyType({"help_option_names": ["-h", "--help"]})
#: Frames and colours for people, plain text for pipes.
_LOOKS: Mapping[str, Any] = MappingProxyType(
    {"rich_markup_mode": "rich" if sys.stdout.isatty() else None, "pretty_exceptions_enable": False, "add_completion": False}
)


def make_group(commands: Mapping[str, str], **settings: Any) -> typer.Typer:
    """Make a group of commands.

    Args:
        commands: For each command the module that has it: as the function ``command``, with the settings ``CONTEXT_SETTINGS`` and the
            class ``CLASS`` if it needs some, or as the group ``app``.
        settings: Arguments of `typer.Typer`.
    """

    class Commands(TyperGroup):
        """Finds commands in their modules."""

        def list_commands(self, ctx: Any) -> list[str]:
            return list(commands)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return _load(cmd_name, commands[cmd_name]) if cmd_name in commands else None

    return typer.Typer(
        cls=Commands,
        context_settings=dict(_SETTINGS),
        **_LOOKS,
        **settings,
    )


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
