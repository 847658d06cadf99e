"""One model: imported, built, computed, compared with its judge, and timed."""

from __future__ import annotations

import gc
import math
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import webnn
from tools.evidence.browser.verdicts import compare
from tools.evidence.judge import overflows
from tools.evidence.models.catalog import Model
from tools.evidence.models.formats import Format, Judge, format_of
from tools.evidence.models.inputs import Array, move
from tools.evidence.models.result import TOLERANCE, Result, Times
from webnn.builder.numerics import DEFAULT_NUMERICS, Numerics
from webnn.importing.report import RefusedModelError
from webnn.reference import compute
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor
from webnn.validation.drafts import find_revision

__all__ = ["Graph", "check", "find_sigmoids", "interleave", "judge", "measure", "spread"]

#: A turn of one side lasts at least so long, in seconds: a small model runs several times in it.
_TURN = 1e-2
_MOST_REPEATS = 50
#: A comparison of two sides ends after this CPU time, in seconds, and this number of rounds at least.
_MOST_SECONDS, _FEWEST = 4.0, 3
#: Both sides add float32 in some order: the emulator may be this many times as far from float64 as the judge is.
_FACTOR = 2
#: float64 computes the imported graph: a judge that is farther away from it may tell of a wrong import.
_MOST_SENSITIVE = 1e-3
#: The absolute error of the kernel of `sigmoid` that fast numerics allow (docs/numerics.md).
_SIGMOID = 2.4e-7
#: Operations that only move elements, with the operands that have these.
_MOVING = {**dict.fromkeys(("identity", "reshape", "slice", "split", "transpose"), ("input",)), "where": ("trueValue", "falseValue")}
#: How often the inputs, and the weights, are changed.
_SPREADS = 5


