"""Random models of operators of ONNX Runtime; `python -m tools.evidence.onnx_contrib` runs 200 of each."""

from __future__ import annotations

import numpy as np
import pytest

from tools.evidence.onnx_contrib.cases import Case, compare
from tools.evidence.onnx_contrib.kinds import KINDS


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_random_models(kind: str, seed: int) -> None:
    assert compare(KINDS[kind](np.random.default_rng(seed))) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_models(kind: str) -> None:
    assert [seed for seed in range(200) if compare(KINDS[kind](np.random.default_rng(seed))) > 1] == []


def test_a_wrong_result_is_found() -> None:
    x = np.ones((2, 3), np.float32)
    assert compare(Case(operator="GatedAdd", inputs={"x": x, "z": x, "g": x[:, :1]}, expected={"y": 2 * x})) == 0
    assert compare(Case(operator="GatedAdd", inputs={"x": x, "z": x, "g": x[:, :1]}, expected={"y": 2.1 * x})) > 1
    assert compare(Case(operator="GatedAdd", inputs={"x": x, "z": x, "g": x[:, :1]}, expected={"y": x * np.nan})) == np.inf
