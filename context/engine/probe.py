"""Whether a device starts."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from pathlib import Path
from types import FunctionType

from webnn.context.engine import runtime
from webnn.context.engine.requirement import one_line
from webnn.context.engine.session import SILENT, session_options, start
from webnn.context.selection import Device, Options, session_settings

__all__ = ["find_failure", "refuses_options"]

#: The default severity of the engine's log. The engine has no function that returns the severity in use.
_WARNINGS = 2
#: A model of one Identity, to try a provider. It is stored as bytes because making it would load onnx before the first build.
_SMALLEST_MODEL = (
    b'\x08\n::\n\x13\n\x01x\x12\x01y\x1a\x01n"\x08Identity\x12\x01g'
    b"Z\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\x15"
)
_LIBRARIES = {"win32": "onnxruntime_providers_{}.dll", "darwin": "libonnxruntime_providers_{}.dylib"}


def find_failure(device: Device, settings: Options | None = None) -> str:
    """Try whether a session with a device starts.

    Args:
        device: The device.
        settings: The provider's options; by default only those that choose the device.

    Returns:
        Why it does not start, worded to follow the provider's name; an empty string if it starts.
    """
    ort = runtime.load()
    settings = device.options if settings is None else settings
    if not device.plugin:
        _preload()
    # If a provider of its own does not start, the engine logs the reason to standard error and goes on without it.
    ort.set_default_logger_severity(SILENT)
    try:
        options = session_options(session_settings([device], "default"))
        session = start(_SMALLEST_MODEL, options, [device], [(device.provider, settings)])
        if device.provider in session.get_providers():
            return ""
    except Exception as error:  # the engine's exceptions have no common class
        return f"does not start: {one_line(error)}"
    finally:
        ort.set_default_logger_severity(_WARNINGS)
    told = ", ".join(f"{name} {value}" for name, value in settings.items())
    return _loading_failure(device.provider) or ("does not start" + (f" with {told}" if told else ""))


def refuses_options(device: Device, settings: Options) -> bool:
    """Tell whether a device starts, but not with these provider options."""
    return bool(find_failure(device, settings)) and not find_failure(device)


@functools.cache
def _preload() -> None:
    """Load the CUDA libraries of Python packages, where the engine is built for CUDA."""
    preload = getattr(runtime.load(), "preload_dlls", None)
    if preload is None:
        return
    # The function prints which libraries it does not find. A copy with its own `print` is silent, and leaves the engine's module and
    # sys.stdout unchanged.
    namespace = {**preload.__globals__, "print": lambda *_, **__: None}
    silent = FunctionType(preload.__code__, namespace, preload.__name__, preload.__defaults__, preload.__closure__)
    # Missing libraries are reported when the provider is tried.
    with contextlib.suppress(Exception):
        silent()


def _loading_failure(provider: str) -> str:
    """Return why the library of a provider does not load: the engine only logs that.

    Call it only after the engine tried the library: nothing else may load the library before the engine does.
    """
    stem = provider.removesuffix("ExecutionProvider").lower()
    name = _LIBRARIES.get(sys.platform, "libonnxruntime_providers_{}.so").format(stem)
    library = Path(str(runtime.load().__file__)).parent / "capi" / name
    if library.exists():
        try:
            ctypes.CDLL(str(library))
        except OSError as error:
            return f"does not load: {one_line(error)}"
    return ""
