"""Recurrent networks: the engine's `GRU` and `LSTM` where they compute what the draft says, single steps otherwise.

The engine's two operators clip at the largest finite number, and with a bias they also replace a NaN by that number. Networks with finite
values are not affected. For others the loop of single steps would be right, but takes longer (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial
from types import MappingProxyType

import numpy as np

from webnn.builder.onnx.emitter import Emit, Emitter, Op, Translation
from webnn.builder.onnx.recurrent_steps import Multiply, gru_step, lstm_step, order_gates, run_cell, run_sequence
from webnn.validation.interfaces import Activation

__all__ = ["STEPS", "TRANSLATIONS", "run_steps"]

_DIRECTIONS = {"forward": "forward", "backward": "reverse", "both": "bidirectional"}

#: The engine's activation functions. `gelu` and `hardSwish` are not among them; its `Softplus` is infinite above 88 inside `GRU` and
#: `LSTM`.
_KERNELS = {
    "elu": "Elu",
    "hardSigmoid": "HardSigmoid",
    "leakyRelu": "LeakyRelu",
    "linear": "Affine",
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "softsign": "Softsign",
    "tanh": "Tanh",
}

#: Of these, the functions that the engine's operators compute with large errors. Networks with one of them run in single steps. The
#: engine's sigmoid is off by 4 % at -15, and 0 below -18. Where the numerics are "fast" there are none.
_INEXACT = frozenset({"sigmoid"})

_SIGMOID, _TANH = Activation("sigmoid"), Activation("tanh")


def _activations(op: Op) -> Sequence[Activation]:
    chosen: Sequence[Activation] | None = op.options.activations
    if chosen is not None:
        return chosen
    return [_SIGMOID, _TANH] if op.name.startswith("gru") else [_SIGMOID, _TANH, _TANH]


def _has_kernel(op: Op, inexact: Set[str]) -> bool:
    """Tell whether the engine's operator computes the same as the draft's, but for these activation functions, which it may not have."""
    if any(activation.name not in _KERNELS or activation.name in inexact for activation in _activations(op)):
        return False
    if "peepholeWeight" not in op.inputs:
        return True
    # The output gate's peephole sees the cell state after the step here, and the one before it in the draft.
    value = op.constants.get("peepholeWeight")
    return value is not None and not np.split(value, 3, axis=-1)["iof".index("o")].any()


def _attributes(op: Op, directions: int) -> dict[str, Sequence[str] | Sequence[float]]:
    """Return the attributes for the activation functions, which the engine wants for each direction.

    It gives each function, in order, the next value of the list if the function has such a parameter.
    """
    activations = [*_activations(op)] * directions
    attributes: dict[str, Sequence[str] | Sequence[float]] = {"activations": [_KERNELS[activation.name] for activation in activations]}
    for parameter in ("alpha", "beta"):
        values = [float(activation.parameters[parameter]) for activation in activations if parameter in activation.parameters]
        if values:
            attributes[f"activation_{parameter}"] = values
    return attributes


def _inputs(e: Emitter, op: Op, directions: int, wanted: str) -> list[str | None]:
    """Return the inputs that the engine's two operators share, with the gates in the wanted order."""
    layout = op.options.layout
    ordered = {
        name: order_gates(e, op[name], layout, wanted, 1)
        for name in ("weight", "recurrentWeight", "bias", "recurrentBias")
        if name in op.inputs
    }
    # The engine takes both biases as one input.
    bias = None
    if "bias" in ordered or "recurrentBias" in ordered:
        zeros = ""
        if not ("bias" in ordered and "recurrentBias" in ordered):
            zeros = e.literal(np.zeros([directions, len(layout) * op.arguments["hiddenSize"]], np.float32))
        bias = e.node("Concat", [ordered.get("bias", zeros), ordered.get("recurrentBias", zeros)], axis=1)
    return [op["input"], ordered["weight"], ordered["recurrentWeight"], bias, None, op.get("initialHiddenState")]


def _gru(e: Emitter, op: Op, *, inexact: Set[str]) -> list[str]:
    options = op.options
    if not _has_kernel(op, inexact):
        return run_sequence(e, op, gru_step, _activations(op), [op.get("initialHiddenState")])
    directions = op.outputs[0].dimensions[0]
    hidden, last = e.nodes(
        "GRU",
        _inputs(e, op, directions, "zrn"),
        [options.returnSequence, True],
        hidden_size=op.arguments["hiddenSize"],
        direction=_DIRECTIONS[options.direction],
        linear_before_reset=int(options.resetAfter),
        **_attributes(op, directions),
    )
    return [last, hidden] if options.returnSequence else [last]


def _lstm(e: Emitter, op: Op, *, inexact: Set[str]) -> list[str]:
    options = op.options
    if not _has_kernel(op, inexact):
        return run_sequence(e, op, lstm_step, _activations(op), [op.get("initialHiddenState"), op.get("initialCellState")])
    directions = op.outputs[0].dimensions[0]
    hidden, last, lastCell = e.nodes(
        "LSTM",
        [*_inputs(e, op, directions, "iofg"), op.get("initialCellState"), op.get("peepholeWeight")],
        [options.returnSequence, True, True],
        hidden_size=op.arguments["hiddenSize"],
        direction=_DIRECTIONS[options.direction],
        **_attributes(op, directions),
    )
    return [last, lastCell, hidden] if options.returnSequence else [last, lastCell]


# One step in single nodes takes no longer than the engine's operator with one step.


def _gruCell(e: Emitter, op: Op) -> list[str]:
    return run_cell(e, op, gru_step, _activations(op), [op["hiddenState"]])


def _lstmCell(e: Emitter, op: Op) -> list[str]:
    return run_cell(e, op, lstm_step, _activations(op), [op["hiddenState"], op["cellState"]])


def run_steps(e: Emitter, op: Op, multiply: Multiply) -> list[str]:
    """Emit a network or a cell in single steps, with products of another kind."""
    chosen = _activations(op)
    if op.name.endswith("Cell"):
        states = [op[name] for name in ("hiddenState", "cellState") if name in op.inputs]
        return run_cell(e, op, gru_step if op.name == "gruCell" else lstm_step, chosen, states, multiply)
    initial = [op.get("initialHiddenState"), *([op.get("initialCellState")] if op.name == "lstm" else [])]
    return run_sequence(e, op, gru_step if op.name == "gru" else lstm_step, chosen, initial, multiply)


#: Networks in single steps, whatever their activation functions are.
STEPS: Mapping[str, Emit] = MappingProxyType(
    {"gru": partial(_gru, inexact=frozenset(_KERNELS)), "lstm": partial(_lstm, inexact=frozenset(_KERNELS))}
)

TRANSLATIONS = {
    "gru": Translation(emit=partial(_gru, inexact=_INEXACT), fast=partial(_gru, inexact=frozenset()), carry={"float16": "float32"}),
    "gruCell": Translation(emit=_gruCell, carry={"float16": "float32"}),
    "lstm": Translation(emit=partial(_lstm, inexact=_INEXACT), fast=partial(_lstm, inexact=frozenset()), carry={"float16": "float32"}),
    "lstmCell": Translation(emit=_lstmCell, carry={"float16": "float32"}),
}
