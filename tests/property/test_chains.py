"""Random graphs of several operations: rounding between them, shared operands, several outputs, and what the engine fuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.property.calls import compute
from tests.property.chains import exact_programs, layered_programs
from tests.property.profiles import by_day_and_night, hold
from tests.property.programs import Program, connect_program, expected_program
from tests.support import Array, make_context
from webnn import MLContext, MLGraphBuilder

#: For each kind, in continuous integration.
EXAMPLES = 30

#: The allowed error in a graph of about ten layers, relative to its largest value.
ERRORS = {"float32": 1e-5, "float16": 2.0**-7}


@pytest.fixture(scope="module")
def context() -> MLContext:
    return make_context()


def run(context: MLContext, program: Program) -> tuple[list[Array], list[Array]]:
    """Compute a program; return its outputs and all values of the reference."""
    builder = MLGraphBuilder(context)
    with np.errstate(all="ignore"):
        connected = connect_program(builder, program)
        results = compute(context, builder, connected.outputs, connected.feeds)
    for operand, bound, fresh in zip(connected.outputs, results.bound, results.fresh, strict=True):
        assert (operand.dataType(), operand.shape()) == (fresh.dtype.name, list(fresh.shape))
        np.testing.assert_array_equal(bound, fresh)
    return results.bound, expected_program(program)


def check_exact(context: MLContext, program: Program) -> None:
    outputs, values = run(context, program)
    for index, actual in zip(program.outputs, outputs, strict=True):
        assert actual.dtype == values[index].dtype
        np.testing.assert_array_equal(actual, values[index])


def check_layers(context: MLContext, program: Program) -> None:
    outputs, values = run(context, program)
    largest = max(1.0, *(float(np.abs(value).max()) for value in values))
    for index, actual in zip(program.outputs, outputs, strict=True):
        assert actual.dtype == values[index].dtype
        error = ERRORS[actual.dtype.name] * largest
        np.testing.assert_allclose(actual.astype(np.float64), values[index].astype(np.float64), rtol=0, atol=error)


KINDS: dict[str, tuple[st.SearchStrategy[Program], Callable[[MLContext, Program], None]]] = {
    "exact": (exact_programs(), check_exact),
    "layers": (layered_programs(), check_layers),
}


@by_day_and_night(EXAMPLES)
@pytest.mark.parametrize("kind", KINDS)
def test_chains(context: MLContext, kind: str, profile: str, examples: int) -> None:
    strategy, check = KINDS[kind]
    hold(profile, examples, strategy, lambda program: check(context, program))
