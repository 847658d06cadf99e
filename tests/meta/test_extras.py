"""The core stands without its extras: their folders can be deleted, and no file of the core names them. docs/architecture.md."""

from __future__ import annotations

import compileall
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.meta.specification import LAYERS, ROOT
from tests.meta.test_imports import MODULES, home_of
from tests.support import each_row
from tools.draw_architecture import EXTRAS, PACKAGES
from webnn.validation import extras
from webnn.validation.drafts import extra_additions

#: Imports every module, and prints their number.
IMPORT_ALL = """
import pkgutil, sys
from importlib import import_module
from pathlib import Path
import webnn
assert Path(webnn.__file__).resolve().is_relative_to(Path.cwd()), webnn.__file__
names = [each.name for each in pkgutil.walk_packages(webnn.__path__, "webnn.", onerror=lambda name: None)]
for name in names:
    import_module(name)
print(len(names))
"""
#: A short part of the core's tests: of each layer.
TESTS = ["tests/validation/test_matmul.py", "tests/builder/onnx/test_matmul.py", "tests/context/test_graph_steps.py"]
_ARGUMENT = "an argument of PyTorch's export has the same name"
#: Core files that name an extra, with the reason.
NAMED = {
    "validation/drafts/draft_2026_09.py": "it refuses the name of the proposal that it took up",
    "validation/revision.py": "type checkers know the proposals by name: they cannot follow entry points",
    "webnn/torch/__init__.py": _ARGUMENT,
    "webnn/torch/exporting.py": _ARGUMENT,
}
PACKAGE_NAMES = [name for packages in EXTRAS.values() for name in packages]
#: A package of an extra, as a module or as a folder; or an addition of one, where it is a name and not a word of a sentence.
NAME = re.compile(
    "|".join(
        [
            *(rf"\b{name.replace('.', '[./]')}\b(?![-\w])" for name in PACKAGE_NAMES),
            *(rf"[+\"'`]{name}\b" for name in extra_additions() if "-" in name),
            *(rf"\+{name}\b" for name in extra_additions()),
            *(rf"(?<![a-z]){name.replace('-', '_')}" for name in extra_additions() if "-" in name),
        ]
    ),
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    # Compiled files come along, except for what pytest compiled, which names the files of this checkout, and half-written ones.
    for name in {path.name for path in LAYERS.values()} | {"tests", "tools"}:
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("*-pytest-*", "*.pyc.*", "data"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    # Once, and not in each copy.
    for path in LAYERS.values():
        compileall.compile_dir(folder / path.name, quiet=1)
    return folder


def run(folder: Path, *arguments: str) -> str:
    path = os.pathsep.join([str(folder), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEBNN_")} | {"PYTHONPATH": path}
    # -S: an editable installation would find what is missing in the checkout.
    done = subprocess.run([sys.executable, "-S", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.processes
@pytest.mark.sample(1)
@pytest.mark.parametrize("names", [tuple(EXTRAS), *((name,) for name in EXTRAS)], ids=lambda names: names[0] if len(names) == 1 else "all")
def test_the_rest_works_without_an_extra(names: tuple[str, ...], tree: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    shutil.copytree(tree, folder, symlinks=True)
    for package in {package for name in names for package in EXTRAS[name]}:
        shutil.rmtree(folder / PACKAGES[package])
    assert int(run(folder, "-c", IMPORT_ALL)) > 400
    listed = run(folder, "-m", "webnn", "--help")
    assert "Read handwritten digits" in listed
    assert ("  serve " in listed) == ("serve" not in names)
    assert ("  playground " in listed) == {"serve", "playground"}.isdisjoint(names)
    assert "CPU" in run(folder, "-m", "webnn", "devices")
    # The plug-in of pytest is an entry point, too, which pytest itself loads.
    assert " passed" in run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:webnn_serve", *TESTS)


@pytest.mark.slow
@pytest.mark.processes
def test_types_hold_without_the_extras(tree: Path, tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    folder = tmp_path / "tree"
    shutil.copytree(tree, folder, symlinks=True)
    for package in PACKAGE_NAMES:
        shutil.rmtree(folder / PACKAGES[package])
    found = run(folder, "-m", "mypy", "-p", "webnn")
    assert re.fullmatch(r"Success: no issues found in [45]\d\d source files\n", found), found


def test_no_file_of_the_core_names_an_extra() -> None:
    named = {
        file: found.group()
        for file in MODULES
        if home_of(file) not in PACKAGE_NAMES and (found := NAME.search((ROOT / file).read_text(encoding="utf-8")))
    }
    assert named.keys() == NAMED.keys(), named


@each_row("text", ["webnn.serve.server", "see webnn/gpu", '"low-precision"', "2026-06+subgraphs", "LOW_PRECISION_TYPES = ()"])
def test_a_name_is_found(text: str) -> None:
    assert NAME.search(text)


@each_row("text", ["webnn.onnx.partition", "a subgraph", "two subgraphs.", "webnn.gpus"])
def test_other_words_are_no_names(text: str) -> None:
    assert not NAME.search(text)


def test_an_extra_that_is_missing_says_so() -> None:
    with pytest.raises(ImportError, match=r"^webnn\.teleport needs an extra of webnn that is not installed: no entry point 'teleport'"):
        extras.load("teleport", "webnn.teleport")


def test_every_extra_has_its_page() -> None:
    for packages in EXTRAS.values():
        lines = (ROOT / PACKAGES[packages[0]] / "README.md").read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 20
        assert "## Remove it" in lines
