"""Names as identifiers of the text: those that the community's grammar allows, and each one leads back to its name."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import webnn
from tests.webnn.formats.examples import LABELS, hostile
from tests.webnn.formats.graphs import relu
from webnn.formats.identifiers import read_identifier, write_identifier

#: `ident` of the grammar, in the words of regular expressions.
GRAMMAR = re.compile(r"[A-Za-z_/$][A-Za-z0-9_./]*")
NAMES = ["0", "463", "x:0", "w['c']", '"', "a b", "true", "null", "//x", "$_0", "$_", "$_x", "$_x_3a_0", "a_x_b", "_", "\ud83e", *LABELS]
ANY = st.text(min_size=1) | st.text(st.sampled_from("$_x03a/. \ud800"), min_size=1) | st.sampled_from(NAMES)


@pytest.mark.parametrize("name", ["x", "_x", "/model/layer.0/Conv_output_0", "$x", "a__b", "$_x", "$_foo_bar", "x_3a_0"])
def test_names_that_stay(name: str) -> None:
    assert write_identifier(name) == name
    assert read_identifier(name) == (name, (name,))


@pytest.mark.parametrize("identifier", ["$_x_3A_0", "$_x_0003a_0", "$_x_110000_", "$_3a_0", "$_a.b_3a_"])
def test_identifiers_of_other_programs(identifier: str) -> None:
    """They only look like escaped ones."""
    assert read_identifier(identifier) == (identifier, (identifier,))
    assert write_identifier(identifier) == identifier


def _arguments(identifier: str) -> tuple[str, tuple[str, ...]]:
    name, outputs = read_identifier(identifier)
    return name, () if outputs == (name,) else outputs


@given(ANY, st.lists(ANY, max_size=3))
def test_each_name_is_read_as_it_was(name: str, outputs: list[str]) -> None:
    identifier = write_identifier(name, outputs)
    assert GRAMMAR.fullmatch(identifier)
    assert read_identifier(identifier) == (name, tuple(outputs) or (name,))


@given(st.text(st.sampled_from("$_x03a/."), min_size=1))
def test_each_identifier_is_written_as_it_was(text: str) -> None:
    if GRAMMAR.fullmatch(text) and not text.startswith("//"):
        assert write_identifier(*_arguments(text)) == text


@settings(max_examples=40)
@given(ANY, ANY)
def test_digests(tmp_path_factory: pytest.TempPathFactory, value: str, output: str) -> None:
    path = tmp_path_factory.getbasetemp() / "identifiers.webnn"
    description = relu("g", "input")
    operator = replace(description.operators[0], outputs=(f"{value}'",))
    description = replace(description, operators=(operator,), outputs={output: operator.outputs[0]})
    description.save(path)
    assert webnn.load(path).digest() == description.lift().digest()


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("suffix", [".webnn", ".webnn.json"])
def test_digests_of_graphs_with_hostile_names(suffix: str, label: str, tmp_path: Path) -> None:
    description = hostile(label)
    description.save(tmp_path / f"graph{suffix}")
    assert webnn.load(tmp_path / f"graph{suffix}").digest() == description.lift().digest()
