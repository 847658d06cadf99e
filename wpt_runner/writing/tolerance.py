"""How exact web-platform-tests want a graph's results.

A graph of one operator has the tolerance of that operator's own test file. For graphs of several, ``webnn/resources/utils.js`` adds up
what its function `getPrecisionTolerance` knows. Where that leaves operators out, a tolerance is derived from the graph and its inputs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

import webnn
from webnn.reference import evaluate, pack, unpack
from webnn.reference.tolerances import SHARED, Tolerance, find_own
from webnn.validation.descriptor import FLOAT_TYPES, SMALL_TYPES, integer_range
from webnn.wpt_runner.vectors.comparison import distance

__all__ = ["Array", "Tolerance", "elements_of", "find_tolerance", "is_shared"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_Descriptors: TypeAlias = Mapping[str, webnn.OperandDescriptor]

#: These ask for the expectation's type in `getPrecisionTolerance`, and give no number for integers.
_OF_FLOATS = frozenset({"conv2d", "convTranspose2d", "gemm", "softmax"})
#: How often a graph is computed with disturbed results, and by how much more than found a tolerance is larger.
_ROUNDS, _MARGIN = 4, 2
#: Where more ULP than this are needed, numbers cancel, and the absolute distance tells more.
_MOST_ULP = 1024


def is_shared(graph: webnn.GraphDescription) -> bool:
    """Tell whether `getPrecisionTolerance` gives the tolerance of a graph with descriptors: it knows what is not exact."""
    known = graph.descriptors()
    types = {known[value].dataType for value in graph.outputs.values()}
    if len(types) > 1 or (not types <= set(FLOAT_TYPES) and any(each.operation in _OF_FLOATS for each in graph.operators)):
        return False
    return all(each.operation in SHARED or find_own(each, known) == Tolerance("ULP", 0) for each in graph.operators)


def find_tolerance(graph: webnn.GraphDescription, inputs: Mapping[str, Array]) -> Tolerance:
    """Return the tolerance of web-platform-tests for a graph with descriptors, or derive one.

    A derived one is twice what the outputs move when the result of each operator moves by that operator's own tolerance, up or down at
    random, in float64. It is a power of two, in ULP, or in absolute distance where numbers cancel.
    """
    known = graph.descriptors()
    if len(graph.operators) == 1:
        return find_own(graph.operators[0], known)
    if is_shared(graph):
        return Tolerance("ULP", sum(find_own(each, known).value for each in graph.operators if each.operation in SHARED))
    return _derive(graph, inputs)


def _derive(graph: webnn.GraphDescription, inputs: Mapping[str, Array]) -> Tolerance:
    known = graph.descriptors()
    exact = _compute(graph, inputs, known, None)
    ulp = atol = 0.0
    for seed in range(_ROUNDS):
        moved = _compute(graph, inputs, known, np.random.default_rng(seed))
        for name, value in graph.outputs.items():
            dtype = np.dtype(known[value].dataType) if known[value].dataType in FLOAT_TYPES else exact[name].dtype
            with np.errstate(over="ignore", invalid="ignore"):
                found, wanted = (array.astype(dtype).ravel() for array in (moved[name], exact[name]))
                ulp = max(ulp, float(distance(found, wanted, "ULP").max(initial=0)))
                difference = np.abs(moved[name].astype(np.float64) - exact[name].astype(np.float64))
            atol = max(atol, float(difference[np.isfinite(difference)].max(initial=0)))
    if ulp * _MARGIN <= _MOST_ULP:
        return Tolerance("ULP", _power_of_two(ulp * _MARGIN))
    return Tolerance("ATOL", _power_of_two(atol * _MARGIN))


def _power_of_two(value: float) -> float:
    """Return the least power of two that is not smaller; 0 for 0."""
    return 0 if value == 0 else 2.0 ** math.ceil(math.log2(value))


def _compute(
    graph: webnn.GraphDescription, inputs: Mapping[str, Array], known: _Descriptors, generator: np.random.Generator | None
) -> dict[str, Array]:
    """Compute a graph in float64; with a generator, move each result by its operator's tolerance."""
    values: dict[str, Array] = {**inputs, **{name: constant.value for name, constant in graph.constants.items()}}
    for operator in graph.operators:
        results = evaluate(operator, graph.draft, values, descriptors=known, exact=True)
        for name, result in zip(operator.outputs, results, strict=True):
            values[name] = result if generator is None else _move(result, known[name], find_own(operator, known), generator)
    unpacked = {name: (values[value], known[value]) for name, value in graph.outputs.items()}
    return {
        name: unpack(array, each.dataType, each.shape) if each.dataType in SMALL_TYPES else array
        for name, (array, each) in unpacked.items()
    }


def elements_of(array: Array, descriptor: webnn.OperandDescriptor) -> Array:
    """Return the elements of an operand, one number for each."""
    return unpack(array, descriptor.dataType, descriptor.shape) if descriptor.dataType in SMALL_TYPES else array


def _move(result: Array, descriptor: webnn.OperandDescriptor, tolerance: Tolerance, generator: np.random.Generator) -> Array:
    dataType = descriptor.dataType
    if tolerance.value == 0:
        return result
    if dataType not in FLOAT_TYPES:
        moved = elements_of(result, descriptor).astype(np.int64)
        moved = np.clip(moved + generator.integers(-1, 2, moved.shape), *integer_range(dataType))
        return pack(moved) if dataType in SMALL_TYPES else moved.astype(result.dtype)
    signs = generator.choice([-1.0, 1.0], result.shape)
    if tolerance.metric == "ATOL":
        return np.asarray(result + tolerance.value * signs)
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.abs(np.spacing(result.astype(dataType))).astype(np.float64)
    return np.asarray(result + np.where(np.isfinite(steps), steps, 0) * tolerance.value * signs)
