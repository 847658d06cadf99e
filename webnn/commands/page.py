"""Run programs in JavaScript and pages: ``webnn run``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import webnn
from webnn.commands.choices import PAGES, AccuracyLevel
from webnn.commands.failure import failing, failure
from webnn.commands.inspection import write_inspection, write_recordings
from webnn.context.emulation import ambient
from webnn.javascript.files import ORIGIN, Files
from webnn.javascript.idl import dialect_revision
from webnn.javascript.node import NodeMissingError, NodeProgram, find_node, run_program
from webnn.javascript.page_scripts import import_maps_of_page, scripts_of_page, scripts_of_script
from webnn.validation.caller import PLACE
from webnn.validation.drafts import NEWEST

__all__ = ["make_document", "run_page"]

#: The exit code of a wrong call.
_WRONG = 2


def run_page(
    program: Path,
    arguments: Sequence[str],
    emulation: AbstractContextManager[object],
    *,
    document: webnn.Document,
    root: Path | None,
    node: Path | None,
    dialect: str | None,
    revision: str | None,
    timeout: float | None,
    memory: int,
    inspect: Path | None,
    accuracy: AccuracyLevel | None,
    waste: str | None,
    timeline: str | None,
    verbose: bool,
) -> int:
    """Run a program in Node, within ``emulation``; return its exit code. The other arguments are the options of the command.

    Raises `typer.Exit` if the call is wrong, or there is no Node; the message is printed.
    """
    if root is not None and not root.is_dir():
        raise failure(f"--root must be a folder, got {root}", _WRONG)
    place = program.resolve()
    files = Files(root or place.parent, place.parent)
    address = files.address(place)
    maps: list[str] = []
    if place.suffix.lower() in PAGES:
        text = place.read_text(encoding="utf-8-sig", errors="replace")
        scripts, maps = scripts_of_page(text, address), import_maps_of_page(text)
    else:
        scripts = scripts_of_script(place, address)
    if not scripts:
        raise failure(f"{program} has no script", _WRONG)
    refused = (NodeMissingError, ValueError, webnn.WebNNTypeError)
    with failing(refused, _WRONG), emulation, write_inspection(inspect, program, accuracy), write_recordings(waste, timeline, program):
        # The program's lines are those of this run only.
        token = PLACE.set(None)
        try:
            return run_program(
                find_node(node),
                NodeProgram(
                    scripts=scripts,
                    # A program outside the root is treated like a script of another site: the page is that of the root.
                    location=address if address.startswith(f"{ORIGIN}/") else f"{ORIGIN}/",
                    arguments=["node", str(program), *arguments],
                    files=files,
                    timeout=timeout,
                    memory=memory,
                    revision=revision or (dialect and dialect_revision(dialect)) or NEWEST,
                    dialect=dialect,
                    document=document,
                    import_maps=maps,
                    on_line=PLACE.set if waste is not None or timeline is not None or ambient().lines else None,
                ),
                verbose=verbose,
            )
        finally:
            PLACE.reset(token)


def make_document(embedder: str | None, allow: str | None, policy: str | None) -> webnn.Document:
    """Make the document of a program: a page of its own, or a frame in the page `embedder`. The other arguments are options, too.

    Raises `typer.Exit` if an option is wrong; the message is printed.
    """
    if allow is not None and embedder is None:
        raise failure(
            "--allow is an attribute of a frame: give the page with the frame, too, for example --embedder https://page.test", _WRONG
        )
    with failing(ValueError, _WRONG, "--embedder: {}"):
        page = None if embedder is None else webnn.Document(origin=embedder)
    with warnings.catch_warnings():
        warnings.simplefilter("error", webnn.WebNNWarning)
        try:
            return webnn.Document(policy, origin=ORIGIN, parent=page, allow=allow or "")
        except webnn.WebNNWarning as warning:
            raise failure(f"--permissions-policy: {warning}", _WRONG) from None
