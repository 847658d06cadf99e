"""The cases of a conformance file: graphs with inputs, expected outputs and a tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import webnn
from webnn.reference import compute
from webnn.reference.wpt_tolerances import Array, Tolerance, find_tolerance
from webnn.validation.descriptor import NUMPY_DTYPES

__all__ = ["ConformanceCase", "WritingError"]

#: The most numbers of a case, and of the results of its operators: the reference is slow, and a test file is read by people.
_MOST_ELEMENTS = 1 << 20


class WritingError(ValueError):
    """A test cannot be written in the form of web-platform-tests; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceCase:
    """One case of a conformance file.

    Attributes:
        name: The subtest's name.
        graph: The graph in the newest draft, with descriptors, and nothing that its outputs do not need.
        inputs: The graph's inputs. Two elements of int4 and uint4 share a byte.
        expected: The right outputs, likewise.
        tolerance: How far they may be from that.
    """

    name: str
    graph: webnn.GraphDescription
    inputs: Mapping[str, Array]
    expected: Mapping[str, Array]
    tolerance: Tolerance

    @classmethod
    def of(
        cls, name: str, graph: webnn.GraphDescription, inputs: Mapping[str, Array], *, expected: Mapping[str, Array] | None = None
    ) -> ConformanceCase:
        """Make a case of a graph and its inputs.

        Args:
            name: The subtest's name.
            graph: The graph, of any draft.
            inputs: An array for each input, of its data type and shape.
            expected: The right outputs. By default each operator is computed in float64, and its results are rounded to
                their types.

        Raises:
            WritingError: The case is too large, what is expected is not as said above, or web-platform-tests could not tell right results
                from wrong ones.
            DescriptionError: The graph contradicts itself, or has something without counterpart in the newest draft.
            WebNNTypeError: The draft refuses the graph, or an input does not fit it.
            NotSupportedError: The reference has not got an operation.
            OperationError: The reference fails, for example for lack of memory.
        """
        graph = graph.lift().infer()
        graph = graph.select(graph.outputs)
        known = graph.descriptors()
        size = sum(math.prod(each.shape) for each in known.values())
        if size > _MOST_ELEMENTS:
            raise WritingError(f"{name!r} must have at most {_MOST_ELEMENTS:,} numbers in all of its operands, got {size:,}")
        _check_outputs(name, graph)
        if expected is not None:
            _check_expected(name, graph, expected)
        given = {value: array for value, array in inputs.items() if value in graph.inputs}
        if expected is None:
            expected = compute(graph, given)
        case = cls(name=name, graph=graph, inputs=given, expected=expected, tolerance=find_tolerance(graph, given))
        _check_numbers(case)
        return case


def _check_outputs(name: str, graph: webnn.GraphDescription) -> None:
    """Require that the file's names can name the outputs."""
    made = {value for operator in graph.operators for value in operator.outputs}
    seen: dict[str, str] = {}
    for output, value in graph.outputs.items():
        if value not in made:
            raise WritingError(f"{name!r}: no operator makes the output {output!r}")
        if value in seen:
            raise WritingError(f"{name!r}: the outputs {seen[value]!r} and {output!r} are one operand, which can have only one name")
        seen[value] = output


def _check_expected(name: str, graph: webnn.GraphDescription, expected: Mapping[str, Array]) -> None:
    """Require an array of the right type and size for each output."""
    if set(expected) != set(graph.outputs):
        raise WritingError(f"{name!r}: expected must have the outputs {list(graph.outputs)}, got {list(expected)}")
    known = graph.descriptors()
    for output, value in graph.outputs.items():
        dtype, shape = NUMPY_DTYPES[known[value].dataType], known[value].array_shape
        array = expected[output]
        if array.dtype != dtype or array.size != math.prod(shape):
            raise WritingError(
                f"{name!r}: expected[{output!r}] must be {dtype.name} {list(shape)}, got {array.dtype.name} {list(array.shape)}"
            )


def _check_numbers(case: ConformanceCase) -> None:
    """Refuse numbers that web-platform-tests' own helpers would turn into something else, or would never accept."""
    constants = {name: constant.value for name, constant in case.graph.constants.items()}
    for name, array in (*case.inputs.items(), *constants.items(), *case.expected.items()):
        if array.dtype == np.float16 and np.isnan(array).any():
            raise WritingError(f"{case.name!r}: {name!r} has a float16 NaN, which toHalf() makes an infinity")
    for name, array in case.expected.items():
        if case.tolerance.metric == "ATOL" and not np.isfinite(array).all():
            what = f"{case.name!r}: the output {name!r} has an infinity or a NaN"
            raise WritingError(f"{what}, and is compared by absolute distance, in which these equal nothing")
