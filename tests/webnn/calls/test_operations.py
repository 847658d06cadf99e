"""Random calls of every operation; tests/property builds and computes them."""

from __future__ import annotations

from tests.support import FIRST, NEWEST
from webnn.calls.operations import ACTIVATIONS, CALLS


def test_every_operation_has_its_calls() -> None:
    assert set(CALLS) == set(NEWEST.operations)


def test_activations_are_those_of_the_first_draft() -> None:
    assert set(ACTIVATIONS) == {name for name, operation in FIRST.operations.items() if operation.activation}
