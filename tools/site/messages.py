"""The page of error messages: by their kind, with the cause, what to change, and the browsers that throw such an error.

The messages come from the snapshot of the tests, so they are those of this version.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from tools.site.operations import operations
from tools.site.text import ROOT, code, table, titled

__all__ = ["FILE", "PAGE", "Kind", "Message", "kinds", "messages", "page"]

PAGE = "api/messages.md"
FILE = ROOT / "docs" / "errors.toml"
_SNAPSHOT = ROOT / "tests" / "validation" / "__snapshots__" / "test_errors_texts.ambr"
#: An error of the snapshot: its class, its rule, the operation with the argument and the step, and the text in the line below.
_MESSAGE = re.compile(r"^ +(\w+(?:Error|Exception)), ([a-z-]*): (\w+) ?(.*)\n +(.*)$", re.MULTILINE)
_STEP = re.compile(r"(?:^| )(\d[\d.]*)$")


class Kind(NamedTuple):
    """A kind of errors, by its rule: a title, the cause, what to change, and the browsers that throw it."""

    title: str
    cause: str
    change: str
    browsers: str


class Message(NamedTuple):
    """An error: its rule, its class, the operation, the number of the step, and its text."""

    rule: str
    error: str
    operation: str
    step: str
    text: str


@cache
def kinds() -> Mapping[str, Kind]:
    """Return the kinds by their rules."""
    return MappingProxyType({rule: Kind(**entry) for rule, entry in tomllib.loads(FILE.read_text(encoding="utf-8")).items()})


@cache
def messages() -> tuple[Message, ...]:
    """Return the messages, each once, in the order of their texts."""
    found = set()
    for error, rule, operation, rest, text in _MESSAGE.findall(_SNAPSHOT.read_text(encoding="utf-8")):
        step = _STEP.search(rest)
        found.add(Message(rule, error, operation, step[1] if step else "", text.strip()))
    return tuple(sorted(found, key=lambda each: (each.text.lower(), each)))


def page() -> str:
    """Return the page."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield from (
        "# Error messages",
        "",
        "A message names the operation, the argument, what must hold, and what was given. Search for its words: the names and numbers of "
        "your program differ from those below. An error has the kind as its attribute `rule`, and the number of the failed step of the "
        "specification as `step`. [The classes](errors.md)",
        "",
    )
    rows = [[f"[{kind.title}](#{rule})", code(rule), str(sum(each.rule == rule for each in messages()))] for rule, kind in kinds().items()]
    yield from table(["kind", "rule", "examples"], rows)
    for rule, kind in kinds().items():
        yield from (f"## {kind.title} {{ #{rule} }}", "")
        yield from table(["", ""], [["Cause", kind.cause], ["Change", kind.change], ["Browsers", kind.browsers]])
        examples = [each for each in messages() if each.rule == rule]
        yield from titled("Messages", _listed(examples), 3) if examples else ()


def _listed(found: list[Message]) -> Iterator[str]:
    rows = []
    for each in found:
        operation = f"[{code(each.operation)}](operations/{each.operation}.md)" if each.operation in operations() else code(each.operation)
        rows.append([code(each.text), operation, code(each.error), each.step])
    yield from table(["message", "operation", "error", "step"], rows)
