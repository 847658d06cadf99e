"""The arrays before and after ``compute()``: the example of `MLContext.compute`, C = 0.2 * A + B, and a loop.

``compute()`` *transfers* its arrays, as a web page transfers an ``ArrayBuffer``: the result holds new arrays over the same memory,
and the program's own arrays are detached, which means that it must not pass them again. Nothing is copied.

Run it: ``python examples/buffers.py``
"""

import asyncio

import numpy as np

from webnn import MLGraphBuilder, MLOperandDescriptor, navigator


async def run() -> None:
    context = await navigator.ml.createContext()
    builder = MLGraphBuilder(context)
    descriptor: MLOperandDescriptor = {"dataType": "float32", "shape": [2, 2]}

    # 1. Describe the graph C = 0.2 * A + B. A constant of one number is a scalar; mul() broadcasts it.
    constant = builder.constant("float32", 0.2)
    A = builder.input("A", descriptor)
    B = builder.input("B", descriptor)
    C = builder.add(builder.mul(A, constant), B)

    # 2. Compile it.
    graph = await builder.build({"C": C})

    # 3. Allocate the arrays, the outputs' too, and compute.
    bufferA = np.ones((2, 2), np.float32)
    bufferB = np.full((2, 2), 0.8, np.float32)
    bufferC = np.empty((2, 2), np.float32)
    result = await context.compute(graph, {"A": bufferA, "B": bufferB}, {"C": bufferC})
    print("C =", result["outputs"]["C"].ravel())

    # The result's array is not bufferC, but it lies over the same memory.
    print("a new array:", result["outputs"]["C"] is not bufferC)
    print("the same memory:", np.shares_memory(result["outputs"]["C"], bufferC))

    # bufferC is detached now. Passing it again is a TypeError; the promise is rejected with it.
    try:
        await context.compute(graph, result["inputs"], {"C": bufferC})
    except TypeError as error:
        print("TypeError:", error)

    # A loop passes on what the last call returned: here C of one step is B of the next, and the memory of B holds the next C.
    for _ in range(3):
        inputs = {"A": result["inputs"]["A"], "B": result["outputs"]["C"]}
        result = await context.compute(graph, inputs, {"C": result["inputs"]["B"]})
    print("after three more steps: C =", result["outputs"]["C"].ravel().round(4))


def main() -> None:
    asyncio.run(run())


if __name__ == "__main__":
    main()
