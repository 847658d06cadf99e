"""Each rule works with names, or refuses them by name: ONNX's own tests, and random models of operators of ONNX Runtime."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx
import pytest

from tests.webnn.onnx.named import Named, compare
from tools.evidence.onnx_contrib.kinds import KINDS
from tools.evidence.onnx_nodes import collect, read_case

#: The outcomes that are faults.
_FAULTS = ("different", "failed")


def _check(results: Mapping[str, Named], least: float) -> None:
    """Check that nothing is wrong, and that a part of the results has the numbers of imports without names."""
    assert [f"{name}: {each.outcome}: {each.reason}" for name, each in results.items() if each.outcome in _FAULTS] == []
    counts = Counter(each.outcome for each in results.values() if each.outcome != "unnamed")
    print(f"{sum(counts.values())} imports with names: {', '.join(f'{count} {outcome}' for outcome, count in counts.most_common())}")
    assert counts["same"] >= least * sum(counts.values())


def _nodes(names: list[str]) -> Iterator[tuple[str, onnx.ModelProto, Mapping[str, Any]]]:
    for name in names:
        feeds = read_case(collect()[name])
        if feeds is not None:
            yield name, collect()[name].model, feeds


#: Some cases, or all of them, which take minutes.
WHOLE = pytest.mark.parametrize("whole", [pytest.param(False, id="some"), pytest.param(True, id="all", marks=pytest.mark.slow)])


def _choose(names: Iterable[str], count: int, config: pytest.Config, *, whole: bool) -> list[str]:
    known = [*names]
    return known if whole else random.Random(config.getoption("--seed")).sample(known, min(count, len(known)))


@WHOLE
@pytest.mark.processes
def test_nodes_all_of_whose_sizes_have_names(whole: bool, pytestconfig: pytest.Config) -> None:
    names = _choose(collect(), 200, pytestconfig, whole=whole)
    _check({name: compare(model, feeds) for name, model, feeds in _nodes(names)}, 0.5)


@WHOLE
@pytest.mark.processes
def test_nodes_one_of_whose_sizes_has_a_name(whole: bool, pytestconfig: pytest.Config) -> None:
    results = {}
    for number, (name, model, feeds) in enumerate(_nodes(_choose(collect(), 200, pytestconfig, whole=whole))):
        # Each size of some test has its turn.
        sizes = sorted({size for each in feeds.values() for size in each.shape}) or [1]
        results[name] = compare(model, feeds, sizes[number % len(sizes)])
    _check(results, 0.6)


@WHOLE
@pytest.mark.processes
def test_operators_of_onnxruntime(whole: bool, pytestconfig: pytest.Config) -> None:
    results = {}
    for kind in _choose(KINDS, 20, pytestconfig, whole=whole):
        case = KINDS[kind](np.random.default_rng(0))
        feeds = case.feeds()
        for size in [None, *sorted({size for each in feeds.values() for size in each.shape})]:
            results[f"{kind}, {size or 'all'}"] = compare(case.model(), feeds, size)
    _check(results, 0.25)
