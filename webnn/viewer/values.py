"""The values of a graph in its document: type, shape, size, and of constants a histogram and the first elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.formats import plain
from webnn.validation.descriptor import unpack

if TYPE_CHECKING:
    from webnn.builder.description import ConstantDescription, GraphDescription

__all__ = ["describe_values"]

#: The most columns of a name.
_NAME = 200
#: How many elements a histogram counts at most, its bars, and how many elements are written out.
_COUNTED, _BARS, _FIRST = 65_536, 24, 8


def describe_values(description: GraphDescription, *, weights: bool) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return the values of a graph, and the position of each by its name."""
    values: list[dict[str, Any]] = []
    places: dict[str, int] = {}
    for name, descriptor in description.descriptors().items():
        places[name] = len(values)
        value: dict[str, Any] = {
            "name": plain.clip(name, _NAME),
            "type": plain.printable(str(descriptor.dataType)),
            "shape": plain.clip(plain.shape(descriptor), _NAME),
            "bytes": descriptor.byte_length,
        }
        if name in description.constants:
            value["constant"] = True
            if weights:
                value["weights"] = _describe_weights(description.constants[name])
        values.append(value)
    return values, places


def _describe_weights(constant: ConstantDescription) -> dict[str, Any]:
    """Return a histogram, the smallest and the largest element, and the first ones; of a large constant those of a sample."""
    descriptor = constant.descriptor
    size = descriptor.element_count
    step = -(-size // _COUNTED) if size else 1
    flat = unpack(constant.value, descriptor.dataType, descriptor.shape).reshape(-1)
    elements = flat[::step]
    found: dict[str, Any] = {"count": size, "sampled": step > 1, "first": [_write(each) for each in flat[:_FIRST]]}
    with np.errstate(all="ignore"):
        wide = elements.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        found["notFinite"] = int(wide.size - finite.size)
        found["zeros"] = int(finite.size - np.count_nonzero(finite))
        if finite.size:
            least, most = float(finite.min()), float(finite.max())
            # The width of a range of doubles may be infinite.
            scale = max(abs(least), abs(most)) or 1.0
            counts, _ = np.histogram(finite / scale, bins=_BARS, range=(least / scale, most / scale))
            found |= {"minimum": least, "maximum": most, "mean": float((finite / scale).mean() * scale), "histogram": counts.tolist()}
    return found


def _write(element: Any) -> str:
    return f"{float(element):.6g}" if not isinstance(element, np.integer) else str(int(element))
