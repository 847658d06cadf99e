"""One model: imported, built, computed, compared with ONNX Runtime, and timed."""

from __future__ import annotations

import gc
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import onnxruntime

import webnn
import webnn.onnx
from tools.evidence.browser.verdicts import compare
from tools.evidence.onnx_models.catalog import Model
from tools.evidence.onnx_models.inputs import Array, make_inputs
from webnn.builder.numerics import DEFAULT_NUMERICS, Numerics
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor
from webnn.validation.drafts import find_revision

__all__ = ["Graph", "Reference", "Result", "Times", "check", "import_model", "interleave", "make_session", "measure"]

#: The largest error, as a part of the largest value of an output.
TOLERANCE = 1e-5
#: The largest ratio of the time to import a file to the time to make a session of it.
IMPORT_BAR = 1.5
#: A turn of one side lasts at least so long, in seconds: a small model runs several times in it.
_TURN = 1e-2
_MOST_REPEATS = 50
#: How often the inputs are changed in the last bit.
_SPREADS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Median CPU times, in seconds.

    Attributes:
        load: The import of the file.
        build: The build of the imported graph on the emulator.
        session: Making a session of the file.
        run: One inference on the emulator: writing the inputs, the run, reading the outputs.
        reference: One inference of ONNX Runtime.
    """

    load: float
    build: float
    session: float
    run: float
    reference: float

    @property
    def load_ratio(self) -> float:
        """The time of the import against that of the session."""
        return self.load / self.session

    @property
    def run_ratio(self) -> float:
        """The time of an inference against ONNX Runtime's."""
        return self.run / self.reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a model.

    Attributes:
        model: The model.
        status: ``"ok"``, ``"wrong"`` (an error above the tolerance), ``"refused"`` (by the import), or ``"failed"`` (any other exception).
        message: The error.
        difference: The largest error, as a part of the largest value of its output.
        spread: How far ONNX Runtime's own outputs move if the inputs change in the last bit, measured in the same way.
        largest: The largest value of an output, by the output's name.
        nodes: How many nodes the file has.
        folded: How many of them are known at import.
        operators: How many operators the graph has.
        times: The times; None if it was not timed.
    """

    model: Model
    status: Literal["ok", "wrong", "refused", "failed"]
    message: str = ""
    difference: float = 0.0
    spread: float = 0.0
    largest: Mapping[str, float] = field(default_factory=dict)
    nodes: int = 0
    folded: int = 0
    operators: int = 0
    times: Times | None = None

    @property
    def fault(self) -> str:
        """Why the result is not what was expected; empty if it is."""
        known = self.model.known
        if known is None:
            return "" if self.status == "ok" else f"{self.status}: {self.message}"
        if self.status == known.status and known.message in self.message and self.difference <= known.most:
            return ""
        found = f"{self.status}: {self.message}" if self.message else self.status
        most = f" and an error of at most {known.most:g}" if known.most else ""
        return f"must be {known.status} with {known.message!r} in the message{most}, because {known.reason} Got {found}"


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
        self._graph = builder.buildSync(description.build(builder))
        self._inputs = {name: self._tensor(each, writable=True) for name, each in description.inputs.items()}
        known = description.descriptors()
        outputs = {name: known[value] for name, value in description.outputs.items()}
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


def import_model(model: Model, path: Path) -> webnn.onnx.Imported:
    """Import the file of a model as the catalogue says.

    Raises:
        webnn.WebNNError: The import refuses it.
    """
    shapes = {} if model.dims else {name: each.shape for name, each in model.inputs.items()}
    return webnn.onnx.load(path, shapes=shapes, constants=model.constants, dims=model.dims)


def make_session(path: Path, *, plain: bool = False) -> onnxruntime.InferenceSession:
    """Make a session of one thread.

    Args:
        path: The file.
        plain: Without optimizations.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # No warnings: an old model has weights that nothing uses.
    options.log_severity_level = 3
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


