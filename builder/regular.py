"""Opening files that others have named: a pipe or a device in the place of a file would make the reader wait, or act."""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO

__all__ = ["check_regular", "describe_kind", "open_regular"]

_KINDS = {
    stat.S_IFREG: "a file",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_regular(path: str | os.PathLike[str]) -> os.stat_result:
    """Check that a file can be read without waiting, and return its status.

    Raises `FormatError` if it is a folder, a pipe, a socket or a device, and `OSError` if the file does not exist, or a link is dangling.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if os.path.islink(path):
            raise FileNotFoundError(errno.ENOENT, f"the link leads to {os.readlink(path)}, which does not exist", os.fspath(path)) from None
        raise
    _check(status, path)
    return status


def describe_kind(path: str | os.PathLike[str]) -> str:
    """Describe what is in the place of a file, for example as ``"a folder"`` or ``"not there"``."""
    try:
        return _kind(os.stat(path))
    except (OSError, ValueError):  # ValueError: the path has a null character
        return f"a link to {os.readlink(path)}, which is not there" if os.path.islink(path) else "not there"


def open_regular(path: str | os.PathLike[str]) -> FileIO:
    """Open a file to read its bytes, without a buffer. Raises the errors of `check_regular`."""
    check_regular(path)
    # Another file may have taken its place: opening it must not wait for a writer either.
    file = open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))  # noqa: SIM115 (returned)
    try:
        _check(os.fstat(file.fileno()), path)
    except ValueError:
        file.close()
        raise
    return file


def _check(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if not stat.S_ISREG(status.st_mode):
        from webnn.builder.description import FormatError  # noqa: PLC0415 (it loads NumPy, which commands do without)

        raise FormatError(f"must be a file, got {_kind(status)}", path)


def _kind(status: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