class Graph:
    """An imported graph on the emulator, with tensors for its inputs and outputs.

    Args:
        description: The graph.
        numerics: The numerics.
    """

    def __init__(self, description: webnn.GraphDescription, numerics: Numerics = DEFAULT_NUMERICS) -> None:
        # As many threads as this process may use cores: one, if it is pinned.
        ml = webnn.ML(revision=find_revision(description.draft), numerics=numerics)
        self._context = ml.createContextSync(powerPreference="high-performance")
        builder = webnn.MLGraphBuilder(self._context)
        made = description.build(builder)
        self._graph = builder.buildSync(made)
        self._inputs = {name: self._tensor(each, writable=True) for name, each in description.inputs.items()}
        # As a program gets them: nobody looks at the description.
        outputs = {name: each.descriptor for name, each in made.items()}
        self._outputs = {name: self._tensor(each, readable=True) for name, each in outputs.items()}
        self._buffers = {name: np.empty(each.array_shape, NUMPY_DTYPES[each.dataType]) for name, each in outputs.items()}

    def _tensor(self, descriptor: OperandDescriptor, **rights: bool) -> webnn.MLTensor:
        return self._context.createTensorSync(dataType=descriptor.dataType, shape=descriptor.dimensions, **rights)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Compute the outputs, which the next run overwrites."""
        for name, tensor in self._inputs.items():
            self._context.writeTensor(tensor, inputs[name])
        self._context.dispatch(self._graph, self._inputs, self._outputs)
        for name, tensor in self._outputs.items():
            self._context.readTensorSync(tensor, self._buffers[name])
        return self._buffers


def spread(run: Callable[[np.random.Generator], Mapping[str, Array]], expected: Mapping[str, Array], seed: int) -> float:
    """Return how far outputs move if something changes a little.

    Args:
        run: Computes the outputs after a change.
        expected: The outputs without a change.
        seed: The seed of the changes.
    """
    rng = np.random.default_rng(seed)
    return max(judge(run(rng), expected)[0] for _ in range(_SPREADS))


def _run(reference: Judge, inputs: Mapping[str, Array]) -> dict[str, Array]:
    return dict(zip(reference.names, reference.bind(inputs)(), strict=True))


def _measure_spread(
    kind: Format, model: Model, path: Path, inputs: Mapping[str, Array], expected: Mapping[str, Array], seed: int, *, weights: bool
) -> float | None:
    if not kind.computes:
        return None
    plain = model.judge == "plain"
    reference = kind.judge(model, path, plain)
    moved = spread(lambda rng: _run(reference, {name: move(rng, value) for name, value in inputs.items()}), expected, seed)
    if weights and kind.moved is not None:
        change = kind.moved
        moved = max(moved, spread(lambda rng: _run(change(model, path, plain, rng), inputs), expected, seed))
    return _finite(moved)


def check(model: Model, path: Path, *, seed: int = 0, rounds: int = 0) -> tuple[Result, webnn.GraphDescription | None]:
    """Import a model, compare its outputs with its judge's, and time both.

    Args:
        model: The model.
        path: Its file.
        seed: The seed of the inputs.
        rounds: How often each side is timed; 0 does not time them.

    Returns:
        The result, and the graph if the model was imported.
    """
    kind, size = format_of(model), path.stat().st_size
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            imported = kind.load(model, path)
    except RefusedModelError as error:
        message = "; ".join(dict.fromkeys(f"{each.operator or each.place}: {each.reason}" for each in error.report.refusals))
        return Result(name=model.name, status="refused", message=message, bytes=size, nodes=len(error.report.nodes)), None
    except Exception as error:  # a fault of the import is a result, too
        return Result(name=model.name, status="failed", message=f"import: {type(error).__name__}: {error}", bytes=size), None
    description = imported.description
    try:
        inputs = kind.inputs(model, path, seed)
        given = {name: np.asarray(inputs[name], NUMPY_DTYPES[each.dataType]) for name, each in description.inputs.items()}
        graph, fast = Graph(description), Graph(description, "fast")
        optimized = kind.judge(model, path, False)
        plain = kind.judge(model, path, True) if model.judge == "plain" else optimized
        expected = _named(_run(plain, inputs), kind, description)
        found, quick = graph.run(given), fast.run(given)
        quick_expected = _named(_run(optimized, inputs), kind, description)
        difference, message = judge(found, expected, kind.steps)
        fast_difference, fast_message = judge(quick, quick_expected, kind.steps)
        ours = theirs = None
        is_fast_right = False
        if (message or fast_message) and model.known is None and math.isfinite(difference):
            exact = {name: each.reshape(expected[name].shape) for name, each in compute(description, given, exact=True).items()}
            ours, theirs = judge(found, exact, kind.steps)[0], judge(expected, exact, kind.steps)[0]
            far = _find_far(quick, quick_expected, find_sigmoids(description))
            errors = [judge(far, {name: side[name] for name in far}, kind.steps)[0] for side in (quick_expected, exact)]
            is_fast_right = errors[0] <= TOLERANCE or _is_sensitive(errors[1], theirs)
        if fast_message and overflows() and any(each.operation == "quantizeLinear" for each in description.operators):
            # The engine's fastest kernels of integers, which fast numerics allow, are far off on this processor (docs/numerics.md).
            is_fast_right = True
        # Weights take longer, and tell about the models with integers as inputs.
        moved = _measure_spread(kind, model, path, inputs, expected, seed, weights=bool(message or fast_message))
        times = None
        if rounds:
            times = _time(kind, model, path, (graph, fast), given, inputs, rounds)
    except Exception as error:  # likewise
        return Result(name=model.name, status="failed", message=f"{type(error).__name__}: {error}", bytes=size), description
    result = Result(
        name=model.name,
        status="ok" if not message else "sensitive" if _is_sensitive(ours, theirs) else "wrong",
        message=message,
        difference=_finite(difference),
        spread=moved,
        fast=_finite(fast_difference),
        is_fast_right=is_fast_right,
        ours=ours if message else None,
        theirs=theirs if message else None,
        largest={name: float(np.abs(value).max(initial=0)) for name, value in expected.items()},
        bytes=size,
        nodes=len(imported.report.nodes),
        folded=imported.report.count("folded"),
        operators=len(description.operators),
        times=times,
    )
    return result, description


def find_sigmoids(description: webnn.GraphDescription) -> frozenset[str]:
    """Return the names of the outputs that `sigmoid` makes, whose elements may be moved then."""
    makers = {name: operator for operator in description.operators for name in operator.outputs}

    def is_sigmoid(value: str) -> bool:
        operator = makers.get(value)
        if operator is None or operator.operation not in _MOVING:
            return operator is not None and operator.operation == "sigmoid"
        return all(is_sigmoid(str(operator.inputs[name])) for name in _MOVING[operator.operation])

    return frozenset([name for name, value in description.outputs.items() if is_sigmoid(value)])


def _is_sensitive(ours: float | None, theirs: float | None) -> bool:
    """Tell whether both sides are about as far from what float64 gives."""
    return ours is not None and theirs is not None and ours <= _FACTOR * theirs <= _FACTOR * _MOST_SENSITIVE


def _find_far(found: Mapping[str, Array], expected: Mapping[str, Array], sigmoids: frozenset[str]) -> dict[str, Array]:
    """Return the outputs without those of `sigmoid` whose error is one of its kernel: that is an absolute one."""
    errors = {name: np.abs(found[name] - expected[name]).max(initial=0) for name in sigmoids}
    return {name: each for name, each in found.items() if not errors.get(name, np.inf) <= _SIGMOID}


def _named(outputs: dict[str, Array], kind: Format, description: webnn.GraphDescription) -> dict[str, Array]:
    """Return recorded results by the names of the graph's outputs."""
    return outputs if kind.computes else dict(zip(description.outputs, outputs.values(), strict=True))


