"""The import of one node, to compare operators with those that it makes."""

from __future__ import annotations

import functools
from typing import Any

from onnx import helper

from webnn.builder.description import GraphDescription
from webnn.builder.onnx_names import ELEMENT_TYPES
from webnn.onnx import load

__all__ = ["Operands", "import_again"]

OPSET, IR_VERSION = 21, 10
#: The name, the data type and the shape of each input of a node; one without a name is left out.
Operands = tuple[tuple[str, str, tuple[int, ...]], ...]


@functools.lru_cache(maxsize=64)
def import_again(
    operator: str, operands: Operands, attributes: tuple[tuple[str, float], ...], outputs: tuple[str, ...]
) -> GraphDescription:
    """Import a model of one node.

    Args:
        operator: An operator of ONNX Runtime's own.
        operands: Its inputs, which are the model's.
        attributes: Its attributes, by their names.
        outputs: The names of its outputs, which are the model's.

    Raises:
        RefusedModelError: The node cannot be imported.
    """
    numbers: dict[str, Any] = dict(attributes)
    node = helper.make_node(operator, [name for name, _, _ in operands], list(outputs), domain="com.microsoft", **numbers)
    inputs = [helper.make_tensor_value_info(name, ELEMENT_TYPES[dataType], shape) for name, dataType, shape in operands if name]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(helper.make_graph([node], operator, inputs, results), opset_imports=opsets, ir_version=IR_VERSION)
    return load(model).description
