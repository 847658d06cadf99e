"""Starts the processes that run the program, and ends them with all that they have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import webnn
from webnn.check.events import Job

__all__ = ["Finished", "Process"]

#: How much of the program's output is kept, in bytes: its end.
_KEPT = 1 << 16
#: How long a process that has ended may leave its output open, in seconds: what it started may still write.
_PATIENCE = 2.0
#: The folder that holds the package.
_ROOT = str(Path(webnn.__file__).resolve().parents[1])
#: The interpreter finds this package, but nothing else that is beside it, and nothing in the current folder.
_START = "import sys; sys.path.append({root!r}); from webnn.check import worker; sys.path.pop(); worker.main({job!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a process ended.

    Attributes:
        code: Its exit code, negative for a signal; ``None`` if it took too long and was ended.
        output: The end of what it printed, the errors too.
        seconds: How long it ran.
    """

    code: int | None
    output: str
    seconds: float


class Process:
    """A process that runs the program: a fresh interpreter without input.

    Args:
        job: What it does.
        environment: Its environment variables.
    """

    def __init__(self, job: Job, environment: Mapping[str, str]) -> None:
        self._began = time.perf_counter()
        self._output = bytearray()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START.format(root=_ROOT, job=job.model_dump_json())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            # What it starts ends with it; and Ctrl-C reaches the one process that answers it.
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, args=[self._process.stdout], daemon=True)
        self._reader.start()

    def wait(self, timeout: float) -> Finished:
        """Wait until it ends, or end it.

        Args:
            timeout: How long it may run, in seconds.
        """
        code: int | None = None
        try:
            code = self._process.wait(max(0.0, self._began + timeout - time.perf_counter()))
        except subprocess.TimeoutExpired:
            self.kill()
        seconds = time.perf_counter() - self._began
        self._reader.join(_PATIENCE)
        if self._reader.is_alive():
            # Something that the program started has its output still open.
            self.kill()
            self._reader.join(_PATIENCE)
        return Finished(code=code, output=bytes(self._output).decode("utf-8", "replace"), seconds=seconds)

    def kill(self) -> None:
        """End it at once, with all that it has started."""
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(self._process.pid)], capture_output=True, check=False)
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def _read(self, stream: IO[bytes]) -> None:
        while content := os.read(stream.fileno(), 1 << 16):
            self._output += content
            del self._output[:-_KEPT]
        stream.close()
