"""The options of a server, and the text of faults."""

from __future__ import annotations

import pytest

import webnn
from webnn.serve.options import parse_faults


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("failBuild=2", "failBuild", range(2, 3)),
        ("failBuild=1+3", "failBuild", {1, 3}),
        ("failCompute=all", "failCompute", "all"),
        ("delay=0.5", "delay", 0.5),
        ("memoryLimit=1000", "memoryLimit", 1000),
        ("loseAfter=2", "loseAfter", 2),
        ("refuse=npu+gpu", "refuse", {"npu": "", "gpu": ""}),
        (" delay = 1 , failBuild=1", "delay", 1.0),
    ],
)
def test_faults(text: str, name: str, value: object) -> None:
    found = getattr(parse_faults(text), name)
    expected = getattr(webnn.Faults(**{name: list(value) if isinstance(value, set | range) else value}), name)
    assert found == expected
