"""Extracts the steps of a draft's algorithms that can throw.

    python -m tools.extract_steps webnn-2024-06.bs 2024-06            writes validation/drafts/2024-06.steps.json
    python -m tools.extract_steps webnn-2024-06.bs 2024-06 --check    fails if that file differs from the result

The source is the draft's own, in Bikeshed. Only facts are taken: the names and anchors of algorithms, the numbers of their steps, what a
step throws, and a hash of its text, which changes when a later draft changes the step. `webnn.validation.steps` documents the form of the
result.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tools.extract_idl import describe, run, slug

__all__ = ["extract", "main"]

FOLDER = Path(__file__).resolve().parents[1] / "validation" / "drafts"

_HEADING = re.compile(r"^#+ .*\{#([^\s}]+)\}\s*$")
_OPENED = re.compile(r"^\s*<(details|div|p)\b[^>]*\balgorithm\b[^>]*>")
_DEFINED = re.compile(r"<dfn\b([^>]*)>(.*?)</dfn>", re.DOTALL)
_FOR = re.compile(r"\b(?:dfn-)?for=[\"']?([\w\[\]]+)")
_OTHER_NAME = re.compile(r"\b(?:data-)?lt=[\"']([^\"'|]+)")
_ITEM = re.compile(r"^( *)1\. (.*)")
#: Lines that interrupt a step: notes, issues, and tags that hold no step.
_ASIDE = re.compile(r"^\s*(?:Note:|Issue\(|Issue:|<)")
_LINKED = re.compile(r"\[=(MLGraphBuilder)/([^\]|=]+)(?:\|[^\]=]*)?=\]")
_SUBJECT = re.compile(r"\{\{ML\w+Options/(\w+)\}\}|(?<!the )\|(\w+)\|")
#: Variables of such steps that are not operands.
_VARIABLES = frozenset({"options", "allowedDataTypes", "rankA", "rankB"})

_AGAIN = re.compile(r"re-\[=exception/throw=\]|re-throw")
_FAILS = re.compile(r"\breturn failure\b")
_FALSE = re.compile(r"\breturn false\b")
_THROWS = re.compile(r"exception/throw|=(?:reject|rejected)=\]|\bthrow\b")
_ABORTED = re.compile(r"\[=/If aborted=\]")
_ERROR = re.compile(r"\{\{(\w+Error)\}\}")
_PASSED_ON = re.compile(r"threw an exception|an equivalent error")

#: Steps that nearly every operation has, which the driver takes for all of them at once.
_KINDS = (
    ("can build", re.compile(r"MLGraphBuilder/can not build|\[\[hasBuilt\]\]")),
    ("operands", re.compile(r"MLGraphBuilder/validating operand")),
    ("activations", re.compile(r"MLGraphBuilder/validating activation")),
    ("data type", re.compile(r"MLOperand/dataType.*/allowed data types?=|allowedDataTypes|MLOperand/dataType=\] is not \{\{")),
    ("rank", re.compile(r"MLOperand/rank=.*/allowed ranks?=|MLOperand/rank=\] is not \d|\|rankB\| is less")),
)


def extract(source: str, revision: str, contradictions: list[str] | None = None) -> dict[str, Any]:
    """Extract the throwing steps of a draft.

    Args:
        source: The draft in Bikeshed.
        revision: The name to give it, its year and month.
        contradictions: Gets the references to algorithms that are not there, which are left out then; without it they are an error.

    Returns:
        The data, see `webnn.validation.steps`.

    Raises:
        ValueError: The source has no algorithms, or one in a form that is not known here.
    """
    algorithms: dict[str, dict[str, Any]] = {}
    for section, lines in _algorithms(source.splitlines()):
        texts = dict(_steps(lines))
        throwing = {number: entry for number, text in texts.items() if (entry := _entry(text, texts.get(_parent(number), "")))}
        if not throwing:
            continue
        name, anchor = _identity(lines)
        # The algorithm that a method runs, and whose errors it rethrows.
        runs = {
            slug(re.sub(r"\bcreating\b", "create", f"{scope} {term}"))
            for number, (what, *_) in throwing.items()
            if what == "again"
            for scope, term in _LINKED.findall(texts.get(_parent(number), ""))
        }
        if name in algorithms:
            raise ValueError(f"there are two algorithms {name!r}")
        algorithms[name] = {
            "section": section,
            **({"anchor": anchor} if anchor else {}),
            **({"runs": min(runs)} if runs else {}),
            "steps": throwing,
        }
    if not algorithms:
        raise ValueError("the source has no algorithm with a step that throws")
    anchors = {each.get("anchor") for each in algorithms.values()}
    unknown = {each["runs"] for each in algorithms.values() if "runs" in each} - anchors
    if unknown:
        reason = f"methods run algorithms that are not there: {sorted(unknown)}"
        if contradictions is None:
            raise ValueError(reason)
        contradictions.append(f"steps: {reason}")
        for each in algorithms.values():
            if each.get("runs") in unknown:
                del each["runs"]
    return {"source": describe(source, revision), "algorithms": algorithms}


def _algorithms(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each algorithm: the anchor of its section, and its lines."""
    section, index = "", 0
    while index < len(lines):
        if heading := _HEADING.match(lines[index]):
            section = heading[1]
        opened = _OPENED.match(lines[index])
        if opened is None:
            index += 1
            continue
        start, depth = index, 0
        while True:
            depth += len(re.findall(rf"<{opened[1]}\b", lines[index])) - lines[index].count(f"</{opened[1]}>")
            index += 1
            if depth <= 0:
                break
            if index == len(lines):
                raise ValueError(f"line {start + 1}: the algorithm has no end")
        yield section, list(lines[start:index])


