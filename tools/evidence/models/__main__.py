"""The command line: ``python -m tools.evidence.models``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console

from tools.evidence.models.catalog import CATALOG, Model, load_catalog
from tools.evidence.models.files import FileError, provide
from tools.evidence.models.litert_js import LiteRTJSError, compare, make_comparison
from tools.evidence.models.page import PAGE, RESULTS, keep_results, make_page
from tools.evidence.models.report import make_table
from tools.evidence.models.result import TOLERANCE, Result, find_fault
from tools.evidence.models.running import Task, run_model
from tools.written import keep_pages
from webnn.processes.child import ends_at_signals
from webnn.processes.executors import FORMS, check_executor, open_workers
from webnn.processes.spread import spread

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the models, print their results, and return 1 if one of them is not as expected. Times do not count."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.models",
        description="Import models with real weights, compare the emulator with the engine of their format, and write docs/models.md.",
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="which models to run, such as 'silero*' (default: all)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where the files are kept (default: a temporary folder)")
    parser.add_argument("--catalog", type=Path, default=CATALOG, metavar="FILE", help="the models (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the inputs (default: %(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=25, metavar="N", help="how often each side is timed; 0 takes no times (default: %(default)s)"
    )
    parser.add_argument("--timeout", type=float, default=900, metavar="SECONDS", help="the time of a process (default: %(default)s)")
    parser.add_argument("--memory", type=float, default=12, metavar="GIB", help="the memory of a process (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to a file as well; those of other models stay in it")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} and {PAGE.name}")
    parser.add_argument("--check", action="store_true", help=f"run nothing; fail if {PAGE.name} differs from {RESULTS.name}")
    parser.add_argument("--executor", metavar="NAME|ADDRESS", help=f"where the models run: {FORMS} (default: here, one after the other)")
    parser.add_argument("--modules", type=Path, metavar="DIR", help="write some models as modules for tools.evidence.browser")
    parser.add_argument(
        "--litert-js", type=Path, metavar="SITE", help="compare with LiteRT.js on the emulator, which npm installed in SITE"
    )
    given = parser.parse_args(arguments)
    for name in ("rounds", "timeout", "memory"):
        if getattr(given, name) < 0:
            parser.error(f"--{name} must be at least 0, got {getattr(given, name):g}")
    models = load_catalog(given.catalog)
    if given.check:
        return keep_pages({PAGE: make_page(models)}, "tools.evidence.models --write", check=True)
    try:
        check_executor(given.executor, "--executor")
    except ValueError as error:
        parser.error(str(error))
    names = [name for name in models if not given.patterns or any(fnmatchcase(name, each) for each in given.patterns)]
    if not names:
        parser.error("no model has such a name")
    with tempfile.TemporaryDirectory(prefix="models-") as temporary, ends_at_signals():
        cache = (given.cache or Path(temporary)).absolute()
        cache.mkdir(parents=True, exist_ok=True)
        tasks = [
            Task(
                model=models[name],
                catalog=given.catalog.absolute(),
                file=_provide(models, name, cache),
                seed=given.seed,
                rounds=given.rounds,
                seconds=given.timeout,
                gigabytes=given.memory,
                modules=given.modules,
            )
            for name in names
        ]
        if given.litert_js is not None:
            return _compare(tasks, given.litert_js.absolute(), given.seed, given.timeout)
        files = [*([given.json] if given.json else []), *([RESULTS] if given.write else [])]
        results = []
        for result in _run(tasks, given.executor):
            results.append(result)
            # At once: a run that is interrupted has not been for nothing.
            for path in files:
                keep_results(path, [result], models, given.seed)
    # A table needs a width, and a pipe has none.
    console = Console() if sys.stdout.isatty() else Console(width=160)
    console.print(make_table(models, results))
    faults = [(each.name, fault) for each in results if (fault := find_fault(models[each.name], each))]
    for name, fault in faults:
        console.print(f"not expected: {name}: {fault}", style="red", markup=False, highlight=False, soft_wrap=True)
    if given.write:
        keep_pages({PAGE: make_page(models)}, "tools.evidence.models", check=False)
    return 1 if faults else 0


def _compare(tasks: Sequence[Task], site: Path, seed: int, seconds: float) -> int:
    """Compare the TFLite files with LiteRT.js on the emulator; return 1 if an output differs, or LiteRT.js computes nothing."""
    pairs = [(task.model, task.file) for task in tasks if isinstance(task.file, Path) and task.file.suffix == ".tflite"]
    try:
        results = [*compare([model for model, _ in pairs], [file for _, file in pairs], site, seed=seed, seconds=seconds)]
    except LiteRTJSError as error:
        print(error, file=sys.stderr)
        return 1
    Console(width=160).print(make_comparison(results))
    differences = [each["difference"] for each in results if each["difference"] is not None]
    return 0 if differences and max(differences) <= TOLERANCE else 1


def _run(tasks: Sequence[Task], executor: str | None) -> Iterator[Result]:
    if executor is None:
        for number, task in enumerate(tasks, 1):
            print(f"{number} of {len(tasks)}: {task.model.name}", file=sys.stderr, flush=True)
            yield run_model(task)
        return
    with open_workers(executor, "--executor") as workers:
        for each in spread(workers, run_model, [(task,) for task in tasks], lambda task: task, ordered=True):
            yield each.result or Result(name=each.task[0].model.name, status="failed", message=each.problem)


def _provide(models: Mapping[str, Model], name: str, cache: Path) -> Path | FileError:
    try:
        return provide(models, name, cache)
    except FileError as error:
        return error


if __name__ == "__main__":
    sys.exit(main())