def _finite(value: float) -> float | None:
    """Return a number that JSON can have."""
    return value if math.isfinite(value) else None


def judge(found: Mapping[str, Array], expected: Mapping[str, Array], steps: int = 0) -> tuple[float, str]:
    """Return the largest error of an output as a part of its largest value, and what is wrong; empty if nothing is.

    Args:
        found: The outputs.
        expected: The expected outputs.
        steps: By how much outputs of 8 bits may differ. This difference counts as the tolerance.
    """
    if found.keys() != expected.keys():
        return float("inf"), f"the outputs must be {sorted(expected)}, got {sorted(found)}"
    worst, message = 0.0, ""
    for name, wanted in expected.items():
        if found[name].shape != wanted.shape:
            return float("inf"), f"{name} must have the shape {list(wanted.shape)}, got {list(found[name].shape)}"
        # WebNN has no bool, and no float64.
        value = found[name].astype(wanted.dtype)
        if steps and wanted.dtype.kind in "iu" and wanted.dtype.itemsize == 1:
            difference = TOLERANCE / steps * float(np.abs(value.astype(np.int16) - wanted).max(initial=0))
        else:
            difference = compare(value, wanted)
        if difference > max(worst, TOLERANCE):
            message = f"{name} differs by {difference:.1e} of its largest value"
        worst = max(worst, difference)
    return worst, message


def _time(
    kind: Format,
    model: Model,
    path: Path,
    graphs: tuple[Graph, Graph],
    given: Mapping[str, Array],
    inputs: Mapping[str, Array],
    rounds: int,
) -> Times:
    """Time both sides of a model, in turns."""
    exact, fast = graphs
    few = max(3, rounds // 5)
    description = kind.load(model, path).description
    build = measure(lambda: Graph(description), few)
    if not kind.computes:
        load, run, quick = (
            measure(function, few) for function in (lambda: kind.load(model, path), lambda: exact.run(given), lambda: fast.run(given))
        )
        return Times(load=load, build=build, run=run, fast=quick)
    reference = kind.judge(model, path, False).bind(inputs)
    run, once = interleave(lambda: exact.run(given), reference, rounds)
    # Against the same judge, measured again beside it: a machine is not equally fast at all times.
    quick, again = interleave(lambda: fast.run(given), reference, rounds)
    load, session = interleave(lambda: kind.load(model, path), lambda: kind.judge(model, path, False), few)
    return Times(load=load, build=build, run=run, fast=quick * once / again, session=session, reference=once)


def interleave(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Let two functions take turns; return the median CPU time of a call of each, in seconds.

    The one that began comes second in the next round. A short function is called several times in its turn, after one call that does not
    count: it warms the caches that the other side has used.
    """
    times: tuple[list[float], list[float]] = ([], [])
    sides = [(each, _repeats(each), kept) for each, kept in zip((ours, theirs), times, strict=True)]
    began = time.process_time()
    for round_ in range(rounds):
        if round_ >= _FEWEST and time.process_time() - began > _MOST_SECONDS:
            break
        for function, repeats, kept in sides:
            gc.collect()
            function()
            kept.append(_turn(function, repeats))
        sides.reverse()
    return statistics.median(times[0]), statistics.median(times[1])


def measure(function: Callable[[], object], rounds: int) -> float:
    """Return the median CPU time of a call, in seconds."""
    return statistics.median(_turn(function, 1) for _ in range(rounds))


def _repeats(function: Callable[[], object]) -> int:
    """Return how many calls make a turn."""
    function()
    return max(1, min(_MOST_REPEATS, round(_TURN / max(_turn(function, 1), 1e-6))))


def _turn(function: Callable[[], object], repeats: int) -> float:
    start = time.process_time()
    for _ in range(repeats):
        function()
    return (time.process_time() - start) / repeats
