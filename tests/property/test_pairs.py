"""Operations behind each other: each gives its own values, whatever the optimizer may merge, and whatever the outputs are.

Chains of two or three operations (`samples`), many of them in one graph, are computed with the last values as outputs, with all values as
outputs, and with all values and without the engine's optimizer. The first two must agree bit for bit, and each operation with the
reference, which computes in float64, on the values before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from tests.property.calls import Call, expected, map_arrays
from tests.property.samples import MOVERS, SAMPLES, Sample, numbers
from tests.property.tolerances import compare, compare_fast
from tests.support import CURRENT, Array, compute_directly, make_context
from webnn import MLContext, MLGraphBuilder, MLOperand
from webnn.builder.graph import collect
from webnn.builder.onnx.translate import translate
from webnn.context.engine import session
from webnn.context.engine.session import CompiledGraph
from webnn.context.engine_backend import _start
from webnn.validation.descriptor import DATA_TYPES
from webnn.validation.errors import WebNNTypeError

INF, NAN = np.inf, np.nan
TITLES = {sample.title: sample for sample in SAMPLES}
#: How many places further on the second operation of a pair is, in continuous integration. With each type nearly every pair occurs.
FURTHER = 20

#: Numbers that overflow and lose digits in float16, zeros of both signs, and what is not finite.
NUMBERS = [0.1, -0.1, 300, -300, 2049, 1 / 3, -2.5, 3, 6, -3, 7.3, -7.3, 0.75, 20, -1, 1, 0.5, -6.5, 1.5, -88, 40000, -0.001]
VALUES: dict[str, list[float]] = {
    "numbers": NUMBERS,
    "zeros": [0.0, -0.0, -0.0, 1.0, -1.0, -0.0, 0.0],
    "specials": [0.0, -0.0, INF, -INF, NAN, 1, -1, 0.5, -0.5, *NUMBERS, 60000, -60000],
}

#: Pairs that the engine's optimizer merges into the weights of a convolution: the product is rounded elsewhere (docs/numerics.md).
MERGED = {("conv2d", "mul"), ("conv2d", "batchNormalization")}
#: Operations without a specified result for a NaN, or for an infinity (docs/numerics.md).
NAN_UNSPECIFIED = {"maxPool2d", "quantizeLinear"}
INFINITY_UNSPECIFIED = {"gru", "lstm", "resample2d"}


@dataclass
class Chain:
    """Operations behind each other, of which each takes the first output of the one before.

    Attributes:
        samples: The operations.
        name: The name of the graph's input.
        feeds: The other inputs.
        calls: The calls, on placeholders for the values.
        placeholders: For each call the array in it that the value before replaces.
        operands: The first output of each.
    """

    samples: tuple[Sample, ...]
    name: str
    feeds: dict[str, Array]
    calls: list[Call]
    placeholders: list[Array]
    operands: list[MLOperand]

    def substituted(self, index: int, value: Array) -> Call:
        """Return a call on another value."""
        call, placeholder = self.calls[index], self.placeholders[index]

        def put(given: Any) -> Any:
            return {key: map_arrays(each, lambda array: value if array is placeholder else array) for key, each in given.items()}

        return replace(call, arguments=put(call.arguments), options=put(call.options))


def values_of(kind: str, dtype: str, shape: Sequence[int]) -> Array:
    """Return an operand of the special values of a kind, each at several places."""
    if dtype.startswith("float"):
        numbers = np.array(VALUES[kind])
    else:
        info = np.iinfo(dtype)
        numbers = np.array([0, 1, 2, 3, info.max, info.max - 1, info.min, info.min + 1, 5, 7, 100, 17], dtype)
    with np.errstate(over="ignore"):
        return np.resize(numbers, shape).astype(dtype)


def connect_chain(builder: MLGraphBuilder, samples: tuple[Sample, ...], dtype: str, number: int) -> Chain | None:
    """Build a chain; ``None`` if an operation does not take what the one before makes."""
    rank = next((sample.rank for sample in samples if sample.rank), 3)
    value = numbers([2, 2, 4, 4][-rank:], dtype)
    operands: dict[int, tuple[MLOperand, Array]] = {}
    chain = Chain(samples, f"x{number}", {}, [], [], [])

    def operand(array: Array) -> MLOperand:
        if id(array) not in operands:
            descriptor: Any = {"dataType": array.dtype.name, "shape": list(array.shape)}
            if call.constants[0]:
                made = builder.constant(descriptor, array)
            else:
                name = f"x{number}.{len(chain.feeds)}"
                chain.feeds[name] = array
                made = builder.input(name, descriptor)
            operands[id(array)] = made, array
        return operands[id(array)][0]

    operands[id(value)] = builder.input(chain.name, {"dataType": dtype, "shape": list(value.shape)}), value  # type: ignore[typeddict-item]
    for sample in samples:
        if value.ndim != sample.rank if sample.rank else value.ndim < 2:
            return None
        call = sample.call(value)
        arguments = [map_arrays(argument, operand) for argument in call.arguments.values()]
        options = {member: map_arrays(option, operand) for member, option in call.options.items()}
        try:
            returned = getattr(builder, call.name)(*arguments, *([options] if options else []))
        except WebNNTypeError:
            # Of another type than the operation takes.
            return None
        chain.calls.append(call)
        chain.placeholders.append(value)
        chain.operands.append(returned[0] if isinstance(returned, list) else returned)
        value = expected(call)[0]
        operands[id(value)] = chain.operands[-1], value
    return chain


def compute_chains(graph: CompiledGraph, chains: Sequence[Chain], kind: str) -> dict[str, Array]:
    """Compute a graph of chains on values of a kind."""
    feeds: dict[str, Array] = {}
    for chain in chains:
        value = chain.placeholders[0]
        feeds |= {chain.name: values_of(kind, value.dtype.name, value.shape), **chain.feeds}
    given = {slot.value: feeds[name] for name, slot in graph.inputs.items()}
    return dict(zip(graph.outputs, graph._session.run([slot.value for slot in graph.outputs.values()], given), strict=True))


class Runner:
    """Chains in one graph, computed in three ways.

    Attributes:
        chains: The chains.
        compared: The kind of values with which the operations are compared with the reference.
    """

    def __init__(self, context: MLContext, chains: list[Chain], monkeypatch: pytest.MonkeyPatch) -> None:
        self.chains = chains
        self.compared = "numbers" if chains[0].placeholders[0].dtype.kind == "f" else "specials"
        last = {f"{number}:{len(chain.calls) - 1}": chain.operands[-1] for number, chain in enumerate(chains)}
        every = {f"{number}:{index}": value for number, chain in enumerate(chains) for index, value in enumerate(chain.operands)}
        selection, model = context._state.selection, translate(collect(every), contributed=True)
        self.last, self.every = CompiledGraph(translate(collect(last), contributed=True), selection), CompiledGraph(model, selection)
        with monkeypatch.context() as patch:
            options = session.session_options
            patch.setattr(session, "session_options", lambda settings: without_optimizer(options(settings)))
            self.plain = CompiledGraph(model, selection)

    def failures(self, kind: str) -> Iterator[str]:
        """Compare what the three graphs compute; yield what is wrong."""
        last, every, plain = (compute_chains(graph, self.chains, kind) for graph in (self.last, self.every, self.plain))
        for number, chain in enumerate(self.chains):
            titles = " -> ".join(sample.title for sample in chain.samples)
            final = f"{number}:{len(chain.calls) - 1}"
            start = values_of(kind, chain.placeholders[0].dtype.name, chain.placeholders[0].shape)
            # The reference is slow: once for what is the same.
            steps = [[results[f"{number}:{index}"] for index in range(len(chain.calls))] for results in (every, plain)]
            isSame = list(map(bits, steps[0])) == list(map(bits, steps[1]))
            for results, how in [(steps[0], "optimized"), (steps[1], "not optimized")][: 1 if isSame else 2]:
                for failure in wrong_steps(chain, start, results) if kind == self.compared else ():
                    yield f"{titles}, {how}: {failure}"
            if any(is_unspecified(call.name, value) for call, value in zip(chain.calls, [start, *steps[0]], strict=False)):
                continue
            if not set(itertools.pairwise(call.name for call in chain.calls)).isdisjoint(MERGED):
                continue
            if bits(last[final]) != bits(every[final]):
                yield f"{titles}: {last[final]} alone, {every[final]} beside the values before it"


def wrong_steps(chain: Chain, value: Array, results: list[Array]) -> Iterator[str]:
    """Yield which operations are not what the reference makes of the value before."""
    for index, result in enumerate(results):
        call = chain.substituted(index, value)
        if is_unspecified(call.name, value):
            return
        # The allowed error of a normalization is in proportion to the largest number.
        if call.name.endswith("Normalization") and not np.isfinite(value).all():
            value = result
            continue
        with np.errstate(all="ignore"):
            try:
                compare(call, [result, *expected(call)[1:]])
            except AssertionError as error:
                yield f"{call.name} of {value.ravel()[:40]}: {error}"
        value = result


def is_unspecified(name: str, value: Array) -> bool:
    """Tell whether something comes into an operation of which it may make anything."""
    return bool((name in NAN_UNSPECIFIED and np.isnan(value).any()) or (name in INFINITY_UNSPECIFIED and not np.isfinite(value).all()))


def bits(array: Array) -> bytes:
    """Return the bits, those of one NaN for every NaN."""
    return np.where(np.isnan(array), np.array(NAN, array.dtype), array).tobytes() if array.dtype.kind == "f" else array.tobytes()


def without_optimizer(options: Any) -> Any:
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


@pytest.fixture(scope="module")
def context() -> MLContext:
    return make_context(CURRENT)


def check_rows(context: MLContext, rows: Sequence[tuple[Sample, ...]], dtype: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Check chains, some in each graph; return how many there are."""
    count, failures = 0, list[str]()
    for start in range(0, len(rows), 60):
        builder = MLGraphBuilder(context)
        made = (connect_chain(builder, row, dtype, number) for number, row in enumerate(rows[start : start + 60]))
        chains = [chain for chain in made if chain is not None]
        if chains:
            runner = Runner(context, chains, monkeypatch)
            for kind in VALUES if dtype.startswith("float") else ["specials"]:
                failures += runner.failures(kind)
        count += len(chains)
    assert not failures, "\n".join([f"{len(failures)} of {count} chains", *failures[:10]])
    return count


