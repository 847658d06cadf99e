"""``webnn run --inspect``: a page about the graphs of a program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from webnn.commands.failure import failure

__all__ = ["write_inspection"]

#: The exit code of a wrong call.
_WRONG = 2


@contextmanager
def write_inspection(path: Path | None, program: Path) -> Iterator[None]:
    """Collect the graphs of a program that runs in the block, and write the page about them when it ends, also with an error.

    Args:
        path: The page; ``None`` to collect nothing.
        program: The program, for the title.

    Raises:
        typer.Exit: The page cannot be written. The program's own exit code is lost.
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
