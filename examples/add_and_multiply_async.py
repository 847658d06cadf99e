"""The specification's first example, with ``await``: (constant1 + input1) * (constant2 + input2).

A method that returns a promise in a web page returns an asyncio future here, so the program reads as it does in JavaScript. Compare it with
``add_and_multiply.py``. This one also computes three sets of inputs without waiting in between: a context works through its calls in
order, on a thread of its own, while the event loop stays free.

Run it: ``python examples/add_and_multiply_async.py``
"""

import asyncio

import numpy as np

from webnn import MLGraphBuilder, MLOperandDescriptor, navigator

SHAPE = [1, 2, 2, 2]


async def run() -> None:
    context = await navigator.ml.createContext({"powerPreference": "low-power"})
    builder = MLGraphBuilder(context)
    descriptor: MLOperandDescriptor = {"dataType": "float32", "shape": SHAPE}

    # The builder's methods only describe the graph; they return at once, and the specification has no promises there either.
    constant1 = builder.constant(descriptor, np.full(SHAPE, 0.5, np.float32))
    constant2 = builder.constant(descriptor, np.full(SHAPE, 0.5, np.float32))
    input1 = builder.input("input1", descriptor)
    input2 = builder.input("input2", descriptor)
    output = builder.mul(builder.add(constant1, input1), builder.add(constant2, input2))

    # Compiling takes a while: a promise.
    graph = await builder.build({"output": output})

    # So does computing. Three calls are under way before the first one is awaited.
    calls = [
        context.compute(
            graph,
            {"input1": np.full(SHAPE, value, np.float32), "input2": np.full(SHAPE, value, np.float32)},
            {"output": np.empty(SHAPE, np.float32)},
        )
        for value in (1, 2, 3)
    ]
    for result in await asyncio.gather(*calls):
        print(f"Output value for inputs of {result['inputs']['input1'].flat[0]}:", result["outputs"]["output"].ravel())


def main() -> None:
    asyncio.run(run())


if __name__ == "__main__":
    main()
