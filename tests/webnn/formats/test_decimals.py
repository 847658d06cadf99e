"""The ends of each floating-point type: the digits in every file lead back to the same bits, and to no infinity in a browser."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import webnn
from tests.support import make_context
from tests.webnn.formats.numbers import constant_of
from webnn.formats.decimals import shorten
from webnn.validation.descriptor import DataType
from webnn.validation.numbers import cast_as_browsers

TYPES: list[DataType] = ["float32", "float16"]


def extremes(dataType: DataType) -> list[float]:
    limits = np.finfo(dataType)
    ends = [limits.max, limits.smallest_normal, limits.smallest_subnormal, limits.eps, np.nextafter(limits.max, limits.dtype.type(0))]
    return [sign * float(each) for each in ends for sign in (1, -1)] + [0.0, -0.0, 1.0, math.inf, -math.inf, math.nan]


def bits(number: float, dataType: DataType) -> bytes:
    return np.array(number, dataType).tobytes()


@pytest.mark.parametrize("dataType", TYPES)
def test_short_numbers_are_the_same_element_in_browsers(dataType: DataType) -> None:
    for number in extremes(dataType):
        short = float(repr(shorten(number, np.dtype(dataType))))
        assert bits(cast_as_browsers(short, dataType), dataType) == bits(number, dataType), number


@pytest.mark.parametrize(
    ("suffix", "scalar"), [(".mjs", r'constant\("\w+", (.+)\);'), (".py", r'constant\("\w+", (.+)\)\n'), (".webnn", r"@scalar\((.+)\)")]
)
@pytest.mark.parametrize("dataType", TYPES)
def test_scalars(dataType: DataType, suffix: str, scalar: str, tmp_path: Path) -> None:
    """JavaScript's and Python's number of a literal is the same double."""
    for number in extremes(dataType):
        constant_of(dataType, number).save(tmp_path / f"graph{suffix}")
        found = re.search(scalar, (tmp_path / f"graph{suffix}").read_text())
        if found is None:
            # It is given by its bytes or as an array.
            assert (suffix == ".webnn" and dataType == "float16") or not math.isfinite(number), number
            continue
        read = float(found[1].replace("Infinity", "inf"))
        assert bits(cast_as_browsers(read, dataType), dataType) == bits(number, dataType), found[1]


@pytest.mark.parametrize("suffix", [".mjs", ".py"])
@pytest.mark.parametrize("draft", ["2024-06", "2026-06"])
def test_options_that_round_to_the_largest_number(draft: str, suffix: str, tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(make_context(draft))
    x = builder.input("x", {"dataType": "float32", builder._revision.shape: [2]})  # type: ignore[misc]
    low = builder.clamp(builder.linear(x, alpha=3.4028235e38), minValue=-3.4028235e38, maxValue=1e38)
    webnn.describe({"y": builder.pad(low, [1], [1], value=-3.4028235e38)}).save(tmp_path / f"graph{suffix}")
    numbers = re.findall(r"[:=] ?(-?[\d.]+e\+38)", (tmp_path / f"graph{suffix}").read_text())
    assert numbers == ["3.4028234663852886e+38", "-3.4028234663852886e+38", "1e+38", "-3.4028234663852886e+38"]


def test_a_browsers_infinity_stays_one(tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(make_context("2026-06+browsers"))
    x = builder.input("x", {"dataType": "float32", "shape": [2]})
    webnn.describe({"y": builder.clamp(x, minValue=-3.4028235e38)}).save(tmp_path / "graph.mjs")
    assert "minValue: -3.4028235e+38" in (tmp_path / "graph.mjs").read_text()
