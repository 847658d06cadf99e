"""Operations whose sizes are operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.webnn.stablehlo.programs import check, compute, refusal, type_of
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.types import TensorType

X = np.arange(12, dtype=np.float32).reshape(3, 4)
ANY = TensorType(shape=(None, None), element="f32")


def _integers(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


#: X with a row before it, without its first column, and with 1 between its columns and behind them.
PADDED = np.ones((4, 8), np.float32)
PADDED[1:, 1:7:2] = X[:, 1:]

ROWS: tuple[tuple[str, list[Any], Any, dict[str, Any]], ...] = (
    ("dynamic_reshape", [X, _integers(2, 6)], X.reshape(2, 6), {}),
    ("dynamic_broadcast_in_dim", [X[0], _integers(4, 2)], np.broadcast_to(X[0][:, None], (4, 2)), {"broadcast_dimensions": (0,)}),
    ("dynamic_pad", [X, np.float32(1), _integers(1, -1), _integers(0, 2), _integers(0, 1)], PADDED, {}),
    ("real_dynamic_slice", [X, _integers(0, 1), _integers(3, 4), _integers(2, 1)], X[0:3:2, 1:4], {}),
    ("set_dimension_size", [X, np.int32(2)], X[:, :2], {"dimension": 1}),
)


@pytest.mark.parametrize("result", [None, ANY], ids=["sizes in the type", "no sizes in the type"])
@pytest.mark.parametrize(("name", "operands", "wanted", "attributes"), ROWS, ids=[row[0] for row in ROWS])
def test_sizes(name: str, operands: list[Any], wanted: Any, attributes: dict[str, Any], result: TensorType | None) -> None:
    check(name, operands, wanted, attributes, types=[result] if result else None, known=[range(1, len(operands)), range(len(operands))])


def test_iota() -> None:
    wanted = np.broadcast_to(np.arange(3, dtype=np.float32)[:, None], (3, 2))
    check("dynamic_iota", [_integers(3, 2)], wanted, {"iota_dimension": 0}, types=[ANY], known=[(0,)])


def test_unknown_sizes_are_passed_on() -> None:
    """Elementwise operations take the sizes of their operands."""
    main = RegionBuilder([type_of(X)])
    (sizes,) = main.append("stablehlo.constant", [], [TensorType(shape=(2,), element="i64")], {"value": _integers(4, 3)})
    (moved,) = main.append("stablehlo.dynamic_reshape", [main.arguments[0], sizes], [ANY])
    (twice,) = main.append("stablehlo.add", [moved, moved], [ANY])
    (size,) = main.append("stablehlo.get_dimension_size", [twice], [TensorType(shape=(), element="i32")], {"dimension": 0})
    main.append("func.return", [twice, size])
    module = Module(functions=(Function(name="main", body=main.build()),))
    for known in ((), (0,)):
        total, rows = compute(module, [X], known)
        np.testing.assert_array_equal(total, 2 * X.reshape(4, 3))
        assert rows == 4


REFUSED: tuple[tuple[str, list[Any], dict[str, Any], tuple[int, ...], str], ...] = (
    ("dynamic_reshape", [X, _integers(2, 6)], {}, (), "output_shape must follow from constants, but comes from arg1"),
    ("dynamic_reshape", [X, _integers(5, 6)], {}, (1,), "the 12 elements of [3, 4], got [5, 6]"),
    ("dynamic_reshape", [X, _integers(-3, -4)], {}, (1,), "got [-3, -4]"),
    ("dynamic_reshape", [X, _integers(-3, -4)], {}, (0, 1), "sizes must be 0 or greater, got [-3, -4]"),
    ("dynamic_iota", [_integers(3, 2)], {"iota_dimension": 0}, (), "output_shape must follow from constants, but comes from arg0"),
    ("dynamic_iota", [_integers(3, 2)], {"iota_dimension": 2}, (0,), "iota_dimension must be a dimension of 2, counted from 0, got 2"),
    (
        "dynamic_iota",
        [_integers(1 << 40, 2)],
        {"iota_dimension": 0},
        (0,),
        "few enough elements to be computed at import, got [1099511627776, 2]",
    ),
    ("set_dimension_size", [X, np.int32(5)], {"dimension": 1}, (1,), "the size must be from 0 to 4, got 5"),
    (
        "dynamic_pad",
        [X, np.float32(1), _integers(0, 0), _integers(0, 0), _integers(0, 1 << 40)],
        {},
        (0, 1, 2, 3, 4),
        "endingPadding[1] must be from 0 to 4294967295 (unsigned long), got 1099511627776",
    ),
)


@pytest.mark.parametrize(("name", "operands", "attributes", "known", "reason"), REFUSED, ids=[f"{row[0]}-{row[4]}" for row in REFUSED])
def test_refusals(name: str, operands: list[Any], attributes: dict[str, Any], known: tuple[int, ...], reason: str) -> None:
    assert reason in refusal(name, operands, [ANY], attributes, known=known)
