"""The pages of the Python API: directives of mkdocstrings, which reads the docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import webnn
from tools.site import errors
from tools.site.text import ROOT, code, docstring_of, fence, table
from webnn.builder import options

__all__ = ["FOLDER", "PACKAGES", "names", "pages"]

FOLDER = "api/python"
#: The packages with public names of their own, and the titles of their pages.
PACKAGES: Mapping[str, str] = MappingProxyType(
    {
        "webnn.onnx": "ONNX models",
        "webnn.stablehlo": "StableHLO programs",
        "webnn.hlo": "StableHLO in a neutral form",
        "webnn.xla": "XLA's operation semantics",
        "webnn.formats": "Graphs in files",
        "webnn.lowering": "Graphs in an earlier draft",
        "webnn.inspect": "Inside a graph",
        "webnn.reference": "The reference",
        "webnn.scale.batch": "Whole data sets",
        "webnn.generate": "Language models",
        "webnn.proposals.proposal": "Proposals",
        "webnn.gpu": "A stand-in for WebGPU",
        "webnn.context.profiles": "Device profiles",
        "webnn.validation.drafts": "Drafts",
    }
)
#: The pages of the names of `webnn`, with the beginning of the modules that define them. The last one takes all others.
_GROUPS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "dictionaries": ("Dictionaries", "webnn.builder.options"),
        "builder": ("Building and describing graphs", "webnn.builder"),
        "builder-class": ("MLGraphBuilder", "webnn.context.graph_builder"),
        "contexts": ("Contexts, graphs and tensors", "webnn.context"),
        "more": ("More names", ""),
    }
)
#: The methods of `MLGraphBuilder` other than operations, which have pages of their own.
_OWN = ("input", "constant", "build", "buildSync")
#: The dictionaries of the options that functions and classes share, which follow the first of these.
_OPTIONS: Mapping[str, str] = MappingProxyType({"ML": "webnn.context.emulation.EmulationOptions", "batch": "webnn._batch.BatchOptions"})


@cache
def names() -> Mapping[str, str]:
    """Return the page of each public name, with the anchor: of ``webnn.ML``, of ``webnn.onnx.load``, and of all others."""
    found = {f"webnn.{name}": f"{FOLDER}/{_group(name)}.md#webnn.{name}" for name in webnn.__all__}
    found |= {each.name: f"{errors.PAGE}#{each.anchor}" for each in errors.classes()}
    for package in PACKAGES:
        found |= {f"{package}.{name}": f"{FOLDER}/{package}.md#{package}.{name}" for name in _public(package)}
    return MappingProxyType(found)


def pages() -> dict[str, str]:
    """Return the pages by their names."""
    groups = {group: (title, [name for name in webnn.__all__ if _group(name) == group]) for group, (title, _) in _GROUPS.items()}
    made = {f"{FOLDER}/{group}.md": "\n".join(_page(title, members)) for group, (title, members) in groups.items()}
    made |= {f"{FOLDER}/{package}.md": "\n".join(_package_page(package)) for package in PACKAGES}
    return {f"{FOLDER}/index.md": "\n".join(_list(groups)), **made}


def _public(package: str) -> list[str]:
    return list(import_module(package).__all__)


@cache
def _modules() -> Mapping[str, str]:
    """Return the modules that define the public names. The classes themselves say that it is `webnn`."""
    tree = ast.parse((ROOT / "webnn" / "_api.py").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module]
    found = {alias.asname or alias.name: node.module or "" for node in imports for alias in node.names}
    return MappingProxyType({**found, **dict.fromkeys(options.__all__, "webnn.builder.options")})


def _group(name: str) -> str:
    module = _modules().get(name, "webnn")
    return next(group for group, (_, beginning) in _GROUPS.items() if module.startswith(beginning))


def _is_error(name: str) -> bool:
    return any(each.name == f"webnn.{name}" for each in errors.classes())


def _list(groups: Mapping[str, tuple[str, list[str]]]) -> Iterator[str]:
    yield from ("# Python", "", "The public names of `webnn`:", "")
    for group, (title, members) in groups.items():
        found = ", ".join(f"[{code(name)}]({group}.md#webnn.{name})" for name in members if not _is_error(name))
        yield from (f"- [{title}]({group}.md): {found}",)
    yield from ("- [Errors and warnings](../errors.md)", "- [Operations](../operations/index.md): the methods of `MLGraphBuilder`", "")
    yield from ("Packages with names of their own, which a program imports by their names:", "")
    yield from table(["package", ""], ([f"[{code(package)}]({package}.md)", title] for package, title in PACKAGES.items()))


def _page(title: str, members: Iterable[str]) -> Iterator[str]:
    yield from (f"# {title}", "")
    for name in members:
        if name == "__version__":
            yield from (f'<span id="webnn.{name}"></span>`webnn.{name}` is the version of the package, a `str`.', "")
        elif name == "MLGraphBuilder":
            yield from ("The operations have [pages of their own](../operations/index.md).", "")
            yield from _directive("webnn.MLGraphBuilder", inherited_members=list(_OWN))
        elif not _is_error(name):
            yield from _directive(f"webnn.{name}")
            if name in _OPTIONS:
                yield from _directive(_OPTIONS[name])


def _package_page(package: str) -> Iterator[str]:
    yield from (f"# {package}", "")
    # The reader of docstrings takes a function for the module of the same name, and does not see values without a docstring.
    hidden = [name for name in _public(package) if _is_module(package, name) or not _has_docstring(package, name)]
    shown = [name for name in _public(package) if name not in hidden]
    yield from _directive(package, members=shown, show_root_heading=False, show_root_toc_entry=False, heading_level=2)
    for name in hidden:
        member = getattr(import_module(package), name)
        yield f'<span id="{package}.{name}"></span>'
        if inspect.isfunction(member):
            yield from (
                f"## {name}",
                "",
                *fence(f"{name}{inspect.signature(member)}"),
                docstring_of(member).replace("``", "`"),
                "",
            )
        else:
            value = repr(member)
            yield from (f"{code(f'{package}.{name}')} is {code(value) if len(value) <= 80 else f'a {code(type(member).__name__)}'}.", "")


def _is_module(package: str, name: str) -> bool:
    folder = Path(import_module(package).__file__ or "").parent
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file()


def _has_docstring(package: str, name: str) -> bool:
    """Tell whether a name is a class or a function, or a comment for the documentation stands above its value."""
    member = getattr(import_module(package), name)
    return (
        inspect.isroutine(member)
        or inspect.isclass(member)
        or re.search(rf"^{name}(: .*)? = ", inspect.getsource(import_module(package)), re.MULTILINE) is not None
    )


def _directive(identifier: str, **settings: object) -> Iterator[str]:
    yield f"::: {identifier}"
    if settings:
        yield from (
            "    options:",
            *(f"      {name}: {str(value).lower() if isinstance(value, bool) else value}" for name, value in settings.items()),
        )
    yield ""
