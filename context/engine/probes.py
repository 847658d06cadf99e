"""Probes: sessions of one node that show which data types a device computes.

Each type is probed once in a process, when the first graph has it. With a cache (docs/cache.md) the facts are kept in its folder, for as
long as the engine, the plug-in and the driver stay the same.
"""

from __future__ import annotations

import functools
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.builder.onnx.emitter import Emitter
from webnn.context.devices.capabilities import Facts, read_facts, write_facts
from webnn.context.devices.selection import session_settings
from webnn.context.engine import vulkan
from webnn.context.engine.cache.digest import make_key
from webnn.context.engine.runtime import one_line
from webnn.context.engine.session import session_options, start
from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES, NUMPY_DTYPES, DataType, OperandDescriptor

if TYPE_CHECKING:
    from webnn.context.devices.selection import Device, Options
    from webnn.context.engine.cache.models import ModelCache

__all__ = ["measure"]

_LOCK = threading.Lock()
#: Another number makes facts that were kept invalid: raise it if the probes change.
_FORM = 2
#: A chip may compute float32 with the precision of float16.
_NEAR = 2.0**-10
#: The part of an engine's message that is about the probe, and the place in the source of the plug-in.
_PLACE = re.compile(r"^.*Status Message: (\S+:\d+ \w+ )?")


def measure(device: Device, settings: Options, types: Iterable[str], cache: ModelCache | None = None) -> Facts:
    """Return the facts about data types of a device; those that are not known yet are probed.

    Args:
        device: The device.
        settings: The provider's options.
        types: The data types; small integers, which NumPy does not have, are left out.
        cache: Where facts are kept; by default only this process keeps them.
    """
    wanted = {each for each in types if each in DATA_TYPES}
    with _LOCK:
        known = _known(device, tuple(sorted(settings.items())), cache)
        missing = sorted(wanted - known.keys())
        known |= {each: _probe(device, settings, each) for each in missing}
        if missing and cache is not None:
            cache.keep(_key(device, settings), write_facts(known))
        return MappingProxyType({each: known[each] for each in sorted(wanted)})


@functools.cache
def _known(device: Device, settings: tuple[tuple[str, str], ...], cache: ModelCache | None) -> dict[str, str]:
    """Return what is known of a device: at first what the cache holds."""
    return {} if cache is None else read_facts(cache.recall(_key(device, dict(settings))))


def _probe(device: Device, settings: Options, dataType: Any) -> str:
    """Say why a device does not compute a type; empty if it does, or if its provider leaves the probes to others."""
    for op_type in ("Add", "Cast"):
        options = session_options(session_settings([device], "default"))
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        model, expected = _model(op_type, dataType)
        try:
            session = start(model, options, [device], [(device.provider, settings)])
        except Exception:  # no kernel: the engine itself leaves such operators
            continue
        try:
            [result] = session.run(None, {"x": np.ones(2, np.float32 if op_type == "Cast" else NUMPY_DTYPES[dataType])})
        except Exception as error:  # the engine's exceptions have no common class
            return _PLACE.sub("", one_line(error)).rstrip(".")
        if not np.allclose(result, expected, rtol=_NEAR if dataType in FLOAT_TYPES else 0, atol=0):
            return f"{op_type} of ones gives {result.tolist()}"
    return ""


@functools.cache
def _model(op_type: str, dataType: DataType) -> tuple[bytes, np.ndarray[Any, np.dtype[Any]]]:
    """Return a model of one node with the input ``x``, and its result for ones: a sum, or a conversion from float32."""
    emitter = Emitter()
    emitter.scope("probe#0")
    x = emitter.declare_input("x", OperandDescriptor("float32" if op_type == "Cast" else dataType, (2,)))
    y = emitter.cast(x, dataType) if op_type == "Cast" else emitter.node(op_type, [x, x])
    emitter.declare_output(y, OperandDescriptor(dataType, (2,)))
    return emitter.finish().SerializeToString(), np.full(2, 1 if op_type == "Cast" else 2, NUMPY_DTYPES[dataType])


def _key(device: Device, settings: Options) -> bytes:
    """Return the key of a device's facts."""
    handle = device.handle
    described = [getattr(handle, name, None) for name in ("ep_name", "ep_vendor", "ep_metadata")]
    hardware = getattr(handle, "device", None)
    described += [getattr(hardware, name, None) for name in ("vendor", "vendor_id", "device_id", "metadata")]
    library = dict(getattr(handle, "ep_metadata", {})).get("library_path", "")
    files = [_stamp(Path(each)) for each in (library, *_drivers())]
    return make_key(b"facts", (), repr((_FORM, device, sorted(settings.items()), [str(each) for each in described], files)))


def _drivers() -> Iterator[str]:
    """Yield the files that describe the Vulkan drivers of this machine."""
    named = vulkan.driver_files(*vulkan.VARIABLES, "VK_ADD_DRIVER_FILES")
    yield from named
    for folder in () if named or sys.platform != "linux" else vulkan.FOLDERS:
        yield from sorted(str(each) for each in Path(folder).glob("*.json"))


def _stamp(file: Path) -> tuple[str, int, int]:
    """Return the path of a file, its size and the time of its last change: another version has others."""
    try:
        status = file.stat()
    except (OSError, ValueError):
        return str(file), 0, 0
    return str(file), status.st_size, status.st_mtime_ns
