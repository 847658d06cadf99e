"""Web IDL conversion, value by value, as a browser does it."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from webnn.validation import webidl
from webnn.validation.webidl import ConversionError


class Index:
    """A number by ``__index__``."""

    def __index__(self) -> int:
        return 5


def label(value: Any) -> str:
    """Name a test case; the text of some objects holds their address, which differs between processes."""
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


ENFORCED: list[tuple[Any, int]] = [
    (0, 0),
    (-0.0, 0),
    (2**32 - 1, 2**32 - 1),
    (3.99, 3),
    (-0.99, 0),
    (2**32 - 0.5, 2**32 - 1),
    (True, 1),
    (False, 0),
    ("7", 7),
    ("  7 ", 7),
    ("", 0),
    ("\ufeff3\u2003", 3),
    ("0x10", 16),
    ("0b101", 5),
    ("0o17", 15),
    ("1e3", 1000),
    (".5", 0),
    ("5.", 5),
    (np.int8(3), 3),
    (np.uint64(3), 3),
    (np.float32(2.5), 2),
    (np.float16(2), 2),
    (np.bool_(True), 1),
    (np.array(4), 4),
    (Index(), 5),
    (Decimal("6.7"), 6),
    (Fraction(7, 2), 3),
]


@pytest.mark.parametrize(("value", "expected"), ENFORCED, ids=label)
def test_enforce_range(value: Any, expected: int) -> None:
    result = webidl.enforceRangeUnsignedLong(value)
    assert (result, type(result)) == (expected, int)


REFUSED: list[tuple[Any, str]] = [
    (-1, "must be from 0 to 4294967295"),
    (-1.0, "must be from 0 to 4294967295"),
    (2**32, "must be from 0 to 4294967295"),
    (10**400, "must be from 0 to 4294967295"),
    (math.nan, "must be a finite number"),
    (math.inf, "must be a finite number"),
    (-math.inf, "must be a finite number"),
    (None, "must be a finite number"),
    ("abc", "must be a finite number"),
    ("1_0", "must be a finite number"),
    ("\x1c3", "must be a finite number"),
    ("Infinity", "must be a finite number"),
    ("-0x10", "must be a finite number"),
    (np.float32("nan"), "must be a finite number"),
    ([3], "must be a number"),
    ({}, "must be a number"),
    (object(), "must be a number"),
    (1j, "must be a number"),
    (np.array([1]), "must be a number"),
    (np.complex64(1), "must be a number"),
    (b"3", "must be a number"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED, ids=label)
def test_enforce_range_refuses(value: Any, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        webidl.enforceRangeUnsignedLong(value)


LONGS: list[tuple[Any, int]] = [(-(2**31), -(2**31)), (2**31 - 1, 2**31 - 1), (-1.9, -1), ("-5", -5)]


@pytest.mark.parametrize(("value", "expected"), LONGS)
def test_enforce_range_long(value: Any, expected: int) -> None:
    assert webidl.enforceRangeLong(value) == expected


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, math.nan])
def test_enforce_range_long_refuses(value: Any) -> None:
    with pytest.raises(ConversionError):
        webidl.enforceRangeLong(value)


WRAPPED: list[tuple[Any, int]] = [
    (3, 3),
    (-1, 2**32 - 1),
    (2**32 + 2, 2),
    (-1.5, 2**32 - 1),
    (math.nan, 0),
    (math.inf, 0),
    (None, 0),
    ("x", 0),
    (10**30, 10**30 % 2**32),
]


@pytest.mark.parametrize(("value", "expected"), WRAPPED)
def test_unsigned_long_wraps(value: Any, expected: int) -> None:
    assert webidl.unsignedLong(value) == expected


def test_float_rounds_to_single_precision() -> None:
    assert webidl.float_(0.1) == float(np.float32(0.1))
    assert webidl.float_(1e-60) == 0.0
    assert webidl.float_("2.5") == 2.5
    assert webidl.double(0.1) == 0.1
    for value in (1e39, math.nan, math.inf, None, "x", 10**400):
        with pytest.raises(ConversionError):
            webidl.float_(value)
    assert webidl.double(1e39) == 1e39


TRUTH: list[tuple[Any, bool]] = [
    (None, False),
    (False, False),
    (0, False),
    (-0.0, False),
    (math.nan, False),
    (np.float32("nan"), False),
    ("", False),
    (np.bool_(False), False),
    (True, True),
    (1, True),
    ("false", True),
    ([], True),
    ({}, True),
    (np.zeros(3), True),
    (object(), True),
]


@pytest.mark.parametrize(("value", "expected"), TRUTH, ids=label)
def test_boolean(value: Any, *, expected: bool) -> None:
    assert webidl.boolean(value) is expected


STRINGS: list[tuple[Any, str]] = [
    ("x", "x"),
    ("", ""),
    (3, "3"),
    (True, "true"),
    (None, "undefined"),
    (np.int64(4), "4"),
    ("\ud800", "\ud800"),
]


@pytest.mark.parametrize(("value", "expected"), STRINGS)
def test_dom_string(value: Any, expected: str) -> None:
    assert webidl.domString(value) == expected


def test_dom_string_refuses() -> None:
    with pytest.raises(ConversionError, match="must be a string"):
        webidl.domString(b"x")


def test_enumeration() -> None:
    convert = webidl.enumeration("Colour", ("red", "green"))
    assert convert("red") == "red"
    assert convert(np.str_("green")) == "green"
    for value in ("Red", "", None, 0, ["red"]):
        with pytest.raises(ConversionError, match=r"must be one of \['red', 'green'\] \(Colour\)"):
            convert(value)


SEQUENCES: list[Any] = [
    [1, 2],
    (1, 2),
    np.array([1, 2]),
    np.array([1.5, 2.5], np.float32),
    range(1, 3),
    iter([1, 2]),
    {1: "a", 2: "b"}.keys(),
    bytearray(b"\1\2"),
]


@pytest.mark.parametrize("value", SEQUENCES, ids=lambda value: type(value).__name__)
def test_sequence(value: Any) -> None:
    assert webidl.sequence(webidl.enforceRangeUnsignedLong)(value) == (1, 2)


@pytest.mark.parametrize("value", [3, None, "12", b"12", {1: 2}, np.array(1), object()])
def test_sequence_refuses(value: Any) -> None:
    with pytest.raises(ConversionError, match="must be a sequence"):
        webidl.sequence(webidl.enforceRangeUnsignedLong)(value)


def test_errors_say_where() -> None:
    with pytest.raises(ConversionError) as caught:
        webidl.sequence(webidl.sequence(webidl.double))([[1], [2, "x"]])
    assert caught.value.path == "[1][1]"
    with pytest.raises(ConversionError) as caught:
        webidl.record({"a": 1, "b": "x"}, webidl.double)
    assert caught.value.path == "['b']"


def test_record() -> None:
    assert list(webidl.record({"b": 1, 2: 2, True: 3}, webidl.double).items()) == [("b", 1), ("2", 2), ("true", 3)]
    for value in (None, [("a", 1)], "ab"):
        with pytest.raises(ConversionError, match="must be a mapping"):
            webidl.record(value, webidl.double)


def test_dictionary_members() -> None:
    assert webidl.dictionary_members(None) == {}
    assert webidl.dictionary_members({"a": None, "b": 0}) == {"b": 0}
    for value in (3, "a", [("a", 1)]):
        with pytest.raises(ConversionError, match="must be a dictionary"):
            webidl.dictionary_members(value)


def test_quoted_values_are_short() -> None:
    assert len(webidl.describe("x" * 1000)) <= 80
    assert webidl.describe(np.zeros((3, 4))) == "a NumPy array of float64 [3, 4]"
