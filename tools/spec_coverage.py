"""Writes docs/spec-coverage.md: each step of the specification that can throw, where the code cites it, and a test that reaches it.

    python -m tools.spec_coverage                          writes the page from the tags and from what is known of the tests
    python -m tools.spec_coverage --check                  fails if a step is not cited or not reached, or the page is outdated
    python -m tools.spec_coverage --measure ...            runs tests before, and keeps which one reaches each step
    python -m tools.spec_coverage --check --measure ...    runs tests, and fails if they do not reach a step, or it is not the kept one

Arguments behind ``--measure`` are those of pytest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

from tools.steps import reach
from tools.steps.cited import ROOT, Key, citations, problems, reasons
from tools.written import keep_pages
from webnn.validation.drafts import DRAFTS_WITH_TEXT
from webnn.validation.steps import Step, load_steps

__all__ = ["PAGE", "main", "page", "unreached"]

PAGE = ROOT / "docs" / "spec-coverage.md"
#: The beginning of the part that this tool writes.
_BEGINNING = "\n## The draft "


def unreached(reached: Mapping[Key, str]) -> Iterator[str]:
    """Yield the cited steps that no test reaches, and the reasons that are not needed."""
    known = reasons()[1]
    for key in citations():
        if key not in reached and key not in known:
            yield f"{key} is cited by {citations()[key][0].function}, but no test reaches it"
    for key in known:
        if key in reached or key not in citations():
            yield f"{key} has a reason why no test reaches it, and needs none"


def page(reached: Mapping[Key, str]) -> str:
    """Return the page, with the text that is written by hand."""
    written, _, _ = PAGE.read_text(encoding="utf-8").partition(_BEGINNING)
    return written + "".join(f"{line}\n" for draft in DRAFTS_WITH_TEXT for line in _draft(draft, reached))


def _draft(draft: str, reached: Mapping[Key, str]) -> Iterator[str]:
    algorithms = load_steps(draft).values()
    keys = [(draft, each.name, number) for each in algorithms for number, step in each.steps.items() if step.throws != "again"]
    again = sum(step.throws == "again" for each in algorithms for step in each.steps.values())
    cited = [key for key in keys if key in citations()]
    yield from (
        "",
        f"## The draft {draft}",
        "",
        f"{len(keys) + again} steps can throw: {len(cited)} are cited, {sum(key in reached for key in cited)} of them reached by a test; "
        f"{len(keys) - len(cited)} have a reason; {again} throw another algorithm's error again.",
    )
    for algorithm in algorithms:
        own = {number: step for number, step in algorithm.steps.items() if step.throws != "again"}
        if own:
            yield from ("", f"### {algorithm.name}", "", f"`#{algorithm.anchor or algorithm.section}`", "")
            yield from ("| step | throws | cited in | reached by |", "|---|---|---|---|")
            yield from (_row(step, (draft, algorithm.name, number), reached) for number, step in own.items())


def _row(step: Step, key: Key, reached: Mapping[Key, str]) -> str:
    uncited, why = reasons()
    cited = citations().get(key, ())
    places = ", ".join(dict.fromkeys(f"`{each.function}`" for each in cited)) or uncited.get(key, "?")
    test = f"`{reached[key]}`".replace("|", "\\|") if key in reached else why.get(key, "" if not cited else "?")
    return f"| {step.number} | {step.throws} | {places} | {test} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the page on the coverage of the specification's steps.")
    parser.add_argument("--check", action="store_true", help="compare with the page that is there, and write nothing")
    parser.add_argument("--measure", nargs=argparse.REMAINDER, help="run the tests before; arguments of pytest follow")
    options = parser.parse_args(arguments)
    measured = None if options.measure is None else reach.measure(options.measure)
    reached = reach.load() if measured is None else reach.simplest(measured, reach.load())
    found = [*problems(), *unreached(reached)]
    if options.check and measured is not None:
        found += reach.stale(reach.load(), measured)
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(reached)} of {len(citations())} cited steps are reached")
    pages = {PAGE: page(reached), reach.FILE: reach.render(reached)}
    return keep_pages(pages, "tools.spec_coverage", check=options.check) or int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
