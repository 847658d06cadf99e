"""A graph in an earlier draft: `lower`. Operations that it lacks are made of those that it has.

`float16` and `blocks` have graphs with smaller numbers: `to_float16`, and `to_integers` for weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from webnn.builder.describe import describe_graph, value_key
from webnn.builder.description import GraphDescription, OperatorDescription
from webnn.builder.graph import collect
from webnn.builder.graph_builder import LabellingBuilder, make_sketch
from webnn.builder.operand import MLOperand
from webnn.builder.transform import Rebuilder, no_counterpart, rename
from webnn.lowering.decompositions import DECOMPOSITIONS, LoweredCall
from webnn.validation.drafts import DELTAS, find_revision
from webnn.validation.drafts.delta import NoCounterpartError
from webnn.validation.errors import WebNNTypeError

__all__ = ["lower"]


def lower(description: GraphDescription, draft: str) -> GraphDescription:
    """Return the description in an earlier draft; see `GraphDescription.lower`."""
    for delta in reversed(DELTAS):
        own = description.draft.partition("+")[0]
        if own == delta.name and draft != own:
            description = rename(_decompose(description, delta.name, delta.after), delta.after)
    return rename(description, draft)


def _decompose(description: GraphDescription, draft: str, target: str) -> GraphDescription:
    """Return a description in which operations that only a draft has are made of those that the one before it has."""
    rules = DECOMPOSITIONS.get(draft, {})
    if not any(operator.operation in rules for operator in description.operators):
        return description
    decomposer = _Decomposer(make_sketch(LabellingBuilder, find_revision(description.draft, imports=False)), rules, target)
    outputs = decomposer.build(description)
    names = {value_key(operand): name for name, operand in decomposer.operands.items()}
    made = describe_graph(collect(outputs), description.name, names)
    inputs = {name: made.inputs[name] for name in description.inputs if name in made.inputs}
    return replace(made, draft=description.draft, inputs=inputs)


class _Decomposer(Rebuilder):
    """Makes a graph again for a draft, some operations of others."""

    def __init__(self, builder: LabellingBuilder, rules: Mapping[str, Callable[[LoweredCall], MLOperand | None]], target: str) -> None:
        super().__init__(builder)
        self._labels = builder
        self._rules = rules
        self._target = target
        self._number = -1

    def _call(self, operator: OperatorDescription) -> None:
        self._number += 1
        self._labels.label = operator.label
        rule = self._rules.get(operator.operation)
        if rule is not None:
            inputs = tuple([self._find(name) for _, _, name in operator.named_values()])
            try:
                if any(0 in each.dimensions for each in operator.descriptors):
                    raise NoCounterpartError("its result has no elements")
                result = rule(LoweredCall(self._builder, inputs, operator.arguments, operator.options))
            except NoCounterpartError as error:
                raise no_counterpart(operator, self._number, self._target, error) from None
            except WebNNTypeError as error:
                # Browsers have types that only a few operations take.
                raise no_counterpart(operator, self._number, self._target, NoCounterpartError(str(error))) from None
            if result is not None:
                self._give(operator.outputs[0], result)
                return
        super()._call(operator)
