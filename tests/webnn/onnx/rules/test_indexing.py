"""Operators that pick or replace elements by index, against ONNX Runtime and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

import webnn.onnx
from tests.webnn.onnx.models import check, compute, make, one
from webnn.onnx import RefusedModelError

RANDOM = np.random.default_rng(11)


def numbers(*shape: int, dtype: str = "float32") -> Any:
    return (np.arange(np.prod(shape)).reshape(shape) % 251).astype(dtype)


def ints(values: Any, dtype: str = "int64") -> Any:
    return np.array(values, dtype)


def draw(size: int, *shape: int) -> Any:
    """Draw indices into a dimension, some of them negative."""
    return RANDOM.integers(-size, size, shape)


#: The operator, the version of ONNX, the attributes, the inputs.
ROWS: dict[str, tuple[str, int, dict[str, Any], list[Any]]] = {
    "gather": ("Gather", 13, {"axis": -1}, [numbers(2, 5), ints([[0, -1], [3, 1]])]),
    "gather one": ("Gather", 11, {}, [numbers(3, 2), ints(-2)]),
    "gather int32": ("Gather", 7, {"axis": 1}, [numbers(2, 5), ints([4, 0, 0], "int32")]),
    "gather bool": ("Gather", 13, {}, [numbers(3, 2) > 2, ints([1, 2])]),
    "gather int64": ("Gather", 13, {}, [numbers(3, 2, dtype="int64"), ints([1, 2])]),
    "gather elements": ("GatherElements", 13, {"axis": 1}, [numbers(2, 5), draw(5, 2, 7)]),
    "gather fewer elements": ("GatherElements", 11, {"axis": -2}, [numbers(4, 5, 3), draw(5, 2, 7, 3)]),
    "gather nd": ("GatherND", 13, {}, [numbers(3, 4, 5), ints([[0, -1], [-3, 2]])]),
    "gather nd elements": ("GatherND", 11, {}, [numbers(3, 4), ints([[[2, 3]], [[-1, -4]]])]),
    "gather nd batch": ("GatherND", 12, {"batch_dims": 1}, [numbers(3, 4, 5), draw(4, 3, 2, 1)]),
    "gather nd batches": ("GatherND", 13, {"batch_dims": 2}, [numbers(2, 3, 4, 5), draw(4, 2, 3, 2)]),
    "scatter": ("Scatter", 9, {"axis": 1}, [numbers(2, 5), ints([[1, 3], [-1, 0]]), numbers(2, 2)]),
    "scatter elements": ("ScatterElements", 13, {"axis": -1}, [numbers(2, 5), ints([[1, 3], [-1, 0]]), numbers(2, 2)]),
    "scatter fewer elements": ("ScatterElements", 13, {"axis": 1}, [numbers(3, 5, 4), ints([[[1, 3], [-1, 0]]]), -numbers(1, 2, 2)]),
    "scatter first elements": ("ScatterElements", 13, {}, [numbers(3, 5), ints([[1], [-1]]), -numbers(2, 1)]),
    "scatter nd": ("ScatterND", 13, {}, [numbers(4, 5), ints([[1], [-1]]), -numbers(2, 5)]),
    "scatter nd elements": ("ScatterND", 11, {}, [numbers(4, 5), ints([[1, -2], [-1, 0]]), -numbers(2)]),
    "scatter nd bool": ("ScatterND", 13, {}, [numbers(4) > 9, ints([[1], [-1]]), np.array([True, True])]),
    "one-hot": ("OneHot", 11, {}, [ints([[0, 2], [-1, 5]]), ints(4), np.array([-1, 2], np.float32)]),
    "one-hot in front": (
        "OneHot",
        9,
        {"axis": 0},
        [ints([0, 2, -4, -5], "int32"), np.array([4], np.float32), np.array([0, 1], np.float32)],
    ),
    "one-hot of floats": (
        "OneHot",
        11,
        {"axis": -2},
        [np.array([[0, 2], [-1, 9]], np.float32), np.array(4, np.float32), np.array([0, 1], np.float32)],
    ),
}
for _name in ("add", "mul", "max", "min"):
    _operands = [numbers(2, 5), ints([[1, 3], [-1, 0]]), -numbers(2, 2)]
    _same = [numbers(3, 4, 2), draw(4, 3, 9, 2), RANDOM.integers(1, 4, (3, 9, 2)).astype(np.float32)]
    _nd = [numbers(3, 4, 2, dtype="int32"), draw(3, 3, 3, 2), RANDOM.integers(-4, 4, (3, 3, 2)).astype(np.int32)]
    ROWS[f"{_name} elements"] = ("ScatterElements", 18, {"axis": 1, "reduction": _name}, _operands)
    ROWS[f"{_name} elements of one place"] = ("ScatterElements", 18, {"axis": 1, "reduction": _name}, _same)
    ROWS[f"{_name} nd"] = ("ScatterND", 18, {"reduction": _name}, [numbers(4, 3), ints([[3], [-4]]), numbers(2, 3)])
    ROWS[f"{_name} nd of one place"] = ("ScatterND", 18, {"reduction": _name}, _nd)
ROWS["add fewer elements"] = ("ScatterElements", 16, {"reduction": "add"}, [numbers(3, 5), ints([[2, 0], [-1, 0]]), numbers(2, 2)])
ROWS["max integers"] = ("ScatterElements", 18, {"reduction": "max"}, [numbers(3, dtype="int64"), ints([1, 1]), ints([-5, 9])])


def build(row: str) -> tuple[Any, dict[str, Any]]:
    operator, version, attributes, inputs = ROWS[row]
    feeds = {f"x{index}": array for index, array in enumerate(inputs)}
    return one(operator, feeds, version, **attributes), feeds


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("is_known", [True, False])
def test_indexing(row: str, is_known: bool) -> None:
    model, feeds = build(row)
    if ROWS[row][0] == "OneHot":
        known = ["x1", "x2"] if is_known else ["x1"]
    else:
        known = ["x1"] if is_known else []
    check(model, feeds, constants=known)


@pytest.mark.parametrize("row", ["gather", "gather elements", "gather nd batch", "scatter nd elements", "add nd"])
def test_known_indices_are_int32(row: str) -> None:
    model, feeds = build(row)
    description = webnn.onnx.load(model, constants={"x1": feeds["x1"]}).description
    constants = [each.value for each in description.constants.values() if each.value.size > 1]
    assert [each.dtype for each in constants] == [np.int32]
    assert constants[0].min() >= 0


def test_known_one_hot_vectors() -> None:
    model, feeds = build("one-hot")
    check(model, feeds, constants=["x0", "x1"])


def test_small_integers_are_reduced() -> None:
    x, places, updates = np.array([7, 100, 3], np.int8), ints([1, 1, -1]), np.array([5, 120, -9], np.int8)
    feeds = {"x": x, "i": places, "u": updates}
    for reduction, wanted in (("max", [7, 120, 3]), ("min", [7, 5, -9])):
        assert compute(one("ScatterElements", feeds, 18, reduction=reduction), feeds)["y"].tolist() == wanted


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize(("shape", "axis"), [((2, 3, 6, 2), -2), ((2, 6), 1), ((2, 6, 3), 1)])
def test_tensor_scatter(mode: str, is_known: bool, shape: tuple[int, ...], axis: int) -> None:
    size = list(shape)
    size[axis] = 3
    feeds = {"past": numbers(*shape), "update": -numbers(*size), "at": ints([5, 1] if mode == "circular" else [3, 1])}
    found = compute(one("TensorScatter", feeds, 24, mode=mode, axis=axis), feeds, constants=["at"] if is_known else [])["y"]
    expected = np.moveaxis(feeds["past"].copy(), axis, 1)
    for batch, begin in enumerate(feeds["at"]):
        expected[batch, [(begin + step) % 6 for step in range(3)]] = np.moveaxis(feeds["update"], axis, 1)[batch]
    np.testing.assert_array_equal(found, np.moveaxis(expected, 1, axis))


def test_tensor_scatter_at_the_beginning() -> None:
    feeds = {"past": numbers(2, 5, 3), "update": -numbers(2, 2, 3)}
    found = compute(one("TensorScatter", feeds, 24), feeds)["y"]
    np.testing.assert_array_equal(found, np.concatenate([feeds["update"], feeds["past"][:, 2:]], 1))


@pytest.mark.parametrize("shape", [(4,), (2, 4), (2, 3, 4)])
def test_array_feature_extractor(shape: tuple[int, ...]) -> None:
    feeds = {"x": numbers(*shape), "i": ints([[0, 3, 1]])}
    node = helper.make_node("ArrayFeatureExtractor", list(feeds), ["y"], domain="ai.onnx.ml")
    check(make(node, feeds, domains={"ai.onnx.ml": 3}), feeds, constants=["i"])


def test_results_without_elements_are_known() -> None:
    feeds = {"x": numbers(3, 4), "i": np.zeros((2, 0), np.int64)}
    node = helper.make_node("Gather", ["x", "i"], ["g"])
    rest = helper.make_node("ReduceSum", ["g"], ["y"], keepdims=0)
    model = make(node, feeds)
    model.graph.node.append(rest)
    model.graph.output[0].name = "y"
    assert compute(model, feeds, constants=["i"])["y"].tolist() == 0


#: A row, and what it changes: attributes, inputs by their numbers; and a part of the reason.
REFUSED: list[tuple[str, dict[str, Any], dict[int, Any], str]] = [
    ("gather", {}, {1: ints([5])}, "the indices must be from -5 to 4, got some from 5 to 5"),
    ("gather", {"axis": 2}, {}, "axis must be from -2 to 1, got 2"),
    ("gather one", {}, {0: numbers()}, "axis must be from 0 to -1, got 0"),
    ("gather elements", {}, {1: ints([[0], [0], [0]])}, r"must fit into \[2, 5\] but for axis 1, got \[3, 1\]"),
    ("gather elements", {}, {1: ints([0])}, "must fit into"),
    ("gather nd", {}, {1: ints([[0, 4]])}, "from -3 to 2 and from -4 to 3, got some from 0 to 4"),
    ("gather nd", {}, {1: ints([[0, 0, 0, 0]])}, "the coordinates must have from 1 to 3 parts, got 4"),
    ("gather nd batch", {"batch_dims": 3}, {}, "batch_dims must count equal dimensions"),
    ("gather nd batch", {"batch_dims": -1}, {}, "batch_dims must count equal dimensions"),
    ("scatter elements", {}, {1: ints([[1, 5], [0, 0]])}, "the indices must be from -5 to 4"),
    ("scatter elements", {}, {1: ints([[1]])}, r"one shape of 2 dimensions, got \[1, 1\] and \[2, 2\]"),
    ("scatter elements", {}, {1: draw(2, 3, 2), 2: numbers(3, 2)}, r"must fit into \[2, 5\] but for axis 1"),
    ("scatter nd", {}, {2: numbers(2, 4)}, r"the updates must have the shape \[2, 5\], got \[2, 4\]"),
    ("scatter nd", {}, {1: ints([[0, 0, 0]])}, "the coordinates must have from 1 to 2 parts"),
    ("add elements", {"reduction": "sub"}, {}, "reduction must be one of none, add, mul, max, min, got 'sub'"),
    ("add nd", {}, {0: np.ones((4, 3), np.bool_), 2: np.ones((2, 3), np.bool_)}, "the data must be numbers to add them"),
    ("one-hot", {}, {1: ints(-1)}, r"depth must be a number from 0 to \d+, got \[-1\]"),
    ("one-hot", {}, {1: ints(2**62)}, "depth must be a number from 0 to"),
    ("one-hot", {}, {2: numbers(3)}, r"values must be two numbers, got \[3\]"),
    ("one-hot", {"axis": 3}, {}, "axis must be from -3 to 2, got 3"),
]


@pytest.mark.parametrize(("row", "attributes", "inputs", "reason"), REFUSED)
def test_refusals(row: str, attributes: dict[str, Any], inputs: dict[int, Any], reason: str) -> None:
    operator, version, given, arrays = ROWS[row]
    feeds = {f"x{index}": inputs.get(index, array) for index, array in enumerate(arrays)}
    with pytest.raises(RefusedModelError, match=reason):
        webnn.onnx.load(one(operator, feeds, version, **{**given, **attributes}), constants={"x1": feeds["x1"]})


def test_too_many_updates_are_refused() -> None:
    feeds = {"x": np.zeros((5000, 8), np.float32), "i": np.zeros((5000, 1), np.int64), "u": np.zeros((5000, 8), np.float32)}
    model = one("ScatterND", feeds, 18, reduction="add")
    with pytest.raises(RefusedModelError, match="must be at most 16777216, got 200000000; indices that are known and different"):
        webnn.onnx.load(model)
    webnn.onnx.load(model, constants={"i": np.arange(5000).reshape(5000, 1)})
