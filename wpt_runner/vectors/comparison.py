"""Web-platform-tests' comparison of results with expectations.

It follows `checkResults`, `doAssert` and `assert_array_approx_equals_ulp` of ``webnn/resources/utils.js`` as of June 2024. The shape must
be the expected one. Of an output that is expected to be one value throughout, at most the first 1,000 elements are compared. Equal elements
(both zeros, too) pass. Any other must be within the tolerance, in one of two units: units in the last place (ULP), that is the difference
of the bit patterns, or the absolute difference (ATOL) from the number in the file, which is not rounded first.

It differs where that code depends on the JavaScript engine or has bugs ("there" is that code):

- Between numbers of different signs, ULP are counted through zero. There, bit patterns of sign and magnitude are subtracted, which puts
  the smallest negative number 2^31 from the smallest positive one; here they are 2 apart. Likewise a float16 zero equals a negative one.
- There, a float16 pattern is first compared with the expected number itself, so that the pattern 1 (6e-8) passes for 1.0. Not here.
- Expected numbers become float16 by rounding half to even; there, half away from zero (and overflow can become a NaN).
- A NaN passes for a NaN, and for nothing else. There, the result depends on how the engine writes NaNs (ULP), or it fails (ATOL).
- An infinity passes for the same infinity. There it fails in ATOL, because the difference is a NaN.
- Integers are compared by their difference, whatever the metric. There, integers of fewer than 64 bits must be equal. No recorded
  integer output has a tolerance above 0.
- The output's data type must be the expected one.

None of this changes a verdict: over all outputs of the cases of June 2024 the original code gives the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from webnn.reference.wpt_tolerances import distance
from webnn.wpt_runner.vectors.format import Array, Tensor

__all__ = ["Comparison", "Difference", "compare", "show_number"]

#: Web-platform-tests compares no more than this of an output that is expected to be one value throughout.
_COMPARED_OF_FILL = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first element of an output that is too far from its expectation.

    Attributes:
        index: The element's index into the flattened output.
        actual: The computed element.
        expected: The expected one, in the output's type (unrounded for ATOL).
        distance: How far they are apart.
        wrong: How many of the compared elements are too far from their expectation.
        compared: How many elements were compared.
    """

    output: str
    index: int
    actual: float
    expected: float
    distance: float
    wrong: int
    compared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a comparison: why the outputs fail (empty if they pass), and the first element that is wrong.

    The largest distance is ``None`` if an output has a wrong type or shape.
    """

    failure: str = ""
    worst: float | None = 0.0
    difference: Difference | None = None


def compare(
    outputs: Mapping[str, Array],
    expected: Mapping[str, Tensor],
    metric: str,
    tolerance: float,
    corrections: Mapping[str, Mapping[int, float]] | None = None,
) -> Comparison:
    """Compare outputs with their expectations, within a tolerance in ``"ULP"`` or ``"ATOL"``.

    Corrections are, by output and index, right values of elements whose recorded expectation is wrong.

    Raises:
        CaseError: The expected data do not fit their descriptor.
    """
    failure, worst, first = "", 0.0, None
    for name, tensor in expected.items():
        actual, wanted = outputs[name], tensor.descriptor
        if actual.dtype != wanted.dtype or list(actual.shape) != wanted.shape:
            text = f"{name} is {actual.dtype.name} {list(actual.shape)}, expected {wanted.dataType} {wanted.shape}"
            return Comparison(failure=text, worst=None)
        values = tensor.flat(_COMPARED_OF_FILL, exact=metric == "ATOL")
        for index, value in (corrections or {}).get(name, {}).items():
            if index < values.size:
                values[index] = value
        flat = actual.ravel()[: values.size]
        distances = distance(flat, values, metric)
        worst = max(worst, float(distances.max(initial=0.0)))
        wrong = np.flatnonzero(~(distances <= tolerance))
        if wrong.size and first is None:
            at = int(wrong[0])
            first = Difference(
                output=name,
                index=at,
                actual=flat[at].item(),
                expected=values[at].item(),
                distance=float(distances[at]),
                wrong=int(wrong.size),
                compared=int(values.size),
            )
            failure = (
                f"{name}[{at}] is {flat[at]!s}, expected {values[at]!s}: {show_number(first.distance)} {metric}, "
                f"allowed {show_number(tolerance)} ({first.wrong} of {first.compared} elements differ)"
            )
    return Comparison(failure=failure, worst=worst, difference=first)


def show_number(value: float) -> str:
    """Write a distance or a tolerance: integers in full, others with three digits."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.3g}"
