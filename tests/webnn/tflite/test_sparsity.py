from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from webnn.importing.values import Refused
from webnn.tflite.sparsity import Sparsity


def _array(*values: int) -> Any:
    return np.array(values, np.int64)


ROWS = (_array(0, 1, 1, 3), _array(1, 0, 1))


def test_rows() -> None:
    found = Sparsity([0, 1], [], [3, ROWS]).expand(np.array([1, 2, 3], np.float32), (3, 2))
    assert found.tolist() == [[0, 1], [0, 0], [2, 3]]


def test_columns_first() -> None:
    found = Sparsity([1, 0], [], [2, (_array(0, 1, 2), _array(2, 0))]).expand(np.array([5, 7]), (3, 2))
    assert found.tolist() == [[0, 7], [0, 0], [5, 0]]


def test_blocks() -> None:
    found = Sparsity([0, 1, 2], [1], [2, (_array(0, 1, 1), _array(1)), 2]).expand(np.array([5, 7]), (2, 4))
    assert found.tolist() == [[0, 0, 5, 7], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("sparsity", "reason"),
    [
        (Sparsity([0, 0], [], [3, ROWS]), "must name each of 2 dimensions"),
        (Sparsity([0, 1, 2], [5], [3, ROWS, 1]), "blocks must divide different dimensions"),
        (Sparsity([0, 1], [], [9, ROWS]), "must be those of its 3 elements"),
        (Sparsity([0, 1], [], [3, (_array(0, 1, 1, 9), _array(1, 0, 1))]), "must be those of its 3 elements"),
        (Sparsity([0, 1], [], [3, (_array(0, 2, 1, 3), _array(1, 0, 1))]), "must be those of its 3 elements"),
        (Sparsity([0, 1], [], [3, (_array(0, 1, 1, 3), _array(1, 0, 7))]), "must be those of its 3 elements"),
        (Sparsity([0, 1], [], [3, (_array(0, 1, 1, 3), _array(1, 0, -1))]), "must be those of its 3 elements"),
    ],
)
def test_positions_that_are_wrong(sparsity: Sparsity, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        sparsity.expand(np.array([1, 2, 3], np.float32), (3, 2))


def test_a_tensor_that_is_too_large() -> None:
    with pytest.raises(Refused, match="must store one of 64 elements at least"):
        Sparsity([0, 1], [], [3, ROWS]).expand(np.array([1, 2, 3], np.float32), (1 << 20, 1 << 20))
