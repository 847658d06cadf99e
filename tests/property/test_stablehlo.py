"""Random calls of all operations, exported to StableHLO and run by XLA: the values are the reference's. It needs JAX (`.ci/stablehlo`)."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import webnn
from tests.property.calls import Call, connect
from tests.property.profiles import hold
from tests.property.samples import SAMPLES, Sample, numbers
from tests.property.strategies import CALLS, OPERATIONS
from tests.property.tolerances import TOLERANCES, Tolerance, compare
from tests.support import CURRENT, FIRST, Array, make_context
from tools.evidence.stablehlo_export import Judge, load_judge
from webnn.hlo.export import export
from webnn.hlo.mlir import write_mlir

pytestmark = [pytest.mark.slow, pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="needs jax")]

EXAMPLES = 15
#: XLA divides by what it knows, or what is broadcast, by a product with the reciprocal.
OF_XLA = {**TOLERANCES, "div": Tolerance(relative=1.5)}
#: How often each place of an index is drawn.
DRAWS = 12
INDICES: Mapping[str, list[int]] = {
    "int32": [0, 1, -1, 2, -2, -4, 7, -9, 2**31 - 1, -(2**31)],
    "int64": [0, 1, -1, 2, -2, -4, 7, -9, 2**63 - 1, -(2**63)],
    "uint32": [0, 1, 2, 3, 5, 100, 2**31, 2**32 - 1],
}


@pytest.fixture(scope="module")
def judge() -> Judge:
    return load_judge()


def check(judge: Judge, context: webnn.MLContext, call: Call) -> None:
    """Export the graph of a call, run it, and compare."""
    with np.errstate(all="ignore"):
        connected = connect(webnn.MLGraphBuilder(context), call)
        described = webnn.describe({f"y{index}": operand for index, operand in enumerate(connected.outputs)})
        # The judge may keep the memory.
        feeds = [connected.feeds[name].copy() for name in described.inputs]
        compare(call, judge("".join(write_mlir(export(described))), feeds), OF_XLA)


@pytest.mark.parametrize(("draft", "name"), OPERATIONS)
def test_operation(judge: Judge, draft: str, name: str) -> None:
    context = make_context(draft)
    hold("ci", EXAMPLES, CALLS[draft][name], lambda call: check(judge, context, call))


@pytest.mark.parametrize("sample", [each for each in SAMPLES if each.name not in FIRST.operations], ids=lambda sample: sample.title)
def test_operation_of_the_newest_draft(judge: Judge, sample: Sample) -> None:
    context, count = make_context(CURRENT), 0
    for dtype in ("float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"):
        call = sample.call(_edges([2, 3, 4], dtype))
        try:
            connect(webnn.MLGraphBuilder(context), call)
        except webnn.WebNNTypeError:
            # The draft refuses the type.
            continue
        check(judge, context, call)
        count += 1
    assert count


def _edges(shape: list[int], dtype: str) -> Array:
    """Return numbers, among them the ends of a type's range, both zeros, halves, infinities and NaN."""
    kind = np.dtype(dtype)
    ends: Any = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    special = (
        [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -2.5, np.inf, -np.inf, np.nan] if kind.kind == "f" else [0, int(ends.max), int(ends.min), 100]
    )
    values = numbers(shape, dtype).reshape(-1)
    values[: len(special)] = special
    return np.random.default_rng(0).permutation(values).reshape(shape)


@pytest.mark.parametrize("dtype", INDICES)
@pytest.mark.parametrize("constants", [(False,), (True,), (False, True)])
def test_indices_out_of_range(judge: Judge, dtype: str, constants: tuple[bool, ...]) -> None:
    rng, context = np.random.default_rng(0), make_context(CURRENT)

    def indices(*shape: int) -> Array:
        return rng.choice(np.array(INDICES[dtype], object), shape).astype(dtype)

    def run(name: str, arguments: dict[str, Any], **options: Any) -> None:
        check(judge, context, Call(name=name, arguments=arguments, options=options, constants=constants, revision=CURRENT))

    for draw in range(DRAWS):
        x = numbers([3, 4, 2], "float32", draw)
        axis, depth, places = draw % 3, 1 + draw // 3 % 3, [(1,), (5,), (2, 3)][draw % 3]
        shape = [1 + draw % 5 if each == axis else size for each, size in enumerate(x.shape)]
        run("gather", {"input": x, "indices": indices(*places)}, axis=axis)
        run("gatherElements", {"input": x, "indices": indices(*shape)}, axis=axis)
        run("scatterElements", {"input": x, "indices": indices(*shape), "updates": numbers(shape, "float32", draw + 1)}, axis=axis)
        coordinates = indices(*places, depth)
        run("gatherND", {"input": x, "indices": coordinates})
        run("scatterND", {"input": x, "indices": coordinates, "updates": numbers([*places, *x.shape[depth:]], "float32", draw + 2)})


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reversed", [False, True])
def test_running_sums(judge: Judge, exclusive: bool, reversed: bool) -> None:
    for axis in range(3):
        for dtype in ("float32", "int64", "uint32"):
            options = {"exclusive": exclusive, "reversed": reversed}
            call = Call(
                name="cumulativeSum", arguments={"input": numbers([3, 4, 5], dtype), "axis": axis}, options=options, revision=CURRENT
            )
            check(judge, make_context(CURRENT), call)
