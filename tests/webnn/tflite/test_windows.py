from __future__ import annotations

import pytest

from tests.webnn.tflite.makers import f, one
from tests.webnn.tflite.support import refusals
from webnn.importing.windows import Window
from webnn.tflite.windows import place, trim


@pytest.mark.parametrize(
    ("window", "padding", "edges"),
    [
        (Window(size=7, count=3, stride=2), "SAME", (1, 1)),
        (Window(size=6, count=3, stride=2), "SAME", (0, 1)),
        (Window(size=6, count=3, dilation=2), "SAME", (2, 2)),
        (Window(size=6, count=1, stride=4), "SAME", (0, 0)),
        (Window(size=7, count=3, stride=2), "VALID", (0, 0)),
    ],
)
def test_padding(window: Window, padding: str, edges: tuple[int, int]) -> None:
    placed = place(window, padding)
    assert (placed.low, placed.high) == edges


def test_transposed_windows() -> None:
    assert trim(Window(size=6, count=3, stride=2), "SAME", 3) == (0, 1)
    assert trim(Window(size=8, count=2, stride=3), "VALID", 3) == (0, 0)
    assert trim(Window(size=9, count=2, stride=3), "VALID", 3) == (0, -1)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"FilterHeight": 0}, "FilterHeight must be at least 1, got 0"),
        ({"StrideW": 0}, "StrideW must be at least 1, got 0"),
        ({"Padding": 7}, "Padding must be SAME or VALID, got 7"),
        ({"FilterHeight": 9}, "the window must fit into the padded input"),
        ({"FusedActivationFunction": 5}, "the fused activation SIGN_BIT is not supported"),
    ],
)
def test_windows_that_do_not_fit(changed: dict[str, int], reason: str) -> None:
    fields = {"FilterHeight": 2, "FilterWidth": 2, "StrideH": 1, "StrideW": 1, "Padding": 1, **changed}
    assert reason in refusals(one("MAX_POOL_2D", [f(1, 4, 4, 1)], [f()], "Pool2DOptions", **fields))[0][1]
