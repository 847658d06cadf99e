"""dynamic-shapes: the new operations, names of dimensions, and what is refused when a graph is built."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import Array, each_row, shared_context
from webnn import MLGraphBuilder, WebNNTypeError, WebNNWarning
from webnn.proposals.dynamic_shapes.operations import OPERATIONS, make_reference

REVISION = "2026-06+dynamic-shapes"
#: That, and together with other proposals.
REVISIONS = [REVISION, "2026-06+low-precision+dynamic-shapes", "2026-06+dynamic-shapes+zero-size+compute-policy"]
#: The new operations as functions of arrays.
REFERENCE = make_reference()


def make_builder(revision: str = REVISION) -> Any:
    return MLGraphBuilder(shared_context(revision))


def sizes(*values: int, dtype: str = "int32") -> Array:
    return np.array(values, dtype)


def constant(builder: Any, array: Array) -> Any:
    return builder.constant({"dataType": array.dtype.name, "shape": array.shape}, array)


def dispatch(graph: Any, feeds: Mapping[str, Array], context: Any = None) -> dict[str, Array]:
    """Compute a graph with outputs of the shapes that it tells."""
    context = context or shared_context(REVISION)
    given, wanted = {}, {}
    for name, array in feeds.items():
        given[name] = context.createTensorSync({"dataType": array.dtype.name, "shape": array.shape, "writable": True})
        context.writeTensor(given[name], array)
    for name, shape in graph.computeShapes({name: array.shape for name, array in feeds.items()}).items():
        dataType = graph._outputDescriptors[name].dataType
        wanted[name] = context.createTensorSync({"dataType": dataType, "shape": shape, "readable": True})
    context.dispatch(graph, given, wanted)
    return {name: context.readTensorSync(tensor) for name, tensor in wanted.items()}


# The new operations.

_X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
_ONES = np.arange(6, dtype=np.float32).reshape(1, 3, 1, 2)
_PIXELS = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
_A = np.array([[-7, 7, 6, -6], [0, 3, -3, 5]], np.int32)
_B = np.array([3, -3, 4, -4], np.int32)

#: Calls: the operation, its arguments (an array is an operand), options, and the result by NumPy. An array among `VALUE_OPERANDS` is a
#: constant.
CALLS: list[tuple[str, list[Any], dict[str, Any], Any]] = [
    ("shape", [_X], {}, np.uint32([2, 3, 4])),
    ("range", [sizes(2), sizes(11), sizes(3)], {}, sizes(2, 5, 8)),
    ("range", [sizes(5), sizes(-2), sizes(-2)], {}, sizes(5, 3, 1, -1)),
    ("range", [np.int64(0), np.int64(3), np.int64(1)], {}, np.int64([0, 1, 2])),
    ("range", [np.float32([0.5]), np.float32([2]), np.float32([0.5])], {}, np.float32([0.5, 1, 1.5])),
    ("modulusFloor", [_A, _B], {}, np.mod(_A, _B)),
    ("modulusTruncate", [_A, _B], {}, np.fmod(_A, _B)),
    ("modulusFloor", [_A.astype(np.float32), _B.astype(np.float32) / 2], {}, np.mod(_A.astype(np.float32), _B.astype(np.float32) / 2)),
    ("modulusTruncate", [_A.astype(np.float16), _B.astype(np.float16)], {}, np.fmod(_A, _B).astype(np.float16)),
    ("modulusFloor", [np.uint8([[200], [7]]), np.uint8([3, 9])], {}, np.mod(np.uint8([[200], [7]]), np.uint8([3, 9]))),
    ("modulusTruncate", [np.int8([-128, 127]), np.int8([7])], {}, np.fmod(np.int8([-128, 127]), np.int8([7]))),
    ("modulusFloor", [np.int8([5, -5, -128]), np.int8([0, 0, -1])], {}, np.int8([5, -5, 0])),
    ("modulusTruncate", [np.uint64([2**64 - 1, 7]), np.uint64([0, 2**63])], {}, np.uint64([2**64 - 1, 7])),
    ("squeeze", [_ONES], {}, _ONES[0, :, 0]),
    ("squeeze", [_ONES], {"axes": [2]}, _ONES[:, :, 0]),
    ("squeeze", [_ONES], {"axes": []}, _ONES),
    ("unsqueeze", [_X, [0, 4]], {}, _X[None, ..., None]),
    ("unsqueeze", [_X, [3, 1]], {}, _X[:, None, :, None]),
    ("unsqueeze", [np.float32(3), [0]], {}, np.float32([3])),
    ("reshapeTo2d", [_X], {}, _X.reshape(2, 12)),
    ("reshapeTo2d", [_X], {"axis": 0}, _X.reshape(1, 24)),
    ("reshapeTo2d", [_X], {"axis": 3}, _X.reshape(24, 1)),
    ("reshapeDynamic", [_X, sizes(4, 6)], {}, _X.reshape(4, 6)),
    ("reshapeDynamic", [_X, sizes(24, dtype="int64")], {}, _X.reshape(24)),
    ("expandDynamic", [_ONES, sizes(2, 3, 4, 2, dtype="uint32")], {}, np.broadcast_to(_ONES, (2, 3, 4, 2))),
    ("sliceDynamic", [_X, sizes(1, 0, 2), sizes(1, 3, 2)], {}, _X[1:, :, 2:]),
    ("sliceDynamic", [_X, sizes(0, 0, 1), sizes(2, 3, 3)], {"strides": [1, 2, 2]}, _X[:, ::2, 1::2]),
    ("padDynamic", [_X[0], sizes(1, 0), sizes(0, 2)], {}, np.pad(_X[0], [(1, 0), (0, 2)])),
    ("splitDynamic", [_X, sizes(1, 3)], {"axis": 2}, [_X[..., :1], _X[..., 1:]]),
    ("resample2dDynamic", [_PIXELS], {"sizes": sizes(8, 2)}, _PIXELS[..., ::2].repeat(2, 2)),
    ("resample2dDynamic", [_PIXELS], {"scales": [2, 1], "axes": [2, 3]}, _PIXELS.repeat(2, 2)),
    ("tileDynamic", [_X[0], sizes(2, 3, dtype="uint64")], {}, np.tile(_X[0], (2, 3))),
]


def connect(builder: Any, name: str, arguments: list[Any], options: Mapping[str, Any], named: bool) -> tuple[list[Any], dict[str, Array]]:
    """Call an operation whose first operand, and each one that is not a list of sizes, is an input."""
    feeds: dict[str, Array] = {}

    def convert(value: Any, *, isInput: bool) -> Any:
        if not isinstance(value, np.ndarray | np.generic):
            return value
        array = np.asarray(value)
        if not isInput:
            return constant(builder, array)
        feeds[f"x{len(feeds)}"] = array
        shape = [f"size {size}" for size in array.shape] if named else array.shape
        return builder.input(f"x{len(feeds) - 1}", {"dataType": array.dtype.name, "shape": shape})

    both = name.startswith("modulus")
    operands = [convert(each, isInput=both or (index == 0 and name != "range")) for index, each in enumerate(arguments)]
    chosen = {member: convert(each, isInput=False) for member, each in options.items()}
    returned = getattr(builder, name)(*operands, chosen)
    return (returned if isinstance(returned, list) else [returned]), feeds


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("computes", ["engine", "reference"])
def test_values(call: tuple[str, list[Any], dict[str, Any], Any], named: bool, computes: str) -> None:
    name, arguments, options, expected = call
    wanted = expected if isinstance(expected, list) else [expected]
    context = webnn.ML(revision=REVISION, reference=computes == "reference").createContextSync()
    builder: Any = MLGraphBuilder(context)
    outputs, feeds = connect(builder, name, arguments, options, named)
    # An operand that is never a list of sizes keeps an input of the graph if the operation has none.
    results = dispatch(builder.buildSync({f"y{index}": each for index, each in enumerate(outputs)}), feeds, context)
    for found, each in zip(results.values(), wanted, strict=True):
        np.testing.assert_array_equal(found, each, strict=True)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_the_reference(call: tuple[str, list[Any], dict[str, Any], Any]) -> None:
    """The vectors of the new operations are its results."""
    name, arguments, options, expected = call
    found = REFERENCE[name](*[np.asarray(each) if isinstance(each, np.generic) else each for each in arguments], **options)
    for one, other in zip(
        found if isinstance(found, list) else [found], expected if isinstance(expected, list) else [expected], strict=True
    ):
        np.testing.assert_array_equal(one, other, strict=True)


def test_a_size_may_be_1_and_another_number_0() -> None:
    """The least size of a dimension is 1, and the least element of a list of numbers is 0: only they fit here."""
    context = shared_context(REVISION)
    builder: Any = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "shape": [1]})
    named = builder.input("named", {"dataType": "float32", "shape": ["rows"]})
    size, ones = builder.shape(named), constant(builder, sizes(1, dtype="uint32"))
    outputs = {"reshaped": builder.reshapeDynamic(x, size), "sliced": builder.sliceDynamic(x, builder.sub(size, ones), ones)}
    assert outputs["sliced"].shape == (1,)
    graph = builder.buildSync(outputs)
    feeds = {"x": np.full(1, 5, np.float32), "named": np.zeros(1, np.float32)}
    for found in dispatch(graph, feeds, context).values():
        np.testing.assert_array_equal(found, [5])


def test_every_operation_has_values() -> None:
    assert {row.name for row in OPERATIONS} == {name for name, *_ in CALLS} == set(REFERENCE)


#: Wrong calls: the operation, its arguments, options, and the message.
WRONG: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("shape", [np.float32(3)], {}, "shape: output must have dimensions from 1 to"),
    ("range", [sizes(0), sizes(3), sizes(0)], {}, "range: delta must not be 0"),
    ("range", [sizes(0), sizes(0), sizes(1)], {}, r"range: output must have dimensions from 1 .* got \[0\]"),
    ("range", [sizes(0, 1), sizes(3), sizes(1)], {}, r"range: start must have one element, got \[2\]"),
    ("range", [sizes(0), sizes(3, dtype="int64"), sizes(1)], {}, "range: limit must have the data type of start, int32, got int64"),
    ("range", [np.int8(0), np.int8(3), np.int8(1)], {}, r"range: start must have a data type of \['float32', 'int32'"),
    ("modulusFloor", [_A, _A[:, :3]], {}, r"modulusFloor: b must broadcast with the shape of a, \[2, 4\], got \[2, 3\]"),
    ("modulusTruncate", [_A, _X[0]], {}, "modulusTruncate: b must have the data type of a, int32, got float32"),
    ("squeeze", [_ONES], {"axes": [1]}, "squeeze: options.axes must name axes of size 1, but axis 1 has the size 3"),
    ("squeeze", [_ONES], {"axes": [4]}, r"squeeze: options.axes must be less than the rank of input, 4, in each element, got \[4\]"),
    ("squeeze", [_ONES], {"axes": [0, 0]}, r"squeeze: options.axes must be different from each other, got \[0, 0\]"),
    ("unsqueeze", [_X, [1, 1]], {}, "unsqueeze: axes must be different from each other"),
    ("unsqueeze", [_X, [4]], {}, r"unsqueeze: axes must be less than the rank of the output, 4, in each element, got \[4\]"),
    ("unsqueeze", [_X, [-1]], {}, r"unsqueeze: axes\[0\] must be from 0 to 4294967295"),
    ("reshapeTo2d", [_X], {"axis": 4}, "reshapeTo2d: options.axis must be at most the rank of input, 3, got 4"),
    ("reshapeDynamic", [_X, sizes(5)], {}, r"reshapeDynamic: newShape must have 24 elements, as \[2, 3, 4\] has, got \[5\]"),
    ("reshapeDynamic", [_X, sizes(-4, -6)], {}, r"reshapeDynamic: newShape must not be negative in any element, got \[-4, -6\]"),
    ("reshapeDynamic", [_X, sizes(0, 24)], {}, r"reshapeDynamic: newShape must be greater than 0 in each element, got \[0, 24\]"),
    ("reshapeDynamic", [_X, np.int32([[24]])], {}, "reshapeDynamic: newShape must be 1-D, got 2-D"),
    ("reshapeDynamic", [_X, np.float32([24])], {}, r"reshapeDynamic: newShape must have a data type of \['int32', 'uint32'"),
    ("expandDynamic", [_X, sizes(2, 3, 5)], {}, r"expandDynamic: newShape must be a shape to which \[2, 3, 4\] broadcasts"),
    ("sliceDynamic", [_X, sizes(0, 0, 3), sizes(2, 3, 2)], {}, r"sliceDynamic: sizes\[2\] must be at most 1 behind the start 3"),
    ("sliceDynamic", [_X, sizes(0, 0), sizes(2, 3, 2)], {}, "sliceDynamic: starts must have 3 elements"),
    ("padDynamic", [_X[0], sizes(1), sizes(0, 2)], {}, "padDynamic: beginningPadding must have 2 elements"),
    ("padDynamic", [_X[0], sizes(2**31 - 1, 0), sizes(0, 2)], {}, "padDynamic: output must have dimensions from 1 to 2147483647"),
    ("splitDynamic", [_X, sizes(1, 2)], {"axis": 2}, r"splitDynamic: splits must add up to the size of axis 2, 4, got \[1, 2\]"),
    ("resample2dDynamic", [_PIXELS], {"sizes": sizes(8)}, "resample2dDynamic: options.sizes must have 2 elements"),
    ("resample2dDynamic", [_PIXELS], {"sizes": sizes(0, 8)}, "resample2dDynamic: options.sizes must be greater than 0"),
    ("tileDynamic", [_X[0], sizes(2)], {}, "tileDynamic: repetitions must have 2 elements"),
    ("tileDynamic", [_X[0], sizes(2**30, 2**20)], {}, "tileDynamic: output must have"),
]


@each_row(("name", "arguments", "options", "message"), WRONG)
def test_wrong_calls(name: str, arguments: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(WebNNTypeError, match=message):
        connect(make_builder(), name, arguments, options, named=False)


# Facts that are known when a graph is built.


def matrix(builder: Any, name: str, *shape: Any, dtype: str = "float32") -> Any:
    return builder.input(name, {"dataType": dtype, "shape": shape})


def _attention(b: Any) -> Any:
    q, k = matrix(b, "q", "batch", "heads", "tokens", 8), matrix(b, "k", "batch", "heads", "past", 8)
    return b.softmax(b.matmul(q, b.transpose(k, permutation=[0, 1, 3, 2])), 3)


#: The shapes that operations give to names: exact ones, and where a new name stands, `...`.
SHAPES: list[tuple[str, Callable[[Any], Any], tuple[Any, ...] | None]] = [
    ("passes through", lambda b: b.relu(matrix(b, "x", "n", 4)), ("n", 4)),
    ("attention", _attention, ("batch", "heads", "tokens", "past")),
    ("with itself", lambda b: b.add(matrix(b, "x", "n", 4), matrix(b, "y", "n", 4)), ("n", 4)),
    ("with 1", lambda b: b.add(matrix(b, "x", "n", 4), matrix(b, "y", 1, 1)), ("n", 4)),
    ("with a size", lambda b: b.add(matrix(b, "x", "n", 4), matrix(b, "y", 3, 4)), (3, 4)),
    ("with another name", lambda b: b.add(matrix(b, "x", "n", 4), matrix(b, "y", "m", 4)), (..., 4)),
    ("joined", lambda b: b.concat([matrix(b, "x", "n", "k"), matrix(b, "y", 2, "k")], 0), (..., "k")),
    ("must be equal", lambda b: b.concat([matrix(b, "x", "n", 2), matrix(b, "y", 4, 2)], 1), (4, 4)),
    ("flattened", lambda b: b.reshapeTo2d(matrix(b, "x", "n", 2, 3)), ("n", 6)),
    ("flattened names", lambda b: b.reshapeTo2d(matrix(b, "x", "n", "m", 3), axis=2), (..., 3)),
    ("window", lambda b: b.maxPool2d(matrix(b, "x", 1, 2, "h", "w"), windowDimensions=[2, 2]), (1, 2, ..., ...)),
    ("scaled by 1", lambda b: b.resample2d(matrix(b, "x", 1, 2, "h", "w"), scales=[1, 2]), (1, 2, "h", ...)),
    ("padded by 0", lambda b: b.pad(matrix(b, "x", "n", "m"), [0, 1], [0, 0]), ("n", ...)),
    ("rank of indices", lambda b: b.gather(matrix(b, "x", "n", 4), matrix(b, "i", "k", 2, dtype="int32")), ("k", 2, 4)),
    ("coordinates", lambda b: b.gatherND(matrix(b, "x", 5, 4), matrix(b, "i", 3, "c", dtype="int32")), None),
    ("squeezed", lambda b: b.squeeze(matrix(b, "x", 1, "n", 4)), None),
    ("squeezed axes", lambda b: b.squeeze(matrix(b, "x", 1, "n", 4), axes=[0]), ("n", 4)),
    ("element by element", lambda b: b.relu(b.squeeze(matrix(b, "x", 1, "n", 4))), None),
    ("its shape", lambda b: b.shape(b.squeeze(matrix(b, "x", 1, "n", 4))), (...,)),
    ("given a rank", lambda b: b.reshapeDynamic(b.squeeze(matrix(b, "x", 1, "n", 4)), constant(b, sizes(2, 2))), (2, 2)),
    ("shape of shape", lambda b: b.reshapeDynamic(matrix(b, "x", "n", 4), b.shape(matrix(b, "y", 4, "n"))), (4, "n")),
    ("range", lambda b: _positions(b, matrix(b, "x", "n", 4)), ("n",)),
]


def _positions(b: Any, x: Any) -> Any:
    count = b.slice(b.shape(x), [0], [1])
    return b.range(constant(b, sizes(0, dtype="uint32")), count, constant(b, sizes(1, dtype="uint32")))


@pytest.mark.parametrize("row", SHAPES, ids=lambda row: row[0])
@pytest.mark.parametrize("revision", REVISIONS)
def test_shapes(row: tuple[str, Callable[[Any], Any], tuple[Any, ...] | None], revision: str) -> None:
    _, make, expected = row
    found = make(make_builder(revision)).shape
    if expected is None or found is None:
        assert found is expected
        return
    assert len(found) == len(expected)
    for size, wanted in zip(found, expected, strict=True):
        assert size == wanted if wanted is not ... else isinstance(size, str) and "axis" in size


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda b: b.matmul(matrix(b, "x", "n", 4), matrix(b, "y", 5, "m")), "matmul: b must have 4 rows, the number of columns of a, got 5"),
    (lambda b: b.reshape(matrix(b, "x", "n", 2), [7], label="flat"), r"\[flat\] reshape: newShape must have 2 \* n elements"),
    (lambda b: b.conv2d(matrix(b, "x", "n", 4), matrix(b, "f", 1, 1, 1, 1)), "conv2d: input must be 4-D"),
    (lambda b: b.add(matrix(b, "x", "n", 4), matrix(b, "y", "n", 4, dtype="int32")), "add: b must have the data type of a"),
    (lambda b: b.concat([matrix(b, "x", "n", 4), matrix(b, "y", "n", 5)], 0), r"concat: inputs\[1\] must have the shape of inputs\[0\]"),
    (lambda b: b.softmax(matrix(b, "x", "n", 4), 2), "softmax: axis must be below the rank of input, 2"),
    (lambda b: b.split(matrix(b, "x", 5, "n"), 2), "split: splits must divide the size of axis 0, 5, evenly"),
    (lambda b: b.slice(matrix(b, "x", "n"), [2**31 - 1], [1]), r"slice: starts\[0\] must be less than the size of axis 0, 'n'"),
    (lambda b: b.squeeze(matrix(b, "x", 2, "n"), axes=[0]), "squeeze: options.axes must name axes of size 1"),
    (lambda b: b.softmax(b.squeeze(matrix(b, "x", 1, "n", 4)), 3), "softmax: axis must be below the rank of input"),
    (
        lambda b: b.splitDynamic(matrix(b, "x", "n"), b.shape(b.squeeze(matrix(b, "y", 1, "n", 4)))),
        "splitDynamic: splits must have a length that is known when the graph is built",
    ),
    (
        lambda b: b.reshapeDynamic(matrix(b, "x", "n", 4), b.add(matrix(b, "d", 2, dtype="int32"), constant(b, sizes(1, 1)))),
        "reshapeDynamic: newShape must be computed of shapes and constants alone, but it depends on the data of the input 'd'",
    ),
    (lambda b: matrix(b, "x", "n", ""), r"input: descriptor.shape must not have an empty name, got \['n', ''\]"),
    (lambda b: b.input("x", {"dataType": "float32", "shape": itertools.repeat("n")}), "input: descriptor.shape must yield at most"),
    (lambda b: b.concat(itertools.repeat(matrix(b, "x", "n")), 0), "concat: inputs must yield at most"),
    (lambda b: b.reduceSum(matrix(b, "x", "n"), axes=itertools.repeat(0)), "reduceSum: options.axes must yield at most"),
    (lambda b: b.expand(matrix(b, "x", "n"), itertools.repeat(1)), "expand: newShape must yield at most"),
    (lambda b: b.relu(matrix(b, "x", "n"), 3), "relu: options must be a dictionary, got 3"),
    (lambda b: b.relu(matrix(b, "x", "n"), {"label": "a"}, label="b"), "relu: options must be given as a dictionary or as keyword"),
    (lambda b: matrix(b, "x", "n", -1), r"input: descriptor.shape\[1\] must be from 0 to 4294967295"),
    (lambda b: matrix(b, "x", *"abcdefghi"), "input: descriptor must have at most 8 dimensions"),
    (
        lambda b: constant(b, sizes(1)) and b.constant({"dataType": "int32", "shape": ["n"]}, sizes(1)),
        r"constant: descriptor.shape\[0\] must",
    ),
]


@each_row(("call", "message"), REFUSED)
def test_calls_that_no_size_makes_valid(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(WebNNTypeError, match=message):
        call(make_builder())


def test_names_of_computed_dimensions_are_different() -> None:
    b = make_builder()
    x, y = matrix(b, "x", "n", 2), matrix(b, "y", "m", 2)
    joined = [b.concat([x, y], 0) for _ in range(3)]
    names = [each.shape[0] for each in joined]
    assert len({str(each) for each in names}) == 3
    # A name that reads like it is another one: nothing is known of the two.
    same = matrix(b, "z", str(names[0]), 2)
    assert b.add(joined[0], joined[0]).shape == joined[0].shape
    assert b.add(joined[0], same).shape[0] not in (str(names[0]), names[0])
    assert matrix(b, "v", "n", 2).shape == ("n", 2)


def test_a_member_that_is_ignored_is_named_once() -> None:
    b = make_builder()
    x, y = matrix(b, "x", "n", 4), matrix(b, "y", "m", 4)
    with pytest.warns(WebNNWarning, match="add: options.axis is ignored") as caught:
        assert len(b.add(x, y, {"axis": 1, "label": "sum"}).shape) == 2
    assert len(caught) == 1


def test_many_unknown_comparisons_have_an_end() -> None:
    b = make_builder()
    total = matrix(b, "x", *[f"a{axis}" for axis in range(8)])
    for index in range(3):
        total = b.add(total, matrix(b, f"y{index}", *[f"b{index}{axis}" for axis in range(8)]))
    assert len(total.shape) == 8
    graph = b.buildSync({"y": total})
    assert graph.computeShapes({"x": [1] * 8, "y0": [2] * 8, "y1": [1] * 8, "y2": [2] * 8}) == {"y": [2] * 8}


def test_a_dictionary_is_read_once() -> None:
    b = make_builder()
    x = matrix(b, "x", "n", "m", 4)
    assert b.reduceSum(x, {"axes": iter([1])}).shape == ("n", 4)
    assert b.concat(iter([x, x]), 2).shape == ("n", "m", 8)
    assert b.transpose(x, {"permutation": (axis for axis in (2, 0, 1))}).shape == (4, "n", "m")
    assert b.input("i", {"dataType": "float32", "shape": iter(["n", 1])}).shape == ("n", 1)
