"""Figures, and the first difference of two sequences."""

from __future__ import annotations

from typing import Any

import pytest

import webnn
import webnn.generate
from tests.webnn.generate.decoders import save_decoder
from tests.webnn.generate.fakes import FakeSide, generate_on
from webnn.generate.model import LanguageModel
from webnn.generate.report import Difference, compare, summarize, take_turns


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    path = save_decoder(tmp_path_factory.mktemp("decoder") / "model.onnx")
    return webnn.generate.load(path, webnn.ML(revision="2026-06").createContextSync())


def run(model: LanguageModel, one: list[Any], other: list[Any]) -> tuple[list[int], list[Difference], Any]:
    """Make two sequences of scores, which end with the score 9 for the token 2."""
    sides = [generate_on(model, FakeSide(*scores)) for scores in (one, other)]
    for each in sides:
        each._ends = frozenset([2])
    found: list[Difference] = []
    ids = [token.id for token in take_turns(sides[0], sides[1], found)]
    return ids, found, compare(sides[0], sides[1], found)


def test_the_same_tokens(model: LanguageModel) -> None:
    ids, found, comparison = run(model, [[1, 0, 0], [0, 0, 9]], [[2, 0, 0], [0, 0, 9]])
    assert (ids, found, comparison.same, comparison.difference) == ([0, 2], [], True, None)
    assert comparison.ratio > 0
    assert (comparison.other.newTokens, comparison.other.finish, comparison.other.promptTokens) == (2, "end", 2)


def test_the_first_difference(model: LanguageModel) -> None:
    ids, found, comparison = run(model, [[1, 0, 0], [1, 0.5, 0], [0, 0, 9]], [[1, 0, 0], [2, 2.25, 0], [0, 0, 9]])
    assert (ids, comparison.same) == ([0, 0, 2], False)
    assert found == [Difference(position=1, tokens=(0, 1), scores=((1, 0.5), (2, 2.25)), gaps=(0.5, 0.25))]


def test_one_side_ends_before(model: LanguageModel) -> None:
    for one, other, tokens in (
        ([[0, 0, 9]], [[0, 0, 9]], None),
        ([[0, 1, 0], [0, 0, 9]], [[0, 1, 0], [1, 0, 0], [0, 0, 9]], (2, 0)),
    ):
        ids, found, comparison = run(model, one, other)
        assert len(ids) == len(one)
        assert [each.tokens for each in found] == ([] if tokens is None else [tokens])
    assert comparison.other.newTokens == 3


def test_a_sequence_that_was_interrupted(model: LanguageModel) -> None:
    generation = generate_on(model, FakeSide(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        next(generation)
    summary = summarize(generation)
    assert (summary.newTokens, summary.firstSeconds, summary.tokensPerSecond, summary.finish) == (0, None, None, "closed")
