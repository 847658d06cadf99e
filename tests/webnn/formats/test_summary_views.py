"""Every recorded conformance case can be shown in every way."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from tests.webnn.formats.recorded import recorded
from webnn.formats.dot import as_dot
from webnn.formats.mermaid import as_mermaid
from webnn.formats.summary import as_data, as_text
from webnn.formats.svg import draw


def show_all(level: str, step: int) -> int:
    """Show graphs in every way, and return their number."""
    count = 0
    for count, (name, description) in enumerate(recorded(level, step), start=1):  # noqa: B007
        for fold in (True, False):
            titles = [
                each.text or "" for each in ElementTree.fromstring(draw(description, fold=fold)).iter("{http://www.w3.org/2000/svg}text")
            ]
            assert {operator.operation for operator in description.operators} <= set(titles), name
        assert as_dot(description).count("#") >= len(description.operators), name
        assert as_mermaid(description).startswith("flowchart TB\n"), name
        assert len(json.dumps(as_data(description), allow_nan=False)) > len(description.operators), name
        assert f"\n{len(description.operators)} operator" in as_text(description, width=80), name
    return count


def test_some_recorded_graphs() -> None:
    assert show_all("2025-03", 61) == 28


@pytest.mark.slow
@pytest.mark.parametrize(("level", "count"), [("2024-06", 958), ("2025-03", 1715)])
def test_recorded_graphs(level: str, count: int) -> None:
    assert show_all(level, 1) == count
