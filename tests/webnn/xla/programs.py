"""Helpers of the tests of `webnn.xla`: small computations, and contexts of both drafts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support import CURRENT
from webnn import ML, MLContext
from webnn.xla import S32, Computation, ComputationBuilder, ComputationDataHandle, MakeShape, PrimitiveType, Shape, TupleShape

DRAFTS = ("2024-06", CURRENT)

Build = Callable[..., ComputationDataHandle]


@functools.cache
def context(draft: str) -> MLContext:
    return ML(revision=draft).createContextSync()


def shape_of(array: np.ndarray[Any, Any]) -> Shape:
    """Return the shape of an array."""
    return MakeShape(next(each for each in PrimitiveType if each.dtype == array.dtype), array.shape)


def parameters(builder: ComputationBuilder, *arrays: np.ndarray[Any, Any]) -> list[ComputationDataHandle]:
    """Make a parameter for each array."""
    return [builder.Parameter(number, shape_of(array)) for number, array in enumerate(arrays)]


def compute(build: Build, *arrays: np.ndarray[Any, Any], draft: str = CURRENT, known: bool = False) -> Any:
    """Run a program.

    Args:
        build: Makes the program: it gets the builder, and a parameter for each array.
        arrays: The values of the parameters.
        draft: The draft.
        known: The arrays are constants.
    """
    builder = ComputationBuilder()
    build(builder, *([builder.ConstantLiteral(array) for array in arrays] if known else parameters(builder, *arrays)))
    return builder.Build().execute(context(draft), *([] if known else arrays))


def scalars(operation: str, element_type: PrimitiveType) -> Computation:
    """Return the computation that applies an operation to two scalars."""
    builder = ComputationBuilder(operation)
    x, y = (builder.Parameter(number, MakeShape(element_type), name) for number, name in enumerate("xy"))
    getattr(builder, operation)(x, y)
    return builder.Build()


def counting_loop(shape: Shape, step: Build, count: int) -> tuple[Computation, Computation]:
    """Return the condition and the body of a loop over a counter and an array."""
    state = TupleShape((MakeShape(S32), shape))
    condition = ComputationBuilder("condition")
    condition.Lt(condition.GetTupleElement(condition.Parameter(0, state), 0), condition.ConstantLiteral(count))
    body = ComputationBuilder("body")
    before = body.Parameter(0, state)
    after = step(body, body.GetTupleElement(before, 1))
    body.Tuple(body.Add(body.GetTupleElement(before, 0), body.ConstantLiteral(1)), after)
    return condition.Build(), body.Build()
