"""``webnn run --inspect``: a page about the graphs of a program. ``webnn run --waste``: what its steps copy and allocate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from webnn.commands.failure import failure
from webnn.validation.caller import PLACE

__all__ = ["write_inspection", "write_waste"]

#: The exit code of a wrong call.
_WRONG = 2


@contextmanager
def write_inspection(path: Path | None, program: Path) -> Iterator[None]:
    """Collect the graphs of a program that runs in the block, and write the page about them when it ends, also with an error.

    Raises `typer.Exit` if the page cannot be written. The program's own exit code is lost.
    """
    if path is None:
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
            page.write_capture(path, collected, program.name)
        except OSError as error:
            raise failure(f"--inspect cannot write {path}: {error}", 1) from None
        typer.echo(f"webnn: wrote {path}", err=True)


@contextmanager
def write_waste(target: str | None, program: Path) -> Iterator[None]:
    """Record what a program that runs in the block copies and allocates, and write the report when it ends, also with an error.

    ``target`` is the file, or "-" for the standard error; ``None`` records nothing. Raises `typer.Exit` if the report cannot be written.
    The program's own exit code is lost.
    """
    if target is None:
        yield
        return
    # The program may change the folder.
    path = None if target == "-" else Path(target).absolute()
    if path is not None and path.suffix.lower() not in {".json", ".html", ".htm"}:
        raise failure(f"--waste must be -, or name a file .json or .html, got {target}", _WRONG)
    if path is not None and not path.parent.is_dir():
        raise failure(f"--waste must name a file in a folder that exists, got {path}", _WRONG)
    # Imported lazily: most programs are not recorded.
    from webnn.inspect import record_waste  # noqa: PLC0415

    recorder = record_waste()
    # A program in JavaScript sets it.
    token = PLACE.set(None)
    try:
        with recorder:
            yield
    finally:
        PLACE.reset(token)
        report = recorder.report()
        if path is None:
            typer.echo(str(report), err=True)
        else:
            try:
                if path.suffix.lower() == ".json":
                    path.write_text(f"{report.to_json()}\n", encoding="utf-8")
                else:
                    from webnn.inspect import page  # noqa: PLC0415 (it loads what draws pictures)

                    page.write_tables(path, report, program.name)
            except OSError as error:
                raise failure(f"--waste cannot write {path}: {error}", 1) from None
            typer.echo(f"webnn: wrote {path}", err=True)
