"""The two ways to read a node, one pattern for a whole one and token by token: they give the same content, positions and errors."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.property.files import mutate
from tests.webnn.formats.examples import LABELS
from tests.webnn.formats.graphs import mixed, relu, small_integers
from tests.webnn.formats.recorded import recorded
from tests.webnn.formats.test_text import VALID, WRONG, text
from webnn import FormatError, GraphDescription
from webnn.formats.grammar import _NODE, _Parser, parse

#: How many mutated texts are read.
MUTATED = 3000


def read(given: str) -> tuple[Any, ...]:
    """Return the content of a text and the positions of its nodes, or the error."""
    try:
        parsed = parse(given, Path("graph.webnn"))
    except FormatError as error:
        return error.message, error.line, error.column
    # JSON tells 0 from 0.0, -0.0 and false.
    return json.dumps(parsed.content, sort_keys=True), [parsed.find(("nodes", number)) for number in range(len(parsed.content["nodes"]))]


def read_tokens(given: str) -> tuple[Any, ...]:
    with patch.object(_Parser, "_plain_nodes", lambda _: False):
        return read(given)


def save(description: GraphDescription, folder: Path) -> str:
    description.save(folder / "graph.webnn")
    return (folder / "graph.webnn").read_text(encoding="utf-8")


@pytest.mark.parametrize("given", [*VALID.values(), *[given for given, _ in WRONG.values()]], ids=[*VALID, *WRONG])
def test_examples(given: str) -> None:
    assert read(given) == read_tokens(given)


@pytest.mark.parametrize("level", ["2024-06", "2025-03"])
@pytest.mark.filterwarnings("ignore:save. the file keeps the draft")
def test_recorded_graphs(level: str, tmp_path: Path) -> None:
    plain = count = 0
    for name, description in recorded(level, 7):
        given = save(description, tmp_path)
        assert read(given) == read_tokens(given), name
        plain += sum(_NODE.match(line) is not None for line in given.splitlines())
        count += len(description.operators)
    assert count > 100
    # Most nodes are plain ones.
    assert plain > 0.8 * count


@pytest.mark.parametrize("label", LABELS)
def test_labels(label: str) -> None:
    for shown in (label, json.dumps(label), json.dumps(label, ensure_ascii=False)):
        given = text(nodes=f"y = relu(x, label={shown}); z = relu(y);")
        assert read(given) == read_tokens(given)


#: Nodes at the borders of the pattern, and whether it takes them.
NODES = {
    "y = relu(x);": True,
    "y = f(x, x, a=1, b=-0, c=-0.0, d=1e-05, e=1E+5);": True,
    'y = f(x, a="", b="[1, 2]", c=", d=1", d=");");': True,
    "y = f(x, a=[], b=[1], c=[-1.5, 2, 3e7]);": True,
    "y = f(x, a=true, b=false, c=null, d=Infinity, e=nan, f=$/_.);": True,
    "y = f(x, a=" + "1" * 30 + "." + "1" * 30 + "e99);": True,
    "# a comment; z = f(x);\n  y = f(x);": True,
    "y = f(x, a=1, a=1);": True,
    "[y] = f(x);": True,
    "[y, z, y] = f(x, a=1);": True,
    "y=f(x);": False,
    "y = f( x);": False,
    "y = f(x,x);": False,
    "y = f(x,);": False,
    "y = f(x, a=1,);": False,
    "y = f(x, a = 1);": False,
    "y = f(x)": False,
    "y = f(x) ;": False,
    "y = f();": False,
    "y = f(a=1);": False,
    "y = f(x, a=1, x);": False,
    "y = f(x, # comment\n x);": False,
    "[] = f(x);": False,
    "[y,z] = f(x);": False,
    "[y, z,] = f(x);": False,
    "[y, z = f(x);": False,
    "y, z = f(x);": False,
    "y = f(x, a=01);": False,
    "y = f(x, a=-);": False,
    "y = f(x, a=1.);": False,
    "y = f(x, a=.5);": False,
    "y = f(x, a=+1);": False,
    "y = f(x, a=1e);": False,
    "y = f(x, a=1e100);": False,
    "y = f(x, a=1e400);": False,
    "y = f(x, a=-Infinity);": False,
    "y = f(x, a=" + "1" * 31 + ");": False,
    "y = f(x, a=" + "1" * 401 + ");": False,
    "y = f(x, a=1.0" + "1" * 30 + ");": False,
    "y = f(x, a=1x);": False,
    "y = f(x, a=1 2);": False,
    "y = f(x, a=[1,2]);": False,
    "y = f(x, a=[1, ]);": False,
    "y = f(x, a=[[1], 2]);": False,
    'y = f(x, a=["a"]);': False,
    "y = f(x, a=[b]);": False,
    "y = f(x, a=[1, 02]);": False,
    'y = f(x, a={"b": 1});': False,
    r'y = f(x, a="\n\u00e4");': False,
    r'y = f(x, a="\x");': False,
    'y = f(x, a="\n");': False,
    'y = f(x, a=");': False,
    'y = f(x, "a"=1);': False,
    "y = f(3);": False,
    "3 = f(x);": False,
    "ä = f(x);": False,
    "y = f(x, a=٣);": False,
}


@pytest.mark.parametrize("node", NODES)
def test_borders(node: str) -> None:
    assert (_NODE.match(node) is not None) == NODES[node]
    # Alone, twice, between plain nodes, and between others.
    for given in (node, f"{node}\n{node}", f"a = relu(x);{node} b = relu(x);", f"a=relu(x);{node} b=relu(x); c = relu(x);"):
        assert read(text(nodes=given)) == read_tokens(text(nodes=given))


def test_mutated_texts(tmp_path: Path) -> None:
    chosen = random.Random(20_260_602)
    texts = [save(each, tmp_path).encode() for each in (mixed(), small_integers(), relu())]
    texts += [text(nodes="\n".join([node for node, plain in NODES.items() if plain and "a=1, a=1" not in node])).encode()]
    valid = 0
    for _ in range(MUTATED):
        given = mutate({".webnn": chosen.choice(texts)}, ".webnn", chosen)[".webnn"].decode(errors="replace")
        outcome = read(given)
        assert outcome == read_tokens(given), given
        valid += isinstance(outcome[1], list)
    assert 0.1 * MUTATED < valid < 0.9 * MUTATED
