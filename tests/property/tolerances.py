"""How far a value may be from the reference, operation by operation, and the comparison.

An operation without a row is exact. A row's operations compute in float32 what the reference computes in float64, for float16 too, and
round once: the result must lie between the rounded ends of the interval that the row allows around the reference's unrounded value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.casting import cast_number
from tests.property.calls import Call, expected
from tests.support import Array
from webnn.reference.rounding import round_off
from webnn.validation import unary
from webnn.validation.drafts import find_revision

__all__ = ["COPIES", "FAST_TOLERANCES", "TOLERANCES", "Tolerance", "compare", "compare_fast"]

#: The distance from 1 to the next float32.
EPSILON = float(np.finfo(np.float32).eps)

#: The engine's vector loops, and some processors, take smaller numbers for 0.
LEAST = float(np.finfo(np.float32).smallest_normal)

#: Operations that move elements, or change nothing but the sign: they are compared bit for bit.
COPIES = frozenset(
    {
        *("concat", "expand", "gather", "gatherElements", "gatherND", "identity", "neg", "reshape", "reverse", "scatterElements"),
        *("scatterND", "slice", "split", "tile", "transpose", "where"),
    }
)
#: Operations that may give either zero for a zero.
SIGN_OF_ZERO_KEPT = frozenset({"cast", "pad", "triangular"})

Terms = Callable[[Call], list[Any]]


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """An allowed error: ``relative * |value| + absolute * terms``, in multiples of `EPSILON`.

    Attributes:
        relative: The error in proportion to the value.
        absolute: The error in proportion to what `terms` gives.
        terms: Computes the magnitude of what was added up; 1 without it.
    """

    relative: float = 1
    absolute: float = 0
    terms: Terms | None = None


def _input_sizes(call: Call) -> list[Array]:
    """Return |x|."""
    return [np.abs(_widened(call.arguments["input"]))]


def _softmax_terms(call: Call) -> list[Array]:
    """Return y * (m - x), with m the maximum."""
    x = _widened(call.arguments["input"])
    return [y * (x.max(axis=call.arguments["axis"], keepdims=True) - x) for y in expected(call, _widened)]


def _resampling_terms(call: Call) -> list[Any]:
    """Return the size of an axis times the largest |x|; 0 for the nearest neighbour."""
    if call.options.get("mode") != "linear":
        return [0.0]
    input = call.arguments["input"]
    return [max(input.shape) * np.abs(_widened(input)).max()]


def _sensitivity(call: Call) -> list[Array]:
    """Return how far the outputs move, in `EPSILON`, when each number in the operands moves by one, and the size of products of gates.

    Gates without bounds multiply states without bounds, and a gate may cancel to 0.
    """
    rng = np.random.default_rng(0)

    def moved(array: Array) -> Array:
        factors: Array = 1 + EPSILON * rng.choice([-1.0, 1.0], array.shape)
        return array.astype(np.float64) * factors

    outputs, others = expected(call, _widened), [expected(call, moved) for _ in range(4)]
    size = (1 + max(float(np.abs(output).max()) for output in outputs)) ** 2
    return [size + sum(np.abs(other[index] - output) for other in others) / EPSILON for index, output in enumerate(outputs)]


def _normalization_terms(call: Call) -> list[Array]:
    """Return the largest |scale| times (max |x| + |mean|) / deviation, plus the largest |bias|."""
    options = {member: np.abs(_widened(value)).max() for member, value in call.options.items() if member in ("scale", "bias")}
    x = _widened(call.arguments["input"])
    axes: Any
    if call.name == "batchNormalization":
        # The largest difference over the least deviation.
        mean, variance, axes = np.abs(_widened(call.arguments["mean"])).max(), _widened(call.arguments["variance"]).min(), None
    else:
        layout = call.options.get("layout", "nchw")
        spatial = [layout.index("h"), layout.index("w")] if call.name == "instanceNormalization" else range(1, x.ndim)
        axes = tuple(call.options.get("axes", spatial))
        mean, variance = np.abs(x.mean(axis=axes, keepdims=True)), x.var(axis=axes, keepdims=True)
    distance = np.abs(x).max(axis=axes, keepdims=True) + mean
    deviation = np.sqrt(variance + call.options.get("epsilon", 1e-5))
    return [options.get("scale", 1.0) * distance / deviation + options.get("bias", 0.0)]


def _log_sum_terms(call: Call) -> list[Array]:
    """Return the sum of |x| over |the sum of x|: what the rounding of the sum, relative to it, grows by where numbers cancel."""
    [sums], [sizes] = (expected(replace(call, name=name), _widened) for name in ("reduceSum", "reduceL1"))
    return [np.asarray(sizes / np.abs(sums))]


def _magnitudes(call: Call) -> list[Array]:
    """Compute the operation on absolute values: sums then cancel nothing."""
    options = {
        member: abs(value) if isinstance(value, float | int) and not isinstance(value, bool) else value
        for member, value in call.options.items()
    }
    positive = replace(call, options=options)
    return expected(positive, lambda array: np.abs(array.astype(np.float64)) if array.dtype.kind == "f" else array)


#: Unary operations whose results are exact, or rounded once.
_ROUNDED_ONCE = frozenset({"abs", "ceil", "floor", "identity", "neg", "reciprocal", "roundEven", "sign", "sqrt"})

#: Rows of one number allow that many times the rounding of one operation; they are about twice what was ever measured.
TOLERANCES: Mapping[str, Tolerance] = {
    # Polynomials of the engine, in float32.
    **{row.name: Tolerance(relative=2) for row in unary.OPERATIONS if row.name not in _ROUNDED_ONCE},
    **{name: Tolerance(relative=2) for name in ("pow", "softplus", "softsign", "tanh")},
    "sigmoid": Tolerance(relative=4),
    # exp(x) - 1 and 1 + erf(x) cancel where the result is small; both are computed as the draft writes them.
    "elu": Tolerance(relative=2, absolute=2),
    "gelu": Tolerance(relative=2, absolute=1, terms=_input_sizes),
    "hardSwish": Tolerance(relative=2),
    "hardSigmoid": Tolerance(relative=1, absolute=1, terms=_magnitudes),
    "linear": Tolerance(relative=1, absolute=1, terms=_magnitudes),
    "leakyRelu": Tolerance(relative=1),
    # The difference to the maximum is rounded before its exponential is taken.
    "softmax": Tolerance(relative=4, absolute=1, terms=_softmax_terms),
    # Sums of products, in any order: a rounding for each, of the size of the sum of all.
    **{
        name: Tolerance(absolute=4, terms=_magnitudes)
        for name in (
            *("averagePool2d", "conv2d", "convTranspose2d", "cumulativeSum", "gemm", "l2Pool2d", "matmul", "reduceL1", "reduceL2"),
            *("reduceMean", "reduceSum", "reduceSumSquare"),
        )
    },
    "reduceProduct": Tolerance(relative=16),
    "reduceLogSum": Tolerance(relative=2, absolute=4, terms=_log_sum_terms),
    "reduceLogSumExp": Tolerance(relative=2, absolute=4),
    # The engine computes positions in float32.
    "resample2d": Tolerance(relative=1, absolute=2, terms=_resampling_terms),
    # The mean is taken from the input, which cancels, before the difference is multiplied.
    **{
        name: Tolerance(absolute=2, terms=_normalization_terms)
        for name in ("batchNormalization", "instanceNormalization", "layerNormalization")
    },
    # Errors of one step are inputs of the next one, and activations without bounds make them grow.
    **{name: Tolerance(relative=4, absolute=8, terms=_sensitivity) for name in ("gru", "gruCell", "lstm", "lstmCell")},
}

#: The same where the numerics are "fast" (docs/numerics.md).
FAST_TOLERANCES: Mapping[str, Tolerance] = {
    **TOLERANCES,
    "sigmoid": Tolerance(relative=1, absolute=1),
    "hardSwish": Tolerance(relative=2, absolute=1, terms=_input_sizes),
    "batchNormalization": Tolerance(absolute=4, terms=_normalization_terms),
    "instanceNormalization": Tolerance(absolute=4, terms=_normalization_terms),
}
#: Operations of which a NaN makes any of the elements, or any position.
_NAN_ANYTHING = frozenset({"argMax", "argMin", "reduceMax", "reduceMin"})


def compare_fast(call: Call, actual: list[Array]) -> None:
    """Require that the outputs of a call agree with the reference within the tolerances where the numerics are "fast"."""
    given: Any = call.arguments.get("input")
    reference = expected(call)
    if call.name == "cast" and given.dtype.kind == "f" and reference[0].dtype.kind in "iu":
        info, whole = np.iinfo(reference[0].dtype), np.trunc(given.astype(np.float64))
        inside = (whole >= float(info.min)) & (whole < float(info.max) + 1)
        assert [(array.dtype, array.shape) for array in actual] == [(array.dtype, array.shape) for array in reference]
        np.testing.assert_array_equal(actual[0][inside], reference[0][inside])
    elif call.name in _NAN_ANYTHING and given.dtype.kind == "f" and np.isnan(given).any():
        assert [(array.dtype, array.shape) for array in actual] == [(array.dtype, array.shape) for array in reference]
        if call.name.startswith("arg"):
            assert 0 <= actual[0].min() <= actual[0].max() < given.size
    else:
        compare(call, actual, FAST_TOLERANCES)


def compare(call: Call, actual: list[Array], tolerances: Mapping[str, Tolerance] = TOLERANCES) -> None:
    """Require that all outputs of a call agree with the reference."""
    reference = expected(call)
    assert [(array.dtype, array.shape) for array in actual] == [(array.dtype, array.shape) for array in reference]
    tolerance = tolerances.get(call.name)
    if call.name == "resample2d" and call.options.get("mode") == "linear" and reference[0].dtype.kind != "f":
        _compare_nearest(actual[0], expected(call, lambda array: array.astype(np.float64))[0])
        return
    if tolerance is None or all(array.dtype.kind != "f" for array in reference):
        for array, wanted in zip(actual, reference, strict=True):
            _compare_exactly(call.name, array, wanted)
        return
    call = _cast(call)
    unrounded = expected(call, _widened)
    terms: list[Any] = [1.0] * len(actual) if tolerance.terms is None else tolerance.terms(call)
    for array, wanted, term in zip(actual, unrounded, terms, strict=True):
        _compare_within(array, wanted, EPSILON * (tolerance.relative * np.abs(wanted) + tolerance.absolute * term) + LEAST)


def _cast(call: Call) -> Call:
    """Give numbers among the options, defaults too, in the operand's type where the draft casts them to it: widened operands hide that."""
    operation = find_revision(call.revision).operations[call.name]
    if operation.options is None or not operation.numbers:
        return call
    [first, *_] = call.arguments.values()
    numbers = {member: call.options.get(member, operation.options.model_fields[member].default) for member in operation.numbers}
    cast = {member: cast_number(number, first.dtype.name) for member, number in numbers.items() if number is not None}
    return replace(call, options={**call.options, **cast})


