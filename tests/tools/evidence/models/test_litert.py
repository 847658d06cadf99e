"""Verdicts about files. LiteRT is there on some machines only."""

from __future__ import annotations

import pytest

from tests.webnn.tflite.cases import CASES
from tests.webnn.tflite.makers import f, one


def test_verdicts() -> None:
    pytest.importorskip("ai_edge_litert", reason="LiteRT, the judge, is not installed")
    from tools.evidence.tflite_models.__main__ import check

    assert check("p", "f", CASES["conv 0 0 2 1"], 0).status == "ok"
    assert check("p", "f", CASES["conv int8"], 0).status == "ok"
    found = check("p", "f", one("FlexErf", [f(2)], [f()]), 0)
    assert (found.status, found.message) == ("refused", "CUSTOM.FlexErf: there is no rule for the operator CUSTOM.FlexErf")
