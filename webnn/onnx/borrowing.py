"""Rules of ONNX's operators for importers of other formats that have the same operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, helper

from webnn.importing.steps import Operands
from webnn.importing.values import Value
from webnn.onnx.folding import FOLDS, fold
from webnn.onnx.model import Source
from webnn.onnx.node import Node
from webnn.onnx.rules import RULES

__all__ = ["OPSET", "run_rule"]

#: The opset whose operators these are.
OPSET = 21


def run_rule(
    operands: Operands,
    operator: str,
    inputs: Sequence[Value | None],
    outputs: Sequence[str],
    attributes: Mapping[str, Any],
    bodies: Mapping[str, Callable[..., list[Value]]] | None = None,
) -> list[Any]:
    """Return the results of a rule: arrays of common operators whose inputs are known.

    Args:
        operands: The operands of the import.
        operator: The operator, one of the opset `OPSET`.
        inputs: Its inputs.
        outputs: The names of its outputs, for messages.
        attributes: Its attributes; an element type as a NumPy type.
        bodies: Functions that import its bodies, by the names of these attributes; they return the values of the bodies' outputs.

    Raises:
        Refused: The rule refuses the node.
    """
    bodies = bodies or {}
    made = [helper.make_attribute(name, GraphProto()) for name in bodies]
    for name, each in attributes.items():
        number = helper.np_dtype_to_tensor_dtype(each) if isinstance(each, np.dtype) else each
        # An empty list does not tell its type.
        made.append(helper.make_attribute(name, number, attr_type=AttributeProto.INTS if number == [] else None))
    proto = NodeProto(op_type=operator, attribute=made)
    given = bool(inputs) and inputs[0] is not None
    if given and operator in FOLDS and all(value is None or value.array is not None for value in inputs):
        folded = fold(proto, OPSET, {}, [None if value is None else value.array for value in inputs])
        if folded is not None:
            return folded
    source = Source(proto, operator, operator, "", [], list(outputs), made, operator, [*bodies, *attributes], [])

    def run_body(graph: GraphProto, name: str, arguments: Sequence[Value], *, tentative: bool = False) -> list[Value]:
        return bodies[name](arguments, tentative=tentative)

    found = RULES[operator](Node(operands, source, OPSET, inputs, run_body, lambda tensor: np.zeros(0)))
    return found if isinstance(found, list) else [found]
