"""Recurrent networks. A whole sequence is a loop, whose steps take the products of all inputs with the weights from before the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from webnn.hlo.export.activation import ACTIVATIONS
from webnn.hlo.export.emitter import Emitter, Tensor
from webnn.hlo.export.matmul import dot
from webnn.hlo.export.rule import Op, wide
from webnn.validation.interfaces import Activation

__all__ = ["RULES"]

_SIGMOID, _TANH = Activation("sigmoid"), Activation("tanh")
#: The gates that peepholes belong to, in their order.
_PEEPHOLES = "iof"
#: From an emitter, the cell, its parameters, the products of the input, and the states, to the new states: the hidden one is the first.
_Step = Callable[["Emitter", "_Cell", Sequence[Tensor], Tensor, Sequence[Tensor]], list[Tensor]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """The parts that all steps share: a letter for each gate, in the order of the weights, the size of a state, and the activations.

    There may be a bias among the parameters, behind the recurrent weights, and peepholes, at the end. With ``resetAfter``, the reset
    gate of a GRU comes after the product.
    """

    layout: str
    size: int
    functions: Sequence[Callable[[Emitter, Tensor], Tensor]]
    has_bias: bool
    has_peephole: bool
    resetAfter: bool

    @classmethod
    def of(cls, op: Op) -> _Cell:
        options = op.options
        default = [_SIGMOID, _TANH] if op.name.startswith("gru") else [_SIGMOID, _TANH, _TANH]
        chosen: Sequence[Activation] = default if options.activations is None else options.activations
        return cls(
            layout=options.layout,
            size=op.arguments["hiddenSize"],
            functions=[partial(_call, each) for each in chosen],
            has_bias="recurrentBias" in op.tensors,
            has_peephole="peepholeWeight" in op.tensors,
            resetAfter=getattr(options, "resetAfter", False),
        )

    def gate(self, e: Emitter, x: Tensor, letter: str, axis: int = 1) -> Tensor:
        """Return the part of a tensor that belongs to a gate."""
        begin = self.layout.index(letter) * self.size
        return e.cut(x, axis, begin, begin + self.size)

    def recurrent(self, e: Emitter, parameters: Sequence[Tensor], h: Tensor) -> Tensor:
        """Compute the part of the hidden state for all gates: h R + rb."""
        product = dot(e, h, parameters[0], contract=(1, 1))
        return product + parameters[1] if self.has_bias else product


def _call(activation: Activation, e: Emitter, x: Tensor) -> Tensor:
    return ACTIVATIONS[activation.name](e, x, **activation.parameters)


def _gru_step(e: Emitter, cell: _Cell, parameters: Sequence[Tensor], fed: Tensor, states: Sequence[Tensor]) -> list[Tensor]:
    (h,) = states
    f, g = cell.functions
    recurrent = cell.recurrent(e, parameters, h)
    z, r = [f(e, cell.gate(e, fed, letter) + cell.gate(e, recurrent, letter)) for letter in "zr"]
    if cell.resetAfter:
        part = r * cell.gate(e, recurrent, "n")
    else:
        # The reset gate comes before the product, so only this gate's product is of another state.
        part = dot(e, r * h, cell.gate(e, parameters[0], "n", 0), contract=(1, 1))
        if cell.has_bias:
            part = part + cell.gate(e, parameters[1], "n", 0)
    n = g(e, cell.gate(e, fed, "n") + part)
    return [z * h + (1 - z) * n]


def _lstm_step(e: Emitter, cell: _Cell, parameters: Sequence[Tensor], fed: Tensor, states: Sequence[Tensor]) -> list[Tensor]:
    h, c = states
    f, g, k = cell.functions
    total = fed + cell.recurrent(e, parameters, h)

    def gate(letter: str) -> Tensor:
        part = cell.gate(e, total, letter)
        if cell.has_peephole:
            # All three see the state before the step.
            begin = _PEEPHOLES.index(letter) * cell.size
            part = part + e.cut(parameters[-1], 0, begin, begin + cell.size) * c
        return f(e, part)

    state = gate("f") * c + gate("i") * g(e, cell.gate(e, total, "g"))
    return [gate("o") * k(e, state), state]


def _feed(e: Emitter, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Compute the part of the input for all gates: x W + b."""
    product = dot(e, x, weight, contract=(len(x.shape) - 1, 1))
    return product if bias is None else product + bias


def _parameters(op: Op) -> list[Tensor]:
    """Return the parameters of a step."""
    return [op.tensors[name] for name in ("recurrentWeight", "recurrentBias", "peepholeWeight") if name in op.tensors]


def _run_cell(step: _Step, states: Sequence[str], e: Emitter, op: Op) -> list[Tensor]:
    fed = _feed(e, op["input"], op["weight"], op.get("bias"))
    return step(e, _Cell.of(op), _parameters(op), fed, [op[name] for name in states])


def _run_sequence(step: _Step, states: Sequence[str], e: Emitter, op: Op) -> list[Tensor]:
    """Run a network over a sequence, in each direction; return its last states, and perhaps the hidden state of each step."""
    steps, batches, _ = op["input"].shape
    cell, options = _Cell.of(op), op.options
    found: list[list[Tensor]] = []
    for number, backward in enumerate({"forward": [False], "backward": [True], "both": [False, True]}[options.direction]):
        weight = _direction(e, op["weight"], number)
        bias = None if "bias" not in op.tensors else _direction(e, op["bias"], number)
        fed = _feed(e, op["input"], weight, bias)
        zeros = e.full(0, fed.element, [batches, cell.size])
        given = [op.get(name) for name in states]
        initial = [zeros if each is None else _direction(e, each, number) for each in given]
        if options.returnSequence:
            initial.append(e.full(0, fed.element, [steps, batches, cell.size]))
        fixed = [fed, *[_direction(e, each, number) for each in _parameters(op)]]
        found.append(e.loop(steps, fixed, initial, partial(_iterate, step, cell, len(states), backward)))
    *last, sequence = zip(*found, strict=True) if options.returnSequence else (*zip(*found, strict=True), ())
    results = [e.concatenate([e.reshape(each, [1, *each.shape]) for each in state], 0) for state in last]
    if sequence:
        results.append(e.concatenate([e.reshape(each, [steps, 1, *each.shape[1:]]) for each in sequence], 1))
    return results


def _direction(e: Emitter, x: Tensor, number: int) -> Tensor:
    """Return the part of a tensor that belongs to a direction, which is the first dimension."""
    return e.reshape(e.cut(x, 0, number, number + 1), x.shape[1:])


def _iterate(
    step: _Step, cell: _Cell, count: int, backward: bool, e: Emitter, time: Tensor, fixed: Sequence[Tensor], states: Sequence[Tensor]
) -> list[Tensor]:
    """Run one step in a loop; behind the states may be the sequence of hidden states."""
    fed, *parameters = fixed
    if backward:
        time = (fed.shape[0] - 1) - time
    now = step(e, cell, parameters, e.at(fed, time), states[:count])
    return now + [e.put(each, now[0], time) for each in states[count:]]


RULES = {
    "gru": wide(partial(_run_sequence, _gru_step, ("initialHiddenState",))),
    "gruCell": wide(partial(_run_cell, _gru_step, ("hiddenState",))),
    "lstm": wide(partial(_run_sequence, _lstm_step, ("initialHiddenState", "initialCellState"))),
    "lstmCell": wide(partial(_run_cell, _lstm_step, ("hiddenState", "cellState"))),
}
