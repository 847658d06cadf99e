"""Load the engine and the translation before the first page of a process needs them."""

from __future__ import annotations

import threading
from contextlib import suppress

from webnn.validation.errors import NotSupportedError

__all__ = ["start_warming"]


def start_warming() -> threading.Thread:
    """Load the engine and the translation in a thread, and return it. A process must not end while it runs.

    It makes no context: nothing that is counted or watched happens.
    """
    thread = threading.Thread(target=_load, name="webnn-serve-warming", daemon=True)
    thread.start()
    return thread


def _load() -> None:
    from webnn.context import engine_backend  # noqa: F401, PLC0415 (it loads onnx, which is slow)
    from webnn.context.engine.discovery import discover  # noqa: PLC0415
    from webnn.validation import descriptor_models  # noqa: F401, PLC0415

    # A page is told if there is no engine.
    with suppress(NotSupportedError):
        discover(isolated=True)
