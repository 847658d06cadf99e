"""Folded operators, and how a picture shows them."""

from __future__ import annotations

import itertools

import pytest

import webnn
from tests.webnn.formats.networks import builder, chain, encoder, weights
from webnn.formats.cards import Picture, make_picture, numbers
from webnn.formats.repeats import Repeat, find_repeats


def titles(picture: Picture) -> list[list[str]]:
    return [[row.title for row in card.rows] for card in picture.cards]


def test_layers_are_found() -> None:
    description = encoder(5)
    # Behind the position: 9 operators for each layer.
    assert find_repeats(description) == [Repeat(start=1, period=9, count=5)]
    assert len(description.operators) == 1 + 5 * 9 + 1


def test_layers_stand_once() -> None:
    picture = make_picture(encoder(5))
    [frame] = picture.frames
    assert (frame.count, frame.operators) == (5, 9)
    inside = [card for card in picture.cards if card.frame == 0]
    # Every operator of the five layers is somewhere in the frame.
    shown = sorted(number for card in inside for row in card.rows for number in row.numbers)
    assert shown == list(range(2, 2 + 5 * 9))
    assert [row.label for card in inside for row in card.rows if row.operation == "matmul"] == [
        "layer…/query",
        "layer…/key",
        "layer…/scores",
        "layer…/out",
    ]
    # The mask is taken by all layers, and the last one makes what follows.
    names = titles(picture)
    edges = {(names[edge.source][-1], names[edge.target][0]) for edge in picture.edges}
    assert {("mask", "add"), ("add", "tanh"), ("tanh", "y")} <= edges


def test_nothing_is_lost() -> None:
    """Folded or not: the operators and the ends of a graph are shown, and no edge runs upwards."""
    for description, fold in itertools.product((encoder(1), encoder(4), chain(("relu", "abs", "neg", "tanh") * 20)), (True, False)):
        picture = make_picture(description, fold=fold)
        shown = sorted(number for card in picture.cards for row in card.rows for number in row.numbers)
        assert shown == numbers(description)
        ends = [card.rows[0].title for card in picture.cards if card.kind in ("input", "output")]
        assert ends == [*description.inputs, *description.outputs]
        assert {edge.source for edge in picture.edges} | {edge.target for edge in picture.edges} == set(range(len(picture.cards)))
        order = {position: number for number, position in enumerate(_sorted(picture))}
        assert all(order[edge.source] < order[edge.target] for edge in picture.edges)
        if not fold:
            assert all(len(card.rows) == 1 for card in picture.cards)
            assert picture.frames == ()


def _sorted(picture: Picture) -> list[int]:
    """Return the cards in an order in which edges run forwards; it fails if there is a circle."""
    left = set(range(len(picture.cards)))
    order: list[int] = []
    while left:
        free = {card for card in left if not any(edge.target == card and edge.source in left for edge in picture.edges)}
        assert free
        order += sorted(free)
        left -= free
    return order


def test_side_by_side_is_not_one_after_another() -> None:
    b = builder()
    x = b.input("x", dataType="float32", shape=[4, 8])
    branches = [b.transpose(b.relu(b.matmul(b.abs(x), weights(b, 8, 8)))) for _ in range(6)]
    assert find_repeats(webnn.describe({"y": b.concat(branches, 0)})) == []


@pytest.mark.parametrize("change", ["option", "shape", "type", "wiring", "device"])
def test_a_copy_that_differs_is_not_folded(change: str) -> None:
    """The fourth of six blocks differs: at most three are equal in a row on either side."""
    b = builder()
    x = b.input("x", dataType="float32", shape=[4, 4])
    y = b.input("y", dataType="float32", shape=[4, 4])
    for number in range(6):
        odd = number == 3
        before = x
        x = b.matmul(x, weights(b, 4, 4))
        x = b.add(x, weights(b, *((4, 1) if odd and change == "shape" else (1, 4))))
        x = b.leakyRelu(x, alpha=0.2 if odd and change == "option" else 0.1)
        if odd and change == "type":
            x = b.cast(b.cast(x, "float16"), "float32")
        x = b.add(x, y if odd and change == "wiring" else before)
    description = webnn.describe({"z": x})
    marks = ["gpu" if change == "device" and 12 <= position < 16 else "cpu" for position in range(24)] if change == "device" else []
    found = find_repeats(description, marks)
    assert found
    # The changed operators are in no block, or in one whose copies are all equal: never is a block as long as all six.
    assert all(repeat.count <= 3 for repeat in found)


def test_wiring_between_copies_counts() -> None:
    """Operators of one kind with different operands are not blocks."""
    b = builder()
    values = [b.input("x", dataType="float32", shape=[4])]
    for source in (0, 0, 1, 0, 2, 3, 1, 4, 0, 6, 2, 7):
        values.append(b.add(values[-1], values[source]))
    assert find_repeats(webnn.describe({"y": values[-1]})) == []


def test_a_value_of_a_middle_copy() -> None:
    """Results of several copies that other operators take leave the one card, and the outputs share a card."""
    b = builder()
    x = b.input("x", dataType="float32", shape=[4, 4])
    outputs = {}
    for number in range(5):
        x = b.relu(b.matmul(x, weights(b, 4, 4)))
        outputs[f"layer{number}.state"] = x
        x = b.tanh(x)
    picture = make_picture(webnn.describe({**outputs, "y": x}))
    assert [frame.count for frame in picture.frames] == [5]
    assert [card.rows[0].title for card in picture.cards if card.kind == "output"] == ["layer….state ×5", "y"]


def test_a_long_chain_is_cut() -> None:
    operations = ("relu", "abs", "neg", "tanh", "sin", "cos", "exp", "floor", "ceil", "sign", "erf")
    picture = make_picture(chain(operations))
    assert titles(picture) == [["x"], ["relu", "abs", "neg", "tanh", "⋮ 4 more operators", "ceil", "sign", "erf"], ["y"]]
    assert picture.cards[1].rows[4].numbers == (5, 6, 7, 8)
    assert picture.cards[1].rows[4].details == ("1 sin", "1 cos", "1 exp", "1 floor")


def test_what_ends_a_chain() -> None:
    b = builder()
    x = b.input("x", dataType="float32", shape=[2, 4])
    used_twice = b.relu(x)
    output = b.tanh(b.abs(used_twice))
    beyond = b.neg(output)
    several = b.split(b.exp(b.add(used_twice, beyond)), 2, axis=1)
    picture = make_picture(webnn.describe({"a": output, "b": b.sin(several[0]), "c": several[1]}))
    chains = [names for names, card in zip(titles(picture), picture.cards, strict=True) if card.kind == "operators"]
    assert chains == [["relu"], ["abs", "tanh"], ["neg"], ["add", "exp", "split"], ["sin"]]
    assert picture.cards[4].rows[-1].shape == "2×2 … (2)"


def test_devices_end_chains() -> None:
    picture = make_picture(chain(("relu", "abs", "neg", "tanh")), devices={1: "gpu", 2: "gpu", 3: "cpu", 4: "gpu"})
    assert titles(picture)[1:-1] == [["relu", "abs"], ["neg"], ["tanh"]]


def test_numbers() -> None:
    b = builder()
    x = b.input("x", dataType="float32", shape=[2])
    b.relu(x)  # not needed
    description = webnn.describe({"y": b.abs(b.tanh(x))})
    assert numbers(description) == [2, 3]
    assert numbers(description.lift()) == [2, 3]
