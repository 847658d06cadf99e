"""The draft's small examples of `gather`, `pad` and `triangular`, in one graph without inputs.

A graph needs no inputs: constants alone will do, and compute() then gets an empty dictionary.

Run it: ``python examples/gather_pad_triangular.py``
"""

from typing import Any

import numpy as np

from webnn import ML, MLGraphBuilder, MLOperand


def constant(builder: MLGraphBuilder, dataType: Any, values: list[Any]) -> MLOperand:
    array = np.array(values, dataType)
    return builder.constant({"dataType": dataType, "dimensions": array.shape}, array)


def main() -> None:
    # The mode "symmetric" is one of this draft.
    context = ML(revision="2024-06").createContextSync()
    builder = MLGraphBuilder(context)
    outputs: dict[str, MLOperand] = {}

    # gather: the indices replace one axis of the input; their own shape takes its place.
    table = constant(builder, "float32", [[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32]])
    outputs["gather rows 3, 1"] = builder.gather(table, constant(builder, "uint32", [3, 1]))
    outputs["gather columns 2, 1, 1"] = builder.gather(table, constant(builder, "uint32", [2, 1, 1]), axis=1)
    outputs["gather pairs of columns"] = builder.gather(table, constant(builder, "uint32", [[0, 1], [1, 2]]), axis=1)

    # pad: one row and two columns on each side, filled in four ways.
    block = constant(builder, "float32", [[1, 2, 3], [4, 5, 6]])
    outputs["pad constant"] = builder.pad(block, [1, 2], [1, 2])
    outputs["pad edge"] = builder.pad(block, [1, 2], [1, 2], mode="edge")
    outputs["pad reflection"] = builder.pad(block, [1, 2], [1, 2], mode="reflection")
    outputs["pad symmetric"] = builder.pad(block, [1, 2], [1, 2], mode="symmetric")

    # triangular: keep what lies on one side of a diagonal; a positive diagonal lies above the main one.
    square = constant(builder, "float32", [[7, 1, 2], [9, 4, 8], [2, 6, 3]])
    outputs["triangular upper"] = builder.triangular(square)
    outputs["triangular upper, diagonal 1"] = builder.triangular(square, diagonal=1)
    outputs["triangular upper, diagonal -1"] = builder.triangular(square, diagonal=-1)
    outputs["triangular lower"] = builder.triangular(square, upper=False)
    outputs["triangular lower, diagonal 1"] = builder.triangular(square, upper=False, diagonal=1)
    outputs["triangular lower, diagonal -1"] = builder.triangular(square, upper=False, diagonal=-1)

    graph = builder.buildSync(outputs)
    buffers = {name: np.empty(operand.shape(), operand.dataType()) for name, operand in outputs.items()}
    result = context.computeSync(graph, {}, buffers)
    for name, array in result["outputs"].items():
        print(f"{name}: {array.astype(int).tolist()}")


if __name__ == "__main__":
    main()
