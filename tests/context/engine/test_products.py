"""Matrix products in one node with the transposes before and the factor behind: its bits are those of single nodes; when there is one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.context.devices.inventories import CUDA_GPU, make_inventory
from tests.support import CURRENT, Array, shared_context
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.graph import ComputationalGraph, collect
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.builder.onnx_names import SESSION_ENTRIES
from webnn.context import engine_backend
from webnn.context.devices.choice import select
from webnn.context.devices.selection import Device

RNG = np.random.default_rng(0)

Connect = Callable[[MLGraphBuilder, MLOperand, MLOperand], MLOperand]


@dataclass(frozen=True, kw_only=True)
class Product:
    """A matrix product of two inputs, each behind a transpose, and before a factor.

    Attributes:
        a: The shape of the first input.
        b: The shape of the second one.
        turns: The permutations of the inputs; empty for none.
        factor: Multiplied with the product; ``None`` for none.
        shape: The shape of the constant with the factor.
        divides: Divide by it.
        dataType: The data type of all.
        options: Other options that make a difference.
    """

    a: Sequence[int]
    b: Sequence[int]
    turns: tuple[Sequence[int], Sequence[int]] = ((), ())
    factor: float | None = None
    shape: Sequence[int] = ()
    divides: bool = False
    dataType: Any = "float32"
    options: frozenset[str] = field(default_factory=frozenset)

    def connect(self, builder: MLGraphBuilder) -> dict[str, MLOperand]:
        """Return the operands, by name."""
        made: dict[str, MLOperand] = {}
        factors = []
        for name, shape, permutation in zip("ab", (self.a, self.b), self.turns, strict=True):
            operand = builder.input(name, dataType=self.dataType, shape=list(shape))
            if permutation:
                operand = made[f"turned {name}"] = builder.transpose(operand, permutation=list(permutation))
            factors.append(operand)
        made["product"] = product = builder.matmul(*factors)
        if self.factor is not None:
            value = np.full(tuple(self.shape), self.factor, self.dataType)
            number = builder.constant({"dataType": self.dataType, "shape": list(self.shape)}, value)
            scale = builder.div if self.divides else builder.mul
            made["result"] = scale(number, product) if "number first" in self.options else scale(product, number)
        if "used twice" in self.options:
            made["result"] = builder.sub(made["result"], product)
        return made

    def collect(self, wanted: Sequence[str] = ()) -> ComputationalGraph:
        """Collect the graph with the result as its last output, behind other values that are wanted."""
        made = self.connect(MLGraphBuilder(shared_context(CURRENT)))
        names = [*wanted, "product" if self.factor is None else "result"]
        return collect({name: made[name] for name in names})

    def values(self, kind: str) -> dict[str, Array]:
        with np.errstate(over="ignore"):
            return {name: make_values(kind, shape).astype(self.dataType) for name, shape in (("a", self.a), ("b", self.b))}


def make_values(kind: str, shape: Sequence[int]) -> Array:
    values = RNG.normal(size=tuple(shape))
    if kind == "extreme":
        values *= 10.0 ** RNG.integers(-30, 19, values.shape)
    if kind == "specials":
        places = RNG.random(values.shape) < 0.05
        values[places] = RNG.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, 1e-42], np.count_nonzero(places))
    return values


def run(model: OnnxModel, feeds: Mapping[str, Array], threads: int = 1) -> Array:
    """Compute the last output of a translated graph."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, threads
    for entry in SESSION_ENTRIES.items():
        options.add_session_config_entry(*entry)
    assert not model.weights
    session = onnxruntime.InferenceSession(model.proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    output: Array = session.run(None, {model.inputs[name][0]: value for name, value in feeds.items()})[-1]
    return output


def nodes_of(model: OnnxModel) -> list[str]:
    return [node.op_type for node in model.proto.graph.node]


def check_bits(product: Product, kind: str = "numbers", threads: int = 1) -> list[str]:
    """Compare the bits with those of single nodes; return the nodes."""
    graph, feeds = product.collect(), product.values(kind)
    together, single = translate(graph, contributed=True), translate(graph)
    assert "FusedMatMul" not in nodes_of(single)
    actual, expected = run(together, feeds, threads), run(single, feeds, threads)
    # An assertion of `assert_array_equal` would not tell zeros of both signs.
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    same = (actual.view(f"u{actual.itemsize}") == expected.view(f"u{actual.itemsize}")) | (np.isnan(actual) & np.isnan(expected))
    assert same.all(), f"{product}: {np.count_nonzero(~same)} of {same.size} differ"
    return nodes_of(together)


#: Attention: the queries, keys and values of each head stand side by side.
HEADS = (0, 2, 1, 3)
TOGETHER: dict[str, tuple[Product, list[str]]] = {
    "scores of one sequence": (
        Product(a=[1, 7, 3, 16], b=[1, 9, 3, 16], turns=(HEADS, (0, 2, 3, 1)), factor=0.25),
        ["Reshape", "Reshape", "FusedMatMul"],
    ),
    "scores of several sequences": (
        Product(a=[2, 7, 3, 16], b=[2, 9, 3, 16], turns=(HEADS, (0, 2, 3, 1)), factor=0.3),
        ["Transpose", "Transpose", "FusedMatMul"],
    ),
    "scores over kept keys": (Product(a=[2, 3, 7, 16], b=[2, 3, 9, 16], turns=((), (0, 1, 3, 2)), factor=0.3), ["FusedMatMul"]),
    "what is attended to": (Product(a=[1, 3, 7, 9], b=[1, 9, 3, 16], turns=((), HEADS)), ["Reshape", "FusedMatMul"]),
    "a batch in the second place": (Product(a=[5, 3, 6], b=[8, 3, 6], turns=((1, 0, 2), (1, 2, 0))), ["FusedMatMul"]),
    "several batches behind the rows": (Product(a=[5, 3, 2, 6], b=[3, 2, 6, 4], turns=((1, 2, 0, 3), ())), ["FusedMatMul"]),
    "a transposed matrix": (Product(a=[2, 5, 6], b=[4, 6], turns=((), (1, 0))), ["FusedMatMul"]),
    "dimensions of size 1 that move": (
        Product(a=[5, 1, 6], b=[4, 1, 6], turns=((1, 0, 2), (1, 2, 0))),
        ["Reshape", "Reshape", "FusedMatMul"],
    ),
    "only such ones": (Product(a=[5, 1, 6], b=[1, 6, 4], turns=((1, 0, 2), ())), ["Reshape", "MatMul"]),
    "a factor of several dimensions": (Product(a=[3, 5], b=[5, 4], factor=-3.7, shape=[1, 1]), ["FusedMatMul"]),
    "a factor that stands first": (Product(a=[3, 5], b=[5, 4], factor=0.1, options=frozenset({"number first"})), ["FusedMatMul"]),
    "a quotient by a power of two": (Product(a=[3, 5], b=[5, 4], factor=8, divides=True), ["FusedMatMul"]),
    "by a negative one": (Product(a=[3, 5], b=[5, 4], factor=-(2.0**127), divides=True), ["FusedMatMul"]),
    "a product of as many terms as are added up at once": (Product(a=[3, 128], b=[128, 4], factor=0.1), ["FusedMatMul"]),
    "float16 behind a transpose": (
        Product(a=[3, 5], b=[4, 5], turns=((), (1, 0)), dataType="float16"),
        ["Cast", "Cast", "FusedMatMul", "Cast"],
    ),
}


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("kind", ["numbers", "extreme", "specials"])
def test_one_node(name: str, kind: str) -> None:
    product, nodes = TOGETHER[name]
    assert check_bits(product, kind) == nodes


SINGLE: dict[str, Product] = {
    "one row": Product(a=[3, 1, 6], b=[3, 6, 4], factor=0.5),
    "one row and transposed keys": Product(a=[3, 1, 6], b=[3, 4, 6], turns=((), (0, 2, 1))),
    "one column": Product(a=[3, 5, 6], b=[3, 6, 1], factor=0.5),
    "one column of a batch": Product(a=[3, 5, 6], b=[6, 3, 1], turns=((), (1, 0, 2))),
    "terms that are added up in parts": Product(a=[3, 129], b=[129, 4], factor=0.1),
    "zero, which would hide NaN": Product(a=[3, 5], b=[5, 4], factor=0),
    "infinity": Product(a=[3, 5], b=[5, 4], factor=np.inf),
    "NaN": Product(a=[3, 5], b=[5, 4], factor=np.nan),
    "several numbers": Product(a=[3, 5], b=[5, 4], factor=0.5, shape=[4]),
    "a dimension more": Product(a=[3, 5], b=[5, 4], factor=0.5, shape=[1, 1, 1]),
    "a quotient that is rounded": Product(a=[3, 5], b=[5, 4], factor=3, divides=True),
    "a quotient by one of the smallest numbers": Product(a=[3, 5], b=[5, 4], factor=2.0**-149, divides=True),
    "a quotient by zero": Product(a=[3, 5], b=[5, 4], factor=0, divides=True),
    "a number by a product": Product(a=[3, 5], b=[5, 4], factor=8, divides=True, options=frozenset({"number first"})),
    "float16, which is rounded between": Product(a=[3, 5], b=[5, 4], factor=0.3, dataType="float16"),
    "a product that is used twice": Product(a=[3, 5], b=[5, 4], factor=0.3, options=frozenset({"used twice"})),
    "rows that stand last": Product(a=[6, 5], b=[6, 4], turns=((1, 0), ())),
    "a batch that stands last": Product(a=[5, 6, 3], b=[3, 6, 4], turns=((2, 0, 1), ())),
    "batches that turn": Product(a=[2, 3, 5, 6], b=[3, 2, 6, 4], turns=((1, 0, 2, 3), ())),
    "a batch behind the rows, and no batch": Product(a=[5, 3, 6], b=[6, 4], turns=((1, 0, 2), ())),
}


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("kind", ["numbers", "specials"])
def test_single_nodes(name: str, kind: str) -> None:
    assert "FusedMatMul" not in check_bits(SINGLE[name], kind)


def random_products(count: int) -> list[Product]:
    """Return products of all layouts and of sizes at which kernels change."""
    rng = np.random.default_rng(1)
    sizes = [1, 2, 3, 5, 8, 15, 16, 17, 33, 64, 127, 128, 129, 257]
    products = []
    for _ in range(count):
        rank = int(rng.integers(2, 5))
        rows, depth, columns = (int(rng.choice(sizes)) for _ in range(3))
        batch = [int(rng.choice([1, 2, 3])) for _ in range(rank - 2)]
        shapes = ([*batch, rows, depth], [*(size if rng.random() < 0.8 else 1 for size in batch), depth, columns])
        turns = [tuple(int(axis) for axis in rng.permutation(rank)) for _ in shapes]
        # The input has the dimensions before the transpose.
        given = [[shape[turn.index(axis)] for axis in range(rank)] for shape, turn in zip(shapes, turns, strict=True)]
        factor = float(np.float32(rng.normal())) if rng.random() < 0.6 else None
        products.append(Product(a=given[0], b=given[1], turns=(turns[0], turns[1]), factor=factor))
    return products


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_random_products(threads: int) -> None:
    counts = dict.fromkeys(("MatMul", "FusedMatMul"), 0)
    for product, kind in zip(random_products(150), itertools.cycle(["numbers", "extreme", "specials"]), strict=False):
        for node in check_bits(product, kind, threads):
            if node in counts:
                counts[node] += 1
    assert sum(counts.values()) == 150
    assert counts["FusedMatMul"] >= 60


@pytest.mark.parametrize("name", TOGETHER)
def test_values_do_not_depend_on_the_outputs(name: str) -> None:
    product, _ = TOGETHER[name]
    if product.factor is None:
        wanted = [each for each in ("turned a", "turned b") if product.turns["ab".index(each[-1])]]
    else:
        wanted = ["product"]
    feeds = product.values("numbers")
    alone = run(translate(product.collect(), contributed=True), feeds)
    beside = run(translate(product.collect(wanted), contributed=True), feeds)
    np.testing.assert_array_equal(alone, beside, strict=True)


def attend(builder: MLGraphBuilder, shape: Sequence[int], *, causal: bool = False) -> MLOperand:
    """Connect attention as programs write it; the shape is that of queries, keys and values with a dimension for the heads."""
    batch, sequence, heads, size = shape
    flat = [batch, sequence, heads * size]
    q, k, v = (builder.reshape(builder.input(name, dataType="float32", shape=flat), list(shape)) for name in "qkv")
    q, v = (builder.transpose(each, permutation=[0, 2, 1, 3]) for each in (q, v))
    scores = builder.mul(builder.matmul(q, builder.transpose(k, permutation=[0, 2, 3, 1])), builder.constant("float32", size**-0.5))
    if causal:
        scores = builder.add(scores, builder.input("mask", dataType="float32", shape=[1, 1, sequence, sequence]))
    mixed = builder.matmul(builder.softmax(scores, 3), v)
    return builder.reshape(builder.transpose(mixed, permutation=[0, 2, 1, 3]), flat)


@pytest.mark.parametrize("batch", [1, 2])
def test_attention(batch: int) -> None:
    """Large logits, masks of infinities, a row of nothing else, which softmax makes NaN, and NaN, against single nodes and float64."""
    batches, sequence, heads, size = shape = (batch, 12, 3, 16)
    graph = collect({"y": attend(MLGraphBuilder(shared_context(CURRENT)), shape, causal=True)})
    feeds = {name: RNG.normal(size=(batches, sequence, heads * size)).astype(np.float32) for name in "qkv"}
    feeds["q"] *= 100
    feeds["q"][0, 3, 5] = np.nan
    mask = np.where(np.tril(np.ones((sequence, sequence))) > 0, 0, -np.inf)
    mask[5] = -np.inf
    feeds["mask"] = mask.astype(np.float32)[None, None]
    q, k, v = (feeds[name].astype(np.float64).reshape(shape).transpose(0, 2, 1, 3) for name in "qkv")
    with np.errstate(invalid="ignore"):
        logits = q @ k.swapaxes(2, 3) * size**-0.5 + mask
        scores = np.exp(logits - logits.max(-1, keepdims=True))
    expected = (scores / scores.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(batches, sequence, heads * size)
    assert np.isnan(expected[0, 3, :size]).all()
    assert np.isnan(expected[:, 5]).all()
    assert np.count_nonzero(np.isnan(expected)) == size + expected[:, 5].size
    together = translate(graph, contributed=True)
    assert nodes_of(together).count("FusedMatMul") == (2 if batch == 1 else 1)
    actual = run(together, feeds)
    # Numbers of about 400 are added up to a logit: its error of 1e-4 is the relative one of a score.
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(actual, run(translate(graph), feeds), strict=True)


def test_a_built_graph_has_the_engines_own_operator() -> None:
    builder = MLGraphBuilder(shared_context(CURRENT))
    graph = builder.buildSync({"y": attend(builder, (1, 12, 3, 16))})
    assert list(graph._implementation.op_types.values()).count("FusedMatMul") == 2
    inputs = {name: RNG.normal(size=(1, 12, 48)).astype(np.float32) for name in "qkv"}
    profile = graph.profile(inputs, runs=2)
    assert [each.operation for each in profile.operators] == [each.operation for each in graph.placement.operators]
    # A trace builds the graph again with other operands for its values.
    assert len(graph.trace(inputs).values) == len(inputs) + len(graph.placement.operators)


@pytest.mark.parametrize(("devices", "there"), [((), True), ((CUDA_GPU,), False)])
def test_other_providers_may_lack_that_operator(devices: tuple[Device, ...], there: bool) -> None:
    selection = select("gpu", make_inventory(*devices))
    graph = collect({"y": attend(MLGraphBuilder(shared_context(CURRENT)), (1, 12, 3, 16))})
    model = engine_backend.EngineBackend("exact")._translate(graph, selection)
    assert ("FusedMatMul" in nodes_of(model)) == there
    assert [each.domain for each in model.proto.opset_import] == (["", "com.microsoft"] if there else [""])
