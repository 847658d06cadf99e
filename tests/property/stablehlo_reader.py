"""A process that reads one StableHLO program after the other with MLIR, as `webnn.hlo.reader` does with a process for each one."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Any

import webnn
from tests.shared import ROOT
from webnn.hlo import child
from webnn.hlo.text import parse_location

__all__ = ["Reader", "serve"]

#: The memory and the seconds that a small program may take: less than those of the product.
_MEMORY, _SECONDS = 1 << 30, 60.0
_REFUSED = 1 << 63


class Reader:
    """The process. One that a program ends is replaced.

    Attributes:
        deaths: How many processes have ended.
    """

    def __init__(self) -> None:
        self.deaths = 0
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, data: bytes, file: str, composites: str, shapes: Sequence[Sequence[int] | None] = ()) -> bytes:
        """Read a program as `webnn.hlo.reader._run`.

        Raises:
            FormatError: It is refused, or the process does not survive it.
        """
        assert not shapes
        if self._process is None:
            code = "from tests.property.stablehlo_reader import serve; serve()"
            self._process = subprocess.Popen(
                [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(_SECONDS, process.kill)
        timer.start()
        try:
            _send(process.stdin, composites.encode())
            _send(process.stdin, data)
            size = int.from_bytes(_receive(process.stdout, 8), "little")
            answer = _receive(process.stdout, size % _REFUSED)
        except (EOFError, BrokenPipeError):
            self.close()
            self.deaths += 1
            raise webnn.FormatError("MLIR does not survive it, or needs too much memory or time", file) from None
        finally:
            timer.cancel()
        if size >= _REFUSED:
            location, _, message = answer.decode().partition("\0")
            place = parse_location(location, file)
            raise webnn.FormatError(message.strip(), place.file or file, line=place.line, column=place.column, path=place.name)
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _send(stream: IO[bytes], data: bytes) -> None:
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def _receive(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EOFError
    return data


def serve() -> None:
    """Answer programs with what `webnn.hlo.child` makes of them; called in the process."""
    read = child.start()
    child._limit_memory(_MEMORY)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while header := source.read(8):
        composites = _receive(source, int.from_bytes(header, "little"))
        data = _receive(source, int.from_bytes(source.read(8), "little"))
        parts, sign = _answer(read, data, is_expanded=composites == b"expand")
        target.write((sign + sum(memoryview(part).nbytes for part in parts)).to_bytes(8, "little"))
        for part in parts:
            target.write(part)
        target.flush()


def _answer(read: Any, data: bytes, *, is_expanded: bool) -> tuple[list[Any], int]:
    """Return what `main` of the child writes, and a sign of a refusal."""
    try:
        return read(data, is_expanded), 0
    except child.ReadError as error:
        return [f"{error.location}\0{error.message}".encode("utf-8", "replace")], _REFUSED
    except Exception as error:  # as in the child
        return [f"\0MLIR cannot give it to Python: {type(error).__name__}: {error}".encode("utf-8", "replace")], _REFUSED
