"""A recurrent network, three times: `gru`, the same steps with `gruCell`, and once more with other activation functions.

`sigmoid()`, `tanh()`, `relu()` ... called without an operand return an `MLActivation`: a function that a recurrent operation applies
inside, here to its update and reset gates (the first) and to its new gate (the second). The draft 2024-06 has them.

Run it: ``python examples/activations_and_gru.py``
"""

from typing import Any

import numpy as np

from webnn import ML, MLGraphBuilder, MLGruCellOptions, MLOperand

STEPS, BATCH, INPUTS, HIDDEN = 5, 2, 3, 4


def unroll(builder: MLGraphBuilder, x: MLOperand, weight: MLOperand, recurrentWeight: MLOperand, options: MLGruCellOptions) -> MLOperand:
    """The emulation that the draft gives for `gru`, one direction: a cell for each step. Returns the last hidden state."""
    state = builder.constant({"dataType": "float32", "dimensions": [BATCH, HIDDEN]}, np.zeros((BATCH, HIDDEN), np.float32))
    for step in range(STEPS):
        # [1, batch, inputs] of the sequence, squeezed to [batch, inputs].
        current = builder.reshape(builder.slice(x, [step, 0, 0], [1, BATCH, INPUTS]), [BATCH, INPUTS])
        state = builder.gruCell(current, weight, recurrentWeight, state, HIDDEN, options)
    return state


def main() -> None:
    rng = np.random.default_rng(0)
    context = ML(revision="2024-06").createContextSync()
    builder = MLGraphBuilder(context)

    def constant(*shape: int) -> MLOperand:
        return builder.constant({"dataType": "float32", "dimensions": shape}, rng.uniform(-1, 1, shape).astype(np.float32))

    def squeeze(operand: MLOperand) -> MLOperand:
        """Drop the first axis, the direction's."""
        return builder.reshape(operand, operand.shape()[1:])

    x = builder.input("x", dataType="float32", dimensions=[STEPS, BATCH, INPUTS])
    # One direction; each weight holds those of the update, reset and new gate ("zrn"), one below the other.
    weight, recurrentWeight = constant(1, 3 * HIDDEN, INPUTS), constant(1, 3 * HIDDEN, HIDDEN)
    bias, recurrentBias = constant(1, 3 * HIDDEN), constant(1, 3 * HIDDEN)

    # With returnSequence there are two results: the last hidden state, and the states of all steps.
    last, sequence = builder.gru(x, weight, recurrentWeight, STEPS, HIDDEN, bias=bias, recurrentBias=recurrentBias, returnSequence=True)
    cellOptions: MLGruCellOptions = {"bias": squeeze(bias), "recurrentBias": squeeze(recurrentBias)}
    unrolled = unroll(builder, x, squeeze(weight), squeeze(recurrentWeight), cellOptions)

    # sigmoid and tanh are the defaults. Cheaper ones: a piecewise linear gate, and a ReLU.
    [cheap] = builder.gru(
        x, weight, recurrentWeight, STEPS, HIDDEN, bias=bias, recurrentBias=recurrentBias,
        activations=[builder.hardSigmoid(alpha=0.25, beta=0.5), builder.relu()],
    )  # fmt: skip

    outputs = {"last": last, "sequence": sequence, "unrolled": unrolled, "cheap": cheap}
    graph = builder.buildSync(outputs)
    buffers: dict[str, Any] = {name: np.empty(operand.shape(), np.float32) for name, operand in outputs.items()}
    values = rng.uniform(-1, 1, (STEPS, BATCH, INPUTS)).astype(np.float32)
    computed = context.computeSync(graph, {"x": values}, buffers)["outputs"]

    for name, array in computed.items():
        print(f"{name}: shape {list(array.shape)}")
    print("last hidden state:", np.round(computed["last"][0, 0], 4))
    print("with hardSigmoid and relu:", np.round(computed["cheap"][0, 0], 4))
    print("the sequence ends with the last state:", bool(np.array_equal(computed["sequence"][-1], computed["last"])))
    print(f"largest difference between gru and gruCell: {np.abs(computed['last'][0] - computed['unrolled']).max():.1e}")


if __name__ == "__main__":
    main()
