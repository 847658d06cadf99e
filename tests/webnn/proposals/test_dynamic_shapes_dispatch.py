"""dynamic-shapes: graphs that are dispatched with many shapes, and what else takes such graphs."""

from __future__ import annotations

import threading
import weakref
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import PATIENCE, each_row, shared_context
from tests.webnn.proposals.test_dynamic_shapes import REVISION, constant, dispatch, make_builder, matrix
from webnn import MLGraphBuilder, NotSupportedError, WebNNTypeError
from webnn.proposals.dynamic_shapes.graph import MOST_COMPILED


def test_computed_shapes_and_their_errors() -> None:
    b = make_builder()
    x, y = matrix(b, "x", "n", 4), matrix(b, "y", "n", "m")
    graph = b.buildSync({"z": b.matmul(b.transpose(x), y, label="product"), "half": b.split(x, 2)[0]})
    assert graph.computeShapes({"x": [6, 4], "y": [6, 5]}) == {"z": [4, 5], "half": [3, 4]}
    for shapes, message in [
        ({"x": [6, 4]}, r"computeShapes: inputShapes must be the inputs of the graph, .*, got \['x'\]"),
        ({"x": [6, 4], "y": [6, 5], "z": []}, "inputShapes must be the inputs of the graph"),
        ({"x": [6, 5], "y": [6, 5]}, r"inputShapes\['x'\] must be float32 \['n', 4\], got float32 \[6, 5\]"),
        ({"x": [6, 4, 1], "y": [6, 5]}, r"inputShapes\['x'\] must be float32 \['n', 4\], got float32 \[6, 4, 1\]"),
        ({"x": [6, 4], "y": [4, 5]}, r"inputShapes\['x'\] must have the size 4 for 'n', as inputShapes\['y'\] has, got \[6, 4\]"),
        ({"x": [5, 4], "y": [5, 5]}, "^split: splits must divide the size of axis 0, 5, evenly, got 2$"),
        ({"x": [0, 4], "y": [0, 5]}, "must have dimensions from 1 to 2147483647"),
        ({"x": [2**31, 4], "y": [2**31, 5]}, "must have dimensions from 1 to 2147483647"),
        ({"x": [2**30, 4], "y": [2**30, 5]}, "must have at most 2147483647 bytes"),
        ({"x": [-1, 4], "y": [6, 5]}, r"computeShapes: inputShapes\['x'\]\[0\] must be from 0 to 4294967295"),
        ({"x": 6, "y": [6, 5]}, r"computeShapes: inputShapes\['x'\] must be a sequence"),
        ({"x": ["n", 4], "y": [6, 5]}, r"computeShapes: inputShapes\['x'\]\[0\] must be"),
        (3, "computeShapes: inputShapes must be a mapping from names to shapes, got 3"),
    ]:
        with pytest.raises(WebNNTypeError, match=message):
            graph.computeShapes(shapes)
    graph.destroy()
    with pytest.raises(webnn.InvalidStateError, match="computeShapes: the graph must not be destroyed"):
        graph.computeShapes({"x": [6, 4], "y": [6, 5]})


