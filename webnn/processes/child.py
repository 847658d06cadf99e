"""Child processes that run a command, and end with all that they have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

__all__ = ["Finished", "Process", "end"]

#: How many bytes at the end of the program's output are kept.
_KEPT = 1 << 16
#: How long a process that has ended may leave its output open, in seconds: what it started may still write.
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a process ended.

    Attributes:
        code: Its exit code, negative for a signal; ``None`` if it took too long and was ended.
        output: The end of its output, standard error included.
        seconds: How long it ran.
    """

    code: int | None
    output: str
    seconds: float


class Process:
    """A process without input, whose output is kept.

    Args:
        command: What it runs.
        environment: Its environment variables.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._began = time.perf_counter()
        self._output = bytearray()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            # The processes that it starts end with it, and Ctrl-C reaches only the process that handles it.
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
            # A process that the program started still holds its output open.
            self.kill()
            self._reader.join(_PATIENCE)
        return Finished(code=code, output=bytes(self._output).decode("utf-8", "replace"), seconds=seconds)

    def kill(self) -> None:
        """End it at once, with all that it has started."""
        end(self._process, session=True)

    def _read(self, stream: IO[bytes]) -> None:
        while content := os.read(stream.fileno(), 1 << 16):
            self._output += content
            del self._output[:-_KEPT]
        stream.close()


def end(process: subprocess.Popen[bytes], *, session: bool = False) -> None:
    """End a process at once, and wait for it.

    Args:
        process: The process; it may have ended.
        session: It leads a session of its own: all that it has started ends with it. On Windows that is always so.
    """
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
    elif session:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
