"""Begins the process of a context: the walls of the system stand before the engine and the drivers are loaded."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress

from webnn.context import above

__all__ = ["main"]

#: Devices with which the walls were never tried begin so: their libraries may need more than the walls permit.
_UNTRIED = ("nvidia", "kfd", "dxg", "accel", "fastrpc", "adsprpc", "kgsl", "dri/renderD")
#: The folders below that of caches in which drivers keep the programs that they compile.
_KEPT = ("mesa_shader_cache", "mesa_shader_cache_db")


def main(handle: int, parent: int, cache: str) -> None:
    """Answer the requests of a program, behind the walls.

    Args:
        handle: The end of the connection.
        parent: The number of the process of the program.
        cache: The folder of optimized models; empty if there is none.
    """
    walls = above.walls()
    untried = next(_find_untried(), "")
    if untried:
        missing = walls.missing(f"not tried with the driver of {untried}")
    else:
        if cache:
            # A folder can only be named if it is there. Whoever uses it looks at it again.
            with suppress(OSError):
                os.makedirs(cache, 0o700, exist_ok=True)
        missing = walls.confine(["/"], [*_folders(), *filter(None, [cache])], device=True)
    # Behind them, because a change of the process's rights undoes it.
    walls.end_with(parent)
    from webnn.context.engine.remote import worker  # noqa: PLC0415 (it starts threads)

    worker.main(handle, missing)


def _find_untried() -> Iterator[str]:
    """Yield the devices of this machine with which the walls were never tried."""
    for folder, before in (("/dev", ""), ("/dev/dri", "dri/")):
        with suppress(OSError):
            yield from (f"/dev/{before}{name}" for name in os.listdir(folder) if f"{before}{name}".startswith(_UNTRIED))


def _folders() -> Iterator[str]:
    """Yield the folders in which a process of a device may change files."""
    # The times of a profiled graph, and the memory of simulators.
    yield from (tempfile.gettempdir(), "/dev/shm")
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    yield from (os.path.join(caches, name) for name in _KEPT)
