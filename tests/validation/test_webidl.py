"""Web IDL conversion, value by value, as a browser does it."""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from webnn.validation import webidl
from webnn.validation.webidl import ConversionError


class Index:
    """A number by ``__index__``."""

    def __index__(self) -> int:
        return 5


class Half:
    """A number by ``__float__``; as 0-D arrays of other libraries it has ``__index__`` too, and refuses it."""

    def __index__(self) -> int:
        raise TypeError

    def __float__(self) -> float:
        return 5.5


class Liar(int):
    """An int whose methods know another number."""

    __index__ = __int__ = __float__ = __hash__ = lambda self: 7
    __eq__ = __lt__ = __le__ = lambda self, other: True  # type: ignore[assignment]  # that is the point
    __repr__ = lambda self: "three"  # noqa: E731 (short)


class Colour(enum.StrEnum):
    """An enumeration of the program."""

    RED = "red"


def raising(error: BaseException) -> Any:
    """Make an object whose methods raise an exception."""

    def fail(*_: object) -> Any:
        raise error

    return type("Raising", (), dict.fromkeys(("__index__", "__float__", "__iter__", "__repr__", "__bool__", "items"), fail))()


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def label(value: Any) -> str:
    """Name a test case; the text of some objects holds their address, which differs between processes."""
    text = webidl.describe(value)
    return type(value).__name__ if " at 0x" in text or " id=" in text else text


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
    (np.longdouble(2.5), 2),
    (np.array(np.longdouble(2)), 2),
    (Half(), 5),
    (Liar(3), 3),
    (np.float64(3.5), 3),
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
    (10**5000, "must be from 0 to 4294967295 .unsigned long., got an integer of 16610 bits"),
    ("9" * 5000, "must be a finite number"),
    ("0x" + "f" * 5000, "must be from 0 to 4294967295"),
    (np.longdouble("1e4000"), "must be a finite number"),
    (Decimal("sNaN"), "must be a number, got Decimal.'sNaN'., which raised ValueError"),
    (Fraction(10**400), "must be a number, got Fraction.*, which raised OverflowError"),
    (Fraction(10**5000), "must be a number, got an object of the class Fraction, which raised OverflowError"),
    (nested(5000), r"must be a number, got \[\[\[\[...\]\]\]\]$"),
    (Mock(spec=int), "must be a number"),
    (raising(ZeroDivisionError()), "must be a number, got an object of the class Raising, which raised ZeroDivisionError"),
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
    (10**5000, True),
    (Liar(0), False),
    (np.longdouble("nan"), False),
    (Mock(spec=str), True),
    (raising(ValueError()), True),
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
    ("\ud83d\ude00", "\U0001f600"),
    ("é\ude00\ud83d", "é\ude00\ud83d"),
    (Colour.RED, "red"),
    (Liar(3), "3"),
]


@pytest.mark.parametrize(("value", "expected"), STRINGS, ids=ascii)
def test_dom_string(value: Any, expected: str) -> None:
    result = webidl.domString(value)
    assert (result, type(result)) == (expected, str)