class Reference:
    """ONNX Runtime's answers to a model, computed as the catalogue says.

    Args:
        model: The model.
        path: Its file.
    """

    def __init__(self, model: Model, path: Path) -> None:
        self._session = make_session(path, plain=model.judge == "plain")
        self._constants = model.constants

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs by their names."""
        values = self._session.run(None, {**inputs, **self._constants})
        return {each.name: value for each, value in zip(self._session.get_outputs(), values, strict=True)}

    def spread(self, inputs: Mapping[str, Array], expected: Mapping[str, Array], seed: int) -> float:
        """Return how far the outputs move if the floats of the inputs change in the last bit, up or down."""
        rng = np.random.default_rng(seed)
        worst = 0.0
        for _ in range(_SPREADS):
            moved = {name: _move(rng, value) for name, value in inputs.items()}
            worst = max(worst, judge(self.run(moved), expected)[0])
        return worst


def _move(rng: np.random.Generator, value: Array) -> Array:
    if value.dtype.kind != "f":
        return value
    ends = np.where(rng.random(value.shape) < 0.5, -np.inf, np.inf).astype(value.dtype)
    return np.asarray(np.nextafter(value, ends), value.dtype)


def check(
    model: Model, path: Path, *, seed: int = 0, rounds: int = 0, numerics: Numerics = DEFAULT_NUMERICS
) -> tuple[Result, webnn.GraphDescription | None]:
    """Import a model, compare its outputs with ONNX Runtime's, and time both.

    Args:
        model: The model.
        path: Its file.
        seed: The seed of the inputs.
        rounds: How often each side is timed; 0 does not time them.
        numerics: The emulator's numerics.

    Returns:
        The result, and the graph if the model was imported.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            imported = import_model(model, path)
    except webnn.onnx.RefusedModelError as error:
        message = "; ".join(dict.fromkeys(f"{each.operator or each.place}: {each.reason}" for each in error.report.refusals))
        return Result(model=model, status="refused", message=message, nodes=len(error.report.nodes)), None
    except Exception as error:  # a fault of the import is a result, too
        return Result(model=model, status="failed", message=f"import: {type(error).__name__}: {error}"), None
    description = imported.description
    try:
        inputs = make_inputs(model.inputs, seed)
        graph = Graph(description, numerics)
        reference = Reference(model, path)
        expected = reference.run(inputs)
        difference, message = judge(graph.run(inputs), expected)
        spread = reference.spread(inputs, expected, seed)
        times = time_model(model, path, graph, inputs, rounds, numerics) if rounds else None
    except Exception as error:  # likewise
        return Result(model=model, status="failed", message=f"{type(error).__name__}: {error}"), description
    result = Result(
        model=model,
        status="wrong" if message else "ok",
        message=message,
        difference=difference,
        spread=spread,
        largest={name: float(np.abs(value).max(initial=0)) for name, value in expected.items()},
        nodes=len(imported.report.nodes),
        folded=imported.report.count("folded"),
        operators=len(description.operators),
        times=times,
    )
    return result, description


def judge(found: Mapping[str, Array], expected: Mapping[str, Array]) -> tuple[float, str]:
    """Return the largest error of an output as a part of its largest value, and what is wrong; empty if nothing is."""
    if found.keys() != expected.keys():
        return float("inf"), f"the outputs must be {sorted(expected)}, got {sorted(found)}"
    worst, message = 0.0, ""
    for name, wanted in expected.items():
        if found[name].shape != wanted.shape:
            return float("inf"), f"{name} must have the shape {list(wanted.shape)}, got {list(found[name].shape)}"
        # WebNN has no bool, and no float64.
        difference = compare(found[name].astype(wanted.dtype), wanted)
        if difference > max(worst, TOLERANCE):
            message = f"{name} differs by {difference:.1e} of its largest value"
        worst = max(worst, difference)
    return worst, message


def time_model(model: Model, path: Path, graph: Graph, inputs: Mapping[str, Array], rounds: int, numerics: Numerics) -> Times:
    """Time both sides of a model, in turns."""
    session = make_session(path)
    feeds = {**inputs, **model.constants}
    run, reference = interleave(lambda: graph.run(inputs), lambda: session.run(None, feeds), rounds)
    few = max(3, rounds // 5)
    load, create = interleave(lambda: import_model(model, path), lambda: make_session(path), few)
    description = import_model(model, path).description
    return Times(load=load, build=measure(lambda: Graph(description, numerics), few), session=create, run=run, reference=reference)


def interleave(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Let two functions take turns; return the median CPU time of a call of each, in seconds.

    The one that began comes second in the next round. A short function is called several times in its turn, after one call that does not
    count: it warms the caches that the other side has used.
    """
    times: tuple[list[float], list[float]] = ([], [])
    sides = [(each, _repeats(each), kept) for each, kept in zip((ours, theirs), times, strict=True)]
    for _ in range(rounds):
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
