"""Functions that tasks of the tests run in workers."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from webnn.processes.executors import fetch

__all__ = ["die", "die_once", "do", "odd", "raises", "size", "square"]


def square(number: int) -> int:
    return number * number


def do(number: int, *_: Any) -> tuple[int, int]:
    return number, os.getpid()


def size(value: Any, number: int) -> int:
    return int(fetch(value)["array"][number])


def raises(number: int) -> int:
    raise KeyError(f"no {number}")


def odd(number: int) -> int:
    return number if number % 2 else raises(number)


def die(number: int, deadly: int) -> int:
    """End the process for one number."""
    if number == deadly:
        _kill()
    return number


def die_once(number: int, folder: str) -> int:
    """End the process of every fifth number, the first time."""
    mark = Path(folder, str(number))
    if number % 5 == 0 and not mark.exists():
        mark.touch()
        _kill()
    time.sleep(0.01)
    return number


def _kill() -> None:
    if sys.platform != "win32":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(9)
