"""Operators that move elements, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper, parser

import webnn.onnx
from tests.webnn.onnx.models import check, compute, make, one, operations
from webnn.onnx import RefusedModelError

MOST = 2**63 - 1
LEAST = -(2**63)


def numbers(*shape: int, dtype: str = "float32") -> Any:
    return np.asarray(np.arange(np.prod(shape)).reshape(shape) % 251, dtype)


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


#: The operator, the version of ONNX, the attributes, and the inputs, all of which are known but the first one; the number of outputs.
ROWS: dict[str, tuple[str, int, dict[str, Any], list[Any], int]] = {
    "reshape": ("Reshape", 21, {}, [numbers(2, 3, 4), ints(0, -1, 2)], 1),
    "reshape to a scalar": ("Reshape", 13, {}, [numbers(1, 1, dtype="int64"), ints()], 1),
    "reshape as it is": ("Reshape", 14, {"allowzero": 1}, [numbers(2, 3), ints(2, -1)], 1),
    "squeeze all": ("Squeeze", 21, {}, [numbers(1, 2, 1)], 1),
    "squeeze": ("Squeeze", 13, {}, [numbers(1, 2, 1), ints(-1)], 1),
    "squeeze 11": ("Squeeze", 11, {"axes": [0, -1]}, [numbers(1, 2, 1)], 1),
    "unsqueeze": ("Unsqueeze", 21, {}, [numbers(2, 3), ints(-1, 1)], 1),
    "unsqueeze 7": ("Unsqueeze", 7, {"axes": [0, 3]}, [numbers(2, 3)], 1),
    "flatten": ("Flatten", 21, {"axis": -1}, [numbers(2, 3, 4)], 1),
    "flatten at the end": ("Flatten", 9, {"axis": 3}, [numbers(2, 3, 4)], 1),
    "flatten a scalar": ("Flatten", 13, {"axis": 0}, [numbers()], 1),
    "transpose": ("Transpose", 21, {"perm": [1, 2, 0]}, [numbers(2, 3, 4, dtype="uint8")], 1),
    "transpose reversed": ("Transpose", 13, {}, [numbers(2, 3, 4)], 1),
    "transpose bool": ("Transpose", 13, {}, [numbers(2, 3) > 2], 1),
    "concat": ("Concat", 13, {"axis": -1}, [numbers(2, 3), numbers(2, 1), numbers(2, 2)], 1),
    "concat empty": ("Concat", 13, {"axis": 1}, [numbers(2, 3), numbers(2, 0)], 1),
    "split 11": ("Split", 11, {"axis": -1, "split": [1, 4, 2]}, [numbers(2, 7)], 3),
    "split": ("Split", 13, {"axis": 1}, [numbers(2, 7), ints(1, 4, 2)], 3),
    "split equally": ("Split", 13, {}, [numbers(6, 2)], 3),
    "split unevenly": ("Split", 18, {"num_outputs": 4}, [numbers(7, 2)], 4),
    "split once": ("Split", 18, {"num_outputs": 1}, [numbers(7, 2)], 1),
    "slice 9": ("Slice", 9, {"starts": [1, -2], "ends": [-1, MOST], "axes": [0, 2]}, [numbers(4, 3, 5)], 1),
    "slice 7 without axes": ("Slice", 7, {"starts": [1], "ends": [3]}, [numbers(4, 3)], 1),
    "slice": ("Slice", 13, {}, [numbers(4, 3, 5), ints(0, 1), ints(3, 5), ints(0, -1), ints(2, 3)], 1),
    "slice without axes": ("Slice", 13, {}, [numbers(4, 3), ints(1), ints(3)], 1),
    "slice backwards": ("Slice", 13, {}, [numbers(4, 7), ints(MOST, -2), ints(LEAST, 1), ints(0, 1), ints(-1, -3)], 1),
    "slice backwards from before the start": ("Slice", 13, {}, [numbers(4, 7), ints(-9), ints(LEAST), ints(1), ints(-2)], 1),
    "slice huge": ("Slice", 13, {}, [numbers(4, 7), ints(LEAST, 2), ints(MOST, MOST), ints(0, 1), ints(1, MOST)], 1),
    "slice int32": ("Slice", 13, {}, [numbers(4), *(np.array([each], np.int32) for each in (3, -5, 0, -1))], 1),
    "slice bool": ("Slice", 13, {}, [numbers(4, 2) > 2, ints(1), ints(3)], 1),
    "expand": ("Expand", 13, {}, [numbers(3, 1), ints(2, 1, 4)], 1),
    "expand less": ("Expand", 8, {}, [numbers(2, 3, 1), ints(1)], 1),
    "tile": ("Tile", 13, {}, [numbers(2, 3), ints(1, 2)], 1),
    "tile once": ("Tile", 13, {}, [numbers(2, 3), ints(1, 1)], 1),
    "pad": ("Pad", 21, {}, [numbers(2, 3), ints(1, 0, 0, 2), np.array(-0.5, np.float32)], 1),
    "pad 7": ("Pad", 7, {"pads": [1, 0, 0, 2], "value": 1.5}, [numbers(2, 3)], 1),
    "pad 11": ("Pad", 11, {}, [numbers(2, 3), ints(1, 0, 0, 2)], 1),
    "pad infinite": ("Pad", 13, {}, [numbers(2, 3), ints(1, 0, 0, 2), np.array(-np.inf, np.float32)], 1),
    "pad integers": ("Pad", 13, {}, [numbers(2, 3, dtype="int64"), ints(1, 0, 0, 2), np.array(2**62 + 1)], 1),
    "pad uint8": ("Pad", 13, {}, [numbers(2, 3, dtype="uint8"), ints(1, 0, 0, 2), np.array(200, np.uint8)], 1),
    "pad bool": ("Pad", 13, {}, [numbers(2, 3) > 1, ints(1, 0, 0, 2), np.array(True)], 1),
    "pad axes": ("Pad", 19, {}, [numbers(2, 3, 4), ints(1, 0, 0, 2), np.array(7, np.float32), ints(-1, 0)], 1),
    "pad negative": ("Pad", 13, {}, [numbers(4, 5), ints(-1, 2, 1, -3)], 1),
    "pad negative only": ("Pad", 13, {}, [numbers(4, 5), ints(-1, 0, 0, -2)], 1),
    "pad nothing": ("Pad", 13, {}, [numbers(2, 3), ints(-3, 0, 4, 1), np.array(2.5, np.float32)], 1),
    "pad nothing 7": ("Pad", 7, {"pads": [3, 0, -2, 1], "value": 1.5}, [numbers(2, 3)], 1),
    "pad edge": ("Pad", 13, {"mode": "edge"}, [numbers(2, 3), ints(1, 4, 5, 2)], 1),
    "pad edge negative": ("Pad", 13, {"mode": "edge"}, [numbers(4, 5), ints(-1, 2, 3, -3)], 1),
    "pad reflect": ("Pad", 13, {"mode": "reflect"}, [numbers(3, 4), ints(1, 3, 2, 2)], 1),
    "pad wrap": ("Pad", 19, {"mode": "wrap"}, [numbers(2, 3), ints(1, 0, 3, 5)], 1),
    "pad wrap negative": ("Pad", 19, {"mode": "wrap"}, [numbers(3, 4), ints(2, -1, 0, 2)], 1),
    "depth to space": ("DepthToSpace", 13, {"blocksize": 2}, [numbers(2, 12, 2, 3)], 1),
    "depth to space of one": ("DepthToSpace", 7, {"blocksize": 3}, [numbers(1, 18, 2, 3)], 1),
    "depth to space by columns": ("DepthToSpace", 13, {"blocksize": 2, "mode": "CRD"}, [numbers(2, 12, 2, 3)], 1),
    "space to depth": ("SpaceToDepth", 13, {"blocksize": 2}, [numbers(2, 3, 4, 6)], 1),
    "space to depth of one": ("SpaceToDepth", 7, {"blocksize": 3}, [numbers(1, 2, 3, 6)], 1),
    "blocks of one": ("SpaceToDepth", 13, {"blocksize": 1}, [numbers(2, 3, 4, 6)], 1),
    "lower triangle": ("Trilu", 14, {"upper": 0}, [numbers(2, 4, 5), np.array(-1)], 1),
    "upper triangle": ("Trilu", 14, {}, [numbers(4, 5, dtype="int64")], 1),
    "no triangle": ("Trilu", 14, {}, [numbers(4, 5), np.array(MOST)], 1),
    "bool triangle": ("Trilu", 14, {"upper": 0}, [np.ones((3, 3), np.bool_), np.array(1)], 1),
    "sequences": ("ReverseSequence", 10, {}, [numbers(4, 3, 2), ints(1, 4, 3)], 1),
    "sequences by batches": ("ReverseSequence", 10, {"time_axis": 1, "batch_axis": 0}, [numbers(3, 4), ints(0, 4, 2)], 1),
    "whole sequences": ("ReverseSequence", 10, {}, [numbers(4, 3, 2), ints(4, 4, 4)], 1),
}


def build(row: str) -> tuple[Any, dict[str, Any]]:
    operator, version, attributes, inputs, count = ROWS[row]
    feeds = {f"x{index}": array for index, array in enumerate(inputs)}
    return one(operator, feeds, version, outputs=[f"y{index}" for index in range(count)], **attributes), feeds


@pytest.mark.parametrize("row", ROWS)
def test_movement(row: str) -> None:
    model, feeds = build(row)
    check(model, feeds, constants=list(feeds)[1:])


@pytest.mark.parametrize("row", ["sequences", "sequences by batches", "pad", "pad infinite", "pad bool", "pad nothing"])
def test_computed_inputs(row: str) -> None:
    model, feeds = build(row)
    check(model, feeds, constants=["x1"] if "x2" in feeds else [])


@pytest.mark.parametrize(
    ("shape", "axes", "wanted"), [([7, 4], None, [4, 7]), ([5, 6], [-1], [3]), ([2, 3], [0, 1], [2, 3]), ([4, 5, 6], [2, 0], [7, 1])]
)
def test_center_crop_pad(shape: list[int], axes: list[int] | None, wanted: list[int]) -> None:
    feeds = {"x": numbers(*shape), "shape": ints(*wanted)}
    check(one("CenterCropPad", feeds, **{} if axes is None else {"axes": axes}), feeds, constants=["shape"])


def test_space_to_depth_by_columns() -> None:
    for batches in (1, 2):
        feeds = {"x": numbers(batches, 3, 4, 6)}
        node = helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2, mode="CRD")
        expected = feeds["x"].reshape(batches, 3, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(batches, 12, 2, 3)
        assert (compute(make(node, feeds, 28), feeds)["y"] == expected).all()


def test_reflections_of_reflections() -> None:
    feeds = {"x": numbers(2, 1), "pads": ints(3, 1, 5, 2)}
    found = compute(one("Pad", feeds, mode="reflect"), feeds, constants=["pads"])["y"]
    assert (found == np.pad(feeds["x"], [(3, 5), (1, 2)], mode="reflect")).all()


def test_parts_without_elements_are_known() -> None:
    model = parser.parse_model(
        """
        <ir_version: 9, opset_import: ["" : 18]>
        m (float[2, 4] x) => (float[2, 9] y)
        <int64[3] sizes = {0, 4, 0}, int64[1] one = {1}, int64[1] two = {2}, int64[2] none = {1, 0}>
        {
            a, b, c = Split<axis = 1>(x, sizes)
            d = Slice(x, two, one, one)
            e = Tile(x, none)
            f = Concat<axis = 1>(a, x, c, d, e)
            g = Transpose<perm = [0, 1]>(f)
            h = Slice(x, one, two, one)
            y = Concat<axis = -1>(g, h, b, e)
        }
        """
    )
    assert operations(model) == ["slice", "concat"]
    check(model, {"x": numbers(2, 4)})


#: A name, and what it changes in a row: attributes, inputs by their numbers; and a part of the reason.
REFUSED: list[tuple[str, dict[str, Any], dict[int, Any], str]] = [
    ("reshape", {}, {1: ints(5, -1)}, r"must divide the number of elements, 24, got \[5, -1\]"),
    ("reshape", {}, {1: ints(-1, -1)}, "at most one -1"),
    ("reshape", {}, {1: ints(-2, 12)}, "sizes of at least 0"),
    ("reshape", {}, {1: ints(2, 3, 4, 0)}, "each 0 of the shape must copy a dimension"),
    ("reshape", {"allowzero": 1}, {1: ints(0, -1)}, "must divide"),
    ("reshape", {}, {1: ints(2, 3)}, r"must have 24 elements, got \[2, 3\]"),
    ("squeeze", {}, {1: ints(1)}, r"dimensions of size 1 of \[1, 2, 1\], got \[1\]"),
    ("squeeze", {}, {1: ints(0, -3)}, "each axis once"),
    ("unsqueeze", {}, {1: ints(9)}, "axes must be from -3 to 2, got 9"),
    ("flatten", {"axis": 4}, {}, "axis must be from -3 to 3, got 4"),
    ("transpose", {"perm": [0, 0, 0]}, {}, r"each number from 0 to 2 once, got \[0, 0, 0\]"),
    ("transpose", {"perm": [0, 1]}, {}, "each number from 0 to 2 once"),
    ("transpose", {"perm": [1, 2, 3]}, {}, "each number from 0 to 2 once"),
    ("concat", {"axis": 2}, {}, "axis must be from -2 to 1, got 2"),
    ("concat", {}, {1: numbers(3, 1)}, r"equal shapes but for axis 1, got \[2, 3\], \[3, 1\], \[2, 2\]"),
    ("split", {}, {1: ints(1, 4)}, "the sizes of the 3 parts must add up to the size of axis 1, 7"),
    ("split", {}, {1: ints(9, -1, -1)}, "the sizes of the 3 parts must add up"),
    ("split equally", {}, {0: numbers(5)}, "must divide the size of axis 0, 5, got 3"),
    ("split unevenly", {"num_outputs": 0}, {}, "must be the number of outputs, 4, got 0"),
    ("split unevenly", {}, {0: numbers(5)}, r"must add up to the size of axis 0, 5, got \[2, 2, 2, -1\]"),
    ("slice", {}, {4: ints(0, 1)}, r"steps must be other than 0, got \[0, 1\]"),
    ("slice", {}, {3: ints(0, 0)}, "each axis once"),
    ("slice", {}, {2: ints(3)}, "must be of one length, got 2, 1, 2 and 2"),
    ("slice 9", {"starts": [1]}, {}, "must be of one length, got 1, 2, 2 and 1"),
    ("expand", {}, {1: ints(2, 4)}, r"must broadcast with that of the input, \[3, 1\], got \[2, 4\]"),
    ("expand", {}, {1: ints(-3, 4)}, "must broadcast with"),
    ("tile", {}, {1: ints(2)}, r"must be 2 numbers of at least 0, got \[2\]"),
    ("tile", {}, {1: ints(2, -1)}, "must be 2 numbers of at least 0"),
    ("pad", {}, {1: ints(1, 2, 3)}, "pads must have 4 numbers, two for each axis, got 3"),
    ("pad", {"mode": "mirror"}, {}, "mode must be one of constant, reflect, edge, wrap, got 'mirror'"),
    ("pad", {}, {1: ints(-2, 0, -2, 0)}, "pads must take at most what the input has"),
    ("pad edge", {}, {1: ints(-2, 0, 4, 0)}, "must leave something"),
    ("pad", {}, {2: numbers(2)}, r"constant_value must be a scalar, got \[2\]"),
    ("pad wrap", {}, {1: ints(2**40, 0, 0, 0)}, "must have at most"),
    ("depth to space", {"blocksize": 0}, {}, "blocksize must be at least 1"),
    ("depth to space", {"blocksize": 5}, {}, "divide the input's shape"),
    ("space to depth", {"blocksize": 4}, {}, "divide the input's shape"),
    ("space to depth", {}, {0: numbers(2, 4)}, "must be 4-D"),
    ("lower triangle", {}, {1: ints(1, 2)}, "k must be one number"),
    ("sequences", {}, {1: ints(1, 5, 3)}, r"sequence_lens must be from 0 to 4, got \[1, 5, 3\]"),
    ("sequences", {}, {1: ints(1, 3)}, "one number for each of 3 sequences"),
    ("sequences", {"time_axis": 1}, {}, "must be 0 and 1, got 1 and 1"),
]


@pytest.mark.parametrize(("row", "attributes", "inputs", "reason"), REFUSED)
def test_refusals(row: str, attributes: dict[str, Any], inputs: dict[int, Any], reason: str) -> None:
    operator, version, given, arrays, count = ROWS[row]
    feeds = {f"x{index}": inputs.get(index, array) for index, array in enumerate(arrays)}
    with pytest.raises(RefusedModelError, match=reason):
        webnn.onnx.load(
            one(operator, feeds, version, outputs=[f"y{index}" for index in range(count)], **{**given, **attributes}),
            constants={name: feeds[name] for name in list(feeds)[1:]},
        )
