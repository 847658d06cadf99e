"""The differences between two drafts: verdicts and numbers of graphs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import each_row
from webnn.proposals.difference import DraftNumbers, Program, compare
from webnn.validation.drafts import find_revision
from webnn.validation.revision import Revision

NAN, INF = math.nan, math.inf
NUMBERS = [
    # the output in one draft and in the other; the difference, None for the same numbers
    ([1.0, 2.0], [1.0, 2.0], None),
    ([1.0, 2.0], [1.0, 2.5], 0.5),
    ([0.0, NAN], [-0.0, NAN], None),
    ([INF, -INF], [INF, -INF], None),
    ([INF, 1.0], [1.0, 1.0], INF),
    ([NAN, 1.0], [0.0, 1.0], NAN),
]


@dataclass(frozen=True)
class Recorded:
    graph: webnn.GraphDescription


def relu() -> Recorded:
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    x = builder.input("x", dataType="float32", shape=[2])
    return Recorded(webnn.describe({"y": builder.relu(x)}))


@each_row(["before", "after", "expected"], NUMBERS)
def test_numbers(before: list[float], after: list[float], expected: float | None) -> None:
    revisions = [find_revision(name) for name in ("2026-06", "2026-06+browsers")]
    given = dict(zip([each.name for each in revisions], (before, after), strict=True))

    def compute(program: Program, graph: webnn.GraphDescription, revision: Revision) -> Mapping[str, Any]:
        assert program is recorded
        assert graph.draft == revision.name
        return {"y": np.array(given[revision.name], np.float32)}

    recorded = relu()
    one, other = revisions
    found = compare(one, other, [recorded], compute)
    assert found.compared == 1
    assert found.any
    assert found.numbers is not None
    if expected is None:
        assert found.numbers == []
    else:
        [number] = found.numbers
        assert (number.name, number.output) == (recorded.graph.name, "y")
        assert number.difference == pytest.approx(expected, nan_ok=True)


def test_nothing_is_computed_unless_asked_for() -> None:
    draft = find_revision("2026-06")
    found = compare(draft, draft, [relu()])
    assert found.numbers is None
    assert not found.any


def test_other_numbers_are_a_difference() -> None:
    draft = find_revision("2026-06")
    results = iter([{"y": np.zeros(2, np.float32)}, {"y": np.ones(2, np.float32)}])
    found = compare(draft, draft, [relu()], lambda *_: next(results))
    assert found.numbers == [DraftNumbers(relu().graph.name, "y", 1.0)]
    assert found.any
