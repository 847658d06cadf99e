"""Tentative tests of proposals: they pass with the proposal, and fail without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.shared import ROOT
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.clock import PATIENT
from tests.wpt_runner.written import written_checkout
from tools.proposals import find_proposal
from webnn.commands.main import app
from webnn.proposals.proposal import Case, Proposal, Script
from webnn.validation.drafts import extra_additions, find_addition, find_revision
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.levels import find_level
from webnn.wpt_runner.results import FileStatus, SubtestStatus
from webnn.wpt_runner.settings import Settings
from webnn.wpt_runner.writing.cases import WritingError
from webnn.wpt_runner.writing.proposal import write_proposal_tests

pytestmark = needs_quickjs


def write(proposal: Proposal, **rest: Any) -> dict[str, str]:
    after = find_revision(f"{proposal.since}+{proposal.name}")
    return write_proposal_tests(replace(proposal, **rest), after, variants=["?cpu"])


def run(root: Path, texts: Mapping[str, str], revision: str) -> dict[str, list[SubtestStatus]]:
    """Run files; return the statuses of the subtests of each."""
    checkout = Checkout(written_checkout(root, texts))
    level = find_level(revision)
    settings = Settings(revision=level.revision, dialect=level.dialect, timeout_multiplier=PATIENT)
    results = {path: run_test(checkout, checkout.tests([path])[0], settings) for path in texts}
    assert {each.status for each in results.values()} == {FileStatus.OK}, [each.message for each in results.values()]
    return {path: [each.status for each in result.subtests] for path, result in results.items()}


@pytest.mark.parametrize("name", extra_additions())
def test_the_tests_of_a_proposal(name: str, tmp_path: Path) -> None:
    proposal = find_proposal(name)
    texts = write(proposal)
    assert all(path.endswith(f"{name}.tentative.https.any.js") for path in texts)
    written = "".join(texts.values())
    assert [row.name for row in proposal.added if f" builder.{row.name}(" not in written] == []
    found = run(tmp_path / "with", texts, f"{proposal.since}+{name}")
    # The helpers of the checkout are a subtest, too.
    assert sum(map(len, found.values())) > len(proposal.tests) > 0
    assert {status for each in found.values() for status in each} == {SubtestStatus.PASS}
    without = run(tmp_path / "without", texts, proposal.since)
    assert SubtestStatus.FAIL in {status for each in without.values() for status in each}


def test_the_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "written_elsewhere:PROPOSAL"
    runner = CliRunner()
    assert runner.invoke(app, ["proposal", "new", "written-elsewhere"]).exit_code == 0
    folder = written_checkout(tmp_path / "wpt", {}) / "webnn"
    call = ["wpt", "new", name, "-o", str(folder)]
    result = runner.invoke(app, call)
    assert result.exit_code == 0, result.output
    assert result.stdout.count("wrote ") == 3
    again = runner.invoke(app, call)
    assert (again.exit_code, "exists already: --force overwrites" in " ".join(again.output.split())) == (2, True)
    assert runner.invoke(app, [*call, "--force", "--variant", "npu"]).exit_code == 0
    monkeypatch.syspath_prepend(tmp_path)
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.tentative.https.any.js")}
    assert "// META: variant=?npu\n" in texts["conformance_tests/written-elsewhere.tentative.https.any.js"]
    found = run(tmp_path / "again", texts, f"2026-06+{name}")
    assert {status for each in found.values() for status in each} == {SubtestStatus.PASS}
    assert len(found) == 3


WRONG_CALLS = [
    (["compute-policy", "zero-size", "-o", "."], "a proposal stands alone"),
    (["compute-policy", "-o", ".", "--title", "mine"], "a proposal stands alone"),
    (["compute-policy", "-o", "nowhere"], "there is no folder nowhere for the tests of compute-policy"),
    (["no_such.module:PROPOSAL", "-o", "."], "there is no addition 'no_such.module:PROPOSAL'"),
    (["webnn.validation.drafts.browsers:BROWSERS", "-o", "."], "must be a proposal, got an addition without a page"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG_CALLS)
def test_calls_that_are_refused(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["wpt", "new", *arguments])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def relu(dataType: str) -> Callable[[Any], dict[str, Any]]:
    return lambda builder: {"y": builder.relu(builder.input("x", {"dataType": dataType, "shape": [2]}))}


TWO = {"x": np.ones(2, np.float32)}
WRONG_TESTS = [
    ([Case("a", relu("float32"), TWO), Script("a", "")], "each case must have a name of its own, got 'a' 2 times"),
    ([Case("a", relu("float32"), TWO, "TypeError")], "'a' must end with a TypeError, and all of its calls are accepted"),
    ([Case("a", relu("uint8"), TWO)], "'a' must return outputs, got WebNNTypeError"),
    ([Case("a", relu("uint8"), error="OperationError")], "'a' must end with a OperationError, got WebNNTypeError"),
    ([Case("a", relu("float32"))], r"'a' must have numbers for the inputs \['x'\], got \[\]"),
    ([Case("a", lambda builder: None)], "'a' must return outputs, and all of its calls are accepted"),
    ([Case("a", lambda builder: relu("float32")(builder) and {"y": object()}, TWO)], "must use what its builder has made"),
]


@pytest.mark.parametrize(("tests", "message"), WRONG_TESTS)
def test_tests_that_are_refused(tests: list[Case | Script], message: str) -> None:
    with pytest.raises(WritingError, match=message):
        write(find_proposal("compute-policy"), tests=tests)


def test_numbers_keep_their_bits() -> None:
    """Also NaN, infinities, zeros with a sign, and integers of 64 bits."""

    def build(builder: Any) -> dict[str, Any]:
        longs = builder.constant({"dataType": "int64", "shape": [1]}, np.array([-(2**62)], np.int64))
        return {"long": builder.identity(longs), "x": builder.identity(builder.input("x", {"dataType": "float32", "shape": [4]}))}

    case = Case("bits", build, {"x": np.array([np.nan, -np.inf, -0.0, 1e-45], np.float32)})
    text = write(find_proposal("compute-policy"), tests=[case])["conformance_tests/compute-policy.tentative.https.any.js"]
    assert text.count("new BigInt64Array([-4611686018427387904n])") == 2
    assert text.count("new Float32Array([NaN, -Infinity, -0, 1.401298464324817e-45])") == 2


def test_the_guide_names_the_command() -> None:
    assert "webnn wpt new" in (ROOT / "docs/proposals.md").read_text(encoding="utf-8") + (ROOT / "docs/wpt.md").read_text(encoding="utf-8")


def test_additions_are_found() -> None:
    assert find_addition("compute-policy") is find_proposal("compute-policy")
