"""The reports of ``webnn run``: ``--inspect`` about the graphs of a program, ``--waste`` about copies, ``--timeline`` about times."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from webnn.commands.choices import AccuracyLevel
from webnn.commands.failure import failure
from webnn.commands.progress import show_progress
from webnn.display.text import clip

if TYPE_CHECKING:
    from webnn.inspect import CallTimeline, Waste

__all__ = ["write_inspection", "write_recordings"]

#: The exit code of a wrong call.
_WRONG = 2


@contextmanager
def write_inspection(path: Path | None, program: Path, accuracy: AccuracyLevel | None = None) -> Iterator[None]:
    """Collect the graphs of a program that runs in the block, and write the page about them when it ends, also with an error.

    ``accuracy`` is that of `webnn.inspect.write_page`; ``None`` is its default.

    Raises `typer.Exit` if the page cannot be written. The program's own exit code is lost.
    """
    if path is None:
        if accuracy is not None:
            raise failure("--accuracy says what the page of --inspect has: give --inspect, too", _WRONG)
        yield
        return
    if path.suffix.lower() not in {".html", ".htm"}:
        raise failure(f"--inspect must name a file .html, got {path}", _WRONG)
    # The program may change the folder.
    path = path.absolute()
    if not path.parent.is_dir():
        raise failure(f"--inspect must name a file in a folder that exists, got {path}", _WRONG)
    # Imported lazily: most programs are not inspected.
    from webnn.inspect import capture, page  # noqa: PLC0415

    collected = capture.Capture()
    try:
        with collected.collect():
            yield
    finally:
        count = len(collected.graphs)
        typer.echo(f"webnn: looking into {count} graph{'' if count == 1 else 's'} ...", err=True)
        try:
            wanted: page.AccuracyChoice = (accuracy or AccuracyLevel.whole).value
            with show_progress("inspecting", count * len(page.PHASES)) as bar:
                begun = itertools.count()

                def on_phase(graph: str, phase: str) -> None:
                    bar.tell(f"{clip(graph, 30)}: {phase}")
                    bar.advance(steps=min(1, next(begun)))

                page.write_capture(path, collected, program.name, accuracy=wanted, on_phase=on_phase)
        except OSError as error:
            raise failure(f"--inspect cannot write {path}: {error}", 1) from None
        typer.echo(f"webnn: wrote {path}", err=True)


@contextmanager
def write_recordings(waste: str | None, timeline: str | None, program: Path) -> Iterator[None]:
    """Record a program that runs in the block, and write the reports when it ends, also with an error.

    Args:
        waste: Where the report of copies and allocations goes: a file, or "-" for the standard error; ``None`` records nothing.
        timeline: The same for the times of its calls. A file ``.json`` gets Chrome's tracing format.
        program: The program, for the titles of pages.

    Raises:
        typer.Exit: A report cannot be written. The program's own exit code is lost.
    """
    paths = {option: _target(option, target) for option, target in (("--waste", waste), ("--timeline", timeline)) if target is not None}
    if not paths:
        yield
        return
    # Imported lazily: most programs are not recorded.
    from webnn.inspect import record_timeline, record_waste  # noqa: PLC0415

    recorders = {option: record_waste() if option == "--waste" else record_timeline() for option in paths}
    try:
        with ExitStack() as stack:
            for recorder in recorders.values():
                stack.enter_context(recorder)
            yield
    finally:
        for option, recorder in recorders.items():
            _write_report(option, recorder.report(), paths[option], program.name)


def _target(option: str, target: str) -> Path | None:
    """Return the file of a report; ``None`` for the standard error."""
    # The program may change the folder.
    path = None if target == "-" else Path(target).absolute()
    if path is not None and path.suffix.lower() not in {".json", ".html", ".htm"}:
        raise failure(f"{option} must be -, or name a file .json or .html, got {target}", _WRONG)
    if path is not None and not path.parent.is_dir():
        raise failure(f"{option} must name a file in a folder that exists, got {path}", _WRONG)
    return path


def _write_report(option: str, report: Waste | CallTimeline, path: Path | None, title: str) -> None:
    if path is None:
        typer.echo(str(report), err=True)
        return
    from webnn.inspect import CallTimeline  # noqa: PLC0415 (as above)

    try:
        if path.suffix.lower() == ".json":
            text = json.dumps(report.to_chrome()) if isinstance(report, CallTimeline) else report.to_json()
            path.write_text(f"{text}\n", encoding="utf-8")
        else:
            from webnn.inspect import page  # noqa: PLC0415 (it loads what draws pictures)

            page.write_tables(path, report, title)
    except OSError as error:
        raise failure(f"{option} cannot write {path}: {error}", 1) from None
    typer.echo(f"webnn: wrote {path}", err=True)
