"""A program that must survive real browsers: it tries npu, then gpu, then cpu, and goes on after a lost context.

`program` is written as a page is, for the current draft: it knows nothing of faults or profiles. `main` runs it in situations that a
machine at hand does not offer: `webnn.emulate` sets them from outside, for everything that happens within the block.

Run it: ``python examples/fallback_chain.py``
"""

import asyncio
from typing import Any

import numpy as np

import webnn

DEVICES = ("npu", "gpu", "cpu")
SHAPE = [4]

# Settings from outside. A profile emulates a browser's backend; without one it would be this machine. The second one computes
# everything on the CPU, and the policy "deny" has it say so, where a browser is silent.
SITUATIONS: dict[str, dict[str, Any]] = {
    "every device": {"profile": "coreml"},
    "the CPU alone": {"profile": "tflite", "fallback": "deny"},
    "no NPU": {"profile": "coreml", "faults": webnn.Faults(refuse="npu")},
    "a driver that refuses the graph": {"profile": "coreml", "faults": webnn.Faults(failBuild=1)},
    "little memory": {"profile": "coreml", "faults": webnn.Faults(memoryLimit=20)},
    "a device that is reset": {"profile": "coreml", "faults": webnn.Faults(loseAfter=2, delay=0.01)},
}


class Model:
    """One context with a graph, y = x * x, and its tensors."""

    def __init__(self, context: webnn.MLContext, graph: webnn.MLGraph, x: webnn.MLTensor, y: webnn.MLTensor) -> None:
        self.context, self.graph, self.x, self.y = context, graph, x, y

    @classmethod
    async def load(cls, ml: webnn.ML, deviceType: Any) -> "Model":
        """Make everything that the model needs on a device."""
        context = await ml.createContext(deviceType=deviceType)
        builder = webnn.MLGraphBuilder(context)
        x = builder.input("x", dataType="float32", shape=SHAPE)
        graph = await builder.build({"y": builder.mul(x, x)})
        given = await context.createTensor(dataType="float32", shape=SHAPE, writable=True)
        result = await context.createTensor(dataType="float32", shape=SHAPE, readable=True)
        return cls(context, graph, given, result)

    async def square(self, value: float) -> float:
        """Run the model once."""
        self.context.writeTensor(self.x, np.full(SHAPE, value, np.float32))
        self.context.dispatch(self.graph, {"x": self.x}, {"y": self.y})
        return float((await self.context.readTensor(self.y))[0])


async def load_best(ml: webnn.ML, notes: list[str]) -> Model:
    """Load the model on the first device that takes it."""
    for deviceType in DEVICES:
        try:
            model = await Model.load(ml, deviceType)
        except webnn.DOMException as error:
            notes.append(f"{deviceType}: {error.name}")
        else:
            notes.append(deviceType)
            return model
    raise RuntimeError(f"{', '.join(notes)}: no device takes the model")


async def program() -> str:
    """Square 1, 2 and 3; return what happened."""
    ml = webnn.ML(revision="2026-06")
    notes: list[str] = []
    squares: list[float] = []
    model = await load_best(ml, notes)
    while len(squares) < 3:
        try:
            squares.append(await model.square(len(squares) + 1))
        except webnn.InvalidStateError:
            # The context is lost, and everything that belongs to it. Begin again, with the number that is missing.
            notes.append(f"lost ({(await model.context.lost)['message']})")
            model = await load_best(ml, notes)
    return f"{', '.join(notes)} -> {squares}"


def main() -> None:
    for situation, settings in SITUATIONS.items():
        with webnn.emulate(**settings):
            try:
                print(f"{situation}: {asyncio.run(program())}")
            except RuntimeError as error:
                print(f"{situation}: {error}")


if __name__ == "__main__":
    main()
