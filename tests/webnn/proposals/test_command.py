"""``webnn proposal``: what differs between drafts, and the beginning of a proposal."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support import each_row
from webnn.commands import main as cli
from webnn.commands.registry import CASES


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(cli.app, ["proposal", *arguments])


def test_two_drafts() -> None:
    result = invoke("diff", "2024-06", "2026-06", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert {"tile", "scatterND"} <= set(found["added"])
    assert not found["removed"]
    assert found["compared"] == 958
    changed = {each["name"]: each for each in found["verdicts"]}
    verdict = changed["argMin float32 2D tensor default options"]
    assert (verdict["before"], "it searches 2 axes" in verdict["after"]) == ("", True)
    assert all(name.startswith(("argMin", "argMax")) or "symmetric" in name for name in changed)


def test_a_proposal() -> None:
    result = invoke("diff", "2026-06", "2026-06+low-precision")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert '  +   "bfloat16",' in lines
    assert any(line.startswith("  cast.input") and "+bfloat16" in line for line in lines)
    assert lines[-1] == "recorded graphs: 1728 compared, 0 with another verdict"


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


WRONG = [
    (("diff", "2026-06", "2027"), "there is no revision '2027'"),
    (("diff", "2026-06", "2026-06+nothing"), "there is no addition 'nothing'"),
    (("diff", "2026-06", "2024-06"), "the draft 2024-06 must not be earlier than 2026-06"),
    (("new", "My Proposal"), "a name has lower-case letters, digits and single hyphens"),
    (("new", "a--b"), "a name has lower-case letters"),
    (("new", "zero-size"), "there is a proposal 'zero-size' already"),
    (("new", "fine", "--folder", "no/such/folder"), "cannot be written"),
]


@each_row(("arguments", "message"), WRONG)
def test_wrong_arguments(arguments: tuple[str, ...], message: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.processes
def test_a_new_proposal_passes_its_tests(tmp_path: Path) -> None:
    result = invoke("new", "my-shrink", "--folder", str(tmp_path))
    assert result.exit_code == 0, result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"my_shrink.py", "test_my_shrink.py"}
    # From there, as its author would.
    options = ["-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function"]
    tested = subprocess.run([sys.executable, "-m", "pytest", *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "5 passed" in tested.stdout
    again = invoke("new", "my-shrink", "--folder", str(tmp_path))
    assert again.exit_code == 2
    assert "exists already" in " ".join(again.stderr.split())


@pytest.mark.processes
def test_a_module_of_the_current_folder(tmp_path: Path) -> None:
    """The script `webnn` has another folder in its path, as ``python -P`` has none."""
    assert invoke("new", "written-here", "--folder", str(tmp_path)).exit_code == 0
    # An installed package stays in front.
    (tmp_path / "numpy.py").write_text("raise RuntimeError('of the folder')\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "webnn", "proposal", "diff", "2026-06", "2026-06+written_here:PROPOSAL"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, "")
    assert "  + hardShrink" in result.stdout.splitlines()
    other = subprocess.run([*command[:-1], "2026-06+not_here:PROPOSAL"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (other.returncode, "No module named 'not_here'" in " ".join(other.stderr.split())) == (2, True)
