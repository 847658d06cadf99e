"""Programs of XLA's operation semantics: a reduction, windows and a loop, built with `ComputationBuilder` and computed by WebNN.

Run it: ``python examples/xla_program.py``
"""

import numpy as np

from webnn import ML
from webnn.xla import F32, S32, Computation, ComputationBuilder, LiteralUtil, MakeShape, Padding, TupleShape

VECTOR = MakeShape(F32, [10])
#: The state of the loop: a counter and an accumulator.
STATE = TupleShape([MakeShape(S32), VECTOR])
ITERATIONS = 1000


def combine(name: str) -> Computation:
    """Return a computation of two scalars: ``Add`` or ``Max``."""
    builder = ComputationBuilder(name)
    x, y = builder.Parameter(0, MakeShape(F32), "x"), builder.Parameter(1, MakeShape(F32), "y")
    builder.Add(x, y) if name == "Add" else builder.Max(x, y)
    return builder.Build()


def sums() -> Computation:
    """Return the sums over the first dimension of f32[4x2x3]."""
    builder = ComputationBuilder("sums")
    operand = builder.Parameter(0, MakeShape(F32, [4, 2, 3]), "operand")
    builder.Reduce(operand, builder.ConstantLiteral(0.0), combine("Add"), dimensions=[0])
    return builder.Build()


def windows() -> Computation:
    """Return the greatest elements of the windows [2x3] of f32[4x6]."""
    builder = ComputationBuilder("reduce_window_2x3")
    operand = builder.Parameter(0, MakeShape(F32, [4, 6]), "input")
    least = builder.ConstantLiteral(LiteralUtil.MinValue(F32))
    builder.ReduceWindow(operand, least, combine("Max"), window_dimensions=[2, 3], window_strides=[2, 3], padding=Padding.kValid)
    return builder.Build()


def condition() -> Computation:
    """Return whether the counter of the state is less than the number of iterations."""
    builder = ComputationBuilder("condition")
    state = builder.Parameter(0, STATE, "state")
    builder.Lt(builder.GetTupleElement(state, 0), builder.ConstantLiteral(ITERATIONS))
    return builder.Build()


def body() -> Computation:
    """Return the next state: the counter plus 1, and the accumulator plus a constant vector."""
    builder = ComputationBuilder("body")
    state = builder.Parameter(0, STATE, "state")
    iteration = builder.Add(builder.GetTupleElement(state, 0), builder.ConstantLiteral(1))
    step = builder.ConstantLiteral(np.full(10, 0.25, np.float32))
    builder.Tuple(iteration, builder.Add(builder.GetTupleElement(state, 1), step))
    return builder.Build()


def loop() -> Computation:
    """Return the state after all iterations."""
    builder = ComputationBuilder("loop")
    start = builder.Parameter(0, VECTOR, "start")
    builder.While(condition(), body(), builder.Tuple(builder.ConstantLiteral(0), start))
    return builder.Build()


def main() -> None:
    context = ML(revision="2026-06").createContextSync()
    numbers = np.tile(np.array([[1, 2, 3], [4, 5, 6]], np.float32), (4, 1, 1))
    print(f"sums: {sums().execute(context, numbers).tolist()}")
    print(f"greatest: {windows().execute(context, np.arange(24, dtype=np.float32).reshape(4, 6)).tolist()}")
    iterations, accumulator = loop().execute(context, np.zeros(10, np.float32))
    print(f"after {iterations} iterations: {accumulator.tolist()}")


if __name__ == "__main__":
    main()
