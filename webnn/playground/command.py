"""``webnn playground``: a page to try programs on."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from webnn._extras import install_command
from webnn.commands.failure import failing, failure
from webnn.playground.order import FILES, LONGEST

__all__ = ["command"]

#: The exit codes of a wrong call, and of a user's Ctrl-C.
_WRONG, _INTERRUPTED = 2, 130


def command(
    program: Annotated[
        str | None,
        typer.Argument(metavar="FILE|LINK", help="A program .mjs, .js or .py, or a link that a page has made.", show_default=False),
    ] = None,
    *,
    python: Annotated[
        bool, typer.Option("--python", help="Run programs in Python, too. They can do what you can: read and delete files, for example.")
    ] = False,
    timeout: Annotated[float, typer.Option(min=0.1, max=3600, help="How many seconds a program may take.")] = 30.0,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for one that is free.")] = 0,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Open a page to try programs on.

    It has an editor, device profiles and faults, and shows results, graphs, and where operators run.

    Only programs of this machine that know the address can reach the page. Programs in JavaScript run as with webnn run, behind its walls.
    The command prints the address, and ends at Ctrl-C.
    """
    try:
        from webnn.playground.server import Playground  # noqa: PLC0415 (an extra has what this imports)
    except ModuleNotFoundError as error:
        if error.name not in {"aiohttp", "multidict", "websockets", "yarl"}:
            raise
        raise failure(f"{error.name} is missing: {install_command('serve')}", _WRONG) from None
    languages = tuple(name for name in FILES if name != "python" or python)
    with failing((OSError, ValueError), _WRONG):
        start, fragment = (None, "") if program is None else _read_start(program, languages)
    playground = Playground(languages, timeout=timeout, start=start)
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise failure(f"the port {port} cannot be used ({error.strerror or error}): choose another with --port", 1) from None
    with listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}{playground.path}/{fragment}"
        typer.echo(f"the playground: {address}\nCtrl-C ends it.")
        if open_page:
            webbrowser.open(address)
        # The server itself takes Ctrl-C, and returns.
        playground.serve(listening)
    raise typer.Exit(_INTERRUPTED)


def _read_start(program: str, languages: tuple[str, ...]) -> tuple[Mapping[str, str] | None, str]:
    """Return the program that the page begins with, and the fragment of its address: one of both is empty."""
    if program.startswith(("http://", "https://", "#")):
        fragment = program.partition("#")[2]
        if not fragment:
            raise ValueError("the link must have a program behind its #")
        if not (fragment.isascii() and all(each.isalnum() or each in "-_." for each in fragment)):
            raise ValueError("the link is damaged: behind its # there are letters, digits, '-', '_' and '.' only")
        return None, f"#{fragment}"
    path = Path(program)
    language = {".py": "python", ".js": "javascript", ".mjs": "javascript"}.get(path.suffix.lower())
    if language is None:
        raise ValueError(f"a program is a file .mjs, .js or .py, or a link, got {program}")
    if language not in languages:
        raise ValueError(f"{program}: programs in Python run with --python only, because they can do what you can")
    source = path.read_text(encoding="utf-8-sig")
    if len(source) > LONGEST:
        raise ValueError(f"{program} must have at most {LONGEST:,} characters, got {len(source):,}")
    return {"language": language, "source": source}, ""
