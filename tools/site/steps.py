"""The errors of an operation: the steps of the drafts that can throw, and what each demands, in the words of the code that does it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tools.site.text import ROOT, code, table
from tools.steps.cited import Citation, Function, citations, functions, reasons
from webnn.validation.drafts import DRAFTS_WITH_TEXT, find_revision
from webnn.validation.steps import Algorithm, Step, algorithms_of
from webnn.validation.steps.tags import Tag

__all__ = ["errors_table"]

_TAG = re.compile(r"\s*# \[[^\]]*\] ")
#: The demand of a step of each kind; the operands replace the braces.
_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "can build": "The builder has not built its graph yet, and its context is not lost.",
        "operands": "The same builder made {}.",
        "activations": "The same builder made {}.",
        "data type": "{}: a data type that the draft allows; see the table.",
        "rank": "{}: a rank that the draft allows; see the table.",
    }
)
#: The number of a step that cannot throw, at the beginning of a line of a comment.
_NUMBER = re.compile(r"\d+(\.\d+)*\.")
_REFERENCE = re.compile(r"\b([Ss]ee) docs/([\w-]+)\.md")


@dataclass
class _Row:
    """A demand, with the step of each draft that has it."""

    demand: str
    throws: str
    steps: dict[str, list[str]] = field(default_factory=dict)


def errors_table(operation: str) -> list[str]:
    """Return a table of the steps that can throw in a call of an operation, in the order of the newest draft that has them."""
    drafts = [draft for draft in DRAFTS_WITH_TEXT if operation in find_revision(draft).operations]
    rows: dict[str, _Row] = {}
    for draft in reversed(drafts):
        for algorithm in algorithms_of(operation, draft):
            for step in algorithm.steps.values():
                if step.throws == "again":
                    continue
                demand = _demand(draft, algorithm, step)
                row = rows.setdefault(demand, _Row(demand, _error(step)))
                link = f"[{step.number}]({_address(draft)}#{algorithm.anchor or algorithm.section})"
                if link not in row.steps.setdefault(draft, []):
                    row.steps[draft].append(link)
    ordered = sorted(rows.values(), key=lambda row: _number(next(row.steps[draft][0] for draft in reversed(drafts) if draft in row.steps)))
    head = ["what must hold", "otherwise", *(f"step, {draft}" for draft in drafts)]
    return table(head, ([row.demand, row.throws, *(", ".join(row.steps.get(draft, ())) for draft in drafts)] for row in ordered))


def _address(draft: str) -> str:
    return find_revision(draft).idl()["source"]["url"]


def _error(step: Step) -> str:
    # Algorithms that return a failure are run by a method that throws for it.
    return code("WebNNTypeError" if step.throws in {"TypeError", "false", "failure", "error"} else step.throws)


def _number(link: str) -> list[int]:
    return [int(part) for part in link[1 : link.index("]")].split(".")]


def _demand(draft: str, algorithm: Algorithm, step: Step) -> str:
    if step.kind:
        return _KINDS[step.kind].format(", ".join(map(code, step.operands)) or "the operands")
    key = draft, algorithm.name, step.number
    cited = citations().get(key, ())
    texts = dict.fromkeys(_text(each, draft, step) for each in cited)
    return " ".join(texts) or _linked(f"({reasons()[0][key]})")


def _text(citation: Citation, draft: str, step: Step) -> str:
    cites = citation.tag.cites(draft)
    position = next((index for index, cite in enumerate(cites) if cite.number == step.number), 0)
    if len(cites) > 1:
        for function in _called(citation.function, citation.tag):
            for tag in function.tags:
                if any(cite.is_letter and cite.position == position for cite in tag.cites(draft)):
                    return _comment(function.path, tag)
    return _comment(citation.function.path, citation.tag)


def _called(function: Function, tag: Tag) -> Iterator[Function]:
    """Yield the functions of the same module that a step calls, and that do the steps its tag cites."""
    called = {
        node.func.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and tag.first <= node.lineno <= tag.last
    }
    yield from (each for each in functions() if each.path == function.path and each.name in called and each.letters())


def _comment(path: str, tag: Tag) -> str:
    """Return the text of a tag's comment."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()[tag.line - 1 : tag.first - 1]
    more = [line.strip().removeprefix("#").strip() for line in lines[1:]]
    return _linked(" ".join([_TAG.sub("", lines[0]), *itertools.takewhile(lambda line: not _NUMBER.match(line), more)]))


def _linked(text: str) -> str:
    return _REFERENCE.sub(r"[\1 \2](../../\2.md)", text)
