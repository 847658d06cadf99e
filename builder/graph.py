"""The computational graph that `build()` hands to the translation, and the calls of subgraphs that made its operators.

Only some drafts have subgraphs. A call means its subgraph's operators, one by one; a graph only records where they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webnn.builder.operand import MLOperand, Operator
from webnn.validation.errors import WebNNTypeError
from webnn.validation.extension import Extension
from webnn.validation.webidl import describe

__all__ = [
    "FUSE",
    "SHARES_NAMES",
    "CalledOperator",
    "ComputationalGraph",
    "Fusion",
    "SubgraphCall",
    "collect",
    "collect_calls",
    "copy_operator",
    "find_fusions",
    "reach",
    "restore_call",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputationalGraph:
    """A snapshot of what the outputs need; later calls of the builder do not change it.

    Attributes:
        operators: The operators, each after those that make its inputs.
    """

    inputs: Mapping[str, MLOperand]
    operators: tuple[Operator, ...]
    outputs: Mapping[str, MLOperand]

    @property
    def lines(self) -> Mapping[int, tuple[str, int]]:
        """The program's file and line of operators, by their numbers; empty unless the context notes them."""
        return next(iter(self.outputs.values()))._builder._lines or {}


def reach(outputs: Mapping[str, MLOperand]) -> tuple[tuple[Operator, ...], list[MLOperand]]:
    """Find all operators, in order, and all inputs that the outputs need.

    A work list, which grows while it is read, in place of recursion: a graph may be a chain of many thousand operators.
    """
    operators: dict[int, Operator] = {}
    found: dict[int, MLOperand] = {}
    work = list(outputs.values())
    # 7. From the outputs backwards, each operator once.
    for operand in work:
        operator = operand._operator
        if operator is None:
            if operand._name is not None:
                found[id(operand)] = operand
        elif operator.index not in operators:
            operators[operator.index] = operator
            work.extend(operator.inputs)
            if operator.members:
                work.extend([member for _, member in operator.members])
    return tuple([operators[index] for index in sorted(operators)]), list(found.values())


def collect(outputs: Mapping[str, MLOperand]) -> ComputationalGraph:
    """Find all operators and inputs that the outputs need: steps 3 to 8 of ``build()``.

    Raises `WebNNTypeError` if two of the inputs have one name.
    """
    operators, found = reach(outputs)
    inputs: dict[str, MLOperand] = {}
    for operand in found:
        name = operand._name
        assert name is not None  # only named operands were put there
        # [#api-mlgraphbuilder-build 8; 2026-06: -] No two inputs have the same name.
        if name in inputs:
            raise WebNNTypeError(
                f"build: inputs must have different names, got two that are named {describe(name)}",
                operation="build",
                argument="outputs",
                anchor="#api-mlgraphbuilder-build",
                rule="different",
            )
        inputs[name] = operand
    return ComputationalGraph(inputs=inputs, operators=operators, outputs=dict(outputs))


# Calls of subgraphs.

#: Graphs have calls. The function says which operators of a graph fast numerics compute together.
FUSE: Extension[Callable[[ComputationalGraph], Mapping[SubgraphCall, Fusion]]] = Extension("fuse")
#: Inputs of a builder may have one name; `build` requires that the inputs of a graph have different ones.
SHARES_NAMES: Extension[bool] = Extension("shares names")


@dataclass(slots=True, eq=False, kw_only=True)
class SubgraphCall:
    """A call of a subgraph.

    Attributes:
        caller: The call inside which this one is; ``None`` for a call of the program's.
        operands: The operands, by the names of the subgraph's inputs.
        results: For each output of the subgraph, by its name, the number of the operator and the position of the result.
    """

    name: str
    config: Mapping[str, Any]
    caller: SubgraphCall | None = None
    operands: Mapping[str, MLOperand] = field(default_factory=dict)
    results: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True, eq=False, kw_only=True)
class CalledOperator(Operator):
    """An operator that a call made."""

    call: SubgraphCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """Whether fast numerics compute some operators of a call by kernels.

    Attributes:
        kernel: The engine's operators, separated by commas; empty if there is none.
        together: How the operators are translated, each a `webnn.builder.onnx.together.Together`.
    """

    kernel: str = ""
    reason: str = ""
    together: Sequence[Any] = ()


def collect_calls(graph: ComputationalGraph) -> dict[SubgraphCall, list[Operator]]:
    """Return the calls of a graph with their operators, those of calls inside among them. A call comes before those inside it."""
    found: dict[SubgraphCall, list[Operator]] = {}
    for operator in graph.operators:
        chain: list[SubgraphCall] = []
        call = operator.call if isinstance(operator, CalledOperator) else None
        while call is not None:
            chain.append(call)
            call = call.caller
        for each in reversed(chain):
            found.setdefault(each, []).append(operator)
    return found


def find_fusions(graph: ComputationalGraph) -> Mapping[SubgraphCall, Fusion]:
    """Return what fast numerics make of the calls of a graph; nothing in a draft without calls."""
    fuse = next(iter(graph.outputs.values()))._builder._revision.extension(FUSE)
    return {} if fuse is None else fuse(graph)


def restore_call(results: Sequence[MLOperand], call: SubgraphCall) -> None:
    """Make the operator of new operands, which nothing has used yet, one of a call."""
    operator = results[0]._operator
    assert operator is not None  # they are its results
    called = copy_operator(operator, call, operator.index, operator.inputs, operator.members)
    for each in results:
        each._operator = called


def copy_operator(
    operator: Operator, call: SubgraphCall, index: int, inputs: tuple[MLOperand, ...], members: tuple[tuple[str, MLOperand], ...]
) -> CalledOperator:
    """Return a copy of an operator that a call made, with a number and operands of its own."""
    return CalledOperator(
        operation=operator.operation,
        index=index,
        label=operator.label,
        inputs=inputs,
        members=members,
        arguments=operator.arguments,
        options=operator.options,
        result=operator.result,
        given=operator.given,
        call=call,
    )
