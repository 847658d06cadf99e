"""The facts of a source."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.draft.sources import read, text

pytest.importorskip("tools.draft.source", reason="widlparser is not installed")


def test_a_source(tmp_path: Path) -> None:
    found = read(tmp_path, text())
    assert found.name == "2030-01"
    assert set(found.idl["interfaces"]) == {"MLContext", "MLOperand", "MLGraphBuilder"}
    assert list(found.algorithms) == ["MLGraphBuilder.relu(input)"]
    assert found.limits is None
    assert found.contradictions == ["limits: the source has no tables of limits"]


def test_a_method_that_runs_what_is_not_there(tmp_path: Path) -> None:
    steps = [
        "1. Let |output| be the result of [=MLGraphBuilder/calculating sizes=].",
        "    1. If that throws, re-[=exception/throw=] the error.",
    ]
    found = read(tmp_path, text(steps=steps))
    [algorithm] = found.algorithms.values()
    assert "runs" not in algorithm
    assert found.contradictions[1] == "steps: methods run algorithms that are not there: ['mlgraphbuilder-calculating-sizes']"


@pytest.mark.parametrize("content", ["", "<pre class='metadata'>\nTitle: T\nURL: u\n</pre>\n"])
def test_another_file(tmp_path: Path, content: str) -> None:
    with pytest.raises(ValueError, match="the source has no IDL"):
        read(tmp_path, content)
