"""Operations made of others: the draft gives such an emulation for many operations. Does it compute the same?

Each function below builds one operation out of simpler ones. The program computes both in one graph and prints the largest
difference, relative to the largest value. It is also a way to prototype an operation that the specification lacks.

Run it: ``python examples/emulation.py``
"""

from typing import Any

import numpy as np

from webnn import MLGraphBuilder, MLOperand, navigator

SHAPE = [2, 3, 4, 5]


def number(builder: MLGraphBuilder, like: MLOperand, value: float) -> MLOperand:
    """A scalar of an operand's data type: both sides of a binary operation must have the same type."""
    dataType: Any = like.dataType
    return builder.constant(dataType, value)


def clamp(builder: MLGraphBuilder, x: MLOperand, minValue: float, maxValue: float) -> MLOperand:
    return builder.min(builder.max(x, number(builder, x, minValue)), number(builder, x, maxValue))


def elu(builder: MLGraphBuilder, x: MLOperand, alpha: float) -> MLOperand:
    zero = number(builder, x, 0)
    negative = builder.sub(builder.exp(builder.min(x, zero)), number(builder, x, 1))
    return builder.add(builder.max(x, zero), builder.mul(number(builder, x, alpha), negative))


def gelu(builder: MLGraphBuilder, x: MLOperand) -> MLOperand:
    share = builder.erf(builder.div(x, builder.sqrt(number(builder, x, 2))))
    return builder.mul(builder.mul(x, number(builder, x, 0.5)), builder.add(number(builder, x, 1), share))


def hardSwish(builder: MLGraphBuilder, x: MLOperand) -> MLOperand:
    gate = clamp(builder, builder.add(x, number(builder, x, 3)), 0, 6)
    return builder.div(builder.mul(x, gate), number(builder, x, 6))


def sigmoid(builder: MLGraphBuilder, x: MLOperand) -> MLOperand:
    one = number(builder, x, 1)
    return builder.div(one, builder.add(builder.exp(builder.neg(x)), one))


def softmax(builder: MLGraphBuilder, x: MLOperand, axis: int) -> MLOperand:
    # The distance to the largest value, not the value itself: exp() must not overflow.
    powers = builder.exp(builder.sub(x, builder.reduceMax(x, axes=[axis], keepDimensions=True)))
    return builder.div(powers, builder.reduceSum(powers, axes=[axis], keepDimensions=True))


def softsign(builder: MLGraphBuilder, x: MLOperand) -> MLOperand:
    return builder.div(x, builder.add(number(builder, x, 1), builder.abs(x)))


def prelu(builder: MLGraphBuilder, x: MLOperand, slope: MLOperand) -> MLOperand:
    zero = number(builder, x, 0)
    return builder.add(builder.max(x, zero), builder.mul(slope, builder.min(x, zero)))


def layerNormalization(builder: MLGraphBuilder, x: MLOperand, epsilon: float) -> MLOperand:
    # Mean and variance of each batch, over all axes but the first.
    axes = range(1, len(x.shape))
    centred = builder.sub(x, builder.reduceMean(x, axes=axes, keepDimensions=True))
    variance = builder.reduceMean(builder.pow(centred, number(builder, x, 2)), axes=axes, keepDimensions=True)
    return builder.div(centred, builder.sqrt(builder.add(variance, number(builder, x, epsilon))))


def gemm(builder: MLGraphBuilder, x: MLOperand, y: MLOperand, c: MLOperand, alpha: float, beta: float) -> MLOperand:
    # The form with bTranspose.
    product = builder.matmul(builder.mul(number(builder, x, alpha), x), builder.transpose(y))
    return builder.add(product, builder.mul(number(builder, x, beta), c))


def where(builder: MLGraphBuilder, condition: MLOperand, x: MLOperand, y: MLOperand) -> MLOperand:
    chosen = builder.clamp(condition, minValue=0, maxValue=1)
    dataType: Any = x.dataType
    return builder.add(
        builder.mul(x, builder.cast(chosen, dataType)),
        builder.mul(y, builder.cast(builder.logicalNot(chosen), dataType)),
    )


def split(builder: MLGraphBuilder, x: MLOperand, splits: list[int], axis: int) -> list[MLOperand]:
    parts, start = [], 0
    for size in splits:
        starts, sizes = [0] * len(x.shape), list(x.shape)
        starts[axis], sizes[axis] = start, size
        parts.append(builder.slice(x, starts, sizes))
        start += size
    return parts


def main() -> None:
    context = navigator.ml.createContextSync()
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=SHAPE)
    y = builder.input("y", dataType="float32", shape=SHAPE)
    rows, columns = builder.reshape(x, [6, 20]), builder.reshape(y, [6, 20])
    condition = builder.greater(x, y)

    pairs = {
        "clamp": (builder.clamp(x, minValue=-1, maxValue=2), clamp(builder, x, -1, 2)),
        "elu": (builder.elu(x, alpha=0.5), elu(builder, x, 0.5)),
        "gelu": (builder.gelu(x), gelu(builder, x)),
        "hardSwish": (builder.hardSwish(x), hardSwish(builder, x)),
        "sigmoid": (builder.sigmoid(x), sigmoid(builder, x)),
        "softmax": (builder.softmax(x, 1), softmax(builder, x, 1)),
        "softsign": (builder.softsign(x), softsign(builder, x)),
        "prelu": (builder.prelu(x, y), prelu(builder, x, y)),
        "layerNormalization": (builder.layerNormalization(x, epsilon=1e-3), layerNormalization(builder, x, 1e-3)),
        "gemm": (
            builder.gemm(rows, columns, c=builder.constant("float32", 3), alpha=0.5, beta=2, bTranspose=True),
            gemm(builder, rows, columns, builder.constant("float32", 3), 0.5, 2),
        ),
        "where": (builder.where(condition, x, y), where(builder, condition, x, y)),
        "split": (builder.split(x, [1, 2], axis=1)[1], split(builder, x, [1, 2], axis=1)[1]),
    }
    outputs = {f"{name} {kind}": operand for name, both in pairs.items() for kind, operand in zip(("op", "emulated"), both, strict=True)}
    graph = builder.buildSync(outputs)
    rng = np.random.default_rng(0)
    inputs = {name: rng.uniform(-4, 4, SHAPE).astype(np.float32) for name in ("x", "y")}
    buffers = {name: np.empty(operand.shape, operand.dataType) for name, operand in outputs.items()}
    computed = context.computeSync(graph, inputs, buffers)["outputs"]

    for name in pairs:
        expected, actual = computed[f"{name} op"], computed[f"{name} emulated"]
        print(f"{name:<20}{np.abs(expected - actual).max() / np.abs(expected).max():.1e}")


if __name__ == "__main__":
    main()
