"""Recorded conformance cases, saved and loaded: they compute what they computed before, bit by bit."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import webnn
from tests.support import FIRST
from webnn import DescriptionError, WebNNTypeError
from webnn.wpt_runner.levels import LEVELS, level_of
from webnn.wpt_runner.vectors.cases import Case, load_cases
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.format import Array
from webnn.wpt_runner.vectors.graphs import read_graph
from webnn.wpt_runner.vectors.replay import compute

#: By day, one case of a level in this number of cases.
SAMPLED = 45
OLD, NEW = (level.name for level in LEVELS)
#: The cases of each level; some of the newer one are not valid in its draft.
CASES = {OLD: 958, NEW: 1728}
NOT_VALID = {OLD: 0, NEW: 13}
#: The cases without a counterpart in the newest draft: they keep theirs.
KEPT = {OLD: 37, NEW: 0}


@cache
def cases(level: str) -> list[Case]:
    return [case for case in load_cases(bundled_archives()) if case.level == level]


@cache
def make_ml(level: str, draft: str) -> webnn.ML:
    found = level_of(level)
    return found.make_ml() if draft == found.revision else webnn.ML(revision=draft)


def replay(case: Case, graph: webnn.GraphDescription) -> dict[str, Array]:
    """Compute a graph with the inputs of a case, which a computation uses up."""
    return compute(replace(read_graph(case), graph=graph), make_ml(case.level, graph.draft).createContextSync())


def round_trip(case: Case, path: Path) -> str:
    """Save, load and compute a case; return what became of it."""
    graph = read_graph(case).graph
    refusal = refused(case, graph)
    if refusal:
        with pytest.raises(DescriptionError) as invalid:
            graph.save(path)
        assert invalid.value.message == refusal
        return "not valid"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph.save(path)
    loaded = webnn.load(path)
    assert content(replay(case, loaded)) == content(replay(case, graph)), case.name
    assert [each.category for each in caught] == ([webnn.WebNNWarning] if loaded.draft == FIRST.name else [])
    return "kept" if caught else "same"


def refused(case: Case, graph: webnn.GraphDescription) -> str:
    """Return the reason why a case cannot be built; empty for none."""
    try:
        graph.build(webnn.MLGraphBuilder(make_ml(case.level, graph.draft).createContextSync()))
    except WebNNTypeError as error:
        return str(error)
    return ""


def content(outputs: dict[str, Array]) -> dict[str, object]:
    return {name: (each.dtype, each.shape, each.tobytes()) for name, each in outputs.items()}


def count(chosen: Iterable[Case], path: Path) -> Counter[str]:
    return Counter(round_trip(case, path) for case in chosen)


@pytest.mark.parametrize("suffix", [".webnn.json", ".webnn"])
@pytest.mark.parametrize("level", CASES)
def test_some_cases(level: str, suffix: str, tmp_path: Path) -> None:
    chosen = cases(level)[::SAMPLED]
    counts = count(chosen, tmp_path / f"graph{suffix}")
    assert counts.total() == len(chosen) == -(-CASES[level] // SAMPLED)
    assert counts["same"] + counts["kept"] + counts["not valid"] == len(chosen)
    assert counts["same"] > 0.9 * len(chosen)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".webnn.json", ".webnn"])
@pytest.mark.parametrize("level", CASES)
def test_all_cases(level: str, suffix: str, tmp_path: Path) -> None:
    counts = count(cases(level), tmp_path / f"graph{suffix}")
    same = CASES[level] - NOT_VALID[level] - KEPT[level]
    assert counts == Counter({"same": same, "kept": KEPT[level], "not valid": NOT_VALID[level]})
