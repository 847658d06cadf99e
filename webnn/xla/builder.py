"""`ComputationBuilder`: builds programs with the operations of XLA's operation semantics."""

from __future__ import annotations

from webnn.xla.control import ControlOperations
from webnn.xla.elementwise import ElementwiseOperations
from webnn.xla.movement import MovementOperations
from webnn.xla.normalization import NormalizationOperations
from webnn.xla.refused import RefusedOperations
from webnn.xla.windows import WindowOperations

__all__ = ["ComputationBuilder"]


class ComputationBuilder(
    ControlOperations, ElementwiseOperations, MovementOperations, NormalizationOperations, WindowOperations, RefusedOperations
):
    """Builds a computation, operation by operation.

    The methods have the names and the arguments of XLA's operation semantics. Each one checks its arguments and returns a handle of its
    result; nothing is computed. `Build` returns the computation, whose result is that of the last call.

    All methods raise `XlaError` if an argument breaks a rule, comes from another builder, or the computation is built already; and
    `XlaTypeError`, which is an `XlaError` and a ``TypeError``, if it is an object of another kind. Operations that WebNN has no means for
    raise `NotSupportedError`.

    Args:
        name: The name of the computation; it may be empty.

    >>> builder = ComputationBuilder("double")
    >>> x = builder.Parameter(0, MakeShape(F32, [2]), "x")
    >>> builder.Add(x, x)
    <ComputationDataHandle Add.1: f32[2]>
    >>> builder.Build()
    <Computation 'double': (f32[2]) -> f32[2]>
    """

    __slots__ = ()
