"""``webnn proposal new``: begins a proposal."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from webnn.commands.failure import failure
from webnn.validation.drafts import extra_additions

__all__ = ["command"]

_WRONG = 2
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name: lower-case letters, digits and hyphens.", show_default=False)],
    *,
    folder: Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where the files go.")] = Path(),
) -> None:
    """Begin a proposal: a module with one new operation, and tests.

    The tests pass.

    Change the operation into yours. docs/adding-a-proposal.md says what a proposal can change, and how it becomes a part of this package.
    """
    if not _NAME.fullmatch(name):
        raise failure(f"a name has lower-case letters, digits and single hyphens, and begins with a letter; got {name!r}", _WRONG)
    if name in extra_additions():
        raise failure(f"there is a proposal {name!r} already", _WRONG)
    module = name.replace("-", "_")
    test = f"test_{module}.py"
    values = {"NAME": name, "MODULE": module, "TEST": test, "TITLE": name.replace("-", " ").capitalize()}
    template = resources.files("webnn.proposals") / "template"
    files = {
        folder / file: Template((template / source).read_text(encoding="utf-8")).substitute(values)
        for file, source in ((f"{module}.py", "proposal.py.txt"), (test, "test.py.txt"))
    }
    for path in files:
        if path.exists():
            raise failure(f"{path} exists already", _WRONG)
    for path, text in files.items():
        try:
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise failure(f"{path} cannot be written: {error.strerror or error}", _WRONG) from None
        typer.echo(f"wrote {path}")
    typer.echo(f"try it: python -m pytest {folder / test}")
