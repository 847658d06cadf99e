"""Starts a program behind the walls: ``python -I -S -c ... ORDERS PROGRAM ARGUMENT ...``, which `command` returns.

It runs in a fresh interpreter, which has one thread and holds nothing: in a process with threads, a function that runs between fork and
exec must not do this much. It puts up each wall that the system has, writes a message ``W`` that says which are missing
(`webnn.javascript.channel`), and becomes the program.

``ORDERS`` is a JSON object:

- ``parent``: the process that the program must not outlive;
- ``memory``: the most bytes of memory that the program may write to;
- ``read``: the files and folders that it may read;
- ``group``: the folder of a group (`group`) that it joins, or why there is none;
- ``environment``: its environment variables.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from collections.abc import Mapping, Sequence

from webnn.processes.walls.table import put_up

__all__ = ["command", "main"]

#: Finds the modules without loading the packages that they are in, which takes longer than all the rest.
_START = (
    "import sys\nfor name, folder in {packages!r}: sys.modules[name] = module = type(sys)(name); module.__path__ = [folder]\n"
    "from webnn.processes.walls import start; start.main(sys.argv[1:])"
)


def command(memory: int, read: Sequence[str], group: str, environment: Mapping[str, str]) -> list[str]:
    """Return the beginning of a command, in front of the program, that starts it behind the walls."""
    orders = {"parent": os.getpid(), "memory": memory, "read": [*read], "group": group, "environment": dict(environment)}
    walls = os.path.dirname(os.path.abspath(__file__))
    processes = os.path.dirname(walls)
    packages = (("webnn", os.path.dirname(processes)), ("webnn.processes", processes))
    return [sys.executable, "-I", "-S", "-c", _START.format(packages=packages), json.dumps(orders)]


def main(arguments: Sequence[str]) -> None:
    """Put up the walls, and become a program, as the arguments of the command line say."""
    # Ctrl-C also reaches this process, but the parent handles it.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    text, *program = arguments
    orders = json.loads(text)
    environment = orders.pop("environment")
    missing = json.dumps(put_up(**orders)).encode()
    # The pipe is empty, and takes this much at once.
    os.write(1, struct.pack("<2scxIQ", b"WN", b"W", 1, len(missing)) + missing)
    try:
        os.execve(program[0], program, environment)
    except OSError as error:
        sys.exit(f"{program[0]} cannot be started: {error.strerror}")
