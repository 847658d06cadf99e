"""Adding an operation, a device profile and a rule of the ONNX import: each touches few files, and no test of other things fails.

All three are added to a copy of the checkout, whose tests run then.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.meta.specification import LAYERS
from tests.shared import ROOT, SHARED

pytestmark = [
    pytest.mark.processes,
    pytest.mark.sample(9),
    pytest.mark.skipif(not (ROOT / "webnn" / "builder").is_symlink(), reason="without the links in webnn/, a copy is not imported whole"),
]

PROFILE = {
    "_source": {"summary": "DirectML in a later browser", "certainty": "measured in a running browser", "browser": "a later one"},
    "_extends": "dml",
    "maxTensorByteLength": 2**30,
    "gelu": None,
}
RULE = '''\
def _thresholded_relu(node: Node) -> MLOperand:
    """Map to where."""
    x, alpha = node.operand(0), node.number("alpha", 1.0)
    return node.builder.where(node.builder.greater(x, node.scalar(alpha, x)), x, node.scalar(0, x))


RULES:'''
#: Tests that an addition concerned when tables were kept by hand.
CONCERNED = (
    *("validation/test_unary.py", "onnx/test_unary.py", "meta/test_operations.py", "context/test_limits.py"),
    *("profiles/test_load.py", "builder/test_semantics.py", "formats/test_cost.py", "reference/test_operations_contract.py"),
    *("meta/test_onnx_rules.py", "meta/test_extract_idl.py", "meta/test_steps.py"),
)
#: Of other files, those tests that compare a table with the operations or the profiles.
NAMES = "every_operation or has_built or up_to_date or has_what_the_browser_has or the_profiles_are_there or edge-next or atan"
COMPARING = (
    *("test_steps_each.py", "calls/test_operations.py", "builder/test_description.py", "test_proposals.py", "test_dialects.py"),
    *("profiles/test_profile_graphs.py", "profiles/test_profile_contexts.py"),
)
#: The folders whose tests the long form runs.
FOLDERS = ("meta", "validation", "builder", "context", "property", "tools/site", "webnn")
COMPUTES = """
import numpy as np
import webnn
context = webnn.ML(revision="2026-06+compute").createContextSync()
builder = webnn.MLGraphBuilder(context)
graph = builder.buildSync({"y": builder.atan(builder.input("x", dataType="float32", shape=[]))})
result = context.computeSync(graph, {"x": np.ones((), "f")}, {"y": np.empty((), "f")})
print(round(float(result["outputs"]["y"]), 4))
"""
#: Compares the row of the operator with its tests.
ROW = """
from tools.evidence import onnx_ops
[row] = onnx_ops.rows(onnx_ops.run(["ThresholdedRelu"]))
assert row in onnx_ops.PAGE.read_text(encoding="utf-8").splitlines(), row
"""


@dataclass(frozen=True)
class Copy:
    """A copy of the checkout, and the files that each addition changed."""

    root: Path
    touched: Mapping[str, list[str]]

    def run(self, *arguments: str) -> str:
        """Run Python in the copy; return what it prints."""
        ours = ("COVERAGE_", "COV_", "MUTATION_", "PYTEST_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env={**kept, "PYTHONPATH": str(self.root)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}\n{done.stdout[-8000:]}{done.stderr[-4000:]}"
        return done.stdout

    def test(self, *arguments: str) -> str:
        """Run tests in the copy; return the last line."""
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *arguments).splitlines()[-1]

    def find(self, *names: str) -> list[str]:
        """Return the test files whose paths end so."""
        found = {name: [str(path) for path in self.root.joinpath("tests").rglob(name)] for name in names}
        assert all(found.values()), found
        return [path for paths in found.values() for path in paths]


def state(root: Path) -> dict[str, str]:
    """Return a hash of each file."""
    files = [path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def edit(file: Path, *changes: tuple[str, str]) -> None:
    text = file.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, (file, old)
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def add_profile(root: Path) -> None:
    profiles = root / "context" / "profiles"
    profiles.joinpath("edge-next.json").write_text(json.dumps(PROFILE), encoding="utf-8")
    edit(profiles / "load.py", ('    "ort",\n', '    "edge-next",\n    "ort",\n'))


def add_rule(root: Path) -> None:
    edit(
        root / "webnn" / "onnx" / "rules" / "elementwise.py",
        ("RULES:", RULE),
        ('    "Where": _where,\n', '    "ThresholdedRelu": _thresholded_relu,\n    "Where": _where,\n'),
    )
    edit(root / "docs" / "onnx-ops.md", ("| ThresholdedRelu | body |", "| ThresholdedRelu | rule |"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    root = tmp_path_factory.mktemp("adding") / "checkout"
    root.mkdir()
    # Compiled files come along, except for what pytest compiled, which names the files of this checkout, and half-written ones.
    for folder in (*LAYERS.values(), *(ROOT / name for name in ("tests", "tools", "docs", "examples", "benchmarks"))):
        ignored = shutil.ignore_patterns("*-pytest-*", "*.pyc.*")
        shutil.copytree(folder, root / folder.name, symlinks=True, ignore=ignored, dirs_exist_ok=True)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy2(ROOT / file, root / file)
    if SHARED.is_dir():
        root.parent.joinpath(SHARED.name).symlink_to(SHARED, target_is_directory=True)
    tool = "-m", "tools.add_operation", "atan", "--family", "unary", "--onnx", "Atan", "--numpy", "arctan", "--says", "the arc tangent"
    touched: dict[str, list[str]] = {}
    made = Copy(root, touched)
    for name, add in {"operation": lambda _: made.run(*tool), "profile": add_profile, "rule": add_rule}.items():
        before = state(root)
        add(root)
        touched[name] = sorted(path for path, digest in state(root).items() if before.get(path) != digest)
    return made


def test_an_operation_touches_at_most_eight_files(copy: Copy) -> None:
    assert 5 < len(copy.touched["operation"]) <= 8, copy.touched["operation"]
    assert copy.run("-c", COMPUTES) == "0.7854\n"


def test_a_profile_touches_two_files(copy: Copy) -> None:
    assert copy.touched["profile"] == ["context/profiles/edge-next.json", "context/profiles/load.py"]
    assert "edge-next" in copy.run("-m", "webnn", "profiles")


def test_a_rule_touches_two_files(copy: Copy) -> None:
    assert copy.touched["rule"] == ["docs/onnx-ops.md", "webnn/onnx/rules/elementwise.py"]
    copy.run("-c", ROW)


def test_nothing_fails_then(copy: Copy) -> None:
    last = copy.test("-m", "not slow and not processes", *copy.find(*CONCERNED))
    assert int(last.split()[0]) > 400, last
    last = copy.test("-m", "not slow and not processes", "-k", NAMES, *copy.find(*COMPARING))
    assert int(last.split()[0]) >= 6, last


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_nothing_else_fails_then(copy: Copy) -> None:
    last = copy.test("-n", "auto", "-m", "not slow and not processes", *(f"tests/{folder}" for folder in FOLDERS))
    assert int(last.split()[0]) > 5000, last
