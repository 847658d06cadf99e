"""Shared by all harnesses: Atheris if it fuzzes, a folder for the file that is read, and the errors that a reader may raise."""

from __future__ import annotations

import contextlib
import hashlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

__all__ = ["LONGEST_MESSAGE", "Finding", "folder", "fuzz", "guided", "refusing"]

#: The most characters of an error.
LONGEST_MESSAGE = 5000
#: The option of libFuzzer for the names of findings.
_PREFIX = "-artifact_prefix="


class Finding(AssertionError):
    """A reader broke its promise in another way than by an exception."""


@contextlib.contextmanager
def guided(module: str) -> Iterator[None]:
    """Let Atheris follow the modules that are imported in the block, if this is the program: ``module`` is ``__name__``."""
    if module != "__main__":
        # The replay of the corpus needs no Atheris.
        yield
        return
    import atheris  # noqa: PLC0415 (only where it is installed)

    with atheris.instrument_imports(include=["webnn"]):
        yield


def fuzz(test: Callable[[bytes], None]) -> None:
    """Run a harness with the options of libFuzzer on the command line. It ends the process."""
    import atheris  # noqa: PLC0415 (as above)

    prefix = next((each.removeprefix(_PREFIX) for each in sys.argv if each.startswith(_PREFIX)), "")

    def keep(data: bytes) -> None:
        try:
            test(data)
        except Exception:
            # The end of a process with threads may prevent that libFuzzer does it.
            Path(f"{prefix}exception-{hashlib.sha256(data).hexdigest()[:16]}").write_bytes(data)
            raise

    atheris.Setup(sys.argv, keep)
    atheris.Fuzz()


@cache
def folder() -> Path:
    """Return a folder of this process for the files that harnesses write."""
    return Path(tempfile.mkdtemp(prefix="webnn-fuzz-"))


@contextlib.contextmanager
def refusing(*errors: type[Exception]) -> Iterator[None]:
    """Accept these errors, if their messages are short."""
    try:
        yield
    except errors as error:
        if len(str(error)) > LONGEST_MESSAGE:
            raise Finding(f"{type(error).__name__} has {len(str(error))} characters") from error
