"""bfloat16 and float8e4m3: every operation, with random operands, against the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume

from tests.property.calls import Call, connect, map_arrays
from tests.property.profiles import NIGHTLY_EXAMPLES, hold
from tests.property.strategies import CALLS
from tests.property.tolerances import COPIES, EPSILON, LEAST, TOLERANCES
from tests.support import CURRENT, Array, each_row, shared_context
from webnn import GraphDescription, MLGraphBuilder
from webnn.builder.describe import describe
from webnn.builder.description import DescriptionError
from webnn.reference import compute
from webnn.reference.numbers import nearest
from webnn.validation.descriptor import ML_DTYPES, DataType, OperandDescriptor, is_float
from webnn.validation.drafts import find_revision

REVISION = "2026-06+low-precision"

#: The operations that take each type. test_low_precision.py has quantizations with float8e4m3, which their scale cannot have.
OPERATIONS = {
    dataType: [
        name
        for name, rows in find_revision(REVISION).data_types.items()
        if any(dataType in types for operand, types in rows.items() if not operand.startswith("output"))
        and not (dataType == "float8e4m3" and name in ("dequantizeLinear", "quantizeLinear"))
    ]
    for dataType in ML_DTYPES
}
_SPECIAL = np.array([[0, -0.0, np.inf, -np.inf, np.nan, 1e-3, -300, 447.9]], np.float32)
#: Operations whose calls must have such numbers.
OF_SPECIAL_NUMBERS: Mapping[str, Mapping[str, Array]] = {
    **{name: {"a": _SPECIAL} for name in ("isInfinite", "isNaN")},
    **{name: {"input": _SPECIAL} for name in ("roundEven", "sign")},
    "notEqual": {"a": _SPECIAL, "b": _SPECIAL.copy()},
}


def _rounded(call: Call, dataType: DataType) -> Call:
    """Return a call whose numbers of floating point are those of a type, in float32."""

    def change(array: Array) -> Array:
        return nearest(array, dataType).astype(np.float32) if array.dtype.kind == "f" else array

    made: dict[int, Array] = {}

    def once(array: Array) -> Array:
        # An array in two places is one operand.
        return made.setdefault(id(array), change(array))

    return replace(call, arguments=map_arrays(dict(call.arguments), once), options=map_arrays(dict(call.options), once))


def _describe(call: Call, dataType: DataType) -> tuple[GraphDescription, dict[str, Array]]:
    """Return the graph of a call in the draft with the types, and its inputs."""
    builder = MLGraphBuilder(shared_context(call.revision))
    connected = connect(builder, call)
    lifted = describe({f"y{index}": each for index, each in enumerate(connected.outputs)}).lift(CURRENT)

    def retyped(descriptor: OperandDescriptor) -> OperandDescriptor:
        return OperandDescriptor(dataType, descriptor.dimensions) if is_float(descriptor.dataType) else descriptor

    def converted(array: Array) -> Array:
        return nearest(array, dataType) if array.dtype.kind == "f" else array

    constants = {
        name: replace(each, descriptor=retyped(each.descriptor), value=converted(each.value)) for name, each in lifted.constants.items()
    }
    description = replace(
        lifted,
        draft=REVISION,
        inputs={name: retyped(each) for name, each in lifted.inputs.items()},
        constants=constants,
        operators=tuple(replace(each, descriptors=()) for each in lifted.operators),
    )
    feeds = {name: converted(array) for name, array in connected.feeds.items() if name in description.inputs}
    return description.infer(), feeds


def dispatch(description: GraphDescription, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Compute a graph through tensors."""
    context = shared_context(description.draft)
    builder = MLGraphBuilder(context)
    graph = builder.buildSync(description.build(builder))
    given = {}
    for name, array in feeds.items():
        descriptor: Any = description.inputs[name]
        given[name] = context.createTensorSync({"dataType": descriptor.dataType, "shape": list(descriptor.shape), "writable": True})
        context.writeTensor(given[name], array)
    known = description.descriptors()
    wanted = {}
    for name, value in description.outputs.items():
        members: Any = {"dataType": known[value].dataType, "shape": list(known[value].shape), "readable": True}
        wanted[name] = context.createTensorSync(members)
    context.dispatch(graph, given, wanted)
    read = {name: context.readTensorSync(tensor) for name, tensor in wanted.items()}
    return {name: array for name, array in read.items() if array is not None}


