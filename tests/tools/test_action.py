"""action.yml: its steps run in bash, in a repository of somebody else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.meta.specification import ROOT
from tests.wpt_runner.checkouts import make_checkout

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["id"]: step for step in ACTION["runs"]["steps"]}
#: float64 does not exist, int64 does not on Core ML, float32 does everywhere.
PROGRAM = """\
from webnn import ML, MLGraphBuilder
context = ML(revision="2026-06").createContextSync()
builder = MLGraphBuilder(context)
x = builder.input("x", dataType="{type}", shape=[2])
builder.buildSync({{"y": builder.identity(x)}})
"""
#: The beginning of the annotation of a program.
INTS = "::error file=large ints.py,title=webnn check%3A"
BASH = shutil.which("bash")
pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform == "win32" or BASH is None, reason="there is no bash as in the action"),
]


class Outcome(NamedTuple):
    code: int
    lines: list[str]
    outputs: dict[str, str]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    for name, type_ in (("good.py", "float32"), ("large ints.py", "int64"), ("wrong.py", "float64")):
        folder.joinpath(name).write_text(PROGRAM.format(type=type_), encoding="utf-8")
    return folder


def run(repository: Path, step: str, inputs: Mapping[str, str]) -> Outcome:
    """Run a step as the system does: expressions are filled in, the script goes to bash."""
    chosen = {name: each["default"] for name, each in ACTION["inputs"].items()} | dict(inputs)
    temporary, outputs = repository.parent / "temporary", repository.parent / "outputs"
    outputs.write_text("", encoding="utf-8")
    expressions: Mapping[str, str] = STEPS[step]["env"]
    environment = {name: chosen[text.removeprefix("${{ inputs.").removesuffix(" }}")] for name, text in expressions.items()}
    result = subprocess.run(
        [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[step]["run"]],
        cwd=repository,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("WEBNN_")},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(outputs),
            "RUNNER_TEMP": str(temporary),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    written = dict(line.split("=", 1) for line in outputs.read_text(encoding="utf-8").splitlines())
    return Outcome(result.returncode, result.stdout.splitlines(), written)


def test_no_input_is_part_of_a_script() -> None:
    for step in STEPS.values():
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    used = [expression for step in STEPS.values() for expression in step["env"].values()]
    assert sorted(used) == sorted(f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"])


@pytest.mark.parametrize(
    ("inputs", "code", "annotations"),
    [
        ({"programs": "good.py", "require": "all"}, 0, []),
        ({"programs": "good.py\nlarge ints.py\n", "require": "coreml"}, 1, [f"{INTS} coreml::refused"]),
        ({"programs": "large ints.py", "require": "coreml", "check-options": "--profile=dml"}, 1, [f"{INTS} coreml::refused"]),
        ({"programs": "wrong.py"}, 2, ["::error file=wrong.py,title=webnn check%3A without a profile::"]),
        ({"programs": "--help"}, 2, ["::error title=webnn::programs: each line must not begin with a dash, got '--help'"]),
        ({"programs": "good.py", "check-options": "good.py"}, 2, ["::error title=webnn::check-options: each line must begin with a dash"]),
        ({"programs": " \n"}, 2, ["::error title=webnn::programs: must name a file"]),
    ],
)
def test_check(repository: Path, inputs: dict[str, str], code: int, annotations: list[str]) -> None:
    outcome = run(repository, "check", inputs)
    assert (outcome.code, outcome.outputs) == (code, {"code": str(code)})
    shown = [line for line in outcome.lines if line.startswith("::error")]
    assert [line[: len(start)] for line, start in zip(shown, annotations, strict=True)] == annotations


@pytest.mark.parametrize("text", ["$(touch stolen)", "`touch stolen`", "good.py; touch stolen", "'\"; touch stolen #"])
def test_an_input_is_not_run(repository: Path, text: str) -> None:
    assert run(repository, "check", {"programs": text, "require": text}).code == 2
    assert run(repository, "install", {"extras": text}).code == 2
    assert run(repository, "wpt", {"wpt": text, "tests": text}).code == 2
    assert not repository.joinpath("stolen").exists()


def test_wpt(repository: Path) -> None:
    """The exit code is that of the command; what is not as expected is shown beside the file."""
    text = "// META: global=window\ntest(() => { throw new Error('broken'); }, 'one');\ntest(() => {}, 'two');\n"
    make_checkout(repository / "wpt", {"mine.https.any.js": text})
    outcome = run(repository, "wpt", {"wpt": "wpt", "tests": "mine", "wpt-options": "--expectations=none"})
    assert (outcome.code, outcome.outputs) == (1, {"code": "1"})
    [shown] = [line for line in outcome.lines if line.startswith("::error")]
    assert shown.startswith("::error file=wpt/webnn/mine.https.any.js,title=webnn wpt%3A /webnn/mine.https.any.html%3A one::")
    assert "broken" in shown
    assert repository.parent.joinpath("temporary", "webnn-reports", "wptreport.json").is_file()
    outcome = run(repository, "wpt", {"wpt": "wpt", "wpt-options": "--expectations=none\n--subtest=two"})
    assert (outcome.code, outcome.outputs) == (0, {"code": "0"})


def test_reports(repository: Path) -> None:
    run(repository, "check", {"programs": "good.py"})
    assert "<html" in (repository.parent / "temporary" / "webnn-reports" / "check-1.html").read_text(encoding="utf-8")