USV_STRINGS = [
    ("", ""),
    ("a\ud800", "a\ufffd"),
    ("\udc00\ud800z", "\ufffd\ufffdz"),
    ("\ud83d\ude00", "\U0001f600"),
    ("\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
    ("Ω\u202e\0", "Ω\u202e\0"),
    (None, "undefined"),
]


@pytest.mark.parametrize(("value", "expected"), USV_STRINGS, ids=ascii)
def test_usv_string(value: Any, expected: str) -> None:
    assert webidl.usvString(value) == expected


@pytest.mark.parametrize("value", [b"x", 0.5, 10**5000, Mock(spec=str), raising(ValueError())], ids=label)
def test_dom_string_refuses(value: Any) -> None:
    with pytest.raises(ConversionError, match="must be a string"):
        webidl.domString(value)


def test_enumeration() -> None:
    convert = webidl.enumeration("Colour", ("red", "green"))
    assert convert("red") == "red"
    assert convert(np.str_("green")) == "green"
    assert type(convert(Colour.RED)) is str
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


class OwnInteger(int):
    """An integer with a value of its own kind."""


UNSIGNED_LONGS: list[Any] = [
    *([1, 2], (), [0, 2**32 - 1], [2**32], [-1], [1, -1], [True, 2], [1.5, 2], [1.0], ["3"], [None], [np.int64(4)], [math.nan], [[1]]),
    *([OwnInteger(3)], (OwnInteger(-3),), np.array([1, 2]), range(3), "12", None, 3, {1: 2}, bytearray(b"\1")),
]


@pytest.mark.parametrize("value", UNSIGNED_LONGS, ids=repr)
def test_sequences_of_unsigned_long_are_converted_as_any_other(value: Any) -> None:
    """Plain integers are not converted one by one; what comes out is the same, and so are the messages."""
    expected, actual = (_outcome(convert, value) for convert in (webidl.sequence(webidl.enforceRangeUnsignedLong), webidl.unsignedLongs))
    assert actual == expected
    assert {type(each) for each in actual} <= {int, str}


def _outcome(convert: Any, value: Any) -> Any:
    try:
        return convert(value)
    except ConversionError as error:
        return error.path, str(error.reason)


@pytest.mark.parametrize("value", [3, None, "12", b"12", {1: 2}, np.array(1), object()])
def test_sequence_refuses(value: Any) -> None:
    with pytest.raises(ConversionError, match="must be a sequence"):
        webidl.sequence(webidl.enforceRangeUnsignedLong)(value)


class Counted:
    """Counts how often its iterator is asked for."""

    def __init__(self) -> None:
        self.count = 0

    def __iter__(self) -> Iterator[int]:
        self.count += 1
        return iter([1, 2])


class Growing(list[Any]):
    """Each element that is converted makes it longer."""

    def __init__(self) -> None:
        super().__init__([self])

    def __index__(self) -> int:
        self.append(self)
        return 1


def test_a_sequence_is_read_once() -> None:
    counted = Counted()
    assert webidl.sequence(webidl.enforceRangeUnsignedLong)(counted) == (1, 2)
    assert counted.count == 1
    grown: list[Any] = []
    grown.append(type("Grow", (), {"__index__": lambda self: grown.append(self) or 1})())
    assert webidl.sequence(webidl.enforceRangeUnsignedLong)(grown) == (1,)


@pytest.mark.parametrize("make", [itertools.count, lambda: itertools.repeat(2), Growing])
def test_an_endless_iterator(make: Callable[[], Any]) -> None:
    with pytest.raises(ConversionError, match="must yield at most 65536 elements, got more from"):
        webidl.sequence(webidl.enforceRangeUnsignedLong)(make())
    assert len(webidl.sequence(webidl.enforceRangeUnsignedLong)(range(65536))) == 65536


def test_an_iterator_that_raises() -> None:
    def halfway() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError

    for value in (halfway(), raising(ZeroDivisionError())):
        with pytest.raises(ConversionError, match=r"must be a sequence, got .*, which raised ZeroDivisionError") as caught:
            webidl.sequence(webidl.double)(value)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(ConversionError) as caught:
        webidl.sequence(webidl.sequence(webidl.double))([[raising(ZeroDivisionError())]])
    assert (caught.value.path, type(caught.value.__cause__)) == ("[0][0]", ZeroDivisionError)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_passes_through(error: type[BaseException]) -> None:
    value = raising(error())
    for convert in (webidl.double, webidl.enforceRangeLong, webidl.sequence(webidl.double)):
        with pytest.raises(error):
            convert(value)


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


def test_keys_that_are_no_names() -> None:
    assert webidl.dictionary_members({1: 2, "a": 3, Colour.RED: 4}) == {"a": 3, "red": 4}
    with pytest.raises(ConversionError, match=r"must have names that are strings, got \(1,\)"):
        webidl.record({(1,): 2}, webidl.double)
    names = dict(zip(("a\ud800", "a\udc00"), (1, 2), strict=True))
    assert webidl.record(names, webidl.double) == names
    assert webidl.record(names, webidl.double, webidl.usvString) == {"a\ufffd": 2}


DESCRIBED: list[tuple[Any, str]] = [
    ((1,), "(1,)"),
    ([], "[]"),
    ([1, "a", None], "[1, 'a', None]"),
    ([0.125] * 100, "[0.125" + ", 0.125" * 9 + ", 0.125,..."),
    (10**5000, "an integer of 16610 bits"),
    ([10**5000], "[an integer of 16610 bits]"),
    (nested(10**4), "[[[[...]]]]"),
    (b"x" * 10**6, "bytes of length 1000000"),
    ("\ud800\u202e\n", r"'\ud800\u202e\n'"),
    (raising(ZeroDivisionError()), "an object of the class Raising"),
    ([raising(ZeroDivisionError())], "[an object of the class Raising]"),
]


@pytest.mark.parametrize(("value", "text"), DESCRIBED, ids=range(len(DESCRIBED)))
def test_every_value_can_be_quoted(value: Any, text: str) -> None:
    assert webidl.describe(value) == text


def test_quoted_values_are_short() -> None:
    assert len(webidl.describe("x" * 1000)) <= 80
    assert webidl.describe(np.zeros((3, 4))) == "a NumPy array of float64 [3, 4]"
