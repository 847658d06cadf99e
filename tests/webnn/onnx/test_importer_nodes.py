"""ONNX's own tests of single operators, and the page about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import onnx
import pytest

from tools.evidence import onnx_ops


@pytest.mark.processes
def test_no_result_is_wrong(sample: Callable[[list[str], int], list[str]]) -> None:
    """By day of some operators. Their rows are those of the page; all of them are the page."""
    every = list(onnx_ops.groups())
    operators = sample(every, 30)
    results = onnx_ops.run(operators)
    faults = [f"{name}: {result.outcome}: {result.reason}" for name, result in results.items() if result.outcome in ("wrong", "failed")]
    assert faults == []
    assert all(result.reason for result in results.values() if result.outcome == "refused")
    counts = Counter(result.outcome for result in results.values())
    # Other versions of onnx have other tests.
    assert counts["right"] + counts["bound"] > 0.6 * len(results)
    if onnx.__version__ != onnx_ops.written_for():
        pytest.skip(f"the page is for onnx {onnx_ops.written_for()}, and this is {onnx.__version__}; no result is wrong")
    page = onnx_ops.PAGE.read_text(encoding="utf-8")
    assert [row for row in onnx_ops.rows(results) if row not in page.splitlines()] == [], "run: python -m tools.evidence.onnx_ops"
    assert operators != every or onnx_ops.page(results) == page, "run: python -m tools.evidence.onnx_ops"