def test_errors_of_dispatch() -> None:
    context = webnn.ML(revision=REVISION).createContextSync()
    b: Any = MLGraphBuilder(context)
    x, y = matrix(b, "x", "n", 4), matrix(b, "y", "m", 4)
    graph = b.buildSync({"z": b.add(x, y, label="sum")})

    def tensor(*shape: int, dataType: Any = "float32", of: Any = context) -> Any:
        return of.createTensorSync({"dataType": dataType, "shape": shape, "readable": True, "writable": True})

    destroyed, other = tensor(3, 4), tensor(3, 4, of=shared_context(REVISION))
    destroyed.destroy()
    x3, z3 = tensor(3, 4), tensor(3, 4)
    for inputs, outputs, error, message in [
        (
            {"x": x3, "y": tensor(2, 4)},
            {"z": z3},
            WebNNTypeError,
            r"^\[sum\] add: b must broadcast with the shape of a, \[3, 4\], got \[2, 4\]$",
        ),
        (
            {"x": x3, "y": tensor(1, 5)},
            {"z": z3},
            WebNNTypeError,
            r"dispatch: inputs\['y'\] must be float32 \['m', 4\], got float32 \[1, 5\]",
        ),
        ({"x": x3, "y": tensor(1, 4, dataType="int32")}, {"z": z3}, WebNNTypeError, r"must be float32 \['m', 4\], got int32 \[1, 4\]"),
        (
            {"x": x3, "y": tensor(1, 4)},
            {"z": tensor(1, 4)},
            WebNNTypeError,
            r"outputs\['z'\] must be float32 \[3, 4\], got float32 \[1, 4\]",
        ),
        ({"x": x3}, {"z": z3}, WebNNTypeError, r"inputs must be the inputs of the graph, .*, got \['x'\]"),
        (
            {"x": x3, "typo": tensor(1, 4)},
            {"z": z3},
            WebNNTypeError,
            r"inputs must be the inputs of the graph, \['x', 'y'\], got \['x', 'typo'\]",
        ),
        ({"x": x3, "y": x3}, {"z": z3}, WebNNTypeError, r"inputs\['y'\] must be a tensor of its own"),
        ({"x": x3, "y": destroyed}, {"z": z3}, WebNNTypeError, r"inputs\['y'\] must not be destroyed"),
        ({"x": x3, "y": other}, {"z": z3}, WebNNTypeError, r"inputs\['y'\] must be a tensor of this context"),
        ({"x": x3, "y": 3}, {"z": z3}, WebNNTypeError, r"inputs\['y'\] must be an MLTensor, got 3"),
        ({"x": x3, "y": x}, {"z": z3}, WebNNTypeError, r"inputs\['y'\] must be an MLTensor, got <MLOperand"),
        ({"x": x3, 5: tensor(1, 4)}, {"z": z3}, WebNNTypeError, r"inputs must be the inputs of the graph, .*, got \['x', '5'\]"),
        (MappingProxyType({"x": x3, "y": tensor(2, 4)}), {"z": z3}, WebNNTypeError, r"^\[sum\] add: b must broadcast"),
        (3, {"z": z3}, WebNNTypeError, "inputs must be a mapping from names to tensors"),
        ({"x": x3, "y": tensor(1, 4)}, None, WebNNTypeError, "outputs"),
    ]:
        with pytest.raises(error, match=message):
            context.dispatch(graph, inputs, outputs)
    with pytest.raises(WebNNTypeError, match="graph must be a graph of this context"):
        shared_context(REVISION).dispatch(graph, {"x": other}, {})
    assert context.lostSync(0) is None
    context.dispatch(graph, MappingProxyType({"y": tensor(1, 4), "x": x3}), MappingProxyType({"z": z3}))
    assert context.lostSync(0) is None
    graph.destroy()
    with pytest.raises(webnn.InvalidStateError, match="graph must not be destroyed"):
        context.dispatch(graph, {"x": x3, "y": tensor(1, 4)}, {"z": z3})
    context.destroy()
    with pytest.raises(webnn.InvalidStateError, match="lost"):
        context.dispatch(graph, {"x": x3, "y": x3}, {"z": z3})


def test_shapes_that_cannot_be_resolved() -> None:
    b = make_builder()
    x = matrix(b, "x", "n", 4)
    count = b.slice(b.shape(x), [0], [1])
    large = b.tileDynamic(count, b.cast(count, "int64"))
    total = b.reduceSum(large, axes=[0], keepDimensions=True)
    y = b.reshapeDynamic(x, b.concat([b.div(total, count), constant(b, np.uint32([4]))], 0))
    graph = b.buildSync({"y": y})
    assert graph.computeShapes({"x": [9, 4]}) == {"y": [9, 4]}
    with pytest.raises(WebNNTypeError, match="cannot resolve this shape"):
        graph.computeShapes({"x": [5_000, 4]})


@each_row("dataType", ["int4", "uint4"])
def test_small_integers_are_not_read(dataType: str) -> None:
    b: Any = make_builder("2026-06+dynamic-shapes+browsers")
    packed = b.constant({"dataType": dataType, "shape": [2]}, np.uint8([0x32]))
    x = matrix(b, "x", "n", 4)
    y = b.reshapeDynamic(x, b.cast(packed, "int32"))
    assert len(y.shape) == 2
    with pytest.raises(WebNNTypeError, match="cannot resolve this shape"):
        b.buildSync({"y": y}).computeShapes({"x": [3, 4]})


