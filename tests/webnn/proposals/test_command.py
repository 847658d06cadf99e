"""``webnn proposal``: the beginning of a proposal, and its comparison with the draft."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support import each_row
from webnn.commands import main as cli


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(cli.app, ["proposal", *arguments])


WRONG = [
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
