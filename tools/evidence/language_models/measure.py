"""The figures of one way, in a process of its own: ``python -m tools.evidence.language_models.measure FOLDER WAY``."""

from __future__ import annotations

import json
import math
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import webnn.generate
import webnn.onnx
from tools.evidence.language_models.ways import WAYS, Way
from webnn import ML, MLContext, MLGraph
from webnn.generate.model import LanguageModel
from webnn.generate.plain import PlainModel
from webnn.generate.report import take_turns
from webnn.processes.resident import peak_bytes
from webnn.reference import compute
from webnn.validation.drafts import find_revision

__all__ = ["Figures", "Length", "main", "measure"]

#: How many tokens are timed behind a prompt, and how many times, in turns with the baseline.
TOKENS, ROUNDS = 16, 3
#: The error is measured behind a prompt of this number of tokens.
JUDGED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """The figures of a length of the cache, in seconds.

    Attributes:
        past: The tokens of the prompt.
        first: The time to the first token, without compilation.
        token: The time of a token, the median.
        other: The time of a token of the baseline, the median, in turns with it.
        ratio: `token` as a multiple of `other`.
        same: Both sides chose the same tokens.
    """

    past: int
    first: float
    token: float
    other: float
    ratio: float
    same: bool


@dataclass(slots=True, kw_only=True)
class Figures:
    """The figures of a way.

    Attributes:
        way: Its name.
        nodes: The nodes of the file.
        operators: The WebNN operators of a step of one token.
        calls: How many of them are in calls of subgraphs, and how many calls there are.
        engineNodes: The nodes that the engine gets; 0 for a device with a process of its own.
        left: The operators that leave the device.
        loading: The time to import the model and build its graphs before the first token, in seconds, with the sessions of one length.
        sessions: How many sessions all lengths need.
        compiling: The time that these take.
        lengths: The figures of each length.
        memory: The peak of the process above its beginning, in bytes, with the longest cache, before the baseline is there.
        cache: The bytes of the tensors of that cache.
        error: The largest error of a score as a part of the largest score, against float64.
        otherError: The error of the baseline.
    """

    way: str
    nodes: int = 0
    operators: int = 0
    calls: tuple[int, int] = (0, 0)
    engineNodes: int = 0
    left: int = 0
    loading: float = 0.0
    sessions: int = 0
    compiling: float = 0.0
    lengths: list[Length] = field(default_factory=list)
    memory: int = 0
    cache: int = 0
    error: float = math.nan
    otherError: float = math.nan


def measure(folder: Path, name: str) -> Figures:
    """Measure a way with the decoders of a folder: ``FORM/model.onnx``."""
    way, figures = WAYS[name], Figures(way=name)
    figures.nodes = len(onnx.load(folder / way.form / "model.onnx", load_external_data=False).graph.node)
    context = _make_context(way)
    before = peak_bytes() or 0
    began = time.perf_counter()
    model = webnn.generate.load(folder / way.form, context, cache=way.cache)
    _generate(model, _prompt(JUDGED), 2)
    figures.loading = time.perf_counter() - began
    longest = _generate(model, _prompt(max(way.lengths)), TOKENS)
    figures.memory, figures.cache = (peak_bytes() or 0) - before, longest.allocated
    baseline = PlainModel(webnn.generate.load(folder / "operators", context, cache=way.cache).layout)
    figures.lengths = [_measure_length(model, baseline, past) for past in way.lengths]
    figures.sessions, figures.compiling = model.work.sessions, model.work.seconds
    _count(figures, model)
    exact = _expected(folder)
    scores = [_scores(model, side) for side in (model, baseline)]
    largest = float(np.abs(exact).max())
    figures.error, figures.otherError = (float(np.abs(each - exact).max()) / largest for each in scores)
    return figures


def _make_context(way: Way) -> MLContext:
    # Devices have numerics of their own unless others are asked for.
    numerics: Any = {"numerics": way.numerics} if way.device == "cpu" else {}
    ml = ML(revision=find_revision(way.revision), simulators=way.device != "cpu", **numerics)
    return ml.createContextSync(deviceType=way.device)


def _prompt(tokens: int) -> list[int]:
    return [int(each) for each in np.random.default_rng(1).integers(0, 1000, tokens)]


def _generate(model: LanguageModel, prompt: Sequence[int], tokens: int) -> Any:
    with model.generate(prompt, maxNewTokens=tokens, eos=()) as generation:
        for _ in generation:
            pass
    return generation


def _measure_length(model: LanguageModel, baseline: PlainModel, past: int) -> Length:
    settings: Any = {"maxNewTokens": TOKENS + 1, "topK": None, "temperature": None, "seed": None, "eos": ()}
    # Sessions of this length are compiled.
    _generate(model, _prompt(past), TOKENS + 1)
    firsts: list[float] = []
    times: tuple[list[float], list[float]] = ([], [])
    same = True
    for _ in range(ROUNDS):
        pair = [model.generate_on(side, _prompt(past), **settings) for side in (model, baseline)]
        differences: list[Any] = []
        for _ in take_turns(pair[0], pair[1], differences):
            pass
        same = same and not differences
        firsts.append(pair[0].seconds[0][0])
        for each, found in zip(pair, times, strict=True):
            found += [seconds - compiling for seconds, compiling in each.seconds[1:]]
    token, other = map(statistics.median, times)
    return Length(past=past, first=statistics.median(firsts), token=token, other=other, ratio=token / other, same=same)


def _count(figures: Figures, model: LanguageModel) -> None:
    """Count the operators of the graph of a step of one token."""
    graph = model.graphs[-1]
    description = graph.description
    figures.operators = len(description.operators)
    calls = description.calls
    figures.calls = sum(len(each.operators) for each in calls), len(calls)
    figures.left = len(graph.placement.fallbacks)
    figures.engineNodes = _count_nodes(graph)


def _count_nodes(graph: MLGraph) -> int:
    """Count the nodes of the ONNX model that a graph has become."""
    implementation: Any = graph._implementation
    # A graph with names has a session that its sizes share.
    for name in ("last", "_implementation", "_shared"):
        implementation = getattr(implementation, name, None) or implementation
    model = getattr(implementation, "_model", None)
    return 0 if model is None else len(model.node_types())


def _expected(folder: Path) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the scores behind the judged prompt in float64."""
    dims = {"sequence_length": JUDGED, "past_sequence_length": 0, "total_sequence_length": JUDGED}
    model = webnn.onnx.load(folder / "operators" / "model.onnx", dims=dims)
    known = {"input_ids": _prompt(JUDGED), "position_ids": range(JUDGED), "attention_mask": np.ones(JUDGED)}
    inputs = {name: np.array([known[name]], each.dataType) for name, each in model.description.inputs.items()}
    logits = compute(model.description, inputs, exact=True)["logits"]
    return np.asarray(logits[0, -1], np.float64)


def _scores(model: LanguageModel, side: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the scores of a side behind the judged prompt."""
    with model.generate_on(side, _prompt(JUDGED), maxNewTokens=1, topK=None, temperature=None, seed=None, eos=()) as generation:
        next(generation)
        assert generation.scores is not None  # there is a token
        return np.asarray(generation.scores, np.float64)


def main(arguments: Sequence[str]) -> None:
    """Measure the way that is named, and print its figures as JSON."""
    folder, name = arguments
    print(json.dumps(asdict(measure(Path(folder), name))))


if __name__ == "__main__":
    main(sys.argv[1:])
