"""Start processes afresh (*spawn*) from any program: a script, a notebook, or a worker of another pool. Both kinds of pools share this."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import util
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["MOST_PROCESSES", "Spawner", "describe_error", "starting", "without_current_folder"]

#: Windows waits for at most 63 objects at once.
MOST_PROCESSES = 60
_MAIN = "__main__"
#: Held while `starting` changes the state of the process.
_LOCK = threading.RLock()


@contextmanager
def without_current_folder() -> Iterator[None]:
    """Make `multiprocessing` start Python with ``-P``.

    It starts ``python -c``, which looks for modules in the current folder first: a file ``signal.py`` there would run. That holds for
    processes, and for the one that counts the semaphores of pools and queues. Both ask the same function for their options.
    """
    with _LOCK:
        options = util._args_from_interpreter_flags  # type: ignore[attr-defined]
        util._args_from_interpreter_flags = lambda: [*options(), "-P"]  # type: ignore[attr-defined]
        try:
            yield
        finally:
            util._args_from_interpreter_flags = options  # type: ignore[attr-defined]


@contextmanager
def starting() -> Iterator[None]:
    """Make processes start well.

    - They ignore Ctrl-C from the beginning. It reaches all processes of a terminal, and only one should handle it.
    - They run no module of the current folder (`without_current_folder`).
    - They find this package. A process gets the module search path of this one. With an editable installation, a folder ``webnn`` in any
      folder of that path would be imported as the package. A checkout of web-platform-tests has such a folder.
    - They do not run the program's main module again, whose functions they do not need. A script needs no ``if __name__ == "__main__"``.
    - They start from a worker of another pool, too, whose processes may have no children of their own. Ours end with their parent.
    """
    with _LOCK, without_current_folder():
        in_main_thread = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main_thread else None
        sys.path.append(str(Path(__file__).absolute().parents[2]))
        main = sys.modules[_MAIN]
        sys.modules[_MAIN] = ModuleType(_MAIN)
        current = multiprocessing.current_process()
        daemon = current.daemon
        if daemon:
            current.daemon = False
        try:
            yield
        finally:
            if daemon:
                current.daemon = True
            sys.modules[_MAIN] = main
            sys.path.pop()
            if in_main_thread:
                signal.signal(signal.SIGINT, before)


def describe_error(error: Exception) -> str:
    """Say what an exception of a task is, and where it was raised. Errors travel as text, because not every exception can be pickled."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__}: {error} (in {Path(frames[-1].filename).name}, line {frames[-1].lineno})"


class _Process(SpawnProcess):
    def start(self) -> None:
        with starting():
            super().start()


class Spawner(SpawnContext):
    """A context for pools, whose processes start as `starting` says.

    Attributes:
        started: The processes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *arguments: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]  # a class there
        """Make a process."""
        process = _Process(*arguments, **options)
        self.started.append(process)
        return process

    def kill(self) -> None:
        """End the processes at once."""
        for process in self.started:
            # One that never started has no id.
            if process.pid is not None:
                process.kill()
