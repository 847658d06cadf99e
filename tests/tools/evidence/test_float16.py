"""The evidence about float16: a variance beyond the range spoils the graph of ONNX Runtime's converter, and not ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper, parser

from tools.evidence.float16 import measure

MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
m (float[2, 4, 3, 3] x) => (float[2, 4, 3, 3] y)
<float[4] one = {1, 1, 1, 1}, float[4] zero = {0, 0, 0, 0}, float[4] mean = {1, 2, 3, 4}, float[4] variance = {1e7, 2e7, 1, 2}>
{
    wide = Mul(x, size)
    y = BatchNormalization(wide, one, zero, mean, variance)
}
"""


def test_a_large_variance(tmp_path: Path) -> None:
    model = parser.parse_model(MODEL)
    model.graph.initializer.append(numpy_helper.from_array(np.array([3000, 3000, 2, 2], np.float32).reshape(4, 1, 1), "size"))
    onnx.save(model, tmp_path / "model.onnx")
    found = measure(tmp_path / "model.onnx", {}, seeds=2)
    assert found.keys() == {"y"}
    row = found["y"]
    assert row.keys() == {f"{whose}{how}" for whose in ("theirs", "ours") for how in ("", " with rounded weights")}
    for how in ("", " with rounded weights"):
        assert row[f"ours{how}"] < 0.01
        assert row[f"theirs{how}"] > 0.1
