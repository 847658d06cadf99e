"""The memory of processes."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["peak_bytes", "resident_bytes"]

_PROCESSES = Path("/proc")


def resident_bytes(pid: int | None = None) -> int | None:
    """Return the number of bytes that this process has resident, or another one; ``None`` elsewhere than on Linux."""
    return _read_status("VmRSS", pid)


def peak_bytes() -> int | None:
    """Return the largest number of bytes that this process had resident so far; ``None`` where the system does not tell."""
    # On Linux getrusage() also counts what the parent had, from before the child's own program began.
    if known := _read_status("VmHWM"):
        return known
    try:
        import resource  # noqa: PLC0415 (Windows has none)
    except ModuleNotFoundError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _read_status(field: str, pid: int | None = None) -> int | None:
    """Return a number of bytes that Linux tells about a process."""
    try:
        lines = (_PROCESSES / str(pid or "self") / "status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)
