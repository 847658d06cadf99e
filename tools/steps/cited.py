"""Where the code cites steps of the drafts, read from the tags of its comments; and which steps it does not cite, with the reasons."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from webnn.validation.drafts import DRAFTS_WITH_TEXT, find_revision
from webnn.validation.steps import Algorithm, Step, algorithms_of, load_steps
from webnn.validation.steps.tags import Cite, Tag, read_tags

__all__ = ["ROOT", "Citation", "Function", "Key", "citations", "functions", "problems", "reasons"]

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("validation", "builder", "context")

#: A step: the draft, the name of the algorithm, the number.
Key = tuple[str, str, str]

_ANCHOR = re.compile(r"`(#[\w-]+)`")
_TERM = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")
_METHOD = re.compile(r"`(ML\w*\.\w+)`")


@dataclass(frozen=True)
class Function:
    """A function with tags.

    Attributes:
        path: The file, relative to the checkout.
        name: Its name, with that of its class.
        about: The first paragraph of its docstring.
        node: Its syntax tree.
        tags: The tags of its comments.
    """

    path: str
    name: str
    about: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    tags: list[Tag] = field(default_factory=list)

    @property
    def module(self) -> str:
        """The name of its module."""
        return f"webnn.{self.path.removesuffix('.py').replace('/', '.')}"

    def __str__(self) -> str:
        return f"{self.path}:{self.name}"

    def letters(self) -> set[str]:
        """Return the letters by which the function's tags refer to the tag of its caller."""
        return {cite.number for tag in self.tags for _, cites in tag.parts for cite in cites if cite.is_letter}


@dataclass(frozen=True)
class Citation:
    """A step that a function cites."""

    function: Function
    tag: Tag
    step: Step


@cache
def functions() -> tuple[Function, ...]:
    """Return every function with tags.

    Raises:
        ValueError: A comment in brackets is not a tag, or is not in a function.
    """
    return tuple(found for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) for found in _read(path))


def _read(path: Path) -> Iterator[Function]:
    source, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
    try:
        tags = list(read_tags(source))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    found = [_function(name, scope, node) for scope, node in _definitions(ast.parse(source).body)] if tags else []
    for tag in tags:
        # The innermost function around the tag.
        around = [each for each in found if each.node.lineno < tag.line <= (each.node.end_lineno or 0)]
        if not around:
            raise ValueError(f"{name}:{tag.line}: the tag is not in a function")
        around[-1].tags.append(tag)
    yield from (each for each in found if each.tags)