def test_a_large_constant_is_not_read() -> None:
    b = make_builder()
    weights = constant(b, np.ones(5000, np.int32))
    y = b.reshapeDynamic(matrix(b, "x", "n", 4), b.unsqueeze(b.reduceSum(weights), [0]))
    with pytest.raises(WebNNTypeError, match="cannot resolve this shape"):
        b.buildSync({"y": y}).computeShapes({"x": [1250, 4]})


def test_the_last_shapes_are_kept_and_older_ones_are_compiled_again() -> None:
    b = make_builder()
    graph = b.buildSync({"y": b.neg(matrix(b, "x", "n"))})
    made = [dispatch(graph, {"x": np.ones(count, np.float32)})["y"] for count in range(1, MOST_COMPILED + 4)]
    assert [each.size for each in made] == list(range(1, MOST_COMPILED + 4))
    kept = graph._implementation._compiled
    assert len(kept) == MOST_COMPILED
    first = weakref.ref(next(iter(kept.values())))
    np.testing.assert_array_equal(dispatch(graph, {"x": np.ones(1, np.float32)})["y"], [-1])
    assert len(kept) == MOST_COMPILED
    assert first() is None
    last = next(reversed(kept.values()))
    graph.destroy()
    assert not kept
    assert last._implementation is None


def test_two_threads_dispatch_different_shapes() -> None:
    b = make_builder()
    x = matrix(b, "x", "n", 8)
    graph = b.buildSync({"y": b.matmul(x, b.transpose(x))})
    errors: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for count in range(first, 25, 2):
                value = np.arange(count * 8, dtype=np.float32).reshape(count, 8) % 7
                np.testing.assert_array_equal(dispatch(graph, {"x": value})["y"], value @ value.T)
        except BaseException as error:  # it fails the test below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in (1, 2, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.parametrize("attempt", range(5))
def test_a_context_that_is_destroyed_meanwhile(attempt: int) -> None:
    """A thread that compiles for new shapes neither waits for ever, nor does it find another error."""
    context: Any = webnn.ML(revision=REVISION).createContextSync()
    b: Any = MLGraphBuilder(context)
    graph = b.buildSync({"y": b.relu(matrix(b, "x", "n"))})
    errors: list[BaseException] = []
    first = threading.Event()

    def work() -> None:
        try:
            for count in range(1, 1000):
                dispatch(graph, {"x": np.ones(count, np.float32)}, context)
                first.set()
        except BaseException as error:  # it is looked at below
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert first.wait(PATIENCE)
    context.destroy()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert [type(error) for error in errors] == [webnn.InvalidStateError]


def _block(b: Any, tokens: Any, past: Any) -> tuple[Any, Any, Any]:
    """Build a transformer block with a cache: the numbers of tokens and of steps in the cache are sizes or names."""
    rng = np.random.default_rng(1)
    x = matrix(b, "x", 1, tokens, 8)
    pasts = [matrix(b, name, 1, 2, past, 4) for name in ("keys", "values")]
    q, k, v = (b.matmul(x, constant(b, rng.normal(size=(8, 8)).astype(np.float32))) for _ in range(3))

    def heads(y: Any) -> Any:
        if isinstance(tokens, int):
            return b.transpose(b.reshape(y, [1, tokens, 2, 4]), permutation=[0, 2, 1, 3])
        shape = b.concat([b.slice(b.shape(y), [0], [2]), constant(b, np.uint32([2, 4]))], 0)
        return b.transpose(b.reshapeDynamic(y, shape), permutation=[0, 2, 1, 3])

    keys, values = (b.concat([old, heads(new)], 2) for old, new in zip(pasts, (k, v), strict=True))
    scores = b.softmax(b.matmul(heads(q), b.transpose(keys, permutation=[0, 1, 3, 2])), 3)
    mixed = b.transpose(b.matmul(scores, values), permutation=[0, 2, 1, 3])
    joined = b.reshape(mixed, [1, tokens, 8]) if isinstance(tokens, int) else b.reshapeDynamic(mixed, b.shape(x))
    return b.layerNormalization(b.add(x, joined)), keys, values


