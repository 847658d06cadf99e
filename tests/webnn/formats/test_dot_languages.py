"""Pictures in the languages of Graphviz and Mermaid: their structure, and that no name breaks out of its string."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.webnn.formats.networks import builder, chain, encoder, hostile
from webnn import describe
from webnn.formats.dot import as_dot
from webnn.formats.mermaid import as_mermaid

#: A string of Graphviz, and a statement whose every name is one.
_STRING = r'"(?:[^"\\]|\\.)*"'
_DOT_LINE = re.compile(rf"  {_STRING}(?: -> {_STRING}| \[(?:\w+={_STRING}|shape=oval)(?:, (?:\w+={_STRING}|shape=oval))*\]);")
_MERMAID_LINE = re.compile(
    r'  (?:  )?(?:n\d+(?:\["[^"`\[\](){}<>&]*"\]|\(\["[^"`\[\](){}<>&]*"\]\))|n\d+ --> n\d+|subgraph f\d+\["× \d+"\]|end'
    r"|classDef \w+ stroke:#[0-9A-F]{6},stroke-width:2px|class [n\d,]+ \w+)"
)


def test_dot() -> None:
    lines = as_dot(chain(("relu", "abs"))).splitlines()
    assert lines[0] == 'digraph "graph" {'
    assert lines[3:] == [
        '  "input 0" [label="x\\nfloat32 2×3", tooltip="input x\\nfloat32 2×3", shape=oval];',
        '  "relu#1" [label="relu\\n2×3", tooltip="relu\\ninput: x, float32 2×3\\n→ relu, float32 2×3", color="#C2410C"];',
        '  "abs#2" [label="abs\\n2×3", tooltip="abs\\ninput: relu, float32 2×3\\n→ y, float32 2×3", color="#0F766E"];',
        '  "output 3" [label="y\\nfloat32 2×3", tooltip="output y\\nfloat32 2×3", shape=oval];',
        '  "input 0" -> "relu#1";',
        '  "relu#1" -> "abs#2";',
        '  "abs#2" -> "output 3";',
        "}",
    ]


def test_dot_shows_every_operator() -> None:
    text = as_dot(encoder(4))
    assert len(re.findall(r"^  \S+#\d+\" \[", text, re.MULTILINE)) == 38


def test_mermaid() -> None:
    b = builder()
    x = b.input("x", dataType="float32", shape=[2, 3])
    for _ in range(6):
        x = b.relu(b.add(x, x, label='a "b"'))
    assert as_mermaid(describe({"y": x})).splitlines() == [
        "flowchart TB",
        '  n0(["x float32 2×3"])',
        '  n2(["y float32 2×3"])',
        '  subgraph f0["× 6"]',
        '    n1["add a #34;b#34; 2×3<br/>relu"]',
        "  end",
        "  n0 --> n1",
        "  n1 --> n2",
        "  classDef arithmetic stroke:#0F766E,stroke-width:2px",
        "  class n1 arithmetic",
    ]
    assert len(as_mermaid(describe({"y": x}), fold=False).splitlines()) == 1 + 2 + 12 + 13 + 4


@pytest.mark.parametrize("fold", [True, False])
def test_mermaid_stays_within_the_limits_of_pages(fold: bool) -> None:
    """GitHub draws at most 50,000 characters and 500 edges: forty layers folded are few."""
    text = as_mermaid(encoder(40), fold=fold)
    assert (len(text) < 2000) == fold
    assert (text.count("-->") < 20) == fold


def test_hostile_names() -> None:
    dot = as_dot(hostile()).splitlines()
    assert dot[0].startswith("digraph ")
    assert re.fullmatch(rf"digraph {_STRING} {{", dot[0])
    assert [line for line in dot[3:-1] if not _DOT_LINE.fullmatch(line)] == []
    for fold in (True, False):
        mermaid = [line.replace("<br/>", "") for line in as_mermaid(hostile(), fold=fold).splitlines()]
        assert [line for line in mermaid[1:] if not _MERMAID_LINE.fullmatch(line)] == []


def test_save(tmp_path: Path) -> None:
    description = encoder(2)
    description.save(tmp_path / "a.dot")
    description.save(tmp_path / "a.mmd")
    assert (tmp_path / "a.dot").read_text(encoding="utf-8") == as_dot(description)
    assert (tmp_path / "a.mmd").read_text(encoding="utf-8") == as_mermaid(description)
