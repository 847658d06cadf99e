"""The additions of browsers to a draft, since 2026-06: int4 and uint4, two elements in a byte. They also convert numbers in their own way.

No draft has these types. Chromium's backends support them as follows (as of 2025 and 2026; read from its source, for LiteRT measured):

- operands of both types: inputs, outputs and constants with ONNX Runtime and DirectML, constants with Core ML; of int4 alone: all three
  with LiteRT;
- ``dequantizeLinear``: both types with all backends, except LiteRT: int4 only; ``quantizeLinear``: both with ONNX Runtime and DirectML;
- ``cast``, ``identity``, ``transpose``: both with ONNX Runtime;
- ``concat``, ``reshape``: int4 with LiteRT.

The table is the union: what at least one backend accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.validation import numbers
from webnn.validation.descriptor import SMALL_TYPES, Types
from webnn.validation.drafts.delta import Delta
from webnn.validation.drafts.limits import Limits, with_types

__all__ = ["BROWSERS", "EXTENSIONS"]

_INT4: Types = ("int4",)

#: The data types that browsers add to those of the draft, by operation and operand.
EXTENSIONS: Mapping[str, Mapping[str, Types]] = MappingProxyType(
    {
        "cast": {"input": SMALL_TYPES, "output": SMALL_TYPES},
        "concat": {"inputs": _INT4, "output": _INT4},
        "dequantizeLinear": {"input": SMALL_TYPES, "zeroPoint": SMALL_TYPES},
        "identity": {"input": SMALL_TYPES, "output": SMALL_TYPES},
        "quantizeLinear": {"zeroPoint": SMALL_TYPES, "output": SMALL_TYPES},
        "reshape": {"input": _INT4, "output": _INT4},
        "transpose": {"input": SMALL_TYPES, "output": SMALL_TYPES},
    }
)


def _extend(limits: Limits | None) -> Limits | None:
    return None if limits is None else with_types(limits, SMALL_TYPES, EXTENSIONS)


BROWSERS = Delta(name="browsers", since="2026-06", types=SMALL_TYPES, limits=_extend, flags={"cast": numbers.cast_as_browsers})
