"""``webnn browser run``: one program in a browser and in the emulator."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import webnn
from webnn.browser.chromium import VARIABLE, BrowserError, find_browser
from webnn.browser.differences import Difference, Kind, find_differences
from webnn.browser.hosts import SETTLED, Subject, run_in_browser, run_in_emulator
from webnn.browser.opinion import Opinion, Witness
from webnn.commands.choices import PAGES, SemanticsOption, set_semantics
from webnn.commands.completion import complete_dialect, complete_profile, complete_revision
from webnn.commands.failure import failure
from webnn.commands.progress import show_progress
from webnn.commands.text import show_controls
from webnn.javascript.idl import dialect_revision, load_dialects
from webnn.javascript.node import NodeMissingError, find_node
from webnn.validation.drafts import NEWEST

__all__ = ["DIALECT", "BrowserOption", "command"]

_WRONG = 2
#: The emulator's members beside the draft: those of the browser, or of browsers.
DIALECT = next(name for name in ("chromium-153", "browsers-2026") if name in load_dialects())
_SUFFIXES = (".mjs", ".js", *PAGES)
_LONGEST_CONSOLE = 4000

BrowserOption = Annotated[
    Path | None,
    typer.Option("--browser", metavar="PROGRAM", help="The browser, a Chromium with WebNN.", envvar=VARIABLE, show_default=False),
]


def command(
    program: Annotated[Path, typer.Argument(help="A program .mjs, .js or .html.", show_default=False)],
    *,
    browser: BrowserOption = None,
    root: Annotated[Path | None, typer.Option(help="The folder that the program may read; by default its own.", show_default=False)] = None,
    dialect: Annotated[
        str, typer.Option(help="The emulator's members beside the draft; 'none' for none.", autocompletion=complete_dialect)
    ] = DIALECT,
    revision: Annotated[
        str | None,
        typer.Option(
            help="The revision of the draft.", autocompletion=complete_revision, show_default="that of the dialect, or the newest one"
        ),
    ] = None,
    profile: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="The emulator's limits; 'none' for none.", autocompletion=complete_profile)
    ] = "tflite",
    semantics: SemanticsOption = None,
    node: Annotated[
        Path | None, typer.Option(help="The Node to run it with, 22.15 or newer.", envvar="WEBNN_NODE", show_default=False)
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="End the program after this many seconds.")] = 60.0,
    settle: Annotated[float, typer.Option(min=0.05, help="A page is done after this many seconds without a call.")] = SETTLED,
    as_json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the differences to a file.")] = None,
) -> None:
    """Run a program in a browser and in the emulator.

    It shows what differs.

    Calls of WebNN are compared in order: whether they are accepted, classes of errors, types, shapes, and numbers. The reference says whose
    numbers are right. The exit code is 1 if something differs.
    """
    set_semantics(semantics)
    if not program.is_file() or program.suffix.lower() not in _SUFFIXES:
        raise failure(f"a program is a file {', '.join(_SUFFIXES)}, got {program}", _WRONG)
    if root is not None and not program.resolve().is_relative_to(root.resolve()):
        raise failure(f"the program must lie below --root, got {program}", _WRONG)
    subject = Subject(program=program, root=root or program.resolve().parent, timeout=timeout)
    chosen, limits = (None if each == "none" else each for each in (dialect, profile))
    draft = revision or (chosen and dialect_revision(chosen)) or NEWEST
    witness = Witness()
    console = Console(highlight=False, soft_wrap=True)
    try:
        executable, found = find_browser(browser), find_node(node)
        with show_progress("running in the emulator", 2) as bar:
            with webnn.emulate(profile=limits, on_build=witness.on_build, on_compute=witness.on_compute):
                emulator = run_in_emulator(subject, found, draft, chosen)
            bar.advance()
            bar.tell("running in the browser")
            log, name = run_in_browser(subject, executable, expected=emulator.size, settled=settle)
    except (BrowserError, NodeMissingError, ValueError, webnn.WebNNTypeError) as error:
        raise failure(str(error), _WRONG) from None
    except KeyboardInterrupt:
        raise failure("interrupted", 130) from None
    differences = find_differences(emulator, log, Opinion(emulator, witness))
    hosts = {"emulator": f"webnn {webnn.__version__}, draft {draft}, dialect {dialect}, profile {profile}", "browser": name}
    for host, words in hosts.items():
        console.print(f"{host:<8}  {words}", markup=False)
    _print(console, differences)
    counting = sum(each.counts for each in differences)
    small = sum(each.kind is Kind.numbers and not each.counts for each in differences)
    remark = f"; numbers differ in {_count(small, 'result')}, within the tolerances" if small else ""
    console.print(f"{len(emulator.calls)} calls in the emulator, {len(log.calls)} in the browser: {_count(counting, 'difference')}{remark}")
    for thrown, message in () if counting else emulator.uncaught:
        console.print(Text(f"neither caught {thrown}: {show_controls(message)}", style="yellow"))
    if as_json is not None:
        rows = [asdict(each) for each in differences]
        as_json.write_text(json.dumps({**hosts, "differences": rows}, indent=1) + "\n", encoding="utf-8")
    if counting:
        raise typer.Exit(1)


def _print(console: Console, differences: Sequence[Difference]) -> None:
    for each in differences:
        console.print(Text.assemble((f"{each.kind}", "red" if each.counts else "yellow"), f"  {show_controls(each.place)}"))
        for host, text in (("emulator", each.emulator), ("browser", each.browser)):
            shown = show_controls(text[:_LONGEST_CONSOLE])
            if each.kind is Kind.console:
                shown = "".join(f"\n      {line}" for line in shown.split("\n"))
            console.print(Text.assemble((f"    {host:<9}", "cyan"), shown))
        if each.remark:
            console.print(Text(f"    {each.remark}"))


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
