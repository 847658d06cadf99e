"""The weights in the document of a graph."""

from __future__ import annotations

import json

import numpy as np
import pytest

import webnn
from tests.webnn.formats.networks import builder
from webnn.viewer import describe


def test_weights() -> None:
    b = builder()
    x = b.input("x", dataType="float32", shape=[70_000])
    data = np.linspace(-1, 1, 70_000, dtype=np.float32)
    data[1] = np.nan
    y = b.add(x, b.constant({"dataType": "float32", "shape": [70_000]}, data))
    description = webnn.describe({"y": b.mul(y, b.constant({"dataType": "float32", "shape": []}, np.zeros((), np.float32)))})
    large, scalar = [value["weights"] for value in describe(description)["values"] if "weights" in value]
    assert (large["count"], large["sampled"], large["first"][:2]) == (70_000, True, ["-1", "nan"])
    assert sum(large["histogram"]) == 35_000
    assert large["minimum"] == -1
    assert large["maximum"] == pytest.approx(1, abs=1e-3)
    assert (scalar["count"], scalar["sampled"], scalar["zeros"], scalar["notFinite"], scalar["first"]) == (1, False, 1, 0, ["0"])
    assert not any("weights" in value for value in describe(description, weights=False)["values"])


@pytest.mark.parametrize(
    ("dataType", "data", "first"),
    [
        ("int64", [-(2**63), 2**63 - 1], [str(-(2**63)), str(2**63 - 1)]),
        ("uint8", [0, 255], ["0", "255"]),
        ("float16", [65504, -65504], ["65504", "-65504"]),
        ("float32", [np.inf, np.nan], ["inf", "nan"]),
    ],
)
def test_weights_at_the_ends_of_types(dataType: str, data: list[float], first: list[str]) -> None:
    b = builder()
    x = b.input("x", dataType=dataType, shape=[2])
    array = np.array(data, dataType)
    description = webnn.describe({"y": b.concat([x, b.constant({"dataType": dataType, "shape": [2]}, array)], 0)})
    document = describe(description)
    (found,) = [value["weights"] for value in document["values"] if "weights" in value]
    assert found["first"] == first
    json.dumps(document, allow_nan=False)
