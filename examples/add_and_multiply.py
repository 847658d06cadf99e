"""The specification's first example, in the Sync style: (constant1 + input1) * (constant2 + input2).

The section "Examples" of the draft draws this graph:

    constant1 ---+
                 +--- add ---> intermediateOutput1 ---+
    input1    ---+                                    |
                                                      +--- mul ---> output
    constant2 ---+                                    |
                 +--- add ---> intermediateOutput2 ---+
    input2    ---+

Run it: ``python examples/add_and_multiply.py``. The same program with ``await`` is ``add_and_multiply_async.py``.
"""

import numpy as np

from webnn import MLContext, MLGraph, MLGraphBuilder, MLOperandDescriptor, navigator

SHAPE = [1, 2, 2, 2]


def build(context: MLContext) -> MLGraph:
    builder = MLGraphBuilder(context)
    descriptor: MLOperandDescriptor = {"dataType": "float32", "shape": SHAPE}

    # Constants are part of the graph: their values are copied now.
    constant1 = builder.constant(descriptor, np.full(SHAPE, 0.5, np.float32))
    constant2 = builder.constant(descriptor, np.full(SHAPE, 0.5, np.float32))

    # Inputs have a name, a type and a shape; they get their values with each compute().
    input1 = builder.input("input1", descriptor)
    input2 = builder.input("input2", descriptor)

    # Each operation is validated here and now, and returns an operand that others can use.
    intermediateOutput1 = builder.add(constant1, input1)
    intermediateOutput2 = builder.add(constant2, input2)
    output = builder.mul(intermediateOutput1, intermediateOutput2)

    # Compile the graph up to the named outputs.
    return builder.buildSync({"output": output})


def main() -> None:
    # "low-power" is a hint: the specification lets the implementation decide what it means.
    context = navigator.ml.createContextSync({"powerPreference": "low-power"})
    graph = build(context)

    inputs = {"input1": np.ones(SHAPE, np.float32), "input2": np.ones(SHAPE, np.float32)}
    outputs = {"output": np.empty(SHAPE, np.float32)}
    result = context.computeSync(graph, inputs, outputs)

    print("Output value:", result["outputs"]["output"].ravel())


if __name__ == "__main__":
    main()