def _definitions(body: Sequence[ast.stmt], scope: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{scope}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield scope, node


def _function(path: str, scope: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    return Function(path, scope + node.name, (ast.get_docstring(node) or "").partition("\n\n")[0], node)


@cache
def _validators(draft: str) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the operations of each validator, by its module and name."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for name, operation in find_revision(draft).operations.items():
        validator = getattr(operation.infer, "func", operation.infer)
        key = validator.__module__, validator.__name__
        found[key] = (*found.get(key, ()), name)
    return found


def operations(function: Function, draft: str) -> tuple[str, ...] | None:
    """Return the operations whose validator a function is in a draft; ``None`` if it is not one in any draft."""
    key = function.module, function.name
    if not any(key in _validators(each) for each in DRAFTS_WITH_TEXT):
        return None
    return _validators(draft).get(key, ())


def algorithms(function: Function, draft: str, anchor: str = "") -> list[Algorithm]:
    """Return the algorithms of a draft that a function runs, or those of an anchor."""
    run = operations(function, draft)
    if run is not None and not anchor:
        return list({each.name: each for name in run for each in algorithms_of(name, draft)}.values())
    known = list(load_steps(draft).values())
    anchors = [anchor] if anchor else _ANCHOR.findall(function.about)
    # "create a reduction operation" and "create reduction operation" are one name.
    terms = {_plain(term) for term in ([] if anchor else _TERM.findall(function.about))}
    own = [each for each in known if each.anchor and (f"#{each.anchor}" in anchors or _plain(each.name) in terms)]
    methods = [] if anchor else _METHOD.findall(function.about)
    return own or [each for each in known if not each.anchor and (f"#{each.section}" in anchors or each.name.partition("(")[0] in methods)]


def _plain(name: str) -> str:
    return re.sub(r"\ban? ", "", name.lower())


def steps(function: Function, cite: Cite, draft: str) -> Iterator[tuple[Algorithm, Step]]:
    """Yield the steps of a number or a kind in a draft."""
    if cite.is_kind:
        for name in find_revision(draft).operations:
            for algorithm in algorithms_of(name, draft):
                yield from ((algorithm, step) for step in algorithm.steps.values() if step.kind == cite.number)
        return
    for algorithm in algorithms(function, draft, cite.anchor):
        step = algorithm.steps.get(cite.number)
        if step is not None and step.throws != "again":
            yield algorithm, step


@cache
def citations() -> Mapping[Key, tuple[Citation, ...]]:
    """Return the citations of each step."""
    found: dict[Key, tuple[Citation, ...]] = {}
    for draft in DRAFTS_WITH_TEXT:
        for function in functions():
            for tag in function.tags:
                for cite in tag.cites(draft):
                    for algorithm, step in () if cite.is_letter else steps(function, cite, draft):
                        key = draft, algorithm.name, step.number
                        found[key] = (*found.get(key, ()), Citation(function, tag, step))
    return found


@cache
def reasons() -> tuple[Mapping[Key, str], Mapping[Key, str]]:
    """Return the reasons for steps that are not cited, and for steps that no test reaches."""
    data = tomllib.loads((Path(__file__).parent / "reasons.toml").read_text(encoding="utf-8"))
    uncited, unreached = (
        {
            (draft, algorithm, number): reason
            for draft, named in data.get(table, {}).items()
            for algorithm, numbers in named.items()
            for number, reason in numbers.items()
        }
        for table in ("uncited", "unreached")
    )
    return uncited, unreached


def problems() -> Iterator[str]:
    """Say what is wrong with the tags and the reasons."""
    cited = citations()
    uncited, _ = reasons()
    for function in functions():
        for tag in function.tags:
            yield from (f"{function.path}:{tag.line}: {problem}" for problem in _tag_problems(function, tag))
    for draft in DRAFTS_WITH_TEXT:
        for algorithm in load_steps(draft).values():
            for step in algorithm.steps.values():
                key = draft, algorithm.name, step.number
                if step.throws == "again":
                    continue
                if key in cited and key in uncited:
                    yield f"{key} is cited by {cited[key][0].function}, but there is a reason why it is not"
                elif key not in cited and key not in uncited:
                    yield f"{key} ({step.throws}) is not cited, and has no reason"
    known = {(draft, name, number) for draft in DRAFTS_WITH_TEXT for name, each in load_steps(draft).items() for number in each.steps}
    for key in uncited.keys() - known:
        yield f"{key} has a reason, but is not a step that throws"


def _tag_problems(function: Function, tag: Tag) -> Iterator[str]:
    for since, cites in tag.parts:
        drafts = [draft for draft in DRAFTS_WITH_TEXT if tag.cites(draft) == cites and draft >= since]
        for cite in cites:
            applies = cite.is_letter
            for draft in () if cite.is_letter else drafts:
                here = algorithms(function, draft, cite.anchor) if not cite.is_kind else []
                found = [algorithm for algorithm, _ in steps(function, cite, draft)]
                applies = applies or bool(found)
                # All operations of a validator must have the step, but only one of the algorithms that a docstring names.
                wanted = here if operations(function, draft) is not None and not cite.anchor else here[:1]
                if len(found) < len(wanted):
                    names = [algorithm.name for algorithm in here if algorithm not in found]
                    yield f"step {cite.number} of {draft} does not throw in {names}"
            if not applies:
                yield f"the tag cites {cite.number}, which is not a throwing step of any draft"
    called = {each.name.rpartition(".")[2]: each.letters() for each in functions() if each.path == function.path and each.letters()}
    for name in _calls(function, tag) & called.keys():
        for _, cites in tag.parts:
            if cites and len(cites) != len(called[name]):
                yield f"{name}() has {len(called[name])} steps, and the tag cites {len(cites)}"


def _calls(function: Function, tag: Tag) -> set[str]:
    """Return the names of the functions that a step calls."""
    return {
        node.func.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and tag.first <= node.lineno <= tag.last
    }
