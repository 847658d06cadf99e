"""The tool that runs exported graphs with XLA: what it calls right and wrong, with a judge that does not need JAX."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import Mock

import numpy as np
import pytest

import webnn
from tests.support import Array
from tests.webnn.hlo.test_reader import jaxlib
from tools.evidence import stablehlo_export
from tools.evidence.stablehlo_export import Judge, Verdict, judge, judge_all, recorded_graph
from webnn.context.devices.selection import CPU, Device
from webnn.validation.descriptor import unpack
from webnn.wpt_runner.vectors.batch import choose, group_cases
from webnn.wpt_runner.vectors.cases import Case, load_cases
from webnn.wpt_runner.vectors.corrections import Correction
from webnn.wpt_runner.vectors.files import bundled_archives

pytestmark = jaxlib


def task(filter: str) -> tuple[Case, Correction | None]:
    case, correction, _ = choose(group_cases(list(load_cases(bundled_archives())), None, Device(provider=CPU, type="cpu")), [filter])[0]
    return case, correction


def expecting(case: Case) -> Judge:
    """Make a judge that returns what a case expects."""
    graph, expected = (recorded := recorded_graph(case)).graph, recorded.expected

    def run(text: str, inputs: Sequence[Array]) -> list[Array]:
        assert "func.func public @main" in text
        assert [each.shape for each in inputs] == [each.dimensions for each in graph.inputs.values()]
        return [expected[name].array() for name in graph.outputs]

    return run


@pytest.mark.parametrize("filter", ["relu", "dequantizeLinear", "split", "lstmCell"])
def test_right_and_wrong(filter: str) -> None:
    case, correction = task(filter)
    run = expecting(case)
    assert judge(case, correction, run) == Verdict("right")
    wrong = judge(case, correction, lambda text, inputs: [each + 1 for each in run(text, inputs)])
    assert wrong.kind == "wrong"
    assert wrong.reason
    assert judge(case, correction, Mock(side_effect=RuntimeError("the compiler\nfails"))) == Verdict("wrong", "RuntimeError: the compiler")


def test_what_the_draft_refuses() -> None:
    case, correction = next(each for each in _all() if each[1] is not None and each[1].error)
    assert judge(case, correction, expecting_nothing).kind == "no graph"
    # Without a correction nobody expects that.
    assert judge(case, None, expecting_nothing).kind == "wrong"


def _all() -> Sequence[tuple[Case, Correction | None]]:
    tasks = choose(group_cases(list(load_cases(bundled_archives())), None, Device(provider=CPU, type="cpu")), [])
    return [(case, correction) for case, correction, _ in tasks]


def expecting_nothing(text: str, inputs: Sequence[Array]) -> list[Array]:
    raise AssertionError("no program should run")


def test_a_filter() -> None:
    found = list(judge_all(["softmax"], lambda text, inputs: [np.zeros(1, np.float32)]))
    assert len(found) > 5
    assert all("softmax" in case.operations for case, _ in found)
    assert {verdict.kind for _, verdict in found} == {"wrong"}


def test_the_exit_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    case, correction = task("relu")
    monkeypatch.setattr(stablehlo_export, "load_judge", lambda: None)
    for kind, code in (("right", 0), ("wrong", 1), ("refused", 1)):
        monkeypatch.setattr(stablehlo_export, "judge_all", lambda filters, run, kind=kind: [(case, Verdict(kind, "because"))])
        assert stablehlo_export.main([]) == code
        assert f"1 cases: {int(kind == 'right')} right, {int(kind == 'wrong')} wrong" in capsys.readouterr().out
    assert correction is None


def test_small_integers() -> None:
    descriptor = webnn.OperandDescriptor("int4", (3,))
    given = np.array([0xF1, 0x07], np.uint8)
    found = stablehlo_export._give(given, descriptor)
    assert found.dtype.name == "int4"
    np.testing.assert_array_equal(stablehlo_export._take(found), unpack(given, "int4", (3,)), strict=True)
