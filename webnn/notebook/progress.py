"""A progress bar in a notebook. rich has one only where ipywidgets is installed."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["start_bar"]

#: How long a bar stays as it is, in seconds.
_INTERVAL = 0.1


def start_bar(total: int) -> Callable[[int], None]:
    """Show a progress bar; return a function that advances it by some steps. Called inside a notebook's kernel."""
    from IPython.display import ProgressBar  # noqa: PLC0415

    bar = ProgressBar(total)
    bar.display()
    done, shown = 0, time.monotonic()

    def advance(steps: int) -> None:
        nonlocal done, shown
        done += steps
        if done >= total or time.monotonic() - shown >= _INTERVAL:
            shown = time.monotonic()
            bar.progress = done

    return advance
