"""The command of the catalogue: the small network in full."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.shared import ROOT
from tests.tools.evidence.models.toys import RELU, write_catalog, write_relu
from tools.evidence.browser.emulator import build_modules
from tools.evidence.browser.modules import save_module
from tools.evidence.models import __main__ as command
from tools.evidence.models.catalog import load_catalog
from tools.evidence.models.inputs import make_inputs
from tools.evidence.models.measure import check
from tools.evidence.models.page import keep_results, read_results
from tools.evidence.models.result import Result
from tools.evidence.models.running import DEVICES
from webnn.context.devices.selection import usable_cores
from webnn.context.profiles import PROFILES


@pytest.mark.processes
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The network of the example, with its times and devices."""
    cores = usable_cores()
    arguments = ["digits", "--cache", str(tmp_path / "cache"), "--rounds", "2", "--json", str(tmp_path / "r.json")]
    assert command.main(arguments) == 0, capsys.readouterr().out
    assert "digits" in capsys.readouterr().out
    [result] = read_results(tmp_path / "r.json")
    assert (result.name, result.status) == ("digits", "ok")
    assert result.difference is not None
    assert result.difference <= 1e-6
    assert result.times is not None
    assert result.times.run > 0
    assert {each.profile for each in result.places} == set(DEVICES.values())
    assert {each.verdict for each in result.places} == {"builds"}
    assert result.profiles == len(PROFILES)
    # Only the measurement is pinned to one core.
    assert usable_cores() == cores


@pytest.mark.processes
def test_the_command_on_an_executor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two quantized forms of the network of the example. The results of other models stay in the file."""
    path = tmp_path / "r.json"
    keep_results(
        path, [Result(name="magika", status="failed", message="old"), Result(name="digits-qdq", status="failed")], load_catalog(), 0
    )
    arguments = ["digits-q*", "--cache", f"{tmp_path / 'cache'}", "--rounds", "0", "--executor", "processes:2", "--json", f"{path}"]
    assert command.main(arguments) == 0, capsys.readouterr().out
    assert [(each.name, each.status) for each in read_results(path)] == [
        ("magika", "failed"),
        ("digits-qdq", "ok"),
        ("digits-qoperator", "ok"),
    ]


@pytest.mark.processes
def test_modules(tmp_path: Path) -> None:
    _, description = check(RELU, write_relu(tmp_path / "relu.onnx"))
    assert description is not None
    save_module(description, tmp_path / "modules", "model_re_lu", make_inputs(RELU.inputs, 3))
    modules = build_modules(["model_re_lu"], tmp_path / "modules", dialect="browsers-2026")
    assert modules.descriptions["model_re_lu"].inputs == description.inputs
    with np.load(tmp_path / "modules" / "model_re_lu.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["input x"], make_inputs(RELU.inputs, 3)["x"])


WRONG_COMMANDS = [
    (["nothing"], 2, "no model has such a name"),
    (["--rounds", "-1"], 2, "--rounds must be at least 0, got -1"),
    (["--executor", "dask://"], 2, "--executor must be one of processes, processes:N"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG_COMMANDS)
def test_wrong_commands(arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == code
    assert message in capsys.readouterr().err


@pytest.mark.processes
def test_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that cannot be made, or that is not a model."""
    catalog, script = tmp_path / "models.toml", tmp_path / "make.py"
    write_catalog(catalog, script, "raise SystemExit('there is no model today')")
    assert command.main(["--catalog", str(catalog)]) == 1
    assert re.search("not expected: m: failed: .* ended with 1: there is no model today", capsys.readouterr().out)
    write_catalog(catalog, script, "import pathlib, sys\npathlib.Path(sys.argv[2]).write_bytes(b'no model')")
    assert command.main(["--catalog", str(catalog)]) == 1
    assert "not expected: m: failed: import: " in capsys.readouterr().out


@pytest.mark.processes
def test_the_job_is_valid_bash() -> None:
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "models")], check=True)
