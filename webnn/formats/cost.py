"""The cost of an operator: its parameters, and its multiply-adds.

Parameters are the elements of constants. A constant that several operators take counts for the first of them.

Multiply-adds are the pairs of a multiplication and an addition in the products of matrices and in convolutions, for one run, with every
output element computed the plain way: padding counts, a bias or an activation does not. All other operations count 0.

- conv2d: output elements × input channels of a group × filter height × filter width
- convTranspose2d: input elements × output channels of a group × filter height × filter width
- gemm, matmul: output elements × the inner dimension
- gru, lstm: steps × directions × batch × gates × hidden size × (input size + hidden size), with 3 gates for gru and 4 for lstm
- gruCell, lstmCell: the same, one step in one direction
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn.validation.named_descriptor import has_names

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["count_bytes", "multiply_adds", "parameters"]

_Known = Mapping[str, "OperandDescriptor"]


def parameters(description: GraphDescription) -> list[int]:
    """Return the number of parameters of each operator."""
    counted: set[str] = set()
    result = []
    for operator in description.operators:
        own = {name for _, _, name in operator.named_values() if name in description.constants} - counted
        counted |= own
        result.append(sum([description.constants[name].descriptor.element_count for name in own]))
    return result


def count_bytes(description: GraphDescription) -> int:
    """Return the bytes of all constants."""
    return sum([each.descriptor.byte_length for each in description.constants.values()])


def multiply_adds(operator: OperatorDescription, known: Mapping[str, OperandDescriptor]) -> int:
    """Return the multiply-adds of an operator, 0 for operations that have none, and where a size is not known."""
    rule = _RULES.get(operator.operation)
    if rule is None or any(has_names(known[name]) for _, _, name in operator.named_values()):
        return 0
    return rule(operator, known)


def _operand(operator: OperatorDescription, known: _Known, name: str) -> OperandDescriptor:
    value = operator.inputs[name]
    if not isinstance(value, str):
        raise TypeError(f"{operator.operation}: {name} must be one operand, got {len(value)}")
    return known[value]


def _convolution(operator: OperatorDescription, known: _Known) -> int:
    # A filter has one row for each output channel, whatever its layout: the rest of it meets each output element once.
    filter = _operand(operator, known, "filter")
    layout: str = operator.options.get("filterLayout", "oihw")
    return operator.descriptors[0].element_count * (filter.element_count // filter.shape[layout.index("o")])


def _transposed(operator: OperatorDescription, known: _Known) -> int:
    filter = _operand(operator, known, "filter")
    layout: str = operator.options.get("filterLayout", "iohw")
    return _operand(operator, known, "input").element_count * (filter.element_count // filter.shape[layout.index("i")])


def _matmul(operator: OperatorDescription, known: _Known) -> int:
    return operator.descriptors[0].element_count * _operand(operator, known, "a").shape[-1]


def _gemm(operator: OperatorDescription, known: _Known) -> int:
    inner = 0 if operator.options.get("aTranspose") else 1
    return operator.descriptors[0].element_count * _operand(operator, known, "a").shape[inner]


def _recurrent(gates: int) -> Callable[[OperatorDescription, _Known], int]:
    """Return the rule of a recurrent network, or of a cell: the weights meet each example of the batch once in each step."""

    def count(operator: OperatorDescription, known: _Known) -> int:
        input, weight = _operand(operator, known, "input"), _operand(operator, known, "weight")
        # [steps, batch, size] and [directions, gates * hidden, size]; a cell has neither steps nor directions.
        steps = input.shape[0] if input.rank == 3 else 1
        directions = weight.shape[0] if weight.rank == 3 else 1
        hidden = weight.shape[-2] // gates
        return steps * directions * input.shape[-2] * gates * hidden * (input.shape[-1] + hidden)

    return count


_RULES: Mapping[str, Callable[[OperatorDescription, _Known], int]] = MappingProxyType(
    {
        "conv2d": _convolution,
        "convTranspose2d": _transposed,
        "gemm": _gemm,
        "gru": _recurrent(3),
        "gruCell": _recurrent(3),
        "lstm": _recurrent(4),
        "lstmCell": _recurrent(4),
        "matmul": _matmul,
    }
)
