"""The settings of an import: the shapes of inputs, and inputs that are constants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto

from webnn.importing.values import Array, Refused

if TYPE_CHECKING:
    from onnx import GraphProto, ValueInfoProto

__all__ = ["Settings", "boolean_names", "input_shape"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the caller.

    Attributes:
        shapes: The shapes of inputs by their names.
        dims: The sizes of named dimensions.
        constants: Inputs that are known at import, by their names.
        weights: External data must be there.
        float64: float64 is computed in float32; otherwise it is refused.
    """

    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, Array] = field(default_factory=dict)
    weights: bool = True
    float64: bool = True


def boolean_names(graph: GraphProto) -> frozenset[str]:
    """Return the names of the inputs that are bool."""
    return frozenset([info.name for info in graph.input if info.type.tensor_type.elem_type == TensorProto.BOOL])


def input_shape(settings: Settings, info: ValueInfoProto) -> tuple[int, ...]:
    """Return the shape of an input, from the settings and the model.

    Raises:
        Refused: A size is unknown, or a given one contradicts the model.
    """
    constant = settings.constants.get(info.name)
    if constant is not None:
        return np.shape(constant)
    tensor = info.type.tensor_type
    given = settings.shapes.get(info.name)
    if not tensor.HasField("shape"):
        if given is None:
            raise Refused("the shape is unknown", f"give it: shapes={{{info.name!r}: [...]}}")
        return tuple(given)
    declared = [dim.dim_value if dim.dim_value > 0 else None for dim in tensor.shape.dim]
    if given is not None:
        if len(given) != len(declared) or any(d not in (None, g) for d, g in zip(declared, given, strict=True)):
            wanted = [str(d or dim.dim_param or "?") for d, dim in zip(declared, tensor.shape.dim, strict=True)]
            raise Refused(f"the shape must fit [{', '.join(wanted)}], got {list(given)}")
        return tuple(given)
    shape = [d or settings.dims.get(dim.dim_param) for d, dim in zip(declared, tensor.shape.dim, strict=True)]
    if None in shape:
        # Some exporters write a question mark for a dimension without a name: others have the same.
        names = [dim.dim_param for dim, size in zip(tensor.shape.dim, shape, strict=True) if size is None]
        names = [name if name.strip("?") else "" for name in names]
        named = [name for name in dict.fromkeys(names) if name]
        what = f"the dimensions {', '.join(named)}" if named else "some dimensions"
        options = [f"dims={{{', '.join(f'{name!r}: ...' for name in named)}}}"] if all(names) else []
        sizes = ", ".join(str(size or "...") for size in shape)
        options.append(f"shapes={{{info.name!r}: [{sizes}]}}")
        shown = ", ".join(str(size or name or "?") for size, name in _sizes(tensor.shape.dim, shape))
        raise Refused(f"{what} of [{shown}] must be fixed", f"give {' or '.join(options)}")
    return tuple([size for size in shape if size is not None])


def _sizes(dims: Any, shape: Sequence[int | None]) -> Iterable[tuple[int | None, str]]:
    return [(size, dim.dim_param) for size, dim in zip(shape, dims, strict=True)]
