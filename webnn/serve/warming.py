"""Load the engine and the translation before the first page of a process needs them."""

from __future__ import annotations

import gc
import threading
from contextlib import suppress

from webnn.validation.errors import NotSupportedError

__all__ = ["start_warming"]


def start_warming(*, alone: bool = False) -> threading.Thread:
    """Load the engine and the translation in a thread, and return it. A process must not end while it runs.

    It makes no context: nothing that is counted or watched happens. ``alone``: the process only serves, so the garbage collector leaves out
    what is loaded from now on. A full collection holds up all threads, and takes 50 ms and more otherwise.
    """
    thread = threading.Thread(target=_load, args=[alone], name="webnn-serve-warming", daemon=True)
    thread.start()
    return thread


def _load(alone: bool) -> None:
    from webnn.context import engine_backend  # noqa: F401, PLC0415 (it loads onnx, which is slow)
    from webnn.context.engine.discovery import discover  # noqa: PLC0415
    from webnn.validation import descriptor_models  # noqa: F401, PLC0415

    # A page is told if there is no engine.
    with suppress(NotSupportedError):
        discover(isolated=True)
    if alone:
        gc.collect()
        gc.freeze()
