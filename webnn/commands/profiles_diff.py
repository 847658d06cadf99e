"""``webnn profiles diff``: what differs between two device profiles."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from webnn.commands.completion import complete_profile
from webnn.commands.failure import failing
from webnn.commands.rows import make_console, print_rows
from webnn.context.profiles import ProfileError, load_profile
from webnn.context.profiles.difference import compare, describe

__all__ = ["command"]


def command(
    first: Annotated[
        str, typer.Argument(metavar="A", help="A profile, by its name or as a file.", autocompletion=complete_profile, show_default=False)
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.", autocompletion=complete_profile, show_default=False)],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
) -> None:
    """Compare two device profiles: limits, devices, rules, members.

    Prints what B has more (+) and less (-) than A. The exit status is 1 if they differ, and 2 if one is not a profile.
    """
    with failing(ProfileError, 2):
        found = compare(load_profile(first), load_profile(second))
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found], indent=1))
    elif found:
        print_rows(make_console(), [(path, text, "") for path, text in describe(found)])
    else:
        typer.echo("no difference")
    if found:
        raise typer.Exit(1)
