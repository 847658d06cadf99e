from __future__ import annotations

import json

import pytest

from tests.webnn.tflite.cases import CASES
from tests.webnn.tflite.support import RECORDED

#: Some cases of each kind; all of them take a while.
SOME = sorted(CASES)[::9]


def test_all_cases_are_recorded() -> None:
    assert [*json.loads(RECORDED.read_text(encoding="utf-8"))] == [*CASES]


@pytest.mark.parametrize("name", SOME)
def test_it_is_what_litert_computes(name: str) -> None:
    pytest.importorskip("ai_edge_litert", reason="LiteRT, the judge, is not installed")
    from tools.evidence.tflite_ops import record

    assert record(name) == json.loads(RECORDED.read_text(encoding="utf-8"))[name]
