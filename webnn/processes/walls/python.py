"""Walls around a Python that runs: a worker of web-platform-tests, which runs JavaScript with quickjs-ng, or the process of a device.

They must stand before the engine, or anything that starts a thread, is loaded.
"""

from __future__ import annotations

import json
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from webnn.context.processes import end_with_parent
from webnn.processes.walls import limits
from webnn.processes.walls.system import MissingError
from webnn.processes.walls.table import IN_PLACE, SYSTEM_PATHS, put_up_in_place

__all__ = ["confine", "end_with", "missing"]

#: The files that ONNX Runtime reads to find the machine's devices.
_MACHINE = ("/sys/devices", "/sys/bus", "/sys/class", "/sys/module", "/proc/devices", "/proc/driver")
#: The names of devices that compute begin so.
_DEVICES = ("nvidia", "dri", "kfd", "dxg")
#: The variables that name the descriptions of drivers of Vulkan.
_DRIVERS = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")


def confine(files: Sequence[str], write: Sequence[str] = (), *, device: bool = False) -> dict[str, str]:
    """Let this process read Python, its packages and ``files`` only, without sockets and other processes; return the missing walls.

    Args:
        files: Files and folders.
        write: Folders in which it may also change files.
        device: It is the process of a device.
    """
    # ONNX Runtime keeps a device's ID in the home folder and sends events over the network; it complains where both are refused.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    own = Path(__file__).resolve().parents[3]
    # Not `sys.path`: it can begin with the current folder.
    python = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages(), str(own)]
    chosen = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), *os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)]
    devices = [f"/dev/{name}" for name in os.listdir("/dev") if name.startswith(_DEVICES)] if sys.platform == "linux" else []
    read = [*SYSTEM_PATHS, *_MACHINE, *python, *filter(None, chosen), *_drivers(), *files]
    return put_up_in_place(read, ["/dev/null", *devices], write, device=device)


def missing(reason: str) -> dict[str, str]:
    """Return what `confine` does if it puts up no walls, for this reason."""
    return dict.fromkeys(IN_PLACE, reason)


def end_with(parent: int) -> None:
    """End this process when its parent, or the thread of it that started this process, ends."""
    try:
        limits.end_with(parent)
    except MissingError:  # another system than Linux
        end_with_parent()


def _drivers() -> Iterator[str]:
    """Yield the descriptions of the drivers that the user chose, and the libraries that they name."""
    for path in [each for name in _DRIVERS for each in os.environ.get(name, "").split(os.pathsep) if each]:
        yield path
        try:
            library = json.loads(Path(path).read_bytes())["ICD"]["library_path"]
        except (OSError, ValueError, LookupError, TypeError):
            continue  # it is for Vulkan to complain
        if isinstance(library, str) and os.sep in library:
            yield os.path.join(os.path.dirname(path), library)
