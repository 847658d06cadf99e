"""Interrupts at chosen places: at each line or bytecode, or only where the interpreter lets a signal in."""

from __future__ import annotations

import contextlib
import dis
import functools
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

__all__ = ["BYTECODES", "EVENTS", "LONG", "SIGNALS", "Interrupt", "apart", "children", "everywhere", "signals"]

BYTECODES = pytest.mark.skipif(sys.version_info >= (3, 13), reason="traces no bytecodes of a function that was called without a trace")
#: The marks of tests with thousands of interrupts.
LONG = (pytest.mark.slow, pytest.mark.timeout(3600))
EVENTS = pytest.mark.parametrize(
    "event", ["line", pytest.param("some opcodes", marks=BYTECODES), pytest.param("opcode", marks=[BYTECODES, *LONG])]
)
#: For tests of functions that take locks: every place of a signal, or a few of them.
SIGNALS = pytest.mark.parametrize("step", [pytest.param(0, id="some"), pytest.param(1, id="all", marks=LONG)])
#: Where the interpreter looks for signals: at the end of a call, in a loop, at the beginning of a function.
_LOOKS = frozenset({"CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD", "RESUME"})


@functools.cache
def _signal_places(code: CodeType) -> frozenset[int]:
    """Return the bytecodes before which a signal may raise: those behind one where the interpreter looks, with the same handlers.

    An exception there does what one at the end of the call would do. In the instructions between the body of a ``with`` statement and
    the call of `__exit__`, which no signal can interrupt, it would leave a lock taken.
    """
    entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    found, previous = set(), None

    def handler(offset: int) -> Any:
        return next(((each.target, each.depth) for each in entries if each.start <= offset < each.end), None)

    for each in dis.get_instructions(code):
        if previous is not None and previous.opname in _LOOKS and handler(previous.offset) == handler(each.offset):
            found.add(each.offset)
        previous = each
    return frozenset(found)


def _is_ignored() -> bool:
    """Tell whether the program ignores Ctrl-C: then no signal raises."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


class Interrupt:
    """An interrupt at one line, bytecode, or place of a signal of some files.

    Attributes:
        place: Where it came; empty if it did not.
    """

    def __init__(self, event: str, number: int, files: frozenset[str | None]) -> None:
        self.event, self.first, self.number, self.files = event, number, number, files
        self.place = ""

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename not in self.files:
            return None
        if event == "call":
            frame.f_trace_opcodes = self.event != "line"
        if event == ("opcode" if self.event == "signal" else self.event):
            if self.event == "signal" and (frame.f_lasti not in _signal_places(frame.f_code) or _is_ignored()):
                return self
            if self.number == 0:
                self.place = f"{frame.f_code.co_name}:{frame.f_lineno}, bytecode {frame.f_lasti}"
                self.number -= 1
                raise KeyboardInterrupt
            self.number -= 1
        return self

    @contextlib.contextmanager
    def armed(self) -> Iterator[None]:
        former, hook = sys.gettrace(), sys.unraisablehook

        def ignore(error: sys.UnraisableHookArgs) -> None:
            # Python cannot raise an interrupt that comes in a finalizer. Other errors are faults.
            if not issubclass(error.exc_type, KeyboardInterrupt):
                hook(error)

        sys.unraisablehook = ignore
        sys.settrace(self)
        try:
            yield
        except KeyboardInterrupt:
            assert self.place
        finally:
            sys.settrace(former)
            sys.unraisablehook = hook


def everywhere(event: str, files: frozenset[str | None]) -> Iterator[Interrupt]:
    """Interrupt each event once, or each seventh; the last call is not interrupted."""
    number, step = 0, 7 if event == "some opcodes" else 1
    if event != "line":
        # Python 3.12 reports the bytecodes of a function from its next call on.
        yield Interrupt("opcode", -1, files)
    while True:
        interrupt = Interrupt("line" if event == "line" else "opcode", number, files)
        yield interrupt
        if not interrupt.place:
            break
        number += step
    assert number > 20


def signals(files: frozenset[str | None], step: int, some: int = 12) -> Iterator[Interrupt]:
    """Interrupt every ``step``-th place of a signal; if it is 0, as many as ``some``. The first call is not interrupted."""
    counting = Interrupt("signal", -1, files)
    yield counting
    count = -1 - counting.number
    assert count > 3
    for number in range(0, count, step or max(1, count // some)):
        yield Interrupt("signal", number, files)


def children(words: str = "") -> list[int]:
    """Return the processes of this one whose command has these words. For Linux."""
    found = []
    for each in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(pid) for pid in each.read_text().split()]
    return sorted(pid for pid in found if words in _command(pid))


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace").replace("\0", " ")
    return ""


def apart(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test in a thread. An interrupt at the end of an `except` block leaves the exception with the thread, as no signal can."""

    @functools.wraps(test)
    def run(*arguments: Any, **options: Any) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(test, *arguments, **options).result()

    return run
