"""The page of errors: every class of errors and warnings of the package, and which methods of the drafts throw it."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import griffe

import webnn
from tools.site.text import ROOT, code, table, titled
from webnn.validation.drafts import DRAFTS_WITH_TEXT
from webnn.validation.steps import load_steps

__all__ = ["PAGE", "ErrorClass", "classes", "page"]

PAGE = "api/errors.md"
#: The folders of the package, by the packages that they are.
_FOLDERS: Mapping[str, str] = {
    "webnn": "webnn",
    "webnn.builder": "builder",
    "webnn.context": "context",
    "webnn.validation": "validation",
    "webnn.wpt_runner": "wpt_runner",
}


class ErrorClass(NamedTuple):
    """A class of errors or warnings.

    Attributes:
        name: Its public name: ``"webnn.DataError"``, or with its module.
        bases: The names of its bases.
        documentation: Its docstring.
    """

    name: str
    bases: tuple[str, ...]
    documentation: str

    @property
    def anchor(self) -> str:
        """Its anchor on the page."""
        return self.name


@cache
def classes() -> tuple[ErrorClass, ...]:
    """Return the public classes: those of `webnn` first, then by their names. The code is read, not imported."""
    found = {each.name: each for module, node in _public_classes() for each in [_read(module, node)]}
    kinds = {name for name, each in vars(builtins).items() if inspect.isclass(each) and issubclass(each, BaseException)}
    errors: dict[str, ErrorClass] = {}
    # A base may be a class of another module, so the search ends when a round finds nothing.
    while new := {name: each for name, each in found.items() if name not in errors and kinds.intersection(each.bases)}:
        errors |= new
        kinds |= {name.rpartition(".")[2] for name in new}
    return tuple(sorted(errors.values(), key=lambda each: (each.name.count(".") > 1, each.name)))


def _public_classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for package, folder in _FOLDERS.items():
        # A link shows the files of another package a second time.
        for file in sorted(file for file in (ROOT / folder).rglob("*.py") if file.resolve().is_relative_to(ROOT / folder)):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            public = _names(tree)
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and node.name in public:
                    yield _module(package, file.relative_to(ROOT / folder)), node


def _names(tree: ast.Module) -> set[str]:
    """Return the names in a module's ``__all__``."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(each, ast.Name) and each.id == "__all__" for each in node.targets):
            found.update(each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant) and isinstance(each.value, str))
    return found


def _module(package: str, file: Path) -> str:
    return ".".join([package, *file.with_suffix("").parts]).removesuffix(".__init__")


def _read(module: str, node: ast.ClassDef) -> ErrorClass:
    name = f"webnn.{node.name}" if node.name in webnn.__all__ else f"{module}.{node.name}"
    bases = tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)
    return ErrorClass(name, bases, ast.get_docstring(node) or "")


def page() -> str:
    """Return the page."""
    lines = [
        "# Errors",
        "",
        "A `TypeError` of the specification is a [`WebNNTypeError`](#webnn.WebNNTypeError), a `TypeError` of Python too. A "
        "`DOMException` is a [`DOMException`](#webnn.DOMException) of the subclass that its name says. Both have the "
        "number of the step that failed.",
        "",
        *_section("Of webnn", [each for each in classes() if each.name.count(".") == 1]),
        *_section("Of its modules", [each for each in classes() if each.name.count(".") > 1]),
    ]
    return "\n".join(lines)


def _section(title: str, members: Iterable[ErrorClass]) -> Iterator[str]:
    yield from (f"## {title}", "")
    for each in members:
        name = each.name.removeprefix("webnn.") if each.name.count(".") == 1 else each.name
        # The classes without a name of their own have those of a class above.
        bases = ", ".join(code(base) for base in each.bases if not base.startswith("_"))
        module, _, title = name.rpartition(".")
        where = f" in {code(module)}" if module else ""
        yield from (f"### {title} {{ #{each.anchor} }}", "", f"A subclass of {bases}{where}.", "", *_described(each), *_throwers(title))


def _described(error: ErrorClass) -> Iterator[str]:
    for section in griffe.Docstring(error.documentation, parser="google").parse(warnings=False):
        if isinstance(section, griffe.DocstringSectionText):
            yield from (section.value.replace("``", "`"), "")
        elif isinstance(section, griffe.DocstringSectionAttributes):
            yield from table(
                ["attribute", ""], ([code(each.name), " ".join(each.description.split()).replace("``", "`")] for each in section.value)
            )


def _throwers(name: str) -> Iterator[str]:
    """Yield which algorithms of the drafts throw an error of this name, for the less frequent ones."""
    rows = []
    for draft in DRAFTS_WITH_TEXT:
        found = [
            each.name.partition("(")[0] for each in load_steps(draft).values() if any(step.throws == name for step in each.steps.values())
        ]
        names = list(dict.fromkeys(found))
        if names:
            rows.append([draft, f"{len(names)} algorithms" if len(names) > 12 else ", ".join(map(code, names))])
    yield from titled("Thrown by the algorithms", table(["draft", ""], rows), 4) if rows else ()