def _widened(array: Array) -> Array:
    """Make the reference compute an operand of floats as float64, and not round the result."""
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _compare_exactly(name: str, actual: Array, wanted: Array) -> None:
    if name in COPIES and actual.dtype.kind == "f":
        bits = f"u{actual.dtype.itemsize}"
        np.testing.assert_array_equal(actual.view(bits), wanted.view(bits))
    if name == "maxPool2d" and actual.dtype.kind == "f":
        # A window without elements may give either of these.
        lowest = np.finfo(actual.dtype).min
        actual, wanted = np.maximum(actual, lowest), np.maximum(wanted, lowest)
    if name not in COPIES:
        actual, wanted = _without_denormals(actual), _without_denormals(wanted)
    np.testing.assert_array_equal(actual, wanted)
    if name in SIGN_OF_ZERO_KEPT and actual.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(actual) & (actual == 0), np.signbit(wanted) & (wanted == 0))


def _compare_nearest(actual: Array, wanted: Array) -> None:
    """Require the nearest integers to numbers of float32; of two that are equally near, either."""
    np.testing.assert_array_less(np.abs(actual.astype(np.float64) - wanted), round_off(wanted))


def _without_denormals(array: Array) -> Array:
    return np.where(np.abs(array) < LEAST, np.copysign(0, array), array) if array.dtype == np.float32 else array


def _compare_within(actual: Array, wanted: Array, error: Array) -> None:
    """Require each value to be in an interval; infinities and NaN have none around them.

    An interval that is wider than the type's whole range holds NaN, too: a number on the way was beyond the range, and became infinite.
    """
    finite = np.isfinite(wanted)
    margin = np.where(finite & ~np.isnan(error), error, 0)
    with np.errstate(over="ignore"):
        low, high = (wanted - margin).astype(actual.dtype), (wanted + margin).astype(actual.dtype)
    right = np.where(np.isnan(wanted), np.isnan(actual), (low <= actual) & (actual <= high)) | (np.isneginf(low) & np.isposinf(high))
    if not right.all():
        worst = np.argwhere(~right)[0]
        place = tuple(int(index) for index in worst)
        allowed = np.broadcast_to(margin, right.shape)[place]
        raise AssertionError(
            f"{np.count_nonzero(~right)} of {right.size} values differ, the first one at {list(place)}: "
            f"{actual[place]!r}, expected {wanted[place]!r} +- {allowed:.3g}"
        )
