"""Programs of XLA's operation semantics as WebNN graphs: `ComputationBuilder`.

>>> from webnn.xla import F32, ComputationBuilder, MakeShape
>>> builder = ComputationBuilder("double")
>>> x = builder.Parameter(0, MakeShape(F32, [2]), "x")
>>> builder.Add(x, x)
<ComputationDataHandle Add.1: f32[2]>
>>> double = builder.Build()
>>> double.execute(context, [1.0, 2.0])
array([2., 4.], dtype=float32)
"""

from __future__ import annotations

from webnn.xla.builder import ComputationBuilder
from webnn.xla.call import ComputationDataHandle
from webnn.xla.computation import Computation
from webnn.xla.errors import XlaError, XlaTypeError
from webnn.xla.literals import LiteralUtil
from webnn.xla.movement import PaddingConfigDimension
from webnn.xla.shapes import MakeShape, PrimitiveType, Shape, ShapeUtil, TupleShape
from webnn.xla.windows import Padding

__all__ = [
    "F16",
    "F32",
    "F64",
    "PRED",
    "S8",
    "S16",
    "S32",
    "S64",
    "U8",
    "U16",
    "U32",
    "U64",
    "Computation",
    "ComputationBuilder",
    "ComputationDataHandle",
    "LiteralUtil",
    "MakeShape",
    "Padding",
    "PaddingConfigDimension",
    "PrimitiveType",
    "Shape",
    "ShapeUtil",
    "TupleShape",
    "XlaError",
    "XlaTypeError",
]

PRED = PrimitiveType.PRED
S8, S16, S32, S64 = PrimitiveType.S8, PrimitiveType.S16, PrimitiveType.S32, PrimitiveType.S64
U8, U16, U32, U64 = PrimitiveType.U8, PrimitiveType.U16, PrimitiveType.U32, PrimitiveType.U64
F16, F32, F64 = PrimitiveType.F16, PrimitiveType.F32, PrimitiveType.F64
