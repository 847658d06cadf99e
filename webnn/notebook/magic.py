"""``%load_ext webnn``: the cell magic ``%%webnn_js``, a cell in JavaScript, with the emulator as ``navigator.ml``; and lines of cells."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import webnn
from webnn.context.emulation import Emulation, Settings
from webnn.javascript.idl import dialect_revision
from webnn.notebook.cell import NoEngineError, Options, run
from webnn.validation.drafts import NEWEST

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.core.magic_arguments import MagicArgumentParser

__all__ = ["register"]

_NAME = "webnn_js"


def register(shell: InteractiveShell) -> None:
    """Define ``%%webnn_js`` in a shell of IPython, and note the lines of the operators that cells make."""
    from IPython.core.error import UsageError  # noqa: PLC0415

    parser = _make_parser()

    def webnn_js(line: str, cell: str) -> None:
        """Run the cell in JavaScript."""
        options = parser.parse_argstring(line)
        try:
            with webnn.emulate(profile=options.profile, fallback=options.fallback, numerics=options.numerics):
                results = run(cell, _options(options, shell.user_ns), sys.stdout, sys.stderr)
        except (NoEngineError, TypeError, ValueError) as error:
            raise UsageError(f"%%{_NAME}: {error}") from None
        shell.push(results)

    webnn_js.__doc__ = parser.format_help()
    shell.register_magic_function(webnn_js, "cell", _NAME)
    cell = ExitStack()
    lines = Emulation(Settings(lines=True))
    shell.events.register("pre_run_cell", lambda _: cell.enter_context(lines))
    # The first time it is the end of the cell that loads the extension.
    shell.events.register("post_run_cell", lambda _: cell.close())


def _make_parser() -> MagicArgumentParser:
    from IPython.core.magic_arguments import MagicArgumentParser  # noqa: PLC0415

    parser = MagicArgumentParser(f"%%{_NAME}", description="Run the cell in JavaScript, with the emulator as navigator.ml.")
    add = parser.add_argument
    add("-i", "--input", action="append", default=[], metavar="NAME", help="a variable that the cell gets; repeatable")
    add("-o", "--output", action="append", default=[], metavar="NAME", help="a variable of the cell that Python gets; repeatable")
    add("--revision", help=f"the draft; the default is that of the dialect, or {NEWEST}")
    add("--dialect", help="what browsers have beside the draft: browsers-2024, browsers-2026 or chromium-153")
    add("--profile", metavar="NAME|FILE", help="the device whose limits every context has")
    add("--fallback", help="what happens where a device is not there: allow, silent or deny")
    add("--numerics", help="whose numbers: exact or fast")
    return parser


def _options(given: Any, variables: dict[str, Any]) -> Options:
    """Return how a cell runs. Raises `ValueError` if a name is not valid, or not a variable."""
    for option, names in {"-i": given.input, "-o": given.output}.items():
        for name in names:
            if not name.isidentifier():
                raise ValueError(f"{option} {name}: must be a name that Python and JavaScript can have")
    missing = [name for name in given.input if name not in variables]
    if missing:
        raise ValueError(f"-i {missing[0]}: must be a variable of the notebook")
    revision = given.revision or os.environ.get("WEBNN_REVISION") or (given.dialect and dialect_revision(given.dialect)) or NEWEST
    return Options(
        inputs={name: variables[name] for name in given.input},
        outputs=given.output,
        revision=revision,
        dialect=given.dialect,
        folder=Path.cwd(),
    )
