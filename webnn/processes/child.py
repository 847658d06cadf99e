"""Child processes that run a command: how they end, with all that they have started, and at the latest with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from webnn.context.processes import SIGNALLED

__all__ = ["SIGNALLED", "Child", "Exit", "Process", "ends_at_signals"]

#: How many bytes at the end of the program's output are kept.
_KEPT = 1 << 16
#: How long a process that has ended may leave its output open, in seconds: what it started may still write.
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a process ended, and the end of its output. Its code is negative for a signal, ``None`` if it took too long and was ended."""

    code: int | None
    output: str
    seconds: float


class Child(subprocess.Popen[bytes]):
    """A process that ends with its object: an interrupt may come once it is started, and before anything refers to it.

    Args:
        command: The program and its arguments.
        session: It leads a session of its own: Ctrl-C reaches only the process that handles it, and all that it has started ends with it.
        options: The others are those of `subprocess.Popen`.
    """

    def __init__(self, command: Sequence[str | os.PathLike[str]], *, session: bool = False, **options: Any) -> None:
        self._session = session
        self._owner = os.getpid()
        super().__init__(command, start_new_session=session, **options)

    def __del__(self) -> None:
        # A forked child does not end the process of its parent.
        if getattr(self, "pid", None) is not None and self.returncode is None and self._owner == os.getpid():
            for stream in (self.stdin, self.stdout, self.stderr):
                if stream is not None:
                    stream.close()
            self.end()
        super().__del__()

    def end(self) -> None:
        """End it at once, and wait for it. If it leads a session (on Windows always), all that it has started ends with it."""
        if sys.platform == "win32":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(self.pid)], capture_output=True, check=False)
        elif self._session:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self.kill()
        self.wait()


class Process:
    """A process without input, whose output is kept."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._began = time.perf_counter()
        self._output = bytearray()
        output, joined = subprocess.PIPE, subprocess.STDOUT
        self._process = Child(command, session=True, stdin=subprocess.DEVNULL, stdout=output, stderr=joined, env=environment)
        self._reader = threading.Thread(target=self._read, args=[self._process.stdout], daemon=True)
        self._reader.start()

    def wait(self, timeout: float) -> Exit:
        """Wait until it ends, or end it after this number of seconds."""
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
        return Exit(code=code, output=bytes(self._output).decode("utf-8", "replace"), seconds=seconds)

    def kill(self) -> None:
        """End it at once, with all that it has started."""
        self._process.end()

    def _read(self, stream: IO[bytes]) -> None:
        while content := os.read(stream.fileno(), 1 << 16):
            self._output += content
            del self._output[:-_KEPT]
        stream.close()


@contextmanager
def ends_at_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP run the `finally` clauses of this process. Otherwise the processes that it started would go on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        raise SystemExit(SIGNALLED + number)

    # An ignored signal stays ignored, as nohup requires. Windows has no SIGHUP.
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
