"""Models of a few bytes whose shapes alone ask for gigabytes of constants."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import webnn.onnx

#: The values that an import computes may have this many bytes.
_MOST = 1 << 30
_BUDGET = "what is computed at import must have at most 1 GiB"

_Input = np.ndarray[Any, Any] | tuple[str, Sequence[int]] | None


def _model(operator: str, inputs: Sequence[_Input], outputs: int = 1, *, domain: str = "", **attributes: Any) -> onnx.ModelProto:
    names = [f"i{index}" if given is not None else "" for index, given in enumerate(inputs)]
    infos, known = [], []
    for name, given in zip(names, inputs, strict=True):
        if isinstance(given, np.ndarray):
            known.append(onnx.numpy_helper.from_array(given, name))
        elif given is not None:
            infos.append(helper.make_tensor_value_info(name, getattr(TensorProto, given[0].upper()), given[1]))
    results = [f"o{index}" for index in range(outputs)]
    node = helper.make_node(operator, names, results, domain=domain, **attributes)
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=name) for name in results], known)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24), helper.make_opsetid("com.microsoft", 1)], ir_version=10)


def _sizes(*sizes: int) -> np.ndarray[Any, Any]:
    return np.array(sizes, np.int64)


_LONG = 1 << 28
_WIDE = [1 << 14, 1 << 14]

REFUSED = {
    "indices of windows": (_model("MaxPool", [("float", [1, 1, 1, 2 * _LONG - 8])], 2, kernel_shape=[1, 1]), _BUDGET),
    "indices of planes": (_model("MaxPool", [("float", [2 * _LONG - 8, 1, 1, 1])], 2, kernel_shape=[1, 1]), _BUDGET),
    "blocks of an image": (_model("Col2Im", [("float", [1, 1 << 14, 1]), _sizes(1 << 7, 1 << 7), _sizes(1 << 7, 1 << 7)]), _BUDGET),
    "wide kernels": (
        _model("Resize", [("float", [1, 1, 2, 1 << 26]), None, None, _sizes(1, 1, 1, 1 << 20)], mode="cubic", antialias=1),
        "the results of a dimension must be sums of at most 16777216 elements in all, got 1048576 of 67108864",
    ),
    "numbers of blocks": (_model("DequantizeLinear", [("int8", [_LONG + 1]), ("float", [3])], axis=0, block_size=_LONG // 2), _BUDGET),
    "coordinates": (_model("TensorScatter", [("float", _WIDE)] * 2, axis=1), _BUDGET),
    "positions of rows": (
        _model(
            "EmbedLayerNormalization",
            [("int32", [1, _LONG + 1]), None, ("float", [4, 1]), ("float", [_LONG + 1, 1]), None, ("float", [1]), ("float", [1])],
            2,
            domain="com.microsoft",
        ),
        _BUDGET,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_shape_takes_no_memory(case: str) -> None:
    model, reason = REFUSED[case]
    tracemalloc.start()
    try:
        with pytest.raises(webnn.onnx.RefusedModelError) as refused:
            webnn.onnx.load(model)
        assert tracemalloc.get_traced_memory()[1] < _MOST // 16
    finally:
        tracemalloc.stop()
    assert any(reason in each.reason for each in refused.value.report.refusals)


def test_the_stages_of_an_order_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    model = _model("TopK", [("float", [1 << 20]), _sizes(1 << 20)], 2)
    assert webnn.onnx.load(model)
    # The positions alone take 4 MiB.
    monkeypatch.setattr("webnn.importing.steps._MOST_BYTES", 1 << 24)
    with pytest.raises(webnn.onnx.RefusedModelError, match=_BUDGET):
        webnn.onnx.load(model)


@pytest.mark.parametrize(
    ("model", "count"),
    [
        (_model("MaxPool", [("float", [8, 64, 112, 112])], 2, kernel_shape=[3, 3], strides=[2, 2]), 2),
        (_model("Resize", [("float", [1, 3, 4096, 4096]), None, None, _sizes(1, 3, 512, 512)], mode="cubic", antialias=1), 1),
        (_model("TopK", [("float", [1 << 16]), _sizes(1 << 16)], 2), 2),
    ],
)
def test_large_tensors_are_imported(model: onnx.ModelProto, count: int) -> None:
    assert len(webnn.onnx.load(model).description.outputs) == count
