"""The command line: ``python -m tools.evidence.ort_web``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path

from rich.console import Console

from tools.evidence.ort_web import processes
from tools.evidence.ort_web.cases import Case, collect, load, why_not, write
from tools.evidence.ort_web.models import collect_models
from tools.evidence.ort_web.package import Package, PackageError, find_package
from tools.evidence.ort_web.prediction import contradictions, limits_of, load_differences, make_prediction_table, predict
from tools.evidence.ort_web.report import as_json, make_models_table, make_operators_table, make_table
from tools.evidence.ort_web.verdicts import Verdict, faults, judge, load_known

__all__ = ["main"]

_SKIPPED = "skipped.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The programs and files that the tests run on."""

    site: Path
    package: str
    revision: str
    dialect: str
    jobs: int
    console: Console

    def run(self, cases: Sequence[Case], provider: str) -> list[Verdict]:
        """Run tests, and show the progress."""
        named = {case.name: case for case in cases}
        verdicts: list[Verdict] = []
        with self.console.status("") as status:

            def note(report: processes.Report) -> None:
                case = named[report["name"]]
                verdicts.append(judge(case, report, (self.site / case.data.lstrip("/")).read_bytes()))
                status.update(f"{provider}: {len(verdicts)} of {len(cases)} tests, {case.name}")

            command = processes.command(self.site, provider=provider, package=self.package, revision=self.revision, dialect=self.dialect)
            processes.run(cases, self.site, command, jobs=min(self.jobs, len(cases)), report=note)
        return sorted(verdicts, key=lambda verdict: list(named).index(verdict.name))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests, print their results, and return 1 if one of them is a fault of the emulator."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.ort_web", description="Run the node tests of ONNX in ONNX Runtime Web, on WebNN, on the emulator."
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="which tests to run, such as 'test_conv*' (default: all)")
    parser.add_argument("--package", type=Path, required=True, metavar="DIR", help="the unpacked npm package onnxruntime-web")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to a file as well")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="how many processes (default: %(default)s)")
    parser.add_argument("--models", action="store_true", help="run whole models as well, and measure them, one at a time")
    parser.add_argument("--prediction", action="store_true", help="also compare which nodes WebNN got with what is predicted")
    parser.add_argument("--site", type=Path, metavar="DIR", help="write the tests here, and find them here the next time")
    parser.add_argument("--operators", action="store_true", help="also show which operators ONNX Runtime Web kept for itself")
    parser.add_argument("--revision", default="2026-06", help="the revision of the draft (default: %(default)s)")
    parser.add_argument("--dialect", default="browsers-2026", help="what browsers had beside it (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        package = find_package(options.package)
    except PackageError as error:
        parser.error(f"--package must be the package onnxruntime-web, but {error}")
    if options.jobs < 1:
        parser.error(f"--jobs must be at least 1, got {options.jobs}")
    with tempfile.TemporaryDirectory(prefix="ort-web-") as temporary:
        return _run(options, package, options.site or Path(temporary))


def _run(options: argparse.Namespace, package: Package, site: Path) -> int:
    # A table needs a width, and a pipe has none.
    console = Console() if sys.stdout.isatty() else Console(width=160)
    package.install(site)
    console.print(f"onnxruntime-web {package.version}: {', '.join(package.files[1:])}", highlight=False)
    bench = Bench(
        site=site,
        package=package.address,
        revision=options.revision,
        dialect=options.dialect,
        jobs=options.jobs,
        console=Console(stderr=True),
    )
    cases, skipped = _tests(site)
    chosen = [case for case in cases if not options.patterns or any(fnmatchcase(case.name, each) for each in options.patterns)]
    tests = [case for case in chosen if case.runs == 1]
    models = [case for case in chosen if case.runs > 1] if options.models else []
    if not tests and not models:
        console.print("no test has such a name")
        return 2
    start = time.monotonic()
    try:
        verdicts = bench.run(tests, "webnn")
        failed = {verdict.name for verdict in verdicts if verdict.reaches and verdict.status != "ok"}
        alone = {verdict.name: verdict for verdict in bench.run([case for case in tests if case.name in failed], "wasm")}
        seconds = time.monotonic() - start
        verdicts += [verdict for model in models for verdict in bench.run([model], "webnn")]
    except processes.NothingRanError as error:
        console.print(f"the page program did not begin: {error}", style="red", markup=False)
        return 1
    known = {name: each for name, each in load_known().items() if not options.patterns or name in {case.name for case in chosen}}
    lines = faults(verdicts, alone, known)
    lines += [f"{name}: is known, but there is no such test" for name in known if name not in {case.name for case in chosen}]
    console.print(make_table(verdicts, alone))
    for table in (make_operators_table(verdicts) if options.operators else None, make_models_table(verdicts)):
        if table is not None:
            console.print(table)
    if options.prediction:
        lines += _predict(options, verdicts, chosen, site, console)
    unused = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
    console.print(f"{seconds:.0f} s; known: {len(known)}; of no use here: {sum(skipped.values())} ({unused})", highlight=False)
    for line in lines:
        console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    if options.json is not None:
        versions = {name: version(name) for name in ("webnn", "onnx", "onnxruntime")}
        results = as_json(verdicts, alone, skipped, {**versions, "onnxruntime-web": package.version}, seconds)
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 1 if lines else 0


def _predict(options: argparse.Namespace, verdicts: Sequence[Verdict], cases: Sequence[Case], site: Path, console: Console) -> list[str]:
    """Compare what happened with what is predicted, and return what contradicts the known differences."""
    comparisons = predict(verdicts, cases, site, limits_of(options.revision, options.dialect))
    console.print(make_prediction_table(comparisons))
    names = {verdict.name for verdict in verdicts}
    known = load_differences()
    gone = [] if options.patterns or not options.models else [name for name in known if name not in names]
    return contradictions(comparisons, known) + [f"{name}: is known to differ, but there is no such test" for name in gone]


def _tests(site: Path) -> tuple[list[Case], dict[str, int]]:
    """Return the tests of the site, or new ones if it has none, and how many tests are unusable, by reason."""
    try:
        return load(site), json.loads((site / _SKIPPED).read_text(encoding="utf-8"))
    except FileNotFoundError:
        pass
    tests, skipped = [], Counter[str]()
    for test in collect():
        reason = why_not(test)
        if reason:
            skipped[reason] += 1
        else:
            tests.append(test)
    (site / _SKIPPED).write_text(json.dumps(skipped), encoding="utf-8")
    return write([*tests, *collect_models()], site), dict(skipped)


if __name__ == "__main__":
    sys.exit(main())
