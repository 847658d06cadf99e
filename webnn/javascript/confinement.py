"""Walls of the system around a Python that runs JavaScript in its own process, with quickjs-ng.

Imports the standard library and `walls` only: the walls must stand before the engine, or anything that starts a thread, is loaded.
"""

from __future__ import annotations

import json
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from webnn.javascript import walls

__all__ = ["confine"]

#: The files that ONNX Runtime reads to find the machine's devices.
_MACHINE = ("/sys/devices", "/sys/bus", "/sys/class", "/sys/module", "/proc/devices", "/proc/driver")
#: The names of devices that compute begin so.
_DEVICES = ("nvidia", "dri", "kfd", "dxg")
#: The variables that name the descriptions of drivers of Vulkan.
_DRIVERS = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")


def confine(files: Sequence[str]) -> dict[str, str]:
    """Let this process read Python, its packages and ``files`` only, without sockets and other processes; return the missing walls."""
    # ONNX Runtime keeps a device's ID in the home folder and sends events over the network; it complains where both are refused.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    own = Path(__file__).resolve().parents[2]
    # Not `sys.path`: it can begin with the current folder.
    python = [sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages(), str(own)]
    chosen = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), *os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)]
    devices = [f"/dev/{name}" for name in os.listdir("/dev") if name.startswith(_DEVICES)] if sys.platform == "linux" else []
    return walls.confine([*walls.SYSTEM_PATHS, *_MACHINE, *python, *filter(None, chosen), *_drivers(), *files], ["/dev/null", *devices])


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
