"""How the nodes of a graph are grouped."""

from __future__ import annotations

from typing import Any

import pytest

import webnn
from tests.webnn.formats.networks import builder, chain, encoder
from webnn.viewer import describe


def groupings(description: webnn.GraphDescription) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in describe(description, weights=False)["groupings"]}


def path(grouping: dict[str, Any], node: int) -> list[str]:
    names: list[str] = []
    group = grouping["of"][node]
    while group >= 0:
        names.insert(0, grouping["groups"][group]["title"])
        group = grouping["groups"][group]["parent"]
    return names


def sizes(grouping: dict[str, Any]) -> dict[int, int]:
    """The members of each group that has some."""
    found: dict[int, int] = {}
    used = set(grouping["of"])
    for group in grouping["of"]:
        found[group] = found.get(group, 0) + 1
    for position in reversed(range(len(grouping["groups"]))):
        parent = grouping["groups"][position]["parent"]
        if position in used:
            used.add(parent)
            found[parent] = found.get(parent, 0) + 1
    return found


def test_labels_and_repeated_blocks() -> None:
    description = encoder(3)
    found = groupings(description)
    assert list(found) == ["labels", "repeated blocks", "order"]
    places = {operator.label: len(description.inputs) + place for place, operator in enumerate(description.operators) if operator.label}
    assert path(found["labels"], places["layer1/query"]) == ["layer1"]
    assert path(found["labels"], places["position"]) == []
    # An operator without a label is where those around it are.
    assert path(found["labels"], places["layer1/scores"] - 1) == ["layer1"]
    blocks = path(found["repeated blocks"], places["layer1/query"])
    assert blocks[0].startswith("3 × ")
    assert blocks[1] == "block 2 of 3"


def test_a_path_with_one_member_is_no_group() -> None:
    b = builder()
    x = b.input("x", dataType="float32", shape=[2])
    for label in ("a/b/c/one", "a/b/d/two", "a/b/d/three", "e/four"):
        x = b.relu(x, label=label)
    labels = groupings(webnn.describe({"y": x}))["labels"]
    assert [path(labels, node) for node in range(1, 5)] == [["a/b"], ["a/b", "d"], ["a/b", "d"], []]


@pytest.mark.parametrize("count", [70, 72, 500, 5000])
def test_long_groups_are_cut(count: int) -> None:
    order = groupings(chain(("relu", "neg") * (count // 2)))["order"]
    assert max(sizes(order).values()) <= 72
    assert order["across"] == (count in (72, 500))
    # The order stays: a group holds neighbours.
    assert order["of"] == sorted(order["of"])


def test_many_inputs_are_a_group() -> None:
    b = builder()
    inputs = [b.input(f"x{number}", dataType="float32", shape=[1]) for number in range(9)]
    order = groupings(webnn.describe({"y": b.concat(inputs, 0)}))["order"]
    assert path(order, 0) == ["9 inputs"]
    assert path(order, 9) == []
