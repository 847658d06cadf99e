"""The parameters and the result of a computation, and the arrays that they consist of."""

from __future__ import annotations

from collections.abc import Sequence

from webnn.hlo.ir import Function
from webnn.xla.shapes import AnyShape, TupleShape, flatten

__all__ = ["Signature", "names_of"]


class Signature:
    """The names and shapes of parameters and results.

    Attributes:
        name: The name of the computation, which may be empty.
        parameter_names: The names of its parameters.
        parameter_shapes: The shapes of its parameters.
        result_shape: The shape of its result.
        argument_names: The names of the arrays of all parameters: ``"x"``; for a tuple ``"x.0"``, ``"x.1"``.
        array_shapes: The shapes of the arrays of all parameters.
        result_names: The names of the arrays of the result.
    """

    def __init__(self, name: str, parameters: Sequence[tuple[str, AnyShape]], result_shape: AnyShape, function: Function) -> None:
        self.name = name
        self.parameter_names = tuple([each for each, _ in parameters])
        self.parameter_shapes = tuple([shape for _, shape in parameters])
        self.result_shape = result_shape
        self.argument_names = function.argument_names
        self.array_shapes = tuple([each for shape in self.parameter_shapes for each in flatten(shape)])
        self.result_names = function.result_names


def names_of(name: str, shape: AnyShape) -> list[str]:
    """Return a name for each array of a parameter: ``"x"``; of a tuple ``"x.0"``, ``"x.1"``."""
    if isinstance(shape, TupleShape):
        return [each for index, inner in enumerate(shape.shapes) for each in names_of(f"{name}.{index}", inner)]
    return [name]
