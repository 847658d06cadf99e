"""Python's debugger for a test, where the emulator refuses a call. For that of Node see `node_tests`."""

from __future__ import annotations

import importlib
import os
import pdb
import sys
from typing import Any

__all__ = ["Stopper"]


class Stopper:
    """Stops at each call that the emulator refuses, in the frame that refused it: `run_test` takes its method `stop`.

    The debugger is that of ``PYTHONBREAKPOINT``, as for `breakpoint`: the function ``post_mortem`` of its module. Without one, the debugger
    begins here, with the error as ``error``.

    Attributes:
        stops: How many calls were refused.
    """

    def __init__(self) -> None:
        self.stops = 0

    def stop(self, error: Exception) -> None:
        """Tell the error, and start the debugger."""
        self.stops += 1
        print(f"refused: {type(error).__name__}: {error}")
        name = os.environ.get("PYTHONBREAKPOINT") or "pdb.set_trace"
        if name == "0":
            return
        if sys.breakpointhook is not sys.__breakpointhook__:
            breakpoint()
            return
        module: Any = pdb if name == "pdb.set_trace" else importlib.import_module(name.rpartition(".")[0] or "builtins")
        if hasattr(module, "post_mortem"):
            module.post_mortem(error.__traceback__)
        else:
            breakpoint()
