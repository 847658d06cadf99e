"""Sums of products of names, and comparisons of sizes that ask nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from webnn.importing.named import (
    are_same,
    as_array,
    broadcast_sizes,
    evaluate_size,
    find_names,
    have_names,
    is_empty,
    is_same,
    replace_names,
    settle,
    sizes_of,
)
from webnn.proposals.dynamic_shapes.recording import Recording

SIZES = {"past": 5, "rows": 3, "s0": 7}
#: Texts, their names, and their values; ``None`` for other texts, and for other names.
TEXTS: list[tuple[str, list[str], int | None]] = [
    ("past", ["past"], 5),
    ("past + rows", ["past", "rows"], 8),
    ("past+rows-1", ["past", "rows"], 7),
    ("32*s0", ["s0"], 224),
    ("past * rows + 2 * s0", ["past", "rows", "s0"], 29),
    (" 4 ", [], 4),
    ("other", ["other"], None),
    ("past + other", ["past", "other"], None),
    ("", [], None),
    ("past +", ["past"], None),
    ("* past", ["past"], None),
    ("past rows", ["past", "rows"], None),
    ("past / rows", [], None),
    ("(past)", [], None),
    ("?", [], None),
    ("+".join(["past"] * 1000), [], None),
]


@pytest.mark.parametrize(("text", "names", "value"), TEXTS, ids=[text[:20] for text, *_ in TEXTS])
def test_sums_of_products(text: str, names: list[str], value: int | None) -> None:
    assert find_names(text) == names
    assert evaluate_size(text, SIZES.get) == value


def test_names_are_replaced() -> None:
    assert replace_names("past_length + 2*rows", {"past_length": "past", "rows": "1"}) == "past + 2 * 1"


@pytest.fixture
def sizes() -> Callable[[str], Any]:
    recording = Recording({"n": 6, "m": 4})
    return lambda name: recording.named(name, 0, 1000)


def test_comparisons_ask_nothing(sizes: Callable[[str], Any]) -> None:
    n, m = sizes("n"), sizes("m")
    assert is_same(n * 2, n + n)
    assert not is_same(n, 6)
    assert not is_same(1, m)
    assert are_same((2, n), [2, n])
    assert not are_same((2, n), (2, m))
    assert not are_same((n,), (n, 1))
    assert have_names([1, n])
    assert not is_empty([n, 2])
    assert is_empty([n, 0])
    assert broadcast_sizes((n, 1), (3, 1, m)) == (3, n, m)
    assert broadcast_sizes((n,), (m,)) is None
    assert broadcast_sizes((n,), (6,)) is None
    assert n.path.facts() == []


def test_arrays_of_sizes(sizes: Callable[[str], Any]) -> None:
    n = sizes("n")
    numbers = as_array([2, 3])
    assert numbers.dtype == np.int64
    array = as_array([2, n])
    assert array.dtype == object
    assert array.shape == (2,)
    assert sizes_of(array)[0] == 2
    assert is_same(sizes_of(array)[1], n)
    assert settle(array, np.dtype(np.int32)) is array
    assert settle(array[:1], np.dtype(np.int32)).dtype == np.int32
    assert n.path.facts() == []
