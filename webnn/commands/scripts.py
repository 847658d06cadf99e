"""Python programs, run in this process as the interpreter would run them."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

__all__ = ["print_error", "run_script"]


def run_script(path: str, arguments: Sequence[str]) -> None:
    """Run a program; its exceptions pass, including `SystemExit`."""
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(Path(path).resolve().parent))
    runpy.run_path(path, run_name="__main__")


def print_error(error: BaseException, path: str) -> None:
    """Print what a program raised as the interpreter would."""
    # The frames above the program's first one are not the program's. An error in its syntax has none.
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    traceback.print_exception(error.with_traceback(trace))
