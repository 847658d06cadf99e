"""Imports run one way, heavy libraries have one door each, and `import webnn` is light."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import webnn
from tests.meta.specification import LAYERS, ROOT, parse, sources
from tests.support import each_row, modules_after
from tools import draw_architecture
from tools.draw_architecture import PACKAGES, package_of
from webnn.browser.command import COMMANDS as BROWSER_COMMANDS
from webnn.commands.registry import COMMANDS
from webnn.wpt_runner import cli as wpt

#: The packages that a package may import beside itself, at run time or for annotations.
BELOW = {
    "webnn.display": {"webnn.validation"},
    "webnn.validation": set[str](),
    "webnn.builder": {"webnn.display", "webnn.validation"},
    "webnn.builder.onnx": {"webnn.validation", "webnn.builder"},
    "webnn.context": {"webnn.display", "webnn.validation", "webnn.builder", "webnn.builder.onnx"},
    "webnn": {"webnn.validation", "webnn.builder", "webnn.context"},
    "webnn.formats": {
        *("webnn", "webnn.display", "webnn.validation", "webnn.builder", "webnn.builder.onnx"),
        *("webnn.onnx", "webnn.hlo", "webnn.stablehlo", "webnn.tflite", "webnn.torch"),
    },
    "webnn.importing": {"webnn.display", "webnn.validation", "webnn.builder"},
    "webnn.onnx": {"webnn.validation", "webnn.builder", "webnn.context", "webnn.importing"},
    "webnn.torch": {"webnn", "webnn.validation", "webnn.builder", "webnn.context", "webnn.importing", "webnn.onnx"},
    "webnn.xla": {*("webnn.validation", "webnn.builder", "webnn.context"), *("webnn.hlo", "webnn.importing", "webnn.stablehlo")},
    "webnn.gpu": {"webnn.validation", "webnn.context"},
    "webnn.hlo": {"webnn", "webnn.validation", "webnn.builder"},
    "webnn.stablehlo": {"webnn.validation", "webnn.builder", "webnn.hlo", "webnn.importing"},
    "webnn.tflite": {
        *("webnn", "webnn.validation", "webnn.builder", "webnn.context"),
        *("webnn.hlo", "webnn.importing", "webnn.onnx", "webnn.reference"),
    },
    "webnn.reference": {"webnn.validation", "webnn.builder"},
    "webnn.lowering": {"webnn.validation", "webnn.builder"},
    "webnn.inspect": {
        *("webnn", "webnn.display", "webnn.validation", "webnn.builder", "webnn.context"),
        *("webnn.formats", "webnn.reference", "webnn.viewer"),
    },
    "webnn.viewer": {"webnn", "webnn.builder", "webnn.display", "webnn.formats", "webnn.validation"},
    "webnn.calls": {"webnn.validation"},
    "webnn.browser": {
        *("webnn", "webnn.validation", "webnn.builder", "webnn.context", "webnn.calls"),
        *("webnn.commands", "webnn.javascript", "webnn.processes", "webnn.reference"),
    },
    "webnn.fuzz": {
        *("webnn", "webnn.validation", "webnn.builder", "webnn.context", "webnn.calls"),
        *("webnn.browser", "webnn.commands", "webnn.formats", "webnn.inspect", "webnn.javascript", "webnn.lowering"),
        *("webnn.processes", "webnn.reference"),
    },
    "webnn.serve": {
        *("webnn", "webnn.validation", "webnn.builder", "webnn.context"),
        *("webnn.commands", "webnn.display", "webnn.inspect", "webnn.javascript", "webnn.viewer"),
    },
    "webnn.playground": {
        *("webnn", "webnn.validation", "webnn.builder", "webnn.context", "webnn.check", "webnn.commands", "webnn.display"),
        *("webnn.inspect", "webnn.javascript", "webnn.processes", "webnn.serve", "webnn.viewer"),
    },
    "webnn.notebook": {"webnn", "webnn.context", "webnn.javascript", "webnn.validation"},
    "webnn.processes": {"webnn", "webnn.context"},
    "webnn.proposals": {
        *("webnn.validation", "webnn.builder", "webnn.builder.onnx", "webnn.context"),
        *("webnn.commands", "webnn.importing", "webnn.onnx", "webnn.reference"),
    },
    "webnn.scale": {"webnn", "webnn.validation", "webnn.builder", "webnn.context", "webnn.commands", "webnn.onnx", "webnn.processes"},
    "webnn.generate": {
        *("webnn", "webnn.validation", "webnn.builder", "webnn.context"),
        *("webnn.commands", "webnn.display", "webnn.importing", "webnn.javascript", "webnn.onnx", "webnn.processes"),
    },
    "webnn.javascript": {"webnn", "webnn.processes", "webnn.validation"},
    "webnn.demo": {"webnn", "webnn.validation", "webnn.context", "webnn.commands"},
    "webnn.commands": {
        *("webnn", "webnn.validation", "webnn.builder", "webnn.context"),
        *("webnn.display", "webnn.javascript", "webnn.formats", "webnn.inspect", "webnn.hlo", "webnn.importing", "webnn.onnx"),
        *("webnn.lowering", "webnn.processes", "webnn.stablehlo", "webnn.tflite", "webnn.torch", "webnn.viewer"),
    },
    "webnn.check": {
        *("webnn", "webnn.validation", "webnn.builder", "webnn.context"),
        *("webnn.commands", "webnn.display", "webnn.processes", "webnn.formats", "webnn.importing", "webnn.onnx"),
    },
    "webnn.wpt_runner": {
        *("webnn", "webnn.javascript", "webnn.commands", "webnn.processes", "webnn.validation"),
        *("webnn.builder", "webnn.context", "webnn.display", "webnn.formats", "webnn.inspect", "webnn.reference"),
    },
    "webnn.wpt_runner.browser": {"webnn", "webnn.browser", "webnn.javascript", "webnn.commands", "webnn.processes", "webnn.wpt_runner"},
    "webnn.wpt_runner.writing": {
        *("webnn", "webnn.builder", "webnn.commands", "webnn.display", "webnn.formats", "webnn.reference", "webnn.validation"),
        *("webnn.wpt_runner", "webnn.proposals"),  # proposals for annotations
    },
}
#: Modules that the face imports late, because they are not a part of the API: none may be needed by `import webnn`.
NOT_BY_THE_FACE = {
    *("webnn.wpt_runner", "webnn.browser", "webnn.builder.onnx", "webnn.calls", "webnn.commands", "webnn.serve", "webnn.formats"),
    *("webnn.fuzz", "webnn.generate", "webnn.gpu", "webnn.hlo", "webnn.importing", "webnn.inspect", "webnn.javascript", "webnn.lowering"),
    *("webnn.notebook", "webnn.onnx", "webnn.playground", "webnn.reference", "webnn.scale", "webnn.stablehlo", "webnn.tflite"),
    *("webnn.torch", "webnn.viewer", "webnn.xla"),
}

#: The modules that may import a heavy library.
DOORS = {
    "onnx": ("builder/onnx/", "webnn/formats/onnx_file.py", "webnn/onnx/", "webnn/torch/"),
    "onnxruntime": ("context/engine/runtime.py",),
    "safetensors": ("webnn/formats/weights.py",),
    "graphlay": ("webnn/formats/layout.py",),
    "jinja2": ("webnn/display/pages.py",),
    "jaxlib": ("webnn/hlo/child.py",),
    "torch": ("webnn/torch/",),
    "tflite": ("webnn/tflite/schema.py",),
    "flatbuffers": ("webnn/tflite/export/program.py", "webnn/tflite/rules/mediapipe.py"),
    "ai_edge_litert": ("webnn/tflite/engine.py",),
    "playwright": ("webnn/browser/chromium.py",),
    "aiohttp": ("webnn/serve/", "webnn/playground/server.py"),
    "websockets": ("webnn/serve/relay.py",),
    "IPython": ("webnn/notebook/",),
    "tokenizers": ("webnn/generate/vocabulary.py",),
    "pyarrow": ("webnn/scale/parquet.py",),
    "distributed": ("webnn/processes/executors.py",),
    "ray": ("webnn/processes/executors.py",),
}
FOLDERS = {folder.name for folder in LAYERS.values()} - {"webnn"}
#: A statement, on one line or continued, that imports and has the bare name of a folder.
BARE = re.compile(rf"\b(?:from|import)\b(?:[^\n\\]|\\\n)*(?<![\w.])(?:{'|'.join(sorted(FOLDERS))})\b")

MODULES = {file.relative_to(ROOT).as_posix(): layer for layer, folder in LAYERS.items() for file in sources(folder)}
EVERY_FILE = [
    *MODULES,
    *(file.relative_to(ROOT).as_posix() for name in ("tests", "tools", "examples", "benchmarks") for file in sources(ROOT / name)),
]


@dataclass(frozen=True)
class Import:
    """One imported module (or a name of a module), and when it is imported."""

    module: str
    name: str
    typing_only: bool
    top: bool


class _Finder(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[Import] = []
        self.typing_only = False
        self.depth = 0

    def add(self, module: str, name: str = "") -> None:
        self.found.append(Import(module, name, self.typing_only, self.depth == 0))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.add(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.add("." * node.level + (node.module or ""), alias.name)

    def visit_If(self, node: ast.If) -> None:
        before = self.typing_only
        self.typing_only = before or ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body:
            self.visit(statement)
        self.typing_only = before
        for statement in node.orelse:
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)


@functools.cache
def imports(file: str) -> list[Import]:
    finder = _Finder()
    finder.visit(parse(file))
    return finder.found


@functools.cache
def files_of(package: str) -> set[Path]:
    return set(draw_architecture._files(package))


def home_of(file: str) -> str:
    """Return the package of a file."""
    return next(name for name in PACKAGES if ROOT / file in files_of(name))


def test_the_files() -> None:
    assert len(MODULES) > 60
    assert set(MODULES.values()) == set(LAYERS)
    # No file is met twice, through the links in `webnn`.
    assert len({(ROOT / file).resolve() for file in MODULES}) == len(MODULES)


def test_the_packages() -> None:
    assert set(BELOW) == set(PACKAGES)


def test_imports_run_one_way() -> None:
    for file in MODULES:
        home = home_of(file)
        for found in imports(file):
            reached = package_of(f"{found.module}.{found.name}")
            assert not reached or reached in {home, *BELOW[home]}, f"{file} imports {found.module}, which stands above {home}"


def test_only_the_registry_knows_the_runner() -> None:
    """Imports by name count, too."""
    users = [file for file in MODULES if "webnn.wpt_runner" in (ROOT / file).read_text(encoding="utf-8")]
    assert [file for file in users if not file.startswith("wpt_runner/")] == ["webnn/commands/registry.py"]


def test_imports_are_absolute_and_of_modules() -> None:
    assert [(file, each.module) for file in MODULES for each in imports(file) if each.module.startswith(".")] == []


@pytest.mark.parametrize("library", DOORS)
def test_a_heavy_library_has_one_door(library: str) -> None:
    users = {file for file in MODULES for each in imports(file) if each.module.split(".")[0] == library}
    assert users, f"nobody imports {library}"
    assert {file for file in users if not file.startswith(DOORS[library])} == set()


def test_the_engine_is_loaded_late() -> None:
    assert [each for each in imports("context/engine/runtime.py") if each.module == "onnxruntime" and each.top] == []


def test_the_face_imports_no_tools() -> None:
    reached = {each.module for each in imports("webnn/_api.py")}
    assert [module for module in reached if module.startswith(tuple(NOT_BY_THE_FACE))] == []


def test_nobody_imports_a_bare_folder() -> None:
    """`import builder` from the root would make a second set of classes."""
    # Few files have such a line at all: only they are parsed.
    files = [file for file in EVERY_FILE if BARE.search((ROOT / file).read_text(encoding="utf-8"))]
    assert [(file, each.module) for file in files for each in imports(file) if each.module.split(".")[0] in FOLDERS] == []


@each_row("line", ["import builder", "import os, context.ml", "    from validation import webidl", "import \\\n  wpt_runner as w"])
def test_the_line_of_a_bare_folder(line: str) -> None:
    assert BARE.search(f"import os\n{line}\n")


@each_row("line", ["import webnn.builder", "from webnn.context import ml", "import os\n\nbuilder = 1", "important = context"])
def test_other_lines(line: str) -> None:
    assert not BARE.search(line)


# The runner of web-platform-tests stands outside: it sees what a program sees.


def attributes(tree: ast.Module) -> Iterator[ast.Attribute]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))


@each_row("file", [file for file in MODULES if file.startswith(("wpt_runner/", "webnn/javascript/"))])
def test_bindings_and_runner_use_public_names_only(file: str) -> None:
    public = set(webnn.__all__)
    for found in imports(file):
        if found.module == "webnn":
            assert not found.name or found.name in public, f"{found.name} is not public"
        elif found.module.startswith("webnn.validation"):
            # The binding interprets the IDL of a draft, which may be one of another package; both know the data types.
            allowed = ("descriptor", "drafts", "drafts.idl", "drafts.idl_text", "revision", "suggestions")
            assert found.module in [f"webnn.validation.{name}" for name in allowed], found.module
        elif found.module.startswith("webnn.") and found.module != "webnn._extras":  # it knows pip, not WebNN
            assert package_of(found.module) in {home_of(file), *BELOW[home_of(file)]} - {"webnn"}, f"{found.module} is not public"
    for node in attributes(parse(file)):
        if isinstance(node.value, ast.Name) and node.value.id == "webnn":
            assert node.attr in public, f"webnn.{node.attr} is not public"
        own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
        # `os._exit` is public, whatever its name looks like.
        private = node.attr.startswith("_") and not node.attr.startswith("__") and ast.unparse(node) != "os._exit"
        assert own or not private, f"line {node.lineno} uses the private {ast.unparse(node)}"


HEAVY = (
    *("onnx", "onnxruntime", "typer", "rich", "IPython", "graphlay", "jinja2", "jaxlib", "webnn.formats", "webnn.hlo", "torch"),
    *("sklearn", "hypothesis", "webnn.wpt_runner", "webnn.browser", "webnn.serve", "webnn.scale", "aiohttp", "websockets", "distributed"),
    *("pyarrow", "ray", "webnn.builder.onnx", "webnn.commands.main"),
)


@pytest.mark.processes
def test_importing_webnn_is_light() -> None:
    loaded = modules_after("import webnn; webnn.ML")
    assert "webnn.context.ml" in loaded
    assert loaded.intersection({"pydantic", "pydantic_core", "webnn.validation.drafts", "webnn.validation.families", *HEAVY}) == set()


@pytest.mark.processes
def test_pydantic_comes_with_the_first_draft() -> None:
    assert "pydantic" in modules_after("import webnn; webnn.ML()")


@pytest.mark.processes
@pytest.mark.parametrize("code", ["import webnn", "import webnn.commands.main", "import webnn.pytest_plugin"])
def test_numpy_comes_with_the_first_name(code: str) -> None:
    loaded = modules_after(code)
    assert "webnn" in loaded
    assert loaded.intersection({"numpy", "pydantic", *HEAVY} - {"typer", "rich", "webnn.commands.main"}) == set()


@pytest.mark.processes
def test_the_version_is_shown_without_the_command_line() -> None:
    loaded = modules_after("import sys; sys.argv = ['webnn', '--version']; from webnn.__main__ import main; main()")
    assert "webnn.__main__" in loaded
    assert {name.partition(".")[0] for name in loaded}.intersection({"typer", "rich", "numpy", "pydantic"}) == set()
    assert "webnn.commands" not in loaded


@pytest.mark.processes
@pytest.mark.parametrize("group", [[], ["wpt"], ["browser"]], ids=["webnn", "wpt", "browser"])
def test_the_help_of_a_group_loads_no_command(group: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # With one of these, a command checks them all, which loads the package.
    for name in [name for name in os.environ if name.startswith("WEBNN_")]:
        monkeypatch.delenv(name)
    arguments = ["webnn", *group, "--help"]
    loaded = modules_after(f"import sys; sys.argv = {arguments}\nfrom webnn.__main__ import main\ntry: main()\nexcept SystemExit: pass")
    groups = {"webnn.wpt_runner.cli", "webnn.browser.command"} if group else set()
    modules = {entry.module for entry in (*COMMANDS.values(), *wpt.COMMANDS.values(), *BROWSER_COMMANDS.values())} - groups
    assert "webnn.commands.main" in loaded
    assert loaded.intersection({"numpy", *modules}) == set()


@pytest.mark.processes
def test_a_python_program_runs_without_what_it_does_not_use(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys; print(*sys.modules)")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEBNN_")}
    command = [sys.executable, "-m", "webnn", "run", str(program)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    loaded = set(done.stdout.split())
    assert "webnn.commands.program" in loaded
    assert loaded.intersection({"numpy", "webnn.context.ml", "webnn.validation.webidl", "webnn.javascript.node"}) == set()


@pytest.mark.processes
def test_a_graph_can_be_described_without_onnx() -> None:
    """The libraries load at the first build: what only describes and validates graphs does without them."""
    loaded = modules_after(
        "from webnn import ML, MLGraphBuilder\n"
        "builder = MLGraphBuilder(ML(revision='2024-06').createContextSync())\n"
        "builder.relu(builder.input('x', dataType='float32', dimensions=[2]))"
    )
    assert not any(name.split(".")[0] == "onnx" for name in loaded)


@pytest.mark.processes
def test_validation_stands_alone() -> None:
    loaded = modules_after("import webnn.validation.drafts")
    assert "webnn.validation.conv" in loaded
    assert loaded.intersection(HEAVY) == set()
