"""Writes the generated files of ``upstream/wpt``, and its index.

    python -m tools.upstream                                          writes the files that are made of tables, and the index
    python -m tools.upstream --check                                  fails if one of them is outdated, or the results are
    python -m tools.upstream --measure --wpt DIR --wpt DIR            runs web-platform-tests' files and ours: which one reaches each step
    python -m tools.upstream --browser PROGRAM --wpt DIR --wpt DIR    runs ours in Chromium, those that have changed

DIR is a checkout of web-platform-tests, of June 2024 and of March 2025 (``tools/fetch_wpt.py``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.steps import reach
from tools.upstream import browser, index, reached
from tools.upstream.files import our_files
from tools.upstream.generated import generate
from tools.written import keep_pages
from webnn.processes.pool import cores
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.levels import choose

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.upstream", description="Write the tests for web-platform-tests, and their index."
    )
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if something is outdated")
    parser.add_argument("--measure", action="store_true", help="find out which file reaches each step")
    parser.add_argument("--browser", type=Path, metavar="PROGRAM", help="run the files that have changed in this Chromium")
    parser.add_argument("--all", action="store_true", help="with --browser: run all files")
    parser.add_argument("--wpt", type=Path, action="append", default=[], metavar="DIR", help="a checkout of web-platform-tests; repeatable")
    parser.add_argument("--jobs", type=int, default=cores(), help="the number of processes (default: %(default)s)")
    options = parser.parse_args(arguments)
    if (options.measure or options.browser) and not options.wpt:
        parser.error("--measure and --browser need --wpt")
    texts = generate()
    for path in () if options.check else texts:
        path.parent.mkdir(parents=True, exist_ok=True)
    status = keep_pages(texts, "tools.upstream", check=options.check)
    found = reach.load(reached.FILE) if reached.FILE.exists() else {}
    if options.measure:
        found = reached.measure_all(options.wpt, jobs=options.jobs)
    version, results = browser.load() if browser.FILE.exists() else ("", {})
    if options.browser:
        roots = {choose(Checkout(root)).level.revision: root for root in options.wpt}
        names = None if options.all else frozenset(browser.outdated(results))
        version, more = browser.record(roots, options.browser, names)
        results = {**results, **more}
    gone = results.keys() - {each.name for each in our_files()}
    results = {name: each for name, each in results.items() if name not in gone}
    problems = [*reached.unreached(found), *(f"{name} must run in Chromium again" for name in browser.must_run(results))]
    for problem in problems:
        print(problem, file=sys.stderr)
    pages = {
        reached.FILE: reach.render(found),
        browser.FILE: browser.render(version, results),
        index.PAGE: index.render(found, version, results),
    }
    return keep_pages(pages, "tools.upstream", check=options.check) or status or int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
