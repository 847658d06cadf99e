"""The tags of comments that cite steps of the specification, read from the source of the code.

A tag is in brackets at the beginning of a comment, directly above the statement that implements the step. For example, ``[5; 2026-06: 6]``
is step 5 of the first draft that has the algorithm, and step 6 since the draft 2026-06. docs/spec-coverage.md has the grammar.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

__all__ = ["KINDS", "Cite", "Tag", "parse", "read_tags", "tags_of"]

#: The kinds of steps that a tag may name in place of a number.
KINDS = ("can build", "operands", "activations", "data type", "rank")

_COMMENT = re.compile(r"^\s*# \[([^\]]*)\] (?=\S)")
_PART = re.compile(r"(?:(?P<draft>\d{4}-\d\d): )?(?P<cites>.+)")
_CITE = re.compile(r"(?:(?P<anchor>#[\w-]+) )?(?P<number>\d+(?:\.\d+)*)|(?P<letter>[a-e])|(?P<kind>" + "|".join(KINDS) + ")")


@dataclass(frozen=True, slots=True)
class Cite:
    """One step that a tag cites.

    Attributes:
        number: The step's number; a letter for one of the steps that the caller's tag cites; or a kind of step, of each operation.
        anchor: The algorithm's or section's anchor, if it is not that of the function.
    """

    number: str
    anchor: str = ""

    @property
    def is_letter(self) -> bool:
        """It refers to the caller's tag."""
        return self.number.isalpha() and len(self.number) == 1

    @property
    def is_kind(self) -> bool:
        """It is a step of each operation."""
        return self.number in KINDS

    @property
    def position(self) -> int:
        """The position of the letter's step in the caller's tag."""
        return ord(self.number) - ord("a")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag.

    Attributes:
        parts: The steps since each draft, in the order of the drafts; an empty name is the first draft that has the algorithm.
        first: The first line of the step: that of the statement below.
        last: The last one.
    """

    line: int
    parts: tuple[tuple[str, tuple[Cite, ...]], ...]
    first: int
    last: int

    def cites(self, draft: str) -> tuple[Cite, ...]:
        """Return the steps that the tag cites in a draft. If the draft is not known, only one draft may have steps in the tag."""
        found = [cites for since, cites in self.parts if since <= draft] if draft else [cites for _, cites in self.parts if cites]
        return found[-1] if found and (draft or len(found) == 1) else ()


def parse(text: str) -> tuple[tuple[str, tuple[Cite, ...]], ...]:
    """Parse the text between the brackets. Raises `ValueError` if the text is not a tag."""
    parts: list[tuple[str, tuple[Cite, ...]]] = []
    for part in text.split("; "):
        match = _PART.fullmatch(part)
        if match is None or (parts and (match["draft"] or "") <= parts[-1][0]):
            raise ValueError(f"[{text}] is not a tag of steps")
        cites = []
        for each in match["cites"].split(", ") if match["cites"] != "-" else ():
            cite = _CITE.fullmatch(each)
            if cite is None:
                raise ValueError(f"[{text}] is not a tag of steps: {each!r}")
            cites.append(Cite(cite["number"] or cite["letter"] or cite["kind"], cite["anchor"] or ""))
        parts.append((match["draft"] or "", tuple(cites)))
    return tuple(parts)


def read_tags(source: str) -> Iterator[Tag]:
    """Yield the tags of a module, each with the lines of its statement.

    Raises `ValueError` if a comment in brackets is not a tag, or there is no statement below it.
    """
    lines = source.splitlines()
    if not any(map(_COMMENT.match, lines)):
        return
    ends = {node.lineno: _end(node, behind) for node, behind in _statements(ast.parse(source))}
    for index, line in enumerate(lines):
        comment = _COMMENT.match(line)
        if comment is None:
            continue
        below = index + 1
        while below < len(lines) and lines[below].lstrip().startswith("#"):
            below += 1
        if below + 1 not in ends:
            raise ValueError(f"line {index + 1}: there is no statement below the tag {comment[0].strip()!r}")
        yield Tag(index + 1, parse(comment[1]), below + 1, ends[below + 1])


def _statements(tree: ast.AST) -> Iterator[tuple[ast.stmt, Sequence[ast.stmt]]]:
    """Yield each statement, outer ones first, with those behind it in the same block."""
    for node in ast.walk(tree):
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield from ((statement, block[index + 1 :]) for index, statement in enumerate(block))


def _end(statement: ast.stmt, behind: Sequence[ast.stmt]) -> int:
    """Return the last line of a step: assignments belong to the statement that is directly below; a condition ends with its own branch."""
    for each in behind:
        if not isinstance(statement, ast.Assign) or isinstance(each, ast.Return) or each.lineno != (statement.end_lineno or 0) + 1:
            break
        statement = each
    last = statement.body[-1] if isinstance(statement, ast.If) else statement
    return last.end_lineno or last.lineno


@cache
def tags_of(module: str) -> Mapping[int, Tag]:
    """Return the tag that each line of a module belongs to; empty if the source is missing."""
    loaded = sys.modules.get(module)
    # It finds the source in an archive, too.
    source = linecache.getlines(getattr(loaded, "__file__", None) or "", vars(loaded) if loaded else None)
    tags = sorted(read_tags("".join(source)), key=lambda tag: tag.first - tag.last)
    # A statement inside of another one comes later and is shorter.
    return MappingProxyType({line: tag for tag in tags for line in range(tag.first, tag.last + 1)})
