"""Models of a few bytes whose shapes alone ask for gigabytes of constants."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import webnn.onnx
from tests.webnn.onnx.models import make, one

#: The values that an import computes may have this many bytes.
_MOST = 1 << 30
_BUDGET = "what is computed at import must have at most 1 GiB"

Array = np.ndarray[Any, np.dtype[Any]]


def _wide(*shape: int, dtype: str = "float32") -> Array:
    """Return zeros of any shape, which take no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def _sizes(*sizes: int) -> Array:
    return np.array(sizes, np.int64)


def _pool(*shape: int, **attributes: Any) -> onnx.ModelProto:
    return one("MaxPool", {"x": _wide(*shape)}, outputs=("y", "i"), **attributes)


def _resize(width: int) -> onnx.ModelProto:
    node = helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="cubic", antialias=1)
    return make(node, {"x": _wide(1, 1, 2, width), "sizes": _sizes(*range(4))})


def _embed() -> onnx.ModelProto:
    shapes = {"words": (4, 1), "rows": (_LONG + 1, 1), "gamma": (1,), "beta": (1,)}
    feeds = {"ids": _wide(1, _LONG + 1, dtype="int32"), **{name: _wide(*shape) for name, shape in shapes.items()}}
    inputs = ["ids", "", "words", "rows", "", "gamma", "beta"]
    node = helper.make_node("EmbedLayerNormalization", inputs, ["y", "m"], domain="com.microsoft")
    return make(node, feeds, domains={"com.microsoft": 1})


_LONG = 1 << 28
_SQUARE = _wide(1 << 14, 1 << 14)

#: The model, what is known, and a part of the message.
REFUSED: dict[str, tuple[Callable[[], onnx.ModelProto], dict[str, Array], str]] = {
    "indices of windows": (lambda: _pool(1, 1, 1, 2 * _LONG - 8, kernel_shape=[1, 1]), {}, _BUDGET),
    "indices of planes": (lambda: _pool(2 * _LONG - 8, 1, 1, 1, kernel_shape=[1, 1]), {}, _BUDGET),
    "blocks of an image": (
        lambda: one("Col2Im", {"x": _wide(1, 1 << 14, 1), "image": _sizes(0, 0), "block": _sizes(0, 0)}),
        {"image": _sizes(1 << 7, 1 << 7), "block": _sizes(1 << 7, 1 << 7)},
        _BUDGET,
    ),
    "wide kernels": (
        lambda: _resize(1 << 26),
        {"sizes": _sizes(1, 1, 1, 1 << 20)},
        "the results of a dimension must be sums of at most 16777216 elements in all, got 1048576 of 67108864",
    ),
    "numbers of blocks": (
        lambda: one("DequantizeLinear", {"x": _wide(_LONG + 1, dtype="int8"), "s": _wide(3)}, axis=0, block_size=_LONG // 2),
        {},
        _BUDGET,
    ),
    "coordinates": (lambda: one("TensorScatter", {"x": _SQUARE, "u": _SQUARE}, 24, axis=1), {}, _BUDGET),
    "positions of rows": (_embed, {}, _BUDGET),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_shape_takes_no_memory(case: str) -> None:
    make_model, known, reason = REFUSED[case]
    model = make_model()
    tracemalloc.start()
    try:
        with pytest.raises(webnn.onnx.RefusedModelError) as refused:
            webnn.onnx.load(model, constants=known)
        assert tracemalloc.get_traced_memory()[1] < _MOST // 16
    finally:
        tracemalloc.stop()
    assert any(reason in each.reason for each in refused.value.report.refusals)


def _top(size: int) -> onnx.ModelProto:
    return one("TopK", {"x": _wide(size), "k": _sizes(0)}, outputs=("y", "i"))


def test_the_stages_of_an_order_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    model, known = _top(1 << 20), {"k": _sizes(1 << 20)}
    assert webnn.onnx.load(model, constants=known)
    # The positions alone take 4 MiB.
    monkeypatch.setattr("webnn.importing.steps._MOST_BYTES", 1 << 24)
    with pytest.raises(webnn.onnx.RefusedModelError, match=_BUDGET):
        webnn.onnx.load(model, constants=known)


@pytest.mark.parametrize(
    ("model", "known", "count"),
    [
        (lambda: _pool(8, 64, 112, 112, kernel_shape=[3, 3], strides=[2, 2]), {}, 2),
        (lambda: _resize(4096), {"sizes": _sizes(1, 1, 2, 512)}, 1),
        (lambda: _top(1 << 16), {"k": _sizes(1 << 16)}, 2),
    ],
)
def test_large_tensors_are_imported(model: Callable[[], onnx.ModelProto], known: dict[str, Array], count: int) -> None:
    assert len(webnn.onnx.load(model(), constants=known).description.outputs) == count
