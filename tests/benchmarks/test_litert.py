"""The benchmarks of the engine LiteRT."""

from __future__ import annotations

import numpy as np
import pytest

import webnn
from benchmarks import small
from benchmarks.litert import CASES, NETWORKS, Direct

pytest.importorskip("ai_edge_litert", reason="LiteRT is not installed")


def test_both_sides_compute_the_same() -> None:
    found: list[webnn.GraphDescription] = []
    with webnn.emulate(engine="litert", isolate=False, on_build=lambda description, _: found.append(description)):
        ours = small.webnn_tiny()
    np.testing.assert_array_equal(ours(), Direct(found[0], small.tiny_inputs(), 1)())


def test_each_network_has_its_cases() -> None:
    assert {name.split("-")[1] for name in CASES} == set(NETWORKS)
