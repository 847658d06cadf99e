"""Recurrent networks: GRU and LSTM, whole sequences and single cells.

Everything between the inputs and the outputs is float64. Gates are named as in the draft: z update, r reset,
n new; i input, o output, f forget, g cell. Weights and biases hold one block of `hiddenSize` rows per letter
of `layout`, in their second dimension, or in the first for cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from webnn.reference.activation import ACTIVATIONS
from webnn.reference.numbers import Array, Multiply, Operation, Wide, named, typed, wide

__all__ = ["OPERATIONS", "Activation"]

#: An activation: its name and its options, such as ("elu", {"alpha": 0.5}).
Activation: TypeAlias = tuple[str, Mapping[str, float]]

GRU_ACTIVATIONS: tuple[Activation, ...] = (("sigmoid", {}), ("tanh", {}))
LSTM_ACTIVATIONS: tuple[Activation, ...] = (("sigmoid", {}), ("tanh", {}), ("tanh", {}))


def gru(
    input: Array,
    weight: Array,
    recurrentWeight: Array,
    steps: int,
    hiddenSize: int,
    *,
    bias: Array | None = None,
    recurrentBias: Array | None = None,
    initialHiddenState: Array | None = None,
    resetAfter: bool = True,
    returnSequence: bool = False,
    direction: str = "forward",
    layout: str = "zrn",
    activations: Sequence[Activation] | None = None,
    multiply: Multiply = np.matmul,
) -> list[Array]:
    """Run a GRU over a sequence: `#api-mlgraphbuilder-gru`.

    The input is [steps, batchSize, inputSize]; weights, biases and the initial state have the directions as first dimension.

    Returns:
        The last hidden state [numDirections, batchSize, hiddenSize]; with `returnSequence` also every hidden state [steps, numDirections,
        batchSize, hiddenSize], where index t belongs to input[t] in both directions.
    """
    parts = (weight, recurrentWeight, bias, recurrentBias, None)
    step = partial(_gru_step, resetAfter, activations or GRU_ACTIVATIONS)
    return _run(step, input, parts, layout, [initialHiddenState], steps, hiddenSize, direction, returnSequence, multiply)


def gruCell(
    input: Array,
    weight: Array,
    recurrentWeight: Array,
    hiddenState: Array,
    hiddenSize: int,
    *,
    bias: Array | None = None,
    recurrentBias: Array | None = None,
    resetAfter: bool = True,
    layout: str = "zrn",
    activations: Sequence[Activation] | None = None,
    multiply: Multiply = np.matmul,
) -> Array:
    """Run one step of a GRU: `#api-mlgraphbuilder-grucell`.

    The input is [batchSize, inputSize], weight [3 * hiddenSize, inputSize], recurrentWeight [3 * hiddenSize, hiddenSize], each bias
    [3 * hiddenSize].

    Returns:
        The new hidden state [batchSize, hiddenSize].
    """
    gates = _gates((weight, recurrentWeight, bias, recurrentBias, None), layout, multiply)
    [hidden] = _gru_step(resetAfter, activations or GRU_ACTIVATIONS, gates, wide(input), [wide(hiddenState)])
    return typed(hidden, input.dtype)


def lstm(
    input: Array,
    weight: Array,
    recurrentWeight: Array,
    steps: int,
    hiddenSize: int,
    *,
    bias: Array | None = None,
    recurrentBias: Array | None = None,
    peepholeWeight: Array | None = None,
    initialHiddenState: Array | None = None,
    initialCellState: Array | None = None,
    returnSequence: bool = False,
    direction: str = "forward",
    layout: str = "iofg",
    activations: Sequence[Activation] | None = None,
    multiply: Multiply = np.matmul,
) -> list[Array]:
    """Run an LSTM over a sequence: `#api-mlgraphbuilder-lstm`.

    The input is [steps, batchSize, inputSize]; weights, biases, peepholes and the initial states have the directions as first dimension.

    Returns:
        The last hidden and the last cell state, each [numDirections, batchSize, hiddenSize]; with `returnSequence` also every hidden state
        [steps, numDirections, batchSize, hiddenSize], where index t belongs to input[t] in both directions.
    """
    parts = (weight, recurrentWeight, bias, recurrentBias, peepholeWeight)
    step = partial(_lstm_step, activations or LSTM_ACTIVATIONS)
    return _run(step, input, parts, layout, [initialHiddenState, initialCellState], steps, hiddenSize, direction, returnSequence, multiply)


def lstmCell(
    input: Array,
    weight: Array,
    recurrentWeight: Array,
    hiddenState: Array,
    cellState: Array,
    hiddenSize: int,
    *,
    bias: Array | None = None,
    recurrentBias: Array | None = None,
    peepholeWeight: Array | None = None,
    layout: str = "iofg",
    activations: Sequence[Activation] | None = None,
    multiply: Multiply = np.matmul,
) -> list[Array]:
    """Run one step of an LSTM: `#api-mlgraphbuilder-lstmcell`.

    The input is [batchSize, inputSize], weight [4 * hiddenSize, inputSize], recurrentWeight [4 * hiddenSize, hiddenSize], each bias
    [4 * hiddenSize], peepholeWeight [3 * hiddenSize].

    Returns:
        The new hidden and the new cell state, each [batchSize, hiddenSize].
    """
    gates = _gates((weight, recurrentWeight, bias, recurrentBias, peepholeWeight), layout, multiply)
    states = _lstm_step(activations or LSTM_ACTIVATIONS, gates, wide(input), [wide(hiddenState), wide(cellState)])
    return [typed(state, input.dtype) for state in states]


#: Weight, recurrent weight, bias, recurrent bias and peepholes; with the directions in front for a whole sequence.
_Parts: TypeAlias = Sequence[Array | None]
#: From the gates, one element of the sequence and the states to the new states: the hidden one is the first.
_Step: TypeAlias = Callable[["_Gates", Wide, Sequence[Wide]], Sequence[Wide]]


def _run(
    step: _Step,
    input: Array,
    parts: _Parts,
    layout: str,
    initial: Sequence[Array | None],
    steps: int,
    hiddenSize: int,
    direction: str,
    returnSequence: bool,
    multiply: Multiply,
) -> list[Array]:
    """Run a network over a sequence; return its last states, and perhaps the hidden state of each step."""
    directions = _directions(direction, steps)
    shape = [len(directions), input.shape[1], hiddenSize]
    # A state that is not given is zero.
    states = [np.zeros(shape) if each is None else wide(each).copy() for each in initial]
    sequence = np.zeros([steps, *shape])
    for d, times in enumerate(directions):
        gates = _gates([None if each is None else each[d] for each in parts], layout, multiply)
        for t in times:
            for state, new in zip(states, step(gates, wide(input[t]), [state[d] for state in states]), strict=True):
                state[d] = new
            sequence[t, d] = states[0][d]
    return [typed(output, input.dtype) for output in ([*states, sequence] if returnSequence else states)]


def _gru_step(resetAfter: bool, activations: Sequence[Activation], gates: _Gates, x: Wide, states: Sequence[Wide]) -> list[Wide]:
    """Compute one step, x [batchSize, inputSize], h [batchSize, hiddenSize]; f, g are the activations.

    z = f(x Wz + bz + h Rz + rbz), r likewise, and the output z * h + (1 - z) * n with
    n = g(x Wn + bn + r * (h Rn + rbn)) or, the reset gate before the product,
    n = g(x Wn + bn + (r * h) Rn + rbn).
    """
    (h,) = states
    f, g = (_function(chosen) for chosen in activations)
    z = f(gates.fed(x, "z") + gates.recurrent(h, "z"))
    r = f(gates.fed(x, "r") + gates.recurrent(h, "r"))
    n = g(gates.fed(x, "n") + (r * gates.recurrent(h, "n") if resetAfter else gates.recurrent(r * h, "n")))
    return [z * h + (1 - z) * n]


def _lstm_step(activations: Sequence[Activation], gates: _Gates, x: Wide, states: Sequence[Wide]) -> list[Wide]:
    """Compute one step: the new hidden and cell state; f, g, k are the activations.

    i = f(x Wi + bi + h Ri + rbi + Pi * c), f and o likewise, candidate = g(x Wg + bg + h Rg + rbg),
    cell = f * c + i * candidate, hidden = o * k(cell). All three peepholes see the cell state before the
    step, as in the draft's emulation of lstmCell (ONNX shows the output gate the state after it).
    """
    h, c = states
    f, g, k = (_function(chosen) for chosen in activations)
    inward, outward, forget = (f(gates.fed(x, gate) + gates.recurrent(h, gate) + gates.peephole[gate] * c) for gate in "iof")
    cell = forget * c + inward * g(gates.fed(x, "g") + gates.recurrent(h, "g"))
    return [outward * k(cell), cell]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gates:
    """The parameters of one direction, each a dictionary by gate letter, and how they are multiplied."""

    weight: dict[str, Any]
    recurrentWeight: dict[str, Any]
    bias: dict[str, Any]
    recurrentBias: dict[str, Any]
    peephole: dict[str, Any]
    multiply: Multiply

    def fed(self, x: Wide, gate: str) -> Wide:
        """Compute the input's part, x W + b."""
        part: Wide = self.multiply(x, self.weight[gate].T) + self.bias[gate]
        return part

    def recurrent(self, h: Wide, gate: str) -> Wide:
        """Compute the hidden state's part, h R + rb."""
        part: Wide = self.multiply(h, self.recurrentWeight[gate].T) + self.recurrentBias[gate]
        return part


def _gates(parts: _Parts, layout: str, multiply: Multiply) -> _Gates:
    """Split the parameters of one direction into one block for each gate; all are 0.0 if a parameter is absent."""
    names, layouts = ("weight", "recurrentWeight", "bias", "recurrentBias", "peephole"), [*[layout] * 4, "iof"]
    blocks = {
        name: dict.fromkeys(letters, 0.0) if part is None else dict(zip(letters, np.split(wide(part), len(letters)), strict=True))
        for name, part, letters in zip(names, parts, layouts, strict=True)
    }
    return _Gates(**blocks, multiply=multiply)


def _function(chosen: Activation) -> Callable[[Wide], Wide]:
    name, options = chosen
    return lambda x: ACTIVATIONS[name](x, **options)


def _directions(direction: str, steps: int) -> list[list[int]]:
    """Return the time steps in the order of processing, for each direction."""
    forward = list(range(steps))
    backward = forward[::-1]
    return {"forward": [forward], "backward": [backward], "both": [forward, backward]}[direction]


OPERATIONS: Mapping[str, Operation] = named(gru, gruCell, lstm, lstmCell)
