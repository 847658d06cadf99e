"""The command line: ``python -m tools.evidence.onnx_models``."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from rich.console import Console

from tools.evidence.onnx_models.catalog import CATALOG, Model, load_catalog
from tools.evidence.onnx_models.files import FileError, provide
from tools.evidence.onnx_models.measure import TOLERANCE, Result
from tools.evidence.onnx_models.report import as_json, make_table
from tools.evidence.onnx_models.running import run_model
from webnn.builder.numerics import DEFAULT_NUMERICS, Numerics
from webnn.processes.executors import FORMS, check_executor, open_workers
from webnn.processes.spread import spread

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the models, print their results, and return 1 if one of them is not as expected. Times do not count."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.onnx_models",
        description="Import ONNX files with real weights, and compare the emulator with ONNX Runtime.",
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="which models to run, such as 'silero*' (default: all)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where the files are kept (default: a temporary folder)")
    parser.add_argument("--catalog", type=Path, default=CATALOG, metavar="FILE", help="the models (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the inputs (default: %(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=25, metavar="N", help="how often each side is timed; 0 takes no times (default: %(default)s)"
    )
    parser.add_argument(
        "--numerics", choices=get_args(Numerics), default=DEFAULT_NUMERICS, help="the emulator's numerics (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to a file as well")
    parser.add_argument("--executor", metavar="NAME|ADDRESS", help=f"where the models run: {FORMS} (default: here, one after the other)")
    parser.add_argument("--modules", type=Path, metavar="DIR", help="write some models as modules for tools.evidence.browser")
    options = parser.parse_args(arguments)
    if options.rounds < 0:
        parser.error(f"--rounds must be at least 0, got {options.rounds}")
    models = load_catalog(options.catalog)
    try:
        check_executor(options.executor, "--executor")
    except ValueError as error:
        parser.error(str(error))
    names = [name for name in models if not options.patterns or any(fnmatchcase(name, each) for each in options.patterns)]
    if not names:
        parser.error("no model has such a name")
    with tempfile.TemporaryDirectory(prefix="onnx-models-") as temporary:
        cache = options.cache or Path(temporary)
        cache.mkdir(parents=True, exist_ok=True)
        files = {name: _provide(models, name, cache) for name in names}
        given = [
            (models[name].for_numerics(options.numerics), file, options.seed, options.rounds, options.numerics, options.modules)
            for name, file in files.items()
        ]
        if options.executor is None:
            with _one_core():
                results = [run_model(*task) for task in given]
        else:
            with open_workers(options.executor, "--executor") as workers:
                outcomes = spread(workers, run_model, given, lambda task: task, ordered=True)
                results = [each.result or Result(model=each.task[0], status="failed", message=each.problem) for each in outcomes]
    # A table needs a width, and a pipe has none.
    console = Console() if sys.stdout.isatty() else Console(width=160)
    console.print(make_table(results))
    console.print(
        f"an error is a part of the largest value, at most {TOLERANCE:g}; CPU times of one thread in ms, * above the bar", highlight=False
    )
    faults = [f"{result.model.name}: {result.fault}" for result in results if result.fault]
    for line in faults:
        console.print(f"not expected: {line}", style="red", markup=False, highlight=False, soft_wrap=True)
    if options.json is not None:
        versions = {name: version(name) for name in ("webnn", "onnx", "onnxruntime", "numpy")}
        options.json.write_text(json.dumps(as_json(results, versions, options.seed, options.numerics), indent=1) + "\n", encoding="utf-8")
    return 1 if faults else 0


@contextlib.contextmanager
def _one_core() -> Iterator[None]:
    """Let this process use one core, so that each side has one thread. Not every system can do that."""
    if sys.platform != "linux":
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _provide(models: Mapping[str, Model], name: str, cache: Path) -> Path | FileError:
    try:
        return provide(models, name, cache)
    except FileError as error:
        return error


if __name__ == "__main__":
    sys.exit(main())