def check(call: Call, dataType: DataType) -> None:
    """Compute a call on the device and by the reference, and compare."""
    arrays: list[Array] = []
    map_arrays([*call.arguments.values(), *call.options.values()], arrays.append)
    if all(array.dtype.kind != "f" for array in arrays):
        assume(False)
    with np.errstate(all="ignore"):
        rounded = _rounded(call, dataType)
        try:
            description, feeds = _describe(rounded, dataType)
        except DescriptionError:
            # The newest draft has no such call.
            assume(False)
        known = description.descriptors()
        actual, expected, exact = dispatch(description, feeds), compute(description, feeds), compute(description, feeds, exact=True)
        tolerance = TOLERANCES.get(call.name)
        terms = [1.0] * len(actual) if tolerance is None or tolerance.terms is None else tolerance.terms(rounded)
        for (name, value), term in zip(description.outputs.items(), terms, strict=True):
            assert actual[name].dtype == expected[name].dtype
            assert actual[name].shape == expected[name].shape == known[value].dimensions
            if tolerance is None or not is_float(known[value].dataType):
                _compare_exactly(call.name, actual[name], expected[name])
            else:
                error = EPSILON * (tolerance.relative * np.abs(exact[name]) + tolerance.absolute * term) + LEAST
                _compare_within(actual[name], exact[name], error, known[value].dataType)


def _compare_exactly(name: str, actual: Array, wanted: Array) -> None:
    if actual.dtype.kind == "V":
        actual, wanted = actual.astype(np.float32), wanted.astype(np.float32)
        if name == "maxPool2d":
            # A window without elements gives the lowest number, or -Infinity.
            lowest = float(wanted[np.isfinite(wanted)].min(initial=0))
            actual, wanted = np.maximum(actual, lowest), np.maximum(wanted, lowest)
        if name in COPIES:
            np.testing.assert_array_equal(np.signbit(actual), np.signbit(wanted))
        else:
            # The engine's vector loops, and some processors, take such numbers for 0.
            actual, wanted = (np.where(np.abs(each) < LEAST, 0, each) for each in (actual, wanted))
    np.testing.assert_array_equal(actual, wanted)


def _compare_within(actual: Array, wanted: Array, error: Array, dataType: DataType) -> None:
    """Require each value to lie between the rounded ends of an interval around the exact one; NaN and infinities have none."""
    margin = np.where(np.isfinite(wanted) & ~np.isnan(error), error, 0)
    low, high, given = (
        np.asarray(each, np.float64) for each in (nearest(wanted - margin, dataType), nearest(wanted + margin, dataType), actual)
    )
    inside = (low <= given) & (given <= high)
    # An interval that is wider than the range of float32 holds everything: a number on the way became infinite.
    right = np.where(np.isnan(wanted), np.isnan(given), inside) | (margin > np.finfo(np.float32).max)
    assert right.all(), (given[~right], wanted[~right], margin[~right])


@pytest.mark.parametrize(("dataType", "name"), [(dataType, name) for dataType, names in OPERATIONS.items() for name in names])
def test_operation(dataType: DataType, name: str) -> None:
    hold("ci", 4, CALLS[CURRENT][name], lambda call: check(call, dataType))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("dataType", ML_DTYPES)
def test_all_operations(dataType: DataType) -> None:
    for name in OPERATIONS[dataType]:
        hold("nightly", NIGHTLY_EXAMPLES // 100, CALLS[CURRENT][name], lambda call: check(call, dataType))


@each_row("dataType", ML_DTYPES)
@pytest.mark.parametrize("name", OF_SPECIAL_NUMBERS)
def test_special_numbers(name: str, dataType: DataType) -> None:
    if name in OPERATIONS[dataType]:
        for constants in ((False,), (True, False)):
            check(Call(name=name, arguments=OF_SPECIAL_NUMBERS[name], constants=constants, revision=CURRENT), dataType)


def test_most_operations_take_low_precision() -> None:
    assert len(OPERATIONS["bfloat16"]) > len(OPERATIONS["float8e4m3"]) > 30
