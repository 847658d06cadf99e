"""The short way of converting descriptors gives what the long one gives, and leaves to it what it cannot convert."""

from __future__ import annotations

import collections
import enum
import itertools
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from webnn.validation import operand_descriptor
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.dictionary import Dictionary
from webnn.validation.drafts import find_revision
from webnn.validation.errors import WebNNTypeError
from webnn.validation.operand_descriptor import convertDescriptor, convertTensorDescriptor
from webnn.validation.operation import Call


class Text(str):
    pass


class Integer(int):
    def __index__(self) -> int:
        return 7


class Sizes(list[int]):
    def __iter__(self) -> Any:
        return iter([9, 9])


class Members(dict[str, Any]):
    def __getitem__(self, name: str) -> Any:
        return "int32"


class Kind(enum.StrEnum):
    FLOAT = "float32"


DATA_TYPES: list[Any] = [
    *("float32", "float16", "uint64", "int8", "int4", "uint4", "float64", "bool", ""),
    Text("int8"),
    Kind.FLOAT,
    None,
    3,
    ["int8"],
]
SIZES: list[Any] = [
    *([], [2, 3], (2, 3), [0], [1] * 9, [2**31], [2**32 - 1], [2**32], [-1], [2**70]),
    *([True], [2.0], [2.5], ["3"], [None], [np.int64(4)], [Integer(3)], [[2]]),
    *(Sizes([2]), range(3), iter([2, 3]), np.array([2, 3]), 3, "23", None),
]
REVISIONS = ("2024-06", "2026-06", "2026-06+browsers")

Outcome = tuple[str, object, list[str]]


def outcome(revision: str, members: Any, convert: Callable[[Call, Any], object] = convertDescriptor) -> Outcome:
    """Convert a descriptor; return the result or the error, and the warnings."""
    call = Call("input", "#anchor", find_revision(revision))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            # As text: True equals 1.
            result: object = repr(convert(call, members))
        except WebNNTypeError as error:
            result = f"{type(error).__name__}: {error}"
    return type(result).__name__, result, [str(each.message) for each in caught]


def refuse(dataType: Any, sizes: Any) -> None:
    """Stand for the short way: take nothing."""


def both(
    monkeypatch: pytest.MonkeyPatch, revision: str, make: Callable[[], Any], convert: Callable[[Call, Any], object] = convertDescriptor
) -> tuple[Outcome, Outcome]:
    with monkeypatch.context() as patch:
        patch.setattr(operand_descriptor, "_describe", refuse)
        expected = outcome(revision, make(), convert)
    return outcome(revision, make(), convert), expected


def renewed(value: Any) -> Any:
    """Return an iterator as new; an iterator can be used once."""
    return iter([2, 3]) if isinstance(value, collections.abc.Iterator) else value


@pytest.mark.parametrize("revision", REVISIONS)
def test_both_ways_agree(monkeypatch: pytest.MonkeyPatch, revision: str) -> None:
    count = 0
    for dataType, sizes in itertools.product(DATA_TYPES, SIZES):
        for names in (("shape",), ("dimensions",), ("shape", "dimensions"), ("dimensions", "shape", "dims"), ()):

            def make(names: tuple[str, ...] = names, dataType: Any = dataType, sizes: Any = sizes) -> dict[str, Any]:
                return {"dataType": dataType} | {name: renewed(sizes) for name in names}

            found, expected = both(monkeypatch, revision, make)
            assert found == expected
            count += 1
    assert count == len(DATA_TYPES) * len(SIZES) * 5


OTHERS: list[Callable[[], Any]] = [
    lambda: None,
    lambda: {},
    lambda: {"shape": [2]},
    lambda: Members(dataType="float32", shape=[2]),
    lambda: types.MappingProxyType({"dataType": "float32", "shape": [2], "dimensions": [2]}),
    lambda: collections.OrderedDict(dataType="float32", shape=[2]),
    lambda: {"dataType": "float32", "shape": [2], "name": "x"},
    lambda: {"dataType": "float32", "shape": [2], 3: 4},
    lambda: [("dataType", "float32")],
    lambda: {"dataType": "float32", "shape": [2], "dimensions": [3]},
    lambda: {"dataType": "float32", "shape": [2], "dimensions": "nonsense"},
]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("make", OTHERS)
def test_both_ways_agree_on_other_dictionaries(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Any], revision: str) -> None:
    found, expected = both(monkeypatch, revision, make)
    assert found == expected


#: The flags of a tensor, beside a type and sizes.
FLAGS: list[dict[str, Any]] = [
    {},
    {"readable": True},
    {"writable": True, "readable": False},
    {"readable": 1},
    {"writable": None},
    {"dims": []},
]


@pytest.mark.parametrize("revision", REVISIONS[1:])
def test_both_ways_agree_on_tensors(monkeypatch: pytest.MonkeyPatch, revision: str) -> None:
    for dataType, sizes, flags in itertools.product(DATA_TYPES, SIZES, FLAGS):
        for names in (("shape",), ("dimensions",), ("dimensions", "shape")):

            def make(
                dataType: Any = dataType, sizes: Any = sizes, flags: dict[str, Any] = flags, names: tuple[str, ...] = names
            ) -> dict[str, Any]:
                return {"dataType": dataType, **{name: renewed(sizes) for name in names}, **flags}

            found, expected = both(monkeypatch, revision, make, convertTensorDescriptor)
            assert found == expected
    for other in OTHERS:
        found, expected = both(monkeypatch, revision, other, convertTensorDescriptor)
        assert found == expected


def test_the_short_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Dictionary, "convertMembers")
    call = Call("input", "#anchor", find_revision("2026-06"))
    assert convertDescriptor(call, {"dataType": "int8", "shape": [2, 3]}) == OperandDescriptor("int8", (2, 3))
    tensor = {"dataType": "int8", "shape": [2, 3], "writable": True}
    assert convertTensorDescriptor(call, tensor) == (OperandDescriptor("int8", (2, 3)), False, True)
