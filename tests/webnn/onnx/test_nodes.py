"""ONNX's own tests of single operators, and the page about them."""

from __future__ import annotations

from collections import Counter

import onnx
import pytest

from tools import onnx_ops


@pytest.mark.processes
def test_no_result_is_wrong() -> None:
    results = onnx_ops.run()
    faults = [f"{name}: {result.outcome}: {result.reason}" for name, result in results.items() if result.outcome in ("wrong", "failed")]
    assert faults == []
    assert all(result.reason for result in results.values() if result.outcome == "refused")
    counts = Counter(result.outcome for result in results.values())
    # Other versions of onnx have other tests.
    assert counts["right"] + counts["bound"] > 0.6 * len(results)
    if onnx.__version__ != onnx_ops.written_for():
        pytest.skip(f"the page is for onnx {onnx_ops.written_for()}, and this is {onnx.__version__}; no result is wrong")
    assert onnx_ops.page(results) == onnx_ops.PAGE.read_text(encoding="utf-8"), "run: python -m tools.onnx_ops"
