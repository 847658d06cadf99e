"""The command line: ``python -m tools.evidence.mutation``."""

from __future__ import annotations

import argparse
import json
import os
import queue
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

from tools.evidence.mutation.mutants import Mutant, draw, find_mutants
from tools.evidence.mutation.reach import PACKAGES, ROOT, files, measure
from tools.evidence.mutation.trial import KILLED, NOT_COVERED, SURVIVED, TIMED_OUT, Bench, Outcome, choose

__all__ = ["main", "score"]

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
_ALIVE = (SURVIVED, NOT_COVERED)


def find_all(paths: Iterable[str]) -> list[Mutant]:
    """Return all mutants of files of the checkout."""
    return [mutant for path in paths for mutant in find_mutants(path, (ROOT / path).read_text(encoding="utf-8"))]


def product_files() -> list[str]:
    """Return the files of the product's packages, without the links between the packages."""
    return [name for name in sorted(files()) if name.endswith(".py") and name.partition("/")[0] in PACKAGES and (ROOT / name).is_file()]


def read_equivalent(mutants: Sequence[Mutant], text: str) -> dict[str, str]:
    """Return the reasons why mutants cannot be noticed, by identity.

    Raises:
        ValueError: An entry matches no mutant, because its line has changed, or has no reason.
    """
    reasons: dict[str, str] = {}
    for entry in tomllib.loads(text).get("equivalent", []):
        place = tuple(entry.get(key, "") for key in ("path", "source", "before", "after"))
        found = [mutant.identity for mutant in mutants if (mutant.path, mutant.source, mutant.before, mutant.after) == place]
        if not found or not entry.get("reason"):
            raise ValueError(f"{EQUIVALENT.name}: {'the entry has no reason' if found else 'no mutant is'} {dict(entry)}")
        reasons |= dict.fromkeys(found, entry["reason"])
    return reasons


def score(outcomes: Iterable[Outcome]) -> float:
    """Return the percentage of the mutants that were noticed."""
    counts = Counter(outcome.outcome not in _ALIVE for outcome in outcomes)
    return 100 * counts[True] / max(1, counts.total())


def read_results(file: Path, *, again: bool) -> dict[str, Outcome]:
    """Return the results of earlier runs, by identity; an incomplete line is skipped.

    Args:
        file: The results, as lines of JSON.
        again: Leave out mutants that survived.
    """
    results = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        try:
            outcome = Outcome(**json.loads(line))
        except ValueError:
            continue
        results[outcome.identity] = outcome
    return {identity: outcome for identity, outcome in results.items() if not (again and outcome.outcome in _ALIVE)}


def report(drawn: Sequence[Mutant], results: Mapping[str, Outcome], reasons: Mapping[str, str]) -> str:
    """Return each survivor as a diff, and the numbers."""
    parts = []
    for mutant in drawn:
        outcome = results[mutant.identity]
        if outcome.outcome in _ALIVE:
            text = (ROOT / mutant.path).read_text(encoding="utf-8")
            parts.append(f"{outcome.outcome}, {outcome.tests} tests: {mutant.path}:{mutant.line}\n{mutant.diff(text)}\n")
    counts = Counter(results[mutant.identity].outcome for mutant in drawn)
    numbers = ", ".join(f"{counts[word]} {word}" for word in (KILLED, TIMED_OUT, SURVIVED, NOT_COVERED))
    equivalent = f", {len(reasons)} cannot be noticed" if reasons else ""
    percent = score(results[mutant.identity] for mutant in drawn)
    return "\n".join([*parts, f"{len(drawn)} mutants: {numbers}{equivalent}; score {percent:.1f} %"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw mutants, try them, print the report, and return 1 if the score is below the bar."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.mutation", description="Change the code a little, and look whether a test fails."
    )
    parser.add_argument("places", nargs="*", metavar="FILE[:LINE]", help="try all mutants of these (default: draw some)")
    parser.add_argument("--count", type=int, default=300, metavar="N", help="how many mutants to draw (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what the draw depends on (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="how many at a time (default: %(default)s)")
    parser.add_argument("--bar", type=float, default=0.0, metavar="PERCENT", help="fail below this score")
    parser.add_argument("--budget", type=float, default=600.0, metavar="S", help="seconds of tests for a mutant (default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutation", metavar="DIR", help="where the copies and results lie")
    parser.add_argument("--again", action="store_true", help="try those again that survived")
    parser.add_argument("--keep-coverage", action="store_true", help="use the coverage of an earlier run though files changed since")
    options = parser.parse_args(arguments)
    if min(options.count, options.jobs) < 1:
        parser.error("--count and --jobs must be at least 1")

    mutants = find_all(product_files())
    reasons = read_equivalent(mutants, EQUIVALENT.read_text(encoding="utf-8") if EQUIVALENT.exists() else "")
    places = set(options.places)
    drawn = (
        [mutant for mutant in mutants if {mutant.path, f"{mutant.path}:{mutant.line}"} & places]
        if places
        else draw(mutants, options.count, options.seed)
    )
    skipped = {mutant.identity: reasons[mutant.identity] for mutant in drawn if mutant.identity in reasons}
    drawn = [mutant for mutant in drawn if mutant.identity not in skipped]
    folder = options.folder.resolve()
    reach = measure(folder / "coverage", options.jobs, keep=options.keep_coverage)
    file = folder / "results.jsonl"
    results = read_results(file, again=options.again)
    pending = [mutant for mutant in drawn if mutant.identity not in results]
    benches: queue.Queue[Bench] = queue.Queue()
    for number in range(min(options.jobs, len(pending))):
        benches.put(Bench(folder / f"bench{number}", reach))
    if pending:
        benches.queue[0].check()

    def attempt(mutant: Mutant, tests: Sequence[str]) -> Outcome:
        bench = benches.get()
        try:
            return bench.try_mutant(mutant, tests)
        finally:
            benches.put(bench)

    with ThreadPoolExecutor(options.jobs) as pool, file.open("a", encoding="utf-8") as lines:
        futures = {pool.submit(attempt, mutant, choose(mutant, reach, options.budget)): mutant for mutant in pending}
        for number, future in enumerate(as_completed(futures), 1):
            mutant, outcome = futures[future], future.result()
            results[outcome.identity] = outcome
            print(json.dumps(asdict(outcome)), file=lines, flush=True)
            print(f"{number}/{len(pending)} {mutant.path}:{mutant.line} {outcome.outcome} {outcome.by} ({outcome.seconds} s)", flush=True)
    print(report(drawn, results, skipped))
    reached = score(results[mutant.identity] for mutant in drawn)
    if reached < options.bar:
        print(f"the score must be at least {options.bar:g} %", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
