"""Buffers: Web IDL's ``ArrayBufferView`` for NumPy arrays, and the step *validate buffer with descriptor*."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from webnn.validation import webidl
from webnn.validation.descriptor import BITS, ML_DTYPES, NUMPY_DTYPES, SMALL_TYPES, OperandDescriptor, Types
from webnn.validation.errors import Requirement

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "Bytes",
    "SupportsDLPack",
    "WritableBytes",
    "as_array",
    "bytes_mismatch",
    "elements_mismatch",
    "exports_dlpack",
    "from_bits",
    "tensor_data_mismatch",
]

Array = np.ndarray[Any, np.dtype[Any]]


class SupportsDLPack(Protocol):
    """A tensor of another library."""

    def __dlpack__(self, *arguments: Any, **options: Any) -> Any:
        """Return the capsule."""


#: For type checkers: what `as_array` takes. A type cannot say whether a buffer is writable, nor what its elements are.
Bytes: TypeAlias = "Array | Buffer | SupportsDLPack"
#: For type checkers: what `as_array` takes if the memory is written to.
WritableBytes: TypeAlias = "Array | Buffer"


def as_array(value: object, *, written: bool = False) -> tuple[str, Array | None]:
    """Return a value as an array over its own memory: a NumPy array, or anything with the buffer protocol or a DLPack export.

    DLPack exports are refused for memory that will be written to. The result is an empty string and the array, or the reason why there is
    none.
    """
    if type(value) is np.ndarray:
        return "", value
    if webidl.isInstance(value, np.ndarray):
        # A subclass may report a false size: use the base array, which has the memory.
        return "", np.asarray(value)
    if not webidl.isInstance(value, np.generic):
        try:
            return "", np.asarray(memoryview(value))  # type: ignore[arg-type]  # refused below if it has no buffer
        except Exception:  # it has none, or its method raises
            pass
        if exports_dlpack(value):
            return (Requirement("writeable", _WRITTEN.format(_name(value))), None) if written else _from_dlpack(value)
    return Requirement("conversion", f"must be a NumPy array or an object with a buffer, got {webidl.describe(value)}"), None


_WRITTEN = (
    "must be a NumPy array or an object with a buffer, because it is written to, got a {}, which can only be read: pass a new NumPy array, "
    "and make a tensor of the result, as torch.from_numpy(array) does"
)
#: DLPack's types of devices whose memory the CPU can read: the CPU itself, and pinned and managed memory of CUDA and ROCm.
_READABLE_DEVICES = (1, 3, 11, 13)


def exports_dlpack(value: object) -> bool:
    """Tell whether a value other than a NumPy array exports its memory by DLPack, as tensors of PyTorch and JAX do."""
    try:
        return hasattr(type(value), "__dlpack__") and not webidl.isInstance(value, np.ndarray)
    except Exception:  # its metaclass raises
        return False


def _from_dlpack(value: Any) -> tuple[str, Array | None]:
    """Return what `as_array` returns, for a value with a DLPack export."""
    try:
        device = int(value.__dlpack_device__()[0])
        if device not in _READABLE_DEVICES:
            reason = (
                f"must be in the CPU's memory, got a {_name(value)} on another device (DLPack's type {device}); copy it to the CPU first"
            )
            return Requirement("layout", reason), None
        return "", np.from_dlpack(value)
    except Exception as error:  # raised by another library; its message says why, for example that a gradient is required
        dtype = _text(getattr, value, "dtype", "an unknown data type")
        reason = f"must be an array that NumPy can read by DLPack, got a {_name(value)} of {dtype}: {_text(str, error)}"
        return Requirement("conversion", reason), None


def _name(value: object) -> str:
    return f"{_text(getattr, type(value), '__module__')}.{_text(getattr, type(value), '__qualname__')}"


def _text(function: Callable[..., object], *arguments: object) -> str:
    """Return a function's result as one line of text; a question mark if the function raises an exception."""
    try:
        return " ".join(str(function(*arguments)).split())
    except Exception:
        return "?"


def from_bits(view: Array, descriptor: OperandDescriptor, types: Types) -> Array:
    """Return a view of the bits of elements as one of elements.

    JavaScript has no array of `ML_DTYPES`: their bits come as a ``Uint16Array`` or a ``Uint8Array``. In drafts with these types,
    those of float16 may come as a ``Uint16Array`` too. A view of anything else is returned as it is.
    """
    dataType = descriptor.dataType
    if ML_DTYPES[0] not in types or (dataType != "float16" and dataType not in ML_DTYPES):
        return view
    if view.dtype != np.dtype(f"u{BITS[dataType] // 8}"):
        return view
    return np.ascontiguousarray(view).view(NUMPY_DTYPES[dataType])


def _wrong_length(view: Array, descriptor: OperandDescriptor, least: str = "") -> Requirement:
    wanted = f"must have {least}{descriptor.byte_length} bytes for {descriptor}"
    return Requirement("byte-length", f"{wanted}, got {view.nbytes} ({webidl.describe(view)})")


def elements_mismatch(view: Array, descriptor: OperandDescriptor) -> str:
    """*Validate buffer with descriptor*, `#validate-buffer-with-descriptor`: say what differs, nothing if all is well."""
    dtype = NUMPY_DTYPES[descriptor.dataType]
    # [1; 2026-06: -] The element type is the one of the data type. A byte-swapped type is another type.
    if view.dtype != dtype:
        swapped = " in the other byte order" if view.dtype.newbyteorder() == dtype else ""
        packed = "uint8, the bytes of " if descriptor.dataType in SMALL_TYPES else ""
        return Requirement("type", f"must have elements of {packed}{descriptor.dataType}, got {view.dtype}{swapped}")
    # [2; 2026-06: 1] The byte length is the descriptor's.
    if view.nbytes != descriptor.byte_length:
        return _wrong_length(view, descriptor)
    return ""


def bytes_mismatch(view: Array, descriptor: OperandDescriptor, *, larger: bool = False) -> str:
    """Say why a buffer cannot hold a tensor's bytes, as *validate buffer with descriptor* does; empty if it can.

    A tensor's bytes may come from elements of any type (docs/spec-issues.md). If ``larger``, the buffer may be longer than the tensor.
    """
    dtype = view.dtype
    # Unlike in JavaScript, elements may be other things than numbers.
    if dtype.hasobject or dtype.names is not None:
        return Requirement("type", f"must have elements that are numbers, got {dtype}")
    if not dtype.isnative:
        return Requirement("layout", f"must have elements in the byte order of this machine, got {dtype.str}")
    # [2026-06: 1] The byte length is the descriptor's.
    if view.nbytes != descriptor.byte_length and not (larger and view.nbytes > descriptor.byte_length):
        return _wrong_length(view, descriptor, "at least " if larger else "")
    return ""


def tensor_data_mismatch(view: Array, descriptor: OperandDescriptor) -> str:
    """*Validate buffer with descriptor*, `#validate-buffer-with-descriptor`: say what is wrong, nothing if all is well."""
    # 1. The byte length is the descriptor's.
    reason = bytes_mismatch(view, descriptor)
    # 2. The element type is the descriptor's or uint8, which means bytes of any kind.
    if not reason and view.dtype != NUMPY_DTYPES[descriptor.dataType] and view.dtype != np.uint8:
        return Requirement("type", f"must have elements of {descriptor.dataType} or uint8, got {view.dtype}")
    return reason
