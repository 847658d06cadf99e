"""A graph with several outputs: compute all of them, or only those that are wanted.

    a [2, 3] ---+
                +--- matmul ---> C [2, 2] ---+
    b [3, 2] ---+                            +--- add ---> D [2, 2]
    bias [2] --------------------------------+

Any operand can be an output, also one in the middle of the graph. ``compute()`` fills the outputs for which it gets an array.

Run it: ``python examples/several_outputs.py``
"""

import numpy as np

from webnn import MLGraphBuilder, navigator


def main() -> None:
    context = navigator.ml.createContextSync()
    builder = MLGraphBuilder(context)
    a = builder.input("a", dataType="float32", shape=[2, 3])
    b = builder.input("b", dataType="float32", shape=[3, 2])
    bias = builder.constant({"dataType": "float32", "shape": [2]}, np.array([10, 20], np.float32))
    C = builder.matmul(a, b)
    D = builder.add(C, bias)
    graph = builder.buildSync({"C": C, "D": D})

    # All outputs. The arrays of the outputs have the shapes of the operands.
    inputs = {"a": np.array([[1, 2, 3], [4, 5, 6]], np.float32), "b": np.array([[1, 0], [0, 1], [1, 1]], np.float32)}
    outputs = {name: np.empty(operand.shape, operand.dataType) for name, operand in {"C": C, "D": D}.items()}
    result = context.computeSync(graph, inputs, outputs)
    print("C =", result["outputs"]["C"].tolist())
    print("D =", result["outputs"]["D"].tolist())

    # One output alone. The inputs are the arrays that came back from the first call: it took the program's own.
    result = context.computeSync(graph, result["inputs"], {"D": np.empty((2, 2), np.float32)})
    print("D alone:", result["outputs"]["D"].tolist())

    # An array that does not fit is refused before anything is computed; the error says why.
    try:
        context.computeSync(graph, result["inputs"], {"D": np.empty((2, 3), np.float32)})
    except TypeError as error:
        print("TypeError:", error)


if __name__ == "__main__":
    main()
