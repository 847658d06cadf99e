"""``webnn spec diff``, which is ``webnn proposal diff``, too: what differs between two drafts."""

from __future__ import annotations

import json
from importlib import import_module
from itertools import islice
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support import each_row
from webnn.commands import main as cli
from webnn.commands.registry import CASES


def invoke(*arguments: str, group: str = "spec") -> Any:
    return CliRunner().invoke(cli.app, [group, *arguments])


def test_two_drafts() -> None:
    result = invoke("diff", "2024-06", "2026-06", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert {"tile", "scatterND"} <= set(found["added"])
    assert not found["removed"]
    assert found["compared"] == 958
    assert not found["cases"]
    changed = {each["name"]: each for each in found["verdicts"]}
    verdict = changed["argMin float32 2D tensor default options"]
    assert (verdict["before"], "it searches 2 axes" in verdict["after"]) == ("", True)
    assert all(name.startswith(("argMin", "argMax")) or "symmetric" in name for name in changed)
    # The other way round.
    back = json.loads(invoke("diff", "2026-06", "2024-06", "--json").stdout)
    assert (back["added"], back["removed"], back["compared"]) == (found["removed"], found["added"], found["compared"])
    assert {each["name"]: (each["after"], each["before"]) for each in back["verdicts"]} == {
        name: (each["before"], each["after"]) for name, each in changed.items()
    }


def test_two_proposals() -> None:
    """The cases of each are compared, those of a proposal that both have are not."""
    result = invoke("diff", "2026-06+zero-size+no-lstm-gru", "2026-06+no-lstm-gru+subgraphs", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (found["removed"], found["compared"]) == ([], 1728)
    changed = {each["name"]: (each["before"], each["after"]) for each in found["proposed"]}
    assert "a network of two gruCell() is computed" not in changed
    assert changed["relu of nothing"][0] == ""
    assert changed["relu of nothing"][1].startswith("WebNNTypeError: input: descriptor must have dimensions from 1 to ")
    assert changed["a call computes the operators of the subgraph"] == ("AttributeError: the builder has no method buildSubgraph", "")


def test_a_draft_without_recorded_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The graphs of the draft before are compared."""
    replay = import_module(CASES)
    load = replay.load_recorded
    monkeypatch.setattr(replay, "load_recorded", lambda name: load(name) if name == "2024-06" else iter(()))
    assert json.loads(invoke("diff", "2026-06", "2026-06+zero-size", "--json").stdout)["compared"] == 958


def test_a_proposal() -> None:
    result = invoke("diff", "2026-06", "2026-06+low-precision")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert '  +   "bfloat16",' in lines
    assert any(line.startswith("  cast.input") and "+bfloat16" in line for line in lines)
    assert "recorded graphs: 1728 compared, 0 with another verdict" in lines
    assert "cases of the proposals: 4 compared, 3 with another verdict" in lines
    assert lines[-1].startswith("  dequantizeLinear float8e4m3: WebNNTypeError: ")
    assert lines[-1].endswith(", now taken")
    assert invoke("diff", "2026-06", "2026-06+low-precision", group="proposal").stdout == result.stdout


def test_no_difference() -> None:
    result = invoke("diff", "2026-06", "2026-06")
    assert (result.exit_code, result.stdout) == (0, "recorded graphs: 1728 compared, 0 with another verdict\n")


def test_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = import_module(CASES)
    few = list(islice(replay.load_recorded("2024-06"), 3))
    monkeypatch.setattr(replay, "load_recorded", lambda _: few)
    result = invoke("diff", "2024-06", "2026-06", "--numbers")
    assert result.stdout.endswith("recorded graphs: 3 compared, 0 with another verdict\nrecorded graphs with other numbers: 0\n")
    compute = replay.compute
    # The second draft computes something else.
    monkeypatch.setattr(
        replay,
        "compute",
        lambda program, context: {name: array + hasattr(context, "dispatch") for name, array in compute(program, context).items()},
    )
    result = invoke("diff", "2024-06", "2026-06", "--numbers")
    assert "recorded graphs with other numbers: 3\n" in result.stdout
    assert all(line.endswith("differs by 1") for line in result.stdout.splitlines()[-3:])


@each_row(("second", "message"), [("2027", "there is no revision '2027'"), ("2026-06+nothing", "there is no addition 'nothing'")])
def test_no_draft(second: str, message: str) -> None:
    result = invoke("diff", "2026-06", second)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
