"""Operators that run subgraphs, and variables.

WebNN has no control flow: loops are unrolled. The values of variables come in as inputs, and their next values go out as outputs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from webnn.importing.steps import Result
from webnn.importing.values import Refused, Value
from webnn.tflite.node import Node, Rule, Rules
from webnn.tflite.variables import name_of

__all__ = ["RULES"]


def _values(node: Node, first: int = 0) -> list[Value]:
    return [node.value(index) for index in range(first, len(node.inputs))]


def _if(node: Node) -> list[Result]:
    """Import the branch of a known condition. With a computed one both are computed, and `where` selects; their shapes must agree."""
    arguments = _values(node, 1)

    def branch(name: str) -> Callable[..., list[Value]]:
        subgraph = node.option(f"{name}SubgraphIndex")
        return lambda none, tentative: node.run(subgraph, f"{name.lower()}_branch", arguments, tentative=tentative)

    bodies = {f"{name.lower()}_branch": branch(name) for name in ("Then", "Else")}
    return node.onnx("If", [node.value(0)], outputs=len(node.outputs), bodies=bodies)


def _while(node: Node) -> list[Result]:
    """Unroll the body. The condition before each step must be known; the import limits the number of steps."""
    states = _values(node)
    step = 0
    while True:
        conditions = node.run(node.option("CondSubgraphIndex"), f"cond[{step}]", states)
        known = conditions[0].array if len(conditions) == 1 else None
        if known is None or known.size != 1:
            raise Refused("the condition of each step must be one number that is known at import, but it is computed from data")
        if not known.any():
            return [*states]
        states = node.run(node.option("BodySubgraphIndex"), f"body[{step}]", states)
        step += 1


def _inline(option: str, label: Callable[[Node], str]) -> Rule:
    """Return a rule that imports the subgraph of which the operator is made."""
    return lambda node: [*node.run(node.option(option), label(node), _values(node))]


# Variables.


def _call_once(node: Node) -> list[Result]:
    """Import the subgraph that gives variables their first values."""
    node.variables.is_beginning = True
    try:
        node.run(node.option("InitSubgraphIndex"), "initialization", [])
    finally:
        node.variables.is_beginning = False
    return []


def _assign_variable(node: Node) -> list[Result]:
    """Remember the value, which goes out as an output."""
    node.variables.write(node.variables.number(node.value(0)), node.value(1))
    return []


RULES: Rules = {
    "ASSIGN_VARIABLE": _assign_variable,
    "CALL": _inline("Subgraph", lambda node: "subgraph"),
    "CALL_ONCE": _call_once,
    "IF": _if,
    # The variable is an input before something is written.
    "READ_VARIABLE": lambda node: node.variables.read(node.variables.number(node.value(0)), node.outputs[0].dtype, node.outputs[0].shape),
    "STABLEHLO_COMPOSITE": _inline("DecompositionSubgraphIndex", lambda node: node.option("Name", "") or "composite"),
    "VAR_HANDLE": lambda node: np.array(node.variables.find(name_of(node.operator.options)), np.int32),
    "WHILE": _while,
}
