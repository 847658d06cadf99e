"""Where commands show their progress."""

from __future__ import annotations

import os

from rich.console import Console

__all__ = ["progress_console"]

#: A variable in the environment of Jupyter's kernels.
_KERNEL = "JPY_PARENT_PID"


def progress_console() -> Console:
    """Return the standard error for progress, which moves on a terminal only.

    A command that a notebook runs has a terminal, too, but the notebook keeps everything that was ever printed there.
    """
    return Console(stderr=True, highlight=False, force_terminal=False if _KERNEL in os.environ else None)