#: How many pairs of each type there are at least: what a type's operations do not take is left out.
PAIRS = {"float32": 200, "float16": 200, "int32": 100, "uint32": 80, "int64": 80, "uint64": 80, "int8": 80, "uint8": 80}


#: Some rows by day, all at night.
all_at_night = pytest.mark.parametrize("every", [False, pytest.param(True, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])])


def pairs(*, every: bool) -> list[tuple[Sample, ...]]:
    return list(itertools.product(SAMPLES, SAMPLES) if every else zip(SAMPLES, [*SAMPLES[FURTHER:], *SAMPLES[:FURTHER]], strict=True))


@all_at_night
@pytest.mark.parametrize("dtype", DATA_TYPES)
def test_pairs(context: MLContext, dtype: str, monkeypatch: pytest.MonkeyPatch, *, every: bool) -> None:
    assert check_rows(context, pairs(every=every), dtype, monkeypatch) >= PAIRS[dtype] * (38 if every else 1)


def check_fast_rows(context: MLContext, rows: Sequence[tuple[Sample, ...]], dtype: str, *, compared: bool) -> int:
    """Check chains where the numerics are "fast"; return how many there are.

    With any values the engine computes them, with the last values as outputs and with all of them. If ``compared``, each operation on
    numbers agrees with the reference within its tolerance.
    """
    count = 0
    for start in range(0, len(rows), 60):
        builder = MLGraphBuilder(context)
        made = (connect_chain(builder, row, dtype, number) for number, row in enumerate(rows[start : start + 60]))
        chains = [chain for chain in made if chain is not None]
        count += len(chains)
        last = {f"{number}:{len(chain.calls) - 1}": chain.operands[-1] for number, chain in enumerate(chains)}
        every = {f"{number}:{index}": value for number, chain in enumerate(chains) for index, value in enumerate(chain.operands)}
        if not chains:
            continue
        alone, beside = (_start(translate(collect(outputs), "fast"), context._state.selection, None) for outputs in (last, every))
        for kind in VALUES if dtype.startswith("float") else ["specials"]:
            final, results = (compute_chains(graph, chains, kind) for graph in (alone, beside))
            for outputs, values in ((last, final), (every, results)):
                for name, operand in outputs.items():
                    descriptor = operand.descriptor
                    assert (values[name].dtype.name, values[name].shape) == (descriptor.dataType, descriptor.dimensions)
            if compared and kind == ("numbers" if dtype.startswith("float") else "specials"):
                for number, chain in enumerate(chains):
                    steps = [results[f"{number}:{index}"] for index in range(len(chain.calls))]
                    check_fast_chain(chain, kind, steps)
                    # A float16 number before a cast need not be rounded; the sum with 0 in `linear` may be left out, which keeps -0.
                    if not (chain.calls[0].name == "linear" or (chain.calls[-1].name == "cast" and dtype == "float16")):
                        check_fast_chain(chain, kind, [*steps[:-1], final[f"{number}:{len(chain.calls) - 1}"]])
    return count


