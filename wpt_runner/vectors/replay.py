"""Replays recorded cases through the public API: over buffers or tensors, as the draft that a case is for has it."""

from __future__ import annotations

from typing import Any

import numpy as np

import webnn
from webnn.wpt_runner.levels import Level, level_of
from webnn.wpt_runner.vectors.cases import Case, Outcome, Status
from webnn.wpt_runner.vectors.comparison import Comparison, compare
from webnn.wpt_runner.vectors.corrections import Correction
from webnn.wpt_runner.vectors.format import Array, CaseError, Descriptor, Graph, Operator, Tensor, decode_argument, parse, within

__all__ = ["build", "run_case"]

#: The builder's methods that are no operations.
_NOT_OPERATIONS = frozenset({"input", "constant", "build", "buildSync"})
_OPERATIONS = frozenset(name for name in dir(webnn.MLGraphBuilder) if not name.startswith("_")) - _NOT_OPERATIONS


def run_case(case: Case, context: webnn.MLContext, correction: Correction | None = None) -> Outcome:
    """Build a case's graph, compute it, and compare its outputs.

    Args:
        case: The case.
        context: Where it runs: one of the revision that the case's level is for.
        correction: What is wrong in the case's data, if anything is.
    """
    try:
        if case.fault:
            raise CaseError(case.fault)
        graph = parse(Graph, case.graph, "graph")
        level = level_of(case.level)
        outputs = (_dispatch if level.tensors else _compute)(graph, context, level)
        found = compare(outputs, graph.expectedOutputs, case.metric, case.tolerance)
        if found.failure and correction is not None and not correction.error:
            right = {correction.output: correction.elements}
            corrected = compare(outputs, graph.expectedOutputs, case.metric, case.tolerance, right)
            return _outcome(case, corrected, Status.CORRECTED)
    except CaseError as error:
        return Outcome(case=case, status=Status.ERROR, failure=f"the case cannot run: {error}", worst=None)
    except (webnn.DOMException, TypeError) as error:
        if correction is not None and correction.error and correction.error in str(error):
            return Outcome(case=case, status=Status.CORRECTED, worst=None)
        return Outcome(case=case, status=Status.ERROR, failure=f"{type(error).__name__}: {error}", worst=None)
    return _outcome(case, found, Status.PASSED)


def _outcome(case: Case, found: Comparison, success: Status) -> Outcome:
    status = Status.FAILED if found.failure else success
    return Outcome(case=case, status=status, failure=found.failure, worst=found.worst, difference=found.difference)


def _compute(graph: Graph, context: webnn.MLContext, level: Level) -> dict[str, Array]:
    """Compute a graph over buffers."""
    compiled, inputs, wanted = build(graph, context, level)
    buffers = {name: np.zeros(operand.shape(), operand.dataType()) for name, operand in wanted.items()}
    return context.computeSync(compiled, inputs, buffers)["outputs"]


def _dispatch(graph: Graph, context: webnn.MLContext, level: Level) -> dict[str, Array]:
    """Compute a graph over tensors, and release everything."""
    compiled, given, wanted = build(graph, context, level)
    inputs: dict[str, webnn.MLTensor] = {}
    for name in given:
        descriptor = graph.inputs[name].descriptor
        inputs[name] = context.createTensorSync(dataType=descriptor.dataType, shape=descriptor.shape, writable=True)
    types = {name: parse(Descriptor, {"dataType": operand.dataType, "shape": list(operand.shape)}) for name, operand in wanted.items()}
    outputs: dict[str, webnn.MLTensor] = {}
    for name, descriptor in types.items():
        outputs[name] = context.createTensorSync(dataType=descriptor.dataType, shape=descriptor.shape, readable=True)
    for name, array in given.items():
        context.writeTensor(inputs[name], graph.inputs[name].descriptor.pack(array))
    context.dispatch(compiled, inputs, outputs)
    computed = {name: types[name].unpack(_read(context, tensor)) for name, tensor in outputs.items()}
    for each in (*inputs.values(), *outputs.values()):
        each.destroy()
    compiled.destroy()
    return computed


def _read(context: webnn.MLContext, tensor: webnn.MLTensor) -> Array:
    content = context.readTensorSync(tensor)
    assert content is not None  # without a buffer of its own, that is what is returned
    return content


def build(graph: Graph, context: webnn.MLContext, level: Level) -> tuple[webnn.MLGraph, dict[str, Array], dict[str, webnn.MLOperand]]:
    """Build a graph; return it with the arrays of its inputs, and the operands of its outputs."""
    builder = webnn.MLGraphBuilder(context)
    operands: dict[str, Any] = {}
    inputs: dict[str, Array] = {}
    for name, tensor in graph.inputs.items():
        with within(f"graph.inputs.{name}"):
            array = tensor.array()
        descriptor = _descriptor(tensor, level)
        if tensor.constant:
            operands[name] = builder.constant(descriptor, tensor.descriptor.pack(array))
        else:
            operands[name] = builder.input(name, descriptor)
            inputs[name] = array
    for number, operator in enumerate(graph.operators):
        with within(f"graph.operators[{number}]"):
            _call(builder, operator, operands, level)
    for name, tensor in graph.expectedOutputs.items():
        with within(f"graph.expectedOutputs.{name}"):
            tensor.check_size()
            if name not in operands:
                raise CaseError("no operator returns it")
    wanted = {name: operands[name] for name in graph.expectedOutputs}
    compiled = builder.buildSync(wanted)
    # The inputs that the outputs do not need are no inputs of the compiled graph.
    needed = _needed(graph)
    return compiled, {name: array for name, array in inputs.items() if name in needed}, wanted


def _descriptor(tensor: Tensor, level: Level) -> webnn.MLOperandDescriptor:
    descriptor = tensor.descriptor
    if level.tensors:
        return {"dataType": descriptor.dataType, "shape": descriptor.shape}
    return {"dataType": descriptor.dataType, "dimensions": descriptor.shape}


def _call(builder: webnn.MLGraphBuilder, operator: Operator, operands: dict[str, Any], level: Level) -> None:
    """Call the method of an operator, and give what it returns its names."""
    if operator.name not in _OPERATIONS:
        raise CaseError(f"the draft has no operation {operator.name!r}", "name")

    def find(name: str) -> Any:
        if name not in operands:
            raise CaseError(f"there is no operand {name!r} yet")
        return operands[name]

    with within("arguments"):
        arguments = decode_argument(operator.arguments, find)
    if operator.options:
        with within("options"):
            options = {}
            for key, option in operator.options.items():
                with within(key):
                    options[level.renamed.get(key, key)] = decode_argument(option, find)
        arguments.append(options)
    returned = getattr(builder, operator.name)(*arguments)
    results = returned if isinstance(returned, list) else [returned]
    if len(results) != len(operator.outputs):
        raise CaseError(f"must name {len(results)} results of {operator.name}, got {operator.outputs}", "outputs")
    for name, result in zip(operator.outputs, results, strict=True):
        if name in operands:
            raise CaseError(f"there is an operand {name!r} already", "outputs")
        operands[name] = result


def _needed(graph: Graph) -> set[str]:
    """Return the names of all tensors that the expected outputs need."""
    needed = set(graph.expectedOutputs)
    for operator in reversed(graph.operators):
        if needed.intersection(operator.outputs):
            decode_argument([operator.arguments, list((operator.options or {}).values())], needed.add)
    return needed
