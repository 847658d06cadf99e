"""Valid calls of all operations, by family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import strategies as st

from tests.property import elementwise, movement, networks, windows
from tests.property.calls import Call
from tests.property.draws import PATTERNS

__all__ = ["CALLS", "FAMILIES"]


def _held(strategy: st.SearchStrategy[Call]) -> st.SearchStrategy[Call]:
    """Add which operands are constants."""
    return st.builds(lambda call, constants: replace(call, constants=constants), strategy, PATTERNS)


def _family(calls: Mapping[str, st.SearchStrategy[Call]]) -> dict[str, st.SearchStrategy[Call]]:
    return {name: _held(strategy) for name, strategy in calls.items()}


#: The strategy of each operation, by the families of the specification.
FAMILIES: Mapping[str, Mapping[str, st.SearchStrategy[Call]]] = {
    "activation": _family(elementwise.ACTIVATIONS),
    "binary": _family(elementwise.BINARY),
    "conv": _family(windows.CONV),
    "gather_scatter": _family(movement.GATHER),
    "logical": _family(elementwise.LOGICAL),
    "matmul": _family(networks.MATMUL),
    "movement": _family(movement.MOVEMENT),
    "normalization": _family(networks.NORMALIZATION),
    "pooling": _family(windows.POOLING),
    "recurrent": _family(networks.RECURRENT),
    "reduction": _family(movement.REDUCTION),
    "resample": _family(windows.RESAMPLING),
    "unary": _family(elementwise.UNARY),
}

#: The strategy of each operation.
CALLS: Mapping[str, st.SearchStrategy[Call]] = {name: strategy for family in FAMILIES.values() for name, strategy in family.items()}