def check_fast_chain(chain: Chain, kind: str, results: list[Array]) -> None:
    value = values_of(kind, chain.placeholders[0].dtype.name, chain.placeholders[0].shape)
    for index, result in enumerate(results):
        call = chain.substituted(index, value)
        if is_unspecified(call.name, value) or (call.name.endswith("Normalization") and not np.isfinite(value).all()):
            return
        with np.errstate(all="ignore"):
            compare_fast(call, [result, *expected(call)[1:]])
        value = result


@all_at_night
@pytest.mark.parametrize("dtype", DATA_TYPES)
def test_fast_pairs(context: MLContext, dtype: str, *, every: bool) -> None:
    # A factor that the engine moves through a product may hide a NaN, so the values of all are not compared.
    assert check_fast_rows(context, pairs(every=every), dtype, compared=not every) >= PAIRS[dtype] * (38 if every else 1)


#: Operations that round or overflow, before one that only moves elements; and operations that show the rounding then.
ROUNDING = [TITLES[title] for title in ("mul itself", "add 1", "div root")]
SHOWING = [TITLES[title] for title in ("sqrt", "sub 1", "cast float32", "cast int32", "isInfinite", "reduceSum", "tile")]


def moved_rows(dtype: str) -> list[tuple[Sample, ...]]:
    return list(itertools.product(ROUNDING if dtype.startswith("float") else ROUNDING[:2], MOVERS, SHOWING))


