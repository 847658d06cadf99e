"""Writes the index of ``upstream/wpt``: what each file shows, the steps that only it reaches, and how it ends in Chromium."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tools.steps import reach
from tools.steps.cited import Key, citations
from tools.upstream.browser import Recorded
from tools.upstream.files import DRAFTS, FOLDER, OurFile, our_files
from tools.upstream.reached import OURS, new_steps, reasons
from tools.written import fill

__all__ = ["CLASSES", "PAGE", "Failures", "classify", "render"]

PAGE = FOLDER / "README.md"
#: The most steps that a line of the table names.
_MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class Failures:
    """A class of failures.

    Attributes:
        name: A few words.
        says: A sentence on the browser's behaviour.
        pattern: Of the messages.
        files: Of the names of files.
    """

    name: str
    says: str
    pattern: str
    files: str = ""


#: The classes of failures in Chromium, the first one that fits counts.
CLASSES = (
    Failures("another draft", "It has neither `compute()` nor `dimensions` of 2024-06.", "", r"^2024-06/"),
    Failures("a proposal", "It does not implement the proposal.", "", r"\.tentative\."),
    Failures(
        "constant tensors", "Its device has no constant tensors.", r"Constant tensors are not supported|Tensor-backed graph constants"
    ),
    Failures("a lost context", "The call ends in the loss of the context.", r"Context is lost"),
    Failures("a limit of the device", "`build()` refuses a valid graph with a `NotSupportedError`.", r"NotSupportedError"),
    Failures("a failed build", "`build()` of a valid graph fails in the device's own library.", r"UnknownError|OperationError"),
    Failures("another error", "It throws another error than the draft says.", r"expected instance of|that is not a DOMException"),
    Failures("a missing error", "It accepts what the draft refuses.", r"did not throw|Should have rejected|should have thrown"),
    Failures(
        "a missing label", "The message of an error does not name the operator's label.", r"assert_regexp_match|expected object .* to match"
    ),
    Failures(
        "a refused call",
        "It refuses what the draft accepts.",
        r"TypeError: Failed to execute|is not a function|DataError|InvalidStateError",
    ),
    Failures("NaN", "A NaN becomes a number, or a number NaN.", r"from NaN, got|, got NaN"),
    Failures("infinity", "An infinity becomes a number.", r"from -?Infinity, got"),
    Failures("the sign of zero", "A zero has the other sign.", r"from -?0, got -?0 "),
    Failures("a number", "A number is further off than web-platform-tests allow.", r"(?:ULP|ATOL) from"),
    Failures("something else", "The message says what.", ""),
)


def classify(name: str, message: str) -> Failures:
    """Return the class of a failure in a file."""
    return next(each for each in CLASSES if re.search(each.pattern, message) and re.search(each.files, name))


def render(reached: Mapping[Key, str], version: str, results: Mapping[str, Recorded]) -> str:
    """Return the page with new tables."""
    lines = [*_summary(reached, version, results), "", *_rest(), "", *_classes(results), "", *_table(reached, results), ""]
    return fill(PAGE, "tools.upstream", "".join(f"{line}\n" for line in lines))


def _summary(reached: Mapping[Key, str], version: str, results: Mapping[str, Recorded]) -> Iterator[str]:
    files = our_files()
    total = sum(each.passed + each.unsupported + len(each.failed) for each in results.values())
    failing = sum(bool(each.failed) or each.status != "OK" for each in results.values())
    yield f"{len(files)} files with {total} subtests. In Chromium {version} {sum(each.passed for each in results.values())} subtests pass, "
    yield f"{sum(each.unsupported for each in results.values())} need a data type that its device lacks, and "
    yield f"{sum(len(each.failed) for each in results.values())} fail, in {failing} files."
    yield from (
        "",
        "| draft | steps that can throw | WPT's own files reach | only these files reach | neither, with a reason |",
        "|---|---|---|---|---|",
    )
    for draft in DRAFTS:
        keys = [key for key in citations() if key[0] == draft]
        ours = sum(reached.get(key, "").startswith(OURS) for key in keys)
        theirs = sum(key in reached for key in keys) - ours
        yield f"| {draft} | {len(keys)} | {theirs} | {ours} | {sum(key in reasons() and key not in reached for key in keys)} |"


def _rest() -> Iterator[str]:
    tests = reach.load()
    yield from ("| draft | step that no file reaches | reason | reached by |", "|---|---|---|---|")
    for key, reason in reasons().items():
        test = f"`{tests[key]}`" if key in tests else ""
        yield f"| {key[0]} | `{key[1]}` {key[2]} | {reason} | {test} |"


def _classes(results: Mapping[str, Recorded]) -> Iterator[str]:
    counts = Counter(classify(name, message).name for name, each in results.items() for message in each.failed.values())
    yield from ("| failures in Chromium | subtests | |", "|---|---|---|")
    yield from (f"| {each.name} | {counts[each.name]} | {each.says} |" for each in CLASSES if counts[each.name])


def _table(reached: Mapping[Key, str], results: Mapping[str, Recorded]) -> Iterator[str]:
    steps = new_steps(reached)
    yield from ("| file | shows | steps that only it reaches | Chromium |", "|---|---|---|---|")
    for file in our_files():
        yield f"| `{file.name}` | {_title(file)} | {_name_steps(steps.get(file.name, []))} | {_result(file.name, results.get(file.name))} |"


def _title(file: OurFile) -> str:
    """Return the title in the first lines of a file; files without one have a name that says it."""
    found = re.search(r"^(?:// META: title=|<title>)(.*?)(?:</title>)?$", file.place.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].replace("|", "\\|") if found else ""


def _name_steps(keys: list[Key]) -> str:
    named = [f"`{algorithm.partition('(')[0]}` {number}" for _, algorithm, number in keys]
    more = f" and {len(named) - _MOST_STEPS} more" if len(named) > _MOST_STEPS + 1 else ""
    return ", ".join(named[: _MOST_STEPS if more else None]) + more


def _result(name: str, result: Recorded | None) -> str:
    if result is None:
        return "?"
    parts = [f"{result.passed} pass"]
    parts += [f"{result.unsupported} unsupported"] * bool(result.unsupported)
    if result.failed:
        classes = Counter(classify(name, message).name for message in result.failed.values())
        parts.append(f"**{len(result.failed)} fail**: {', '.join(classes)}")
    parts += [result.status] * (result.status != "OK")
    return "; ".join(parts)