def _identity(lines: Sequence[str]) -> tuple[str, str]:
    """Return an algorithm's name, and the anchor of its term if it is not a method."""
    head = "\n".join(lines[: next((index for index, line in enumerate(lines) if _ITEM.match(line)), len(lines))])
    defined = _DEFINED.search(head)
    if defined is None:
        raise ValueError(f"an algorithm has no name: {head.strip()!r}")
    attributes, text = defined[1], _plain(defined[2])
    scope = _FOR.search(attributes)
    owner = scope[1] if scope else ""
    if re.match(r"\s*constructor\b", attributes):
        return f"new {text}", ""
    if re.match(r"\s*method\b", attributes):
        return f"{owner}.{text}", ""
    other = _OTHER_NAME.search(attributes)
    return text, slug(f"{owner} {other[1] if other else text}")


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[|\\]", "", text).split())


def _steps(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the numbered steps, outer ones first: the number and the step's own text."""
    numbers: list[tuple[int, int]] = []
    text: list[str] = []
    ended = True
    for line in lines:
        if item := _ITEM.match(line):
            if text:
                yield ".".join(str(number) for _, number in numbers), " ".join(text)
            indent = len(item[1])
            while numbers and numbers[-1][0] > indent:
                numbers.pop()
            if numbers and numbers[-1][0] == indent:
                numbers[-1] = (indent, numbers[-1][1] + 1)
            else:
                numbers.append((indent, 1))
            text, ended = [item[2]], False
        elif not line.strip() or _ASIDE.match(line):
            ended = True
        elif not ended:
            text.append(line.strip())
    if text:
        yield ".".join(str(number) for _, number in numbers), " ".join(text)


def _parent(number: str) -> str:
    return number.rpartition(".")[0]


def _entry(text: str, parent: str) -> list[str]:
    """Return what a step throws and a hash of its text; for a step that most operations have, also its kind and its operands.

    Empty if it does not throw.
    """
    if _AGAIN.search(text):
        what = "again"
    elif _ABORTED.search(text) or _THROWS.search(text):
        errors = _ERROR.findall(text)
        if not errors and not _PASSED_ON.search(text):
            return []
        what = errors[-1] if errors else "error"
    elif _FAILS.search(text):
        what = "failure"
    elif _FALSE.search(text):
        what = "false"
    else:
        return []
    digest = hashlib.sha256(" ".join(re.sub(r"[^a-z0-9\[\]]+", " ", text.lower()).split()).encode()).hexdigest()[:8]
    kind = next((name for name, pattern in _KINDS if what != "again" and pattern.search(text)), "")
    if not kind:
        return [what, digest]
    subject = parent if re.search(r"\bits\b.*\bits\b|^If its\b", text) and "|" not in text.partition("=]")[0] else text
    operands = [member or name for member, name in _SUBJECT.findall(subject.partition("not one of")[0].partition("returns false")[0])]
    return [what, digest, kind, *dict.fromkeys(each for each in operands if each not in _VARIABLES)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    return run(arguments, "Extract the steps of a draft's algorithms that can throw.", extract, FOLDER, "steps")


if __name__ == "__main__":
    sys.exit(main())
