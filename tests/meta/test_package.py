"""The package is what the folders hold, its files stay small, and no module keeps state that changes."""

from __future__ import annotations

import ast
import importlib
import itertools
import os
import pkgutil
import tomllib
from collections.abc import Iterator
from importlib import metadata, resources
from pathlib import Path

import webnn
from tests.meta.specification import LAYERS, ROOT, parse, sources
from tests.support import each_row
from tools.draw_architecture import EXTRAS, PACKAGES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
FILES = [file.relative_to(ROOT).as_posix() for folder in LAYERS.values() for file in sources(folder)]

LONGEST = 500
#: The links in `webnn`, which are text files where git cannot make links.
LINKS = {LAYERS["webnn"] / folder.name for folder in LAYERS.values() if folder.name != "webnn"}
#: Module state that changes, with the reason.
STATE = {
    ("builder/collection.py", "_SUSPENDING"): "the garbage collector is one for the whole process",
    ("context/emulation.py", "_LAYERS"): "`emulate` holds for the whole process: a program's own threads must not escape it",
    ("context/buffers.py", "_DETACHED"): "NumPy's arrays cannot say themselves that they were transferred",
    ("context/engine/remote/host.py", "_HOSTS"): "a fork concerns every process of the program",
    ("context/engine/remote/process.py", "_SPARES"): "a process starts slowly, so the next context of the program gets it",
    ("context/timeline.py", "_TIMELINES"): "a fork concerns every timeline of the process",
    ("webnn/commands/scripts.py", "sys"): "a Python program finds its arguments where the interpreter would put them",
    ("webnn/inspect/capture.py", "warnings"): "within `webnn run --inspect`, which puts it back",
    ("webnn/javascript/node.py", "warnings"): "within `catch_warnings`, which puts it back",
    ("webnn/processes/spawn.py", "util"): "while a process starts: `multiprocessing` has no other way to give Python an option",
}
#: Methods that change a list, dictionary or set.
_MUTATORS = frozenset({"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"})


def folder_of(package: str) -> Path:
    """Return the folder of a package, as setuptools finds it: by the longest name of `package-dir` that fits."""
    parts: list[str] = []
    names = package.split(".")
    while ".".join(names) not in SETUPTOOLS["package-dir"]:
        parts.insert(0, names.pop())
    return ROOT.joinpath(SETUPTOOLS["package-dir"][".".join(names)], *parts)


def test_the_packages_are_the_folders() -> None:
    found = set[str]()
    for layer, folder in LAYERS.items():
        for file in sources(folder):
            relative = file.parent.relative_to(folder)
            found.add(".".join([layer, *relative.parts]))
    assert found == set(SETUPTOOLS["packages"])
    for package in SETUPTOOLS["packages"]:
        assert (folder_of(package) / "__init__.py").is_file(), package


def test_the_links_lead_to_the_folders() -> None:
    """Type checkers and `python -m pytest` find the layers through them: relative, and one for each."""
    places = {at.name: at for at in LINKS}
    # Git on Windows may write the target of a link as a text; the sdist has no links.
    links = {name: os.readlink(at) if at.is_symlink() else at.read_text() for name, at in places.items() if os.path.lexists(at)}
    assert links == {name: f"../{name}" for name in links}
    assert set(links) in ({*places}, set[str]())
    assert set(links) or not (ROOT / ".git").exists()
    excluded = PROJECT["tool"]["ruff"]["extend-exclude"]
    assert sorted(excluded) == sorted(f"webnn/{name}" for name in places)


def test_the_data_is_in_the_package() -> None:
    patterns = SETUPTOOLS["package-data"]
    for package, globs in patterns.items():
        for glob in globs:
            assert list(folder_of(package).glob(glob)), f"{package}: {glob}"
    listed = {file for package, globs in patterns.items() for glob in globs for file in folder_of(package).glob(glob)}
    present = {
        Path(where, name)
        for folder in LAYERS.values()
        for where, _, names in os.walk(folder)
        for name in names
        if not name.endswith((".py", ".pyc")) and Path(where, name) not in LINKS
    }
    # The pages of the extras are for those who have the checkout.
    assert present == listed | {ROOT / PACKAGES[packages[0]] / "README.md" for packages in EXTRAS.values()}
    assert resources.files("webnn.validation.drafts").joinpath("2024-06.idl.json").is_file()