@all_at_night
@pytest.mark.parametrize("dtype", DATA_TYPES)
def test_moved_between_two_operations(context: MLContext, dtype: str, monkeypatch: pytest.MonkeyPatch, *, every: bool) -> None:
    # By day an eighth of them, in which nearly every mover occurs with each type.
    least = {False: (35, 90), True: (150, 700)}[every][dtype.startswith("float")]
    assert check_rows(context, moved_rows(dtype)[:: 1 if every else 8], dtype, monkeypatch) >= least


@pytest.mark.parametrize("dtype", DATA_TYPES)
def test_the_engine_adds_no_casts(context: MLContext, dtype: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Where it lacks a kernel it casts to float32 and back, and then leaves out this pair of casts and the one that rounds before.
    builder = MLGraphBuilder(context)
    made = (connect_chain(builder, (sample,), dtype, number) for number, sample in enumerate(SAMPLES))
    chains = [chain for chain in made if chain is not None]
    path, options = tmp_path / "optimized.onnx", session.session_options

    def saving(settings: Any) -> Any:
        changed = without_optimizer(options(settings))
        changed.optimized_model_filepath = str(path)
        return changed

    monkeypatch.setattr(session, "session_options", saving)
    outputs = {str(number): chain.operands[-1] for number, chain in enumerate(chains)}
    model = translate(collect(outputs), contributed=True)
    emitted = {node.name for node in model.proto.graph.node}
    CompiledGraph(model, context._state.selection)
    added = [node for node in onnx.load(path, load_external_data=False).graph.node if node.op_type == "Cast" and node.name not in emitted]
    assert not added


@pytest.mark.parametrize(
    ("cut", "wanted"),
    [
        (lambda b, x: b.sqrt(b.tile(b.mul(x, x), [2])), [INF, INF, 2, INF, INF, 2]),
        (lambda b, x: b.cast(b.tile(b.mul(x, x), [2]), "float32"), [INF, INF, 4, INF, INF, 4]),
        (lambda b, x: b.sub(b.reverse(b.add(x, b.constant("float16", 2048))), b.constant("float16", 2048)), [2, 400, 300]),
        (lambda b, x: b.div(b.mul(x, x), x), [INF, INF, 2]),
        (lambda b, x: b.reduceSum(b.tile(b.mul(x, b.constant("float16", 300)), [3])), INF),
    ],
)
def test_float16_is_rounded_between(context: MLContext, cut: Callable[[MLGraphBuilder, MLOperand], MLOperand], wanted: Any) -> None:
    builder = MLGraphBuilder(context)
    graph = builder.buildSync({"y": cut(builder, builder.input("x", {"dataType": "float16", "shape": [3]}))})
    [actual] = compute_directly(graph, {"x": np.array([300, 400, 2], np.float16)})
    np.testing.assert_array_equal(actual.astype(np.float64), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("inner", [False, True])
def test_sign_of_zero_behind_linear(context: MLContext, dtype: str, *, inner: bool) -> None:
    # -0 + 0 is +0, whether or not it is an output.
    builder = MLGraphBuilder(context)
    sum = builder.linear(builder.input("x", {"dataType": dtype, "shape": [3]}))  # type: ignore[typeddict-item]
    outputs = {"y": builder.reciprocal(sum)} | ({"sum": sum} if inner else {})
    y = compute_directly(builder.buildSync(outputs), {"x": np.array([-0.0, 0.0, -2], dtype)})[0]
    np.testing.assert_array_equal(y, np.array([INF, INF, -0.5], dtype))
