"""TFLite files in the catalogue, judged by LiteRT. It is there on some machines only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.tools.evidence.models.toys import RELU, TOY
from tests.webnn.tflite.cases import CASES
from tests.webnn.tflite.makers import f, one
from tests.webnn.tflite.models import Graph, Op, T, write
from tools.evidence.models.catalog import Input
from tools.evidence.models.measure import check
from tools.evidence.models.result import Result, find_fault

pytest.importorskip("ai_edge_litert", reason="LiteRT, the judge, is not installed")

MODEL = replace(RELU, name="toy", inputs={}, archived=replace(TOY, file="toy/model.tflite"))


def _check(data: bytes, folder: Path, **shapes: list[int]) -> Result:
    path = folder / "model.tflite"
    path.write_bytes(data)
    return check(replace(MODEL, inputs={name: Input(shape=shape, values="normal") for name, shape in shapes.items()}), path)[0]


@pytest.mark.parametrize("name", ["conv 0 0 2 1", "conv int8"])
def test_right_models(name: str, tmp_path: Path) -> None:
    found = _check(CASES[name], tmp_path)
    assert (found.status, found.ours, found.theirs) == ("ok", None, None)


def test_a_refused_model(tmp_path: Path) -> None:
    found = _check(one("FlexErf", [f(2)], [f()]), tmp_path)
    assert (found.status, found.message) == ("refused", "CUSTOM.FlexErf: there is no rule for the operator CUSTOM.FlexErf")


def test_the_reference_kernel_of_sigmoid_is_not_exact(tmp_path: Path) -> None:
    """Below -9 it is that of exp. The kernel of fast numerics has an absolute error, which is much for small results."""
    add = Op("ADD", [0, 1], [2], ("AddOptions", {}))
    found = _check(write(Graph([f(64), T(np.float32([-11])), f(64), f(64)], [add, Op("LOGISTIC", [2], [3])], [0], [3])), tmp_path)
    assert found.status == "sensitive"
    assert found.ours is not None
    assert found.theirs is not None
    assert found.ours < 1e-5 < found.theirs
    assert found.fast is not None
    assert found.fast > 1e-5
    assert found.is_fast_right
    assert not find_fault(MODEL, found)


def test_sizes_that_the_file_leaves_open(tmp_path: Path) -> None:
    found = _check(one("RELU", [f(1, 4, open=[0])], [f(1, 4, open=[0])]), tmp_path, t0=[5, 4])
    assert (found.status, found.difference) == ("ok", 0)
