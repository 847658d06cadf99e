"""The tool that runs StableHLO's own tests, on small ones, and its list of known cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.webnn.hlo.test_reader import jaxlib, reader
from tools.evidence.stablehlo_cases import Case, Known, Outcome, main, read_known, run_text, settle
from webnn.validation.drafts import find_revision

#: A test: what it computes of two numbers, and what it expects.
TEXT = """
func.func @main() {
  %%0 = stablehlo.constant dense<%s> : tensor<2x%s>
  %%1 = stablehlo.add %%0, %%0 : tensor<2x%s>
  check.expect_eq_const %%1, dense<%s> : tensor<2x%s>
  func.return
}
"""


def text(numbers: str, wanted: str, element: str = "f32") -> str:
    return TEXT % (numbers, element, element, wanted, element)


@jaxlib
@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize(
    ("source", "outcome", "reason"),
    [
        (text("[1.0, 2.0]", "[2.0, 4.0]"), "right", ""),
        (text("[1.0, 2.0]", "[2.0, 5.0]"), "wrong", "eq 0.0: 1 of 2 differ, got np.float32(4.0), want np.float32(5.0)"),
        (text("[-0.0, 2.0]", "[0.0, 4.0]"), "wrong", "eq 0.0: 1 of 2 differ, got np.float32(-0.0), want np.float32(0.0)"),
        (text("[1.0, 2.0]", "[2.0, 4.0]", "f64"), "refused", "float64 must be allowed to become float32"),
        (text("[1.0]", "[2.0, 4.0]"), "unread", ""),
        ("func.func @main() -> tensor<f32> { %0 = stablehlo.constant dense<0.0> : tensor<f32> return %0 : tensor<f32> }", "unread", ""),
    ],
)
def test_outcomes(source: str, outcome: Outcome, reason: str, *, folded: bool) -> None:
    found = run_text(source, "here", reader(), folded=folded)
    assert found.outcome == outcome, found
    assert reason in found.reason


@jaxlib
@pytest.mark.processes
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "small.mlir"
    file.write_text(text("[1.0, 2.0]", "[2.0, 4.0]"), encoding="utf-8")
    assert main([str(file), "--jobs", "1"]) == 0
    assert "1 right, 0 bound, 0 refused, 0 unread, 0 known, 0 wrong, 0 failed" in capsys.readouterr().out
    file.write_text(text("[1.0, 2.0]", "[2.0, 5.0]"), encoding="utf-8")
    assert main([str(file), "--jobs", "1", "--json", str(tmp_path / "outcomes.json")]) == 1
    assert "wrong    small.mlir#0: eq 0.0" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "outcomes.json").read_text(encoding="utf-8"))
    assert (row["name"], row["outcome"]) == ("small.mlir#0", "wrong")


def test_known_cases_are_not_faults() -> None:
    known = {"a": Known(reason="as it is.")}
    (case,), faults = settle([Case(name="a", outcome="wrong", reason="1 of 2 differ")], known)
    assert (case.outcome, case.reason) == ("known", "as it is. 1 of 2 differ")
    assert faults == []


@pytest.mark.parametrize(
    ("name", "outcome", "fault"),
    [
        ("a", "right", "right    a: this case must be removed from stablehlo_cases.toml"),
        ("a", "refused", "refused  a: this case must be removed from stablehlo_cases.toml"),
        ("a", "failed", "failed   a: why"),
        ("b", "failed", "failed   b: why"),
        ("b", "wrong", "wrong    b: why"),
    ],
)
def test_faults(name: str, outcome: Outcome, fault: str) -> None:
    case = Case(name=name, outcome=outcome, reason="why")
    assert settle([case], {"a": Known(reason="as it is.")}) == ([case], [fault])


def test_where_an_entry_applies() -> None:
    assert [Known(reason="").applies(draft, folded=folded) for draft in ("2024-06", "2026-06") for folded in (False, True)] == [True] * 4
    only = Known(reason="", draft="2024-06", folded=False)
    wanted = [True, False, False, False]
    assert [only.applies(draft, folded=folded) for draft in ("2024-06", "2026-06") for folded in (False, True)] == wanted


def test_the_list() -> None:
    known = read_known()
    assert known
    for name, entry in known.items():
        assert name.partition("#")[0].endswith(".mlir")
        assert not entry.draft or find_revision(entry.draft).name == entry.draft


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ('[[known]]\ncases = ["a"]', "an entry must have a reason and cases"),
        ('[[known]]\nreason = "so"', "an entry must have a reason and cases"),
        ('[[known]]\nreason = ""\ncases = ["a"]', "an entry must have a reason and cases"),
        ('[[known]]\nreason = "so"\ncases = ["a"]\nother = 1', "an entry must have a reason and cases"),
        ('[[known]]\nreason = "so"\ncases = ["a", "a"]', "a case must be in one entry, got a in two"),
    ],
)
def test_an_invalid_list(tmp_path: Path, entries: str, message: str) -> None:
    file = tmp_path / "list.toml"
    file.write_text(entries, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_known(file)