def test_every_module_imports() -> None:
    """All of them, from the installed package; none is imported from a second place."""
    # With links, those of the lower layers are found twice under one name.
    packages = {layer: importlib.import_module(layer).__path__ for layer in LAYERS}
    names = {module.name for layer, path in packages.items() for module in pkgutil.walk_packages(path, f"{layer}.")}.union(LAYERS)
    assert len(names) == len(FILES)
    for name in names:
        if name != "webnn.__main__":
            module = importlib.import_module(name)
            assert module.__name__ == name


def test_the_metadata() -> None:
    distribution = metadata.metadata("webnn")
    assert distribution["Name"] == "webnn"
    assert webnn.__version__ == distribution["Version"]
    for extra in PROJECT["project"]["optional-dependencies"]:
        assert PROJECT["project"]["optional-dependencies"][extra], extra


@each_row("script", PROJECT["project"]["scripts"].values())
def test_the_scripts_exist(script: str) -> None:
    module, function = script.split(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_no_file_is_long() -> None:
    lengths = {file: len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in FILES}
    assert {file: length for file, length in lengths.items() if length > LONGEST} == {}


# The public names of a module, and its state


def names_of(module: str) -> list[str]:
    names: list[str] = getattr(importlib.import_module(module), "__all__", [])
    return names


def module_of(file: str) -> str:
    for layer, folder in LAYERS.items():
        if (ROOT / file).is_relative_to(folder):
            relative = (ROOT / file).relative_to(folder).with_suffix("")
            return ".".join([layer, *relative.parts]).removesuffix(".__init__")
    raise AssertionError(file)


@each_row("file", [file for file in FILES if not file.endswith(("__init__.py", "__main__.py"))])
def test_a_module_says_what_it_offers(file: str) -> None:
    names = names_of(module_of(file))
    assert names
    assert len(set(names)) == len(names)
    module = importlib.import_module(module_of(file))
    assert [name for name in names if not hasattr(module, name)] == []


def test_the_face_offers_what_exists() -> None:
    assert [name for name in webnn.__all__ if not hasattr(webnn, name)] == []
    assert [name for name in webnn.__all__ if name.startswith("_")] == ["__version__"]


def shared_names(tree: ast.Module) -> set[str]:
    """Return the names that a module assigns at its top level, or imports."""
    found: set[str] = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        found.update(target.id for target in targets if isinstance(target, ast.Name))
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
    return found


def changed(tree: ast.Module) -> Iterator[str]:
    """Find the names that functions change: by `global`, by an item or an attribute, or by a method that changes its object."""
    # A module's own function, such as `np.append`, changes no module.
    modules = {alias.asname or alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]
    for node in itertools.chain.from_iterable(map(ast.walk, functions)):
        match node:
            case ast.Global(names=names):
                yield from names
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _MUTATORS and name not in modules:
                yield name


def test_no_module_state_changes() -> None:
    state = {(file, name) for file in FILES for name in changed(parse(file)) if name in shared_names(parse(file))}
    assert state == {*STATE}


def test_nothing_is_left_for_later() -> None:
    for file in FILES:
        tree = parse(file)
        assert "TODO" not in (ROOT / file).read_text(encoding="utf-8"), file
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert names.isdisjoint({"NotImplementedError", "setattr", "__getattr__"}), file
        # The face loads its names late, all of which are in `webnn._api`. An imported graph is described when somebody looks at it.
        if file not in ("webnn/__init__.py", "builder/description.py"):
            late = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"]
            # One that returns nothing only says why a name is missing.
            assert not any(isinstance(node, ast.Return) for function in late for node in ast.walk(function)), file
