"""Choices from a seed."""

from __future__ import annotations

import numpy as np

from webnn.calls.dice import Dice, to_array


def test_dice_are_the_same_everywhere() -> None:
    dice = Dice("1/call/0")
    assert [dice.integer(-5, 5) for _ in range(8)] == [-2, 3, 3, -5, 5, 3, -5, 1]
    assert dice.shuffle(range(6)) == [5, 4, 0, 2, 3, 1]
    assert dice.values("float16", [3], "uniform") == [1.900390625, -2.302734375, -0.72705078125]
    assert dice.values("int64", [2], "special") == ["1", "9223372036854775806"]


def test_elements_become_arrays() -> None:
    numbers = to_array("float16", [1, "-0", "NaN", "-Infinity"])
    assert numbers.tobytes() == np.array([1, -0.0, np.nan, -np.inf], np.float16).tobytes()
    assert to_array("int64", ["9223372036854775807", "-3"]).tolist() == [2**63 - 1, -3]
