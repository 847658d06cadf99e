"""The names of results, as JAX writes them and as exports do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webnn.formats.examples import LABELS
from webnn.hlo.names import read_result, write_result


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ("", ""),
        ("result", ""),
        ("result['logits']", "logits"),
        ("['logits']", "logits"),
        ("result['w:0']", "w:0"),
        ('result["it\'s"]', "it's"),
        (r"result['\'\"\n']", "'\"\n"),
        ("[0]", "0"),
        ("result[1]", "1"),
        ("result['a'][1].state", "a.1.state"),
        ("y", "y"),
        ("463", "463"),
        ("x:0", "x:0"),
        ("w['c'] 1", "w['c'] 1"),
        ("results", "results"),
        (r"result['\xqq']", "xqq"),
    ],
)
def test_names_of_results(info: str, name: str) -> None:
    assert read_result(info) == name


@pytest.mark.parametrize("name", [*LABELS, "y", "463", "x:0", "w['c']", "result", "result['y']", "['y']", "[0]", ".a", "result.a"])
def test_each_name_is_read_as_it_was(name: str) -> None:
    assert read_result(write_result(name)) == name


@given(st.text(st.sampled_from("result[]'\"\\.0a\n")))
def test_random_names(name: str) -> None:
    assert read_result(write_result(name)) == name
