"""Values between Python and a program in JavaScript: the side of Python. tests/webnn/notebook has both sides."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from webnn.javascript.values import Values, decode, encode


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, -7, 2**53 - 1, 2**53, -(10**3999), 0.5, "", "é\0\ud800"),
        *([], {}, [1, [2.5, {"a b": None}]], {"__proto__": {"x": 1}}, nested(64)),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_goes_there_comes_back(value: object) -> None:
    # The program returns JSON with the same marks.
    assert decode(*encode({"x": value})) == {"x": value}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0])
def test_numbers_that_json_does_not_have(value: float) -> None:
    [text] = {str(each) for each in [decode(*encode({"x": [{"y": value}]}))["x"][0]["y"]]}  # type: ignore[index]
    assert text == str(value)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", ">f4"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_arrays(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    result: Any = decode(*encode({"x": {"y": array}}))["x"]["y"]  # type: ignore[index]
    assert (result.dtype, result.shape, result.flags.writeable) == (array.dtype.newbyteorder("="), shape, True)
    assert np.array_equal(result, array)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([True, False]), np.array([1, 0], np.uint8)),
        (np.arange(6, dtype=np.int32)[::2], np.array([0, 2, 4], np.int32)),
        (np.arange(6, dtype=np.float32).reshape(2, 3).T, np.array([[0, 3], [1, 4], [2, 5]], np.float32)),
        (b"ab", np.array([97, 98], np.uint8)),
        (memoryview(np.array([[1.5]], np.float32)), np.array([[1.5]], np.float32)),
    ],
)
def test_what_becomes_an_array(value: object, expected: np.ndarray[Any, Any]) -> None:
    result: Any = decode(*encode({"x": value}))["x"]
    assert result.dtype == expected.dtype
    assert np.array_equal(result, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(2**60), 2**60),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        ((1, 2), [1, 2]),
        (OrderedDict(a=1), {"a": 1}),
    ],
)
def test_what_becomes_plain(value: object, expected: object) -> None:
    result = decode(*encode({"x": value}))["x"]
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ({1, 2}, TypeError, "x must be None, a bool, an int, a float, a str, an array, or a list or dict of these, got set"),
        ([{"a": [object()]}], TypeError, "x[0]['a'][0] must be None, .*, got object"),
        (1j, TypeError, "x must be None, .*, got complex"),
        (np.complex64(1), TypeError, "x must have a data type of int8, .*, got complex64"),
        (np.array(["a"]), TypeError, "x must have a data type of .*, got <U1"),
        (np.array([None]), TypeError, "x must have a data type of .*, got object"),
        (np.array([1], "M8[s]"), TypeError, r"x must have a data type of .*, got datetime64\[s\]"),
        (np.zeros(1, [("a", "f4")]), TypeError, "x must have a data type of "),
        ({"a": {1: 2}}, TypeError, "x['a'] must have keys of type str, got int"),
        (nested(65), ValueError, "must have at most 64 levels"),
        (circle(), ValueError, "must have at most 64 levels"),
        pytest.param(10**5000, ValueError, "x must have at most 4000 digits", id="a large integer"),
        (np.broadcast_to(np.float32(0), (2**30,)), ValueError, "x must have at most 2147483648 bytes, got 4294967296"),
    ],
)
def test_what_javascript_does_not_get(value: object, error: type[Exception], message: str) -> None:
    message = message.replace("[0]", r"\[0\]").replace("['a']", r"\['a'\]")
    with pytest.raises(error, match=message):
        encode({"x": value})


def test_numbers_are_exact() -> None:
    """JavaScript writes 2 ** 60 with the digits that lead back to it."""
    assert decode('{"values": {"x": 1152921504606847000, "y": 1e21}, "marked": []}', []) == {"x": 2**60, "y": 1e21}


@pytest.mark.parametrize(
    "content",
    [
        *(7, [], {}, {"values": [], "marked": []}, {"values": {"x": 1}}, {"values": {"x": 1}, "marked": {}}),
        *(
            {"values": {"x": 1}, "marked": [entry]}
            for entry in (7, [], [[], "number", "NaN"], [["x"], "number"], [[None], "number", "NaN"])
        ),
        *(
            {"values": {"x": [1]}, "marked": [[path, "number", "NaN"]]}
            for path in (["y"], ["x", 1], ["x", -1], ["x", "0"], ["x", 0, 0], [0])
        ),
        *({"values": {"x": 1}, "marked": [[["x"], "number", what]]} for what in ("7", 7, None, "nan")),
        *({"values": {"x": 1}, "marked": [[["x"], "bigint", what]]} for what in ("", "-", "1.5", 7, "9" * 4001, "٣")),
        *({"values": {"x": 1}, "marked": [[["x"], kind, [1]]]} for kind in ("Float32Array", "Uint16Array", "BigInt64Array", "Map", "")),
        *({"values": {"x": 1}, "marked": [[["x"], "Uint8Array", shape]]} for shape in ([2], [-1], [True], ["1"], [1.0], None, 1, [1] * 65)),
        {"values": {"x": 1}, "marked": [[["x"], "Uint8Array", [1]], [["x"], "Uint8Array", [1]]]},
        {"values": {"x": 1}, "marked": [[["x"], "Uint8Array", [1]], [["x", 0], "number", "NaN"]]},
    ],
    ids=lambda content: json.dumps(content)[:60],
)
def test_hostile_answers(content: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(json.dumps(content), [b"\x01"])


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"values": {"x": ' + "9" * 5000 + '}, "marked": []}'])
def test_hostile_texts(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(text, [])


def test_the_values_of_others() -> None:
    values = Values(inputs=encode({}), outputs=["y"])
    with pytest.raises(ValueError, match="the values must be those of y"):
        values.take('{"values": {"z": 1}, "marked": []}', [])
    values.take('{"values": {"y": 1}, "marked": []}', [])
    assert values.results == {"y": 1}
