"""Runs the programs of the page in processes of their own: a few at once, each with a time limit, and none outlives its request."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import webnn
from webnn.playground.order import Order
from webnn.playground.program import OUTCOME, prepare
from webnn.processes.child import Exit, Process
from webnn.processes.pool import cores

__all__ = ["BusyError", "Runs"]

#: The folder that holds the package.
_ROOT = str(Path(webnn.__file__).resolve().parents[1])
_START = "import sys; sys.path.append({root!r}); from webnn.playground import program; sys.path.pop(); program.main{arguments!r}"
#: How much longer than the program its process may take, in seconds: it starts, and draws. A check runs the program several times.
_MORE, _TIMES = 30.0, 10
#: The largest file about a run, in bytes.
_LARGEST = 64 << 20


class BusyError(Exception):
    """Too many programs run."""


class Runs:
    """Runs programs. Only the server's thread uses it.

    Args:
        timeout: How many seconds a program may take.
        most: How many run at once; by default as many as there are cores.
    """

    def __init__(self, timeout: float, most: int | None = None) -> None:
        self._timeout = timeout
        self._most = most or cores()
        #: How many run now.
        self.running = 0

    async def run(self, order: Order, what: str) -> dict[str, Any]:
        """Run a program, or check it on every profile, and return what became of it, as JSON. If this is cancelled, the program ends.

        Args:
            order: The program.
            what: ``"run"`` or ``"check"``.

        Raises:
            BusyError: Too many run.
        """
        with self._place(), tempfile.TemporaryDirectory(prefix="webnn-playground-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            prepare(folder, order)
            start = _START.format(root=_ROOT, arguments=(what, name, self._timeout))
            process = Process([sys.executable, "-P", "-c", start], {**os.environ, "PYTHONIOENCODING": "utf-8"})
            # The process itself ends a program in time, and says more about it.
            longest = self._timeout * _TIMES if what == "check" else self._timeout + _MORE
            try:
                ended = await asyncio.to_thread(process.wait, longest)
            except BaseException:  # the page is gone, or the server ends
                process.kill()
                raise
            return _conclude(folder / OUTCOME, ended)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Take one of the places of programs that run at once."""
        if self.running == self._most:
            raise BusyError
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1


def _conclude(file: Path, ended: Exit) -> dict[str, Any]:
    outcome: dict[str, Any] = {"error": None, "ended": False}
    if file.exists() and file.stat().st_size <= _LARGEST:
        outcome |= json.loads(file.read_text(encoding="utf-8"))
    if not outcome["ended"] and outcome["error"] is None:
        why = f"was not done after {ended.seconds:.0f} s" if ended.code is None else f"ended its process (exit code {ended.code})"
        outcome["error"] = {"message": f"the program {why}", "line": None, "column": None}
    return {**outcome, "output": ended.output, "seconds": round(ended.seconds, 3)}
