"""The workflows run scripts of the repository. `.ci/run` has zizmor and actionlint judge them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from tests.meta.specification import ROOT
from tests.support import each_row

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
#: An action at a commit, and the version that it is.
PINNED = re.compile(r"^ *- uses: [\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def test_there_are_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == ["browser", "clients", "devices", "docs", "nightly", "profiles", "release", "tests"]


@each_row("path", WORKFLOWS)
def test_jobs_are_bounded(path: Path) -> None:
    """No rights but those that a job names, a limit of time, actions at commits, no expression in a script."""
    content = read(path)
    assert content["permissions"] == {}
    assert "group" in content["concurrency"]
    for name, job in content["jobs"].items():
        assert job["permissions"], name
        assert job["timeout-minutes"] <= 360, name
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), name
    uses = [line for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    assert [line for line in uses if not PINNED.match(line)] == []


@each_row("path", WORKFLOWS)
def test_the_scripts_exist(path: Path) -> None:
    commands = [step["run"].split()[0] for job in read(path)["jobs"].values() for step in job["steps"] if "run" in step]
    assert commands
    assert [command for command in commands if command.startswith(".") and not (ROOT / command).is_file()] == []


def test_the_classifiers_are_the_versions_that_run() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r"Python :: 3\.\d+$", each)]
    release, tests = (ROOT / ".github" / "workflows" / name for name in ("release.yml", "tests.yml"))
    [matrix] = [job["strategy"]["matrix"] for job in read(tests)["jobs"].values() if "strategy" in job]
    assert matrix["python"] == declared
    assert {each.partition("-")[0] for each in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert f">={declared[0]}" == project["requires-python"]
    packaged = release.read_text(encoding="utf-8"), (ROOT / ".ci" / "package").read_text(encoding="utf-8")
    assert [version for version in declared if not all(f" {version}" in text for text in packaged)] == []
