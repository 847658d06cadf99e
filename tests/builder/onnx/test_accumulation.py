"""Accumulators of float16: exact sums of ones, and random operands beside a model that adds one number of float16 after the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.builder.onnx.accumulation_cases import CASES, COUNT, STOP
from tests.support import compute_directly
from webnn import ML, MLGraphBuilder, reference
from webnn.builder.graph import collect
from webnn.builder.numerics import Numerics
from webnn.builder.onnx.translate import translate
from webnn.builder.semantics import SWITCHES

Array = np.ndarray[Any, np.dtype[Any]]
FLOAT16 = {"accumulation": "float16"}


def computed(
    make: Callable[..., Any], arrays: list[Array], semantics: dict[str, str], *, numerics: Numerics = "exact", exact: bool = False
) -> tuple[list[Array], list[Array]]:
    """Compute with the engine, and with the reference."""
    builder = MLGraphBuilder(ML(revision="2026-06", semantics=semantics, numerics=numerics).createContextSync())  # type: ignore[arg-type]
    inputs = {f"x{index}": array for index, array in enumerate(arrays)}
    operands = [builder.input(name, dataType=array.dtype.name, shape=array.shape) for name, array in inputs.items()]  # type: ignore[call-arg,arg-type]
    made = make(builder, *operands)
    graph = builder.buildSync({f"y{index}": each for index, each in enumerate(made if isinstance(made, list) else [made])})
    expected = reference.compute(graph.description, inputs, semantics=graph._state.semantics, exact=exact)
    return compute_directly(graph, inputs), [*expected.values()]


@pytest.mark.parametrize(("operation", "make", "arrays", "result"), CASES, ids=[f"{index}-{each[0]}" for index, each in enumerate(CASES)])
def test_ones(operation: str, make: Callable[..., Any], arrays: list[Array], result: Callable[[float], float]) -> None:
    for semantics, count in (({}, COUNT), ({"accumulation": "float32"}, COUNT), (FLOAT16, STOP)):
        for numerics in ("exact", "fast"):
            for y in [each[0] for each in computed(make, arrays, semantics, numerics=numerics)]:  # type: ignore[arg-type]
                assert y.dtype == np.float16
                assert y.ravel()[0] == np.float16(result(count)), (operation, semantics, numerics)


def test_every_operation_of_the_switch_has_a_case() -> None:
    assert {operation for operation, *_ in CASES} == set(SWITCHES["accumulation"].operations)


def test_a_sum_of_1024_ones_is_right_and_of_2050_is_not() -> None:
    """The example of the issue is exact in both."""
    for count, wanted in ((1024, 1024), (2048, 2048), (2050, 2048)):
        for [y] in computed(lambda b, x: b.reduceSum(x), [np.ones(count, np.float16)], FLOAT16):
            assert y == wanted


def test_other_types_are_not_affected() -> None:
    """The model is the same, and so are the numbers of graphs that have float16 elsewhere."""
    cases: list[tuple[Callable[..., Any], list[tuple[int, ...]]]] = [
        (lambda b, x, y: b.softmax(b.mul(b.matmul(x, y), b.constant("float32", 0.125)), 1), [(8, 300), (300, 8)]),
        (lambda b, x, y: b.reduceMean(b.add(b.conv2d(x, y), x)), [(1, 2, 4, 4), (2, 2, 1, 1)]),
    ]
    for make, shapes in cases:
        models = []
        for semantics in ({}, FLOAT16):
            context = ML(revision="2026-06", semantics=semantics).createContextSync()  # type: ignore[arg-type]
            builder = MLGraphBuilder(context)
            operands = [builder.input(f"x{index}", dataType="float32", shape=shape) for index, shape in enumerate(shapes)]  # type: ignore[call-arg]
            graph = collect({"y": make(builder, *operands)})
            models.append(translate(graph, contributed=True, semantics=context._state.semantics).proto.SerializeToString())
        assert models[0] == models[1]
    ones = np.ones([1, COUNT], np.float32)
    for results in computed(lambda b, x: [b.reduceSum(x), b.reduceSum(b.cast(x, "float16"))], [ones], FLOAT16):
        assert [float(each) for each in results] == [COUNT, STOP]


def test_integers_and_reductions_of_no_axes() -> None:
    for [total] in computed(lambda b, x: b.reduceSum(x), [np.ones(COUNT, np.int32)], FLOAT16):
        assert total == COUNT
    large = np.array([300, -65504, np.nan], np.float16)
    for [y] in computed(lambda b, x: b.reduceL2(x, axes=[]), [large], FLOAT16):
        np.testing.assert_array_equal(y, np.abs(large))


def test_exact_results_have_the_accumulators() -> None:
    """`MLGraph.accuracy` compares with results that are not rounded at the end."""
    ones = np.ones([1, COUNT], np.float16)
    [[y], [exact]] = computed(lambda b, x: b.reduceL2(x), [ones], FLOAT16, exact=True)
    assert exact.dtype == np.float64
    assert exact == np.sqrt(STOP) != y


# A model of each operation in its simplest form: one scalar of float16 after the other. NumPy rounds its scalars after each operation.


def added(terms: list[np.float16]) -> np.float16:
    total = np.float16(0)
    for term in terms:
        total = np.float16(total + term)
    return total


def matmul_model(a: Array, b: Array) -> Array:
    rows, inner = a.shape
    return np.array([[added([a[i, k] * b[k, j] for k in range(inner)]) for j in range(b.shape[1])] for i in range(rows)], np.float16)


def conv_model(
    x: Array, w: Array, *, padding: list[int], strides: list[int], dilations: list[int], groups: int, shape: tuple[int, ...]
) -> Array:
    """One sample, "nchw" and "oihw": the rows of the filter, their columns, the channels."""
    y = np.zeros(shape, np.float16)
    inner, outer = w.shape[1], w.shape[0] // groups
    for o, p, q in product(*map(range, shape[1:])):
        terms = []
        for r, s, i in product(range(w.shape[2]), range(w.shape[3]), range(inner)):
            row, column = p * strides[0] + r * dilations[0] - padding[0], q * strides[1] + s * dilations[1] - padding[2]
            inside = 0 <= row < x.shape[2] and 0 <= column < x.shape[3]
            terms.append(x[0, o // outer * inner + i, row, column] * w[o, i, r, s] if inside else np.float16(0))
        y[0, o, p, q] = added(terms)
    return y


def conv_transpose_model(
    x: Array, w: Array, *, padding: list[int], strides: list[int], dilations: list[int], groups: int, shape: tuple[int, ...]
) -> Array:
    """One sample, "nchw" and "iohw": the rows of the filter, their columns, the channels."""
    y = np.zeros(shape, np.float16)
    inner, outer = x.shape[1] // groups, w.shape[1]
    for r, s, i in product(range(w.shape[2]), range(w.shape[3]), range(inner)):
        for group, o, p, q in product(range(groups), range(outer), range(x.shape[2]), range(x.shape[3])):
            row, column = p * strides[0] + r * dilations[0] - padding[0], q * strides[1] + s * dilations[1] - padding[2]
            if 0 <= row < shape[2] and 0 <= column < shape[3]:
                channel = group * inner + i
                y[0, group * outer + o, row, column] += x[0, channel, p, q] * w[channel, o, r, s]
    return y


def halves(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(0, 4, shape).astype(np.float16)


def assert_same(make: Callable[..., Any], arrays: list[Array], wanted: Array) -> None:
    """Check the bits of the engine and of the reference, and that an accumulator of float32 makes others."""
    for numerics in ("exact", "fast"):
        for [y] in computed(make, arrays, FLOAT16, numerics=numerics):  # type: ignore[arg-type]
            np.testing.assert_array_equal(y, wanted)
    assert not np.array_equal(computed(make, arrays, {})[0][0], wanted)


def test_products_of_random_matrices() -> None:
    a, b = halves(5, 40), halves(40, 6, seed=1)
    assert_same(lambda g, x, y: g.matmul(x, y), [a, b], matmul_model(a, b))
    assert_same(lambda g, x, y: g.gemm(x, y, aTranspose=True), [a.T.copy(), b], matmul_model(a, b))
    batches = np.stack([a, a[::-1]])
    assert_same(lambda g, x, y: g.matmul(x, y), [batches, b], np.stack([matmul_model(each, b) for each in batches]))


def test_the_addend_of_a_product_is_added_at_the_end() -> None:
    a, b, c = halves(3, 40), halves(40, 4, seed=1), halves(4, seed=2)
    wanted = (matmul_model(a, b).astype(np.float64) * 0.5 + 2.0 * c).astype(np.float16)
    assert_same(lambda g, x, y, z: g.gemm(x, y, c=z, alpha=0.5, beta=2), [a, b, c], wanted)


@pytest.mark.parametrize("seed", range(3))
def test_random_convolutions(seed: int) -> None:
    options: Any = {"padding": [1, 2, 2, 0], "strides": [[1, 1], [2, 1], [1, 3]][seed], "dilations": [[1, 2], [1, 1], [2, 1]][seed]}
    groups = [1, 2, 3][seed]
    x, w, bias = halves(1, 6, 7, 8, seed=seed), halves(6, 6 // groups, 3, 2, seed=9), halves(6, seed=5)
    plain = computed(lambda g, *v: g.conv2d(*v, groups=groups, **options), [x, w], {})[0][0]
    wanted = conv_model(x, w, groups=groups, shape=plain.shape, **options)
    assert_same(lambda g, *v: g.conv2d(*v, groups=groups, **options), [x, w], wanted)
    biased = (wanted.astype(np.float64) + bias.reshape(1, 6, 1, 1)).astype(np.float16)
    assert_same(lambda g, v, f, c: g.conv2d(v, f, groups=groups, bias=c, **options), [x, w, bias], biased)
    layouts: Any = {"inputLayout": "nhwc", "filterLayout": "ohwi"}
    turned = [x.transpose(0, 2, 3, 1).copy(), w.transpose(0, 2, 3, 1).copy()]
    assert_same(lambda g, *v: g.conv2d(*v, groups=groups, **options, **layouts), turned, wanted.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("seed", range(3))
def test_random_transposed_convolutions(seed: int) -> None:
    options: Any = {"padding": [1, 0, 2, 0], "strides": [[1, 1], [2, 1], [2, 3]][seed], "dilations": [[1, 2], [1, 1], [2, 1]][seed]}
    groups = [1, 2, 3][seed]
    x, w = halves(1, 12, 5, 4, seed=seed), halves(12, 2, 3, 2, seed=9)
    plain = computed(lambda g, *v: g.convTranspose2d(*v, groups=groups, **options), [x, w], {})[0][0]
    wanted = conv_transpose_model(x, w, groups=groups, shape=plain.shape, **options)
    assert_same(lambda g, *v: g.convTranspose2d(*v, groups=groups, **options), [x, w], wanted)


def test_a_transposed_convolution_has_no_terms_beside_the_filter() -> None:
    """Places between those that the filter meets stay 0, whatever the filter has."""
    x, w = np.ones([1, 1, 1, 2], np.float16), np.full([1, 1, 1, 1], np.inf, np.float16)
    for [y] in computed(lambda g, *v: g.convTranspose2d(*v, strides=[1, 2]), [x, w], FLOAT16):
        np.testing.assert_array_equal(y, [[[[np.inf, 0, np.inf]]]])


@pytest.mark.parametrize("name", ["L1", "L2", "Mean", "Sum", "SumSquare"])
def test_random_reductions(name: str) -> None:
    x = halves(2, 30, 3, 8)
    wanted = np.zeros([2, 3], np.float16)
    for i, j in np.ndindex(2, 3):
        numbers = x[i, :, j].ravel()
        terms = {"L1": np.abs(numbers), "L2": numbers * numbers, "SumSquare": numbers * numbers}.get(name, numbers)
        total = float(added(list(terms)))
        wanted[i, j] = {"L2": np.sqrt(abs(total)), "Mean": total / 240}.get(name, total)
    assert_same(lambda g, v: getattr(g, f"reduce{name}")(v, axes=[3, 1]), [x], wanted)


def test_random_recurrent_networks() -> None:
    """A few steps: where the engine and the reference round another way, later steps differ, too."""
    arguments = [halves(4, 3, 6) / 8, halves(2, 24, 6) / 8, halves(2, 24, 8) / 8]
    weights = [halves(4, 3, 6) / 8, halves(2, 32, 6) / 8, halves(2, 32, 8) / 8]
    for make, arrays in (
        (lambda g, *v: g.gru(*v, 4, 8, direction="both", returnSequence=True), arguments),
        (lambda g, *v: g.gru(*v, 4, 8, direction="both", resetAfter=False), arguments),
        (lambda g, *v: g.lstm(*v, 4, 8, direction="both", returnSequence=True), weights),
    ):
        found, expected = computed(make, arrays, FLOAT16)
        plain = computed(make, arrays, {})[0]
        for each, wanted, other in zip(found, expected, plain, strict=True):
            np.testing.assert_allclose(each, wanted, rtol=2**-9, atol=2**-11)
            assert np.abs(each - other).max() > np.abs(each - wanted).max()


def test_overflow_of_a_term_and_of_the_sum() -> None:
    """A product beyond 65,504 is infinite, and so is a sum, even if later terms would take it back."""
    for a, b, wanted in (
        ([300.0, 1.0], [300.0, 1.0], np.inf),
        ([60000.0, 60000.0, -60000.0], [1.0, 1.0, 1.0], np.inf),
        ([np.inf, 1], [0, 1], np.nan),
    ):
        rows, columns = np.array([a], np.float16), np.array(b, np.float16)[:, np.newaxis]
        for [y] in computed(lambda g, *v: g.matmul(*v), [rows, columns], FLOAT16):
            np.testing.assert_array_equal(y, [[wanted]])


def test_dimensions_with_names() -> None:
    """The graph is compiled once for many rows; for a convolution, once for each size."""
    context = ML(revision="2026-06+dynamic-shapes", semantics=FLOAT16).createContextSync()  # type: ignore[arg-type]
    builder = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float16", "shape": ["rows", COUNT]})  # type: ignore[typeddict-item]
    image = builder.input("image", {"dataType": "float16", "shape": [1, COUNT, "size", 1]})  # type: ignore[typeddict-item]
    ones = [
        builder.constant({"dataType": "float16", "shape": shape}, np.ones(shape, np.float16)) for shape in ([COUNT, 1], [1, COUNT, 1, 1])
    ]
    outputs = {"product": builder.matmul(x, ones[0]), "mean": builder.reduceMean(x), "conv": builder.conv2d(image, ones[1])}
    graph = builder.buildSync(outputs)
    for rows, size in ((1, 2), (3, 1)):
        arrays = {"x": np.ones([rows, COUNT], np.float16), "image": np.ones([1, COUNT, size, 1], np.float16)}
        shapes = {"product": [rows, 1], "mean": [], "conv": [1, 1, size, 1]}
        tensors = {name: context.createTensorSync(dataType="float16", shape=each.shape, writable=True) for name, each in arrays.items()}
        for name, tensor in tensors.items():
            context.writeTensor(tensor, arrays[name])
        results = {name: context.createTensorSync(dataType="float16", shape=shape, readable=True) for name, shape in shapes.items()}
        context.dispatch(graph, tensors, results)
        wanted = {"product": STOP, "mean": np.float16(STOP / (rows * COUNT)), "conv": STOP}
        for name, result in results.items():
            np.testing.assert_array_equal(context.readTensorSync(result), np.full(shapes[name], wanted[name], np.float16))
