"""Where and how commands show their progress."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

__all__ = ["PROGRESS_VARIABLE", "Bar", "progress_console", "show_progress"]

#: Switches progress off with the value 0, as ``webnn --no-progress`` does.
PROGRESS_VARIABLE = "WEBNN_PROGRESS"
#: A variable in the environment of Jupyter's kernels.
_KERNEL = "JPY_PARENT_PID"
#: Seconds before progress is shown: most commands end before.
_PATIENCE = 0.5


def progress_console() -> Console:
    """Return the standard error for progress, which moves on a terminal only.

    A command that a notebook runs has a terminal, too, but the notebook keeps everything that was ever printed there.
    """
    from rich.console import Console  # noqa: PLC0415 (modules that load nothing else of rich import this one)

    hidden = _KERNEL in os.environ or os.environ.get(PROGRESS_VARIABLE) == "0"
    return Console(stderr=True, highlight=False, force_terminal=False if hidden else None)


class Bar:
    """The progress of one command.

    It may be used from several threads. Without a terminal it shows nothing.
    """

    def __init__(self, progress: Progress | None, what: str, total: int | None) -> None:
        self._progress = progress
        self._task = None if progress is None else progress.add_task(what, total=total, count="")

    def tell(self, what: str) -> None:
        """Say what is being done."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=what)

    def reach(self, done: int, total: int | None = None) -> None:
        """Say how many steps are done, and of how many if that was not known before."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total)

    def advance(self, count: object = "", steps: int = 1) -> None:
        """Go some steps further; ``count`` is shown before the words ``counted`` of `show_progress`."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, advance=steps, count=str(count))


@contextmanager
def show_progress(what: str, total: int | None = None, counted: str = "", *, hidden: bool = False) -> Iterator[Bar]:
    """Show on a terminal what is being done, how far it is, and how long it has taken; half a second passes before it appears.

    With a number of steps, an estimate of the time that is left follows.

    Args:
        what: The words for what is being done; `Bar.tell` changes them.
        total: The number of steps; ``None`` if it is not known.
        counted: Words behind a number that `Bar.advance` gives: ``"failed"``.
        hidden: Show nothing.
    """
    console = progress_console()
    # Live lines of a terminal that cannot move the cursor would be printed again and again.
    if hidden or not console.is_terminal or console.is_dumb_terminal:
        yield Bar(None, what, total)
        return
    # Imported lazily: most commands end before, or have no terminal.
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn  # noqa: PLC0415

    columns: list[ProgressColumn] = [TextColumn("{task.description}", markup=False), BarColumn(bar_width=24)]
    if total is not None:
        columns.append(MofNCompleteColumn())
    if counted:
        columns.append(TextColumn("{task.fields[count]} " + counted, markup=False))
    columns.append(TimeElapsedColumn())
    if total is not None:
        columns += [TimeRemainingColumn(compact=True), TextColumn("left")]
    progress = Progress(*columns, console=console, transient=True, redirect_stdout=False)
    timer = threading.Timer(_PATIENCE, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield Bar(progress, what, total)
    finally:
        timer.cancel()
        # The timer may be starting it.
        timer.join()
        progress.stop()
