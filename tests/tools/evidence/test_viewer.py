"""How the walks in the viewer are measured."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("graphlay", reason="needs graphlay, the extra `pictures`")

from tools.evidence.viewer import Seen, empty, faults, make_graph, walk
from webnn.viewer import write

GOOD = Seen("m", command=4.0, size=1, drawn=0.5, walked=5.0, total=10.0, frames=50.0, whole=40.0, details="")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, []),
        ({"total": 31.0}, ["m: the weights are seen after 31.0 s, later than 30 s"]),
        ({"drawn": 2.5}, ["m: the graph is drawn after 2.5 s, later than 2 s"]),
        ({"frames": 12.0, "whole": 1.0}, ["m: 12 frames a second, fewer than 30"]),
    ],
)
def test_bars(changes: dict[str, float], said: list[str]) -> None:
    assert list(faults(GOOD._replace(**changes))) == said


@pytest.mark.processes
def test_a_walk(browser_program: Path, tmp_path: Path) -> None:
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    description = make_graph(1000)
    assert len(description.operators) == 1000
    write(tmp_path / "page.html", description)
    with api.sync_playwright() as playwright:
        seen = walk(playwright, browser_program, "10,000 operators", tmp_path / "page.html", tmp_path / "page.png", command=1.0)
        assert empty(playwright, browser_program) > 0
    assert "64 elements; from -1 to 1, mean 0" in seen.details
    assert min(seen.drawn, seen.walked, seen.frames, seen.whole) > 0
    assert seen.total > 1 + seen.walked
    assert (tmp_path / "page.png").stat().st_size > 1000
