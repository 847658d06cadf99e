"""The bytes of small integers."""

from __future__ import annotations

import numpy as np
import pytest

from webnn.validation.descriptor import pack, unpack


@pytest.mark.parametrize(
    ("dataType", "values", "data"),
    [
        ("int4", [[-8, 7], [-1, 0]], [0x78, 0x0F]),
        ("int4", [3, -4, 1], [0xC3, 0x01]),
        ("uint4", [15], [0x0F]),
        ("uint4", [], []),
    ],
)
def test_small_integers(dataType: str, values: list[int], data: list[int]) -> None:
    elements = np.array(values, np.int8 if dataType == "int4" else np.uint8)
    packed = pack(elements)
    assert packed.tolist() == data
    found = unpack(packed, dataType, elements.shape)
    assert (found.dtype, found.tolist()) == (elements.dtype, values)


@pytest.mark.parametrize("dataType", ["float32", "int8"])
def test_data_of_another_type_stay_as_they_are(dataType: str) -> None:
    data = np.array([1, 2], dataType)
    assert unpack(data, dataType, (2, 1)) is data