def test_a_transformer_block_with_a_growing_cache() -> None:
    b = make_builder()
    y, keys, values = _block(b, "tokens", "past")
    assert y.shape == (1, "tokens", 8)
    assert keys.shape[2] not in ("tokens", "past")
    graph = b.buildSync({"y": y, "keys": keys, "values": values})
    rng = np.random.default_rng(2)
    cache = {name: rng.normal(size=(1, 2, 1, 4)).astype(np.float32) for name in ("keys", "values")}
    for tokens in (3, 1, 1, 2, 1):
        feeds = {"x": rng.normal(size=(1, tokens, 8)).astype(np.float32), **cache}
        found = dispatch(graph, feeds)
        static = make_builder()
        outputs = _block(static, tokens, cache["keys"].shape[2])
        expected = dispatch(static.buildSync(dict(zip(("y", "keys", "values"), outputs, strict=True))), feeds)
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value, strict=True)
        cache = {name: found[name] for name in cache}
    assert cache["keys"].shape == (1, 2, 9, 4)


def test_subgraphs_take_operands_with_names() -> None:
    revision = "2026-06+subgraphs+dynamic-shapes"
    b = make_builder(revision)
    part = matrix(b, "part", "n", 4)
    scaled = b.buildSubgraph({"out": b.relu(b.reshapeDynamic(part, b.shape(part)))}, inputs={"part": part}, name="part")
    x = matrix(b, "x", "n", 4)
    graph = b.buildSync({"y": b.add(x, b.subgraph(scaled, {"part": x})["out"])})
    value = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(dispatch(graph, {"x": value}, shared_context(revision))["y"], value + np.maximum(value, 0))


def test_without_elements() -> None:
    revision = "2026-06+dynamic-shapes+zero-size"
    b = make_builder(revision)
    x, scalar = matrix(b, "x", "n", 2), matrix(b, "scalar")
    total = b.reduceSum(x, axes=[0, 1], keepDimensions=True)
    graph = b.buildSync({"y": b.concat([x, x], 0), "s": b.add(b.reshapeDynamic(total, b.shape(scalar)), scalar)})
    for count in (0, 3):
        found = dispatch(graph, {"x": np.ones((count, 2), np.float32), "scalar": np.array(1, np.float32)}, shared_context(revision))
        assert found["y"].shape == (2 * count, 2)
        np.testing.assert_array_equal(found["s"], np.array(2 * count + 1, np.float32), strict=True)


# Other functions that take graphs.


def test_inspection_takes_the_shapes_of_the_arrays() -> None:
    b = make_builder()
    x, y = matrix(b, "x", "n", 4), matrix(b, "y", 4, 2)
    graph = b.buildSync({"z": b.matmul(b.squeeze(b.unsqueeze(x, [0]), axes=[0]), y, label="product")})
    with pytest.raises(NotSupportedError, match="placement: the graph has no shapes yet: dispatch it"):
        _ = graph.placement
    feeds = {"x": np.ones((3, 4), np.float32), "y": np.ones(8, np.float32)}
    assert [each.shape for each in graph.accuracy(feeds).operators if each.label] == [(3, 2)]
    assert graph.trace(feeds, ["product"])["z"].shape == (3, 2)
    assert graph.firstNaN(feeds) is None
    assert graph.run(feeds)["z"].shape == (3, 2)
    assert graph.run(x=feeds["x"][:1], y=feeds["y"])["z"].shape == (1, 2)
    assert graph.devices == ["cpu"]
    assert "['n', 4]" in repr(graph)


def test_a_description_keeps_the_names() -> None:
    b = make_builder()
    x = matrix(b, "x", "n", 4)
    squeezed = b.squeeze(b.reshapeDynamic(x, b.shape(x)))
    graph = b.buildSync({"y": squeezed})
    description = graph.description
    assert description.inputs["x"].dimensions == ("n", 4)
    assert "of unknown rank" in str(description.descriptors()["y"])
    again = make_builder()
    other = again.buildSync(description.build(again))
    feeds = {"x": np.arange(4, dtype=np.float32).reshape(1, 4)}
    np.testing.assert_array_equal(dispatch(other, feeds)["y"], [0, 1, 2, 3])
