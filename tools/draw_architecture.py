"""Draw the imports and the upward calls of the code as a Mermaid diagram in docs/architecture.md.

python -m tools.draw_architecture            writes the diagram
python -m tools.draw_architecture --check    fails if the page differs
"""

from __future__ import annotations

import argparse
import ast
import functools
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tools.written import fill, keep_pages
from webnn.builder import above
from webnn.context import above as context_above

__all__ = ["EXTRAS", "PACKAGES", "draw", "find_imports", "find_upward_calls", "main", "package_of"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"

#: ``python -m webnn``: it belongs to the command line, although Python requires it in this folder.
_START = ROOT / "webnn" / "__main__.py"

#: The packages that the picture shows, with their folders. Packages below them count as a part of them.
PACKAGES: Mapping[str, str] = MappingProxyType(
    {
        "webnn.wpt_runner.browser": "wpt_runner/browser",
        "webnn.wpt_runner.writing": "wpt_runner/writing",
        "webnn.fuzz": "webnn/fuzz",
        "webnn.browser": "webnn/browser",
        "webnn.calls": "webnn/calls",
        "webnn.playground": "webnn/playground",
        "webnn.serve": "webnn/serve",
        "webnn.scale": "webnn/scale",
        "webnn.generate": "webnn/generate",
        "webnn.notebook": "webnn/notebook",
        "webnn.xla": "webnn/xla",
        "webnn.proposals": "webnn/proposals",
        "webnn.gpu": "webnn/gpu",
        "webnn.wpt_runner": "wpt_runner",
        "webnn.check": "webnn/check",
        "webnn.demo": "webnn/demo",
        "webnn.commands": "webnn/commands",
        "webnn.inspect": "webnn/inspect",
        "webnn.viewer": "webnn/viewer",
        "webnn.formats": "webnn/formats",
        "webnn.lowering": "webnn/lowering",
        "webnn.torch": "webnn/torch",
        "webnn.onnx": "webnn/onnx",
        "webnn.stablehlo": "webnn/stablehlo",
        "webnn.tflite": "webnn/tflite",
        "webnn.importing": "webnn/importing",
        "webnn.hlo": "webnn/hlo",
        "webnn.reference": "webnn/reference",
        "webnn.javascript": "webnn/javascript",
        "webnn.processes": "webnn/processes",
        "webnn": "webnn",
        "webnn.context": "context",
        "webnn.builder": "builder",
        "webnn.builder.onnx": "builder/onnx",
        "webnn.validation": "validation",
        "webnn.display": "webnn/display",
    }
)
#: The extras, with their packages: nothing else imports or names them, so their folders can be deleted. An extra stands on no other
#: one, except that the playground goes with the server.
EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "bench": ("webnn.fuzz", "webnn.browser", "webnn.calls", "webnn.wpt_runner.browser", "webnn.wpt_runner.writing"),
        "serve": ("webnn.serve", "webnn.playground"),
        "playground": ("webnn.playground",),
        "scale": ("webnn.scale",),
        "generate": ("webnn.generate",),
        "notebook": ("webnn.notebook",),
        "xla": ("webnn.xla",),
        "proposals": ("webnn.proposals",),
        "gpu": ("webnn.gpu",),
    }
)


def package_of(module: str) -> str:
    """Return the package of a module, by the longest name that fits; an empty string for a module of another project."""
    fitting = [name for name in PACKAGES if module == name or module.startswith(f"{name}.")]
    return max(fitting, key=len, default="")


@functools.cache
def find_imports() -> dict[str, set[str]]:
    """Return which packages each package imports: lazily, and for annotations too."""
    return {name: {package_of(module) for module in _modules(name)} - {"", name} for name in PACKAGES}


@functools.cache
def find_upward_calls() -> dict[str, set[str]]:
    """Return which packages each package calls by way of `webnn.builder.above` and `webnn.context.above`."""
    rows = {name: row for name, row in {**vars(above), **vars(context_above)}.items() if isinstance(row, above.Upward)}
    found: dict[str, set[str]] = {}
    for name in PACKAGES:
        for file in _files(name):
            text = file.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if "above." in text else ():
                if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "above"):
                    continue
                # A variable may have the same name.
                if node.attr in rows:
                    found.setdefault(name, set()).add(package_of(rows[node.attr].module))
    return {name: targets - {name} for name, targets in found.items()}


def draw() -> str:
    """Return the diagram, without arrows that longer paths imply."""
    reached = find_imports()
    lines = ["flowchart TB"]
    extras = {name for packages in EXTRAS.values() for name in packages}
    for title, names in (("extras", extras), ("core", PACKAGES.keys() - extras)):
        boxes = [f'        {_id(name)}["{name}<br/><small>{_summary(name)}</small>"]' for name in PACKAGES if name in names]
        lines += [f"    subgraph {title}", *boxes, "    end"]
    for name, targets in reached.items():
        direct = [target for target in targets if not any(target in _all_below(reached, other) for other in targets - {target})]
        lines += [f"    {_id(name)} --> {_id(target)}" for target in PACKAGES if target in direct]
    for name, targets in find_upward_calls().items():
        lines += [f"    {_id(name)} -.-> {_id(target)}" for target in PACKAGES if target in targets]
    return "\n".join(["```mermaid", *lines, "```", ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.draw_architecture", description="Draw what imports what.")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if the page has another diagram")
    options = parser.parse_args(arguments)
    return keep_pages({PAGE: fill(PAGE, "tools.draw_architecture", draw())}, "tools.draw_architecture", check=options.check)


def _files(package: str) -> Iterator[Path]:
    """Yield the files of a package, without those of packages that are shown separately."""
    others = [ROOT / folder for name, folder in PACKAGES.items() if name.startswith(f"{package}.")]
    for file in sorted((ROOT / PACKAGES[package]).rglob("*.py")):
        if file != _START and not any(file.is_relative_to(other) for other in others):
            yield file
    if package == "webnn.commands":
        yield _START


def _modules(package: str) -> Iterator[str]:
    """Yield what the files of a package import: modules, and names that may be modules."""
    for file in _files(package):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                # `from webnn import context` reaches the context.
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _all_below(reached: Mapping[str, set[str]], package: str) -> set[str]:
    found: set[str] = set()
    waiting = [package]
    while waiting:
        new = reached[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _summary(package: str) -> str:
    source = (ROOT / PACKAGES[package] / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0].rstrip(".").replace('"', "#quot;").replace("`", "")


def _id(package: str) -> str:
    return package.replace(".", "_")


if __name__ == "__main__":
    sys.exit(main())
