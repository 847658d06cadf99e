"""The command line: ``python -m tools.evidence.tflite_models``."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import webnn.tflite
from tools.evidence.models.measure import Graph
from tools.evidence.models.result import TOLERANCE
from tools.evidence.tflite_models.files import PACKAGES, find_models
from tools.evidence.tflite_models.judge import Array, Judge, Tensor
from webnn.inspect.distance import relative_distance
from webnn.reference import compute

__all__ = ["Result", "check", "main"]

#: Both sides add float32 in some order: the emulator may be this many times as far from float64 as LiteRT is.
_FACTOR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a file.

    Attributes:
        status: "ok"; "sensitive", if LiteRT itself is about as far from what float64 gives; "wrong"; "refused"; or "failed".
        message: The fault, or why it is refused.
        error: The largest error of an output as a part of its largest value, of quantized ones in steps.
        ours: How far the outputs are from what float64 gives, if the error is above the tolerance.
        theirs: How far LiteRT's are.
        nodes: The operators of the file.
        operators: The operators of the graph.
        seconds: The time of the import.
    """

    package: str
    file: str
    status: str
    message: str = ""
    error: float = 0.0
    ours: float = 0.0
    theirs: float = 0.0
    nodes: int = 0
    operators: int = 0
    seconds: float = 0.0


def _distance(tensor: Tensor, found: Array, wanted: Array) -> float:
    """Return the error of an output: steps of a quantized one as a part of the tolerance."""
    if tensor.is_quantized:
        return TOLERANCE * float(np.abs(found.astype(np.int64) - wanted.astype(np.int64)).max(initial=0))
    return relative_distance(found, wanted)


def check(package: str, file: str, model: bytes, seed: int) -> Result:
    """Import a file, and compare its outputs with LiteRT's."""
    began = time.perf_counter()
    try:
        imported = webnn.tflite.load(model)
    except webnn.tflite.RefusedModelError as error:
        message = "; ".join(dict.fromkeys(f"{each.operator or each.place}: {each.reason}" for each in error.report.refusals))
        return Result(package=package, file=file, status="refused", message=message)
    seconds = time.perf_counter() - began
    try:
        rng, judge, graph = np.random.default_rng(seed), Judge(model), Graph(imported.description)
        inputs = {each.name: each.draw(rng) for each in judge.inputs}
        expected = judge.run(inputs)
        given = dict(zip(imported.description.inputs, inputs.values(), strict=True))
        found = [each.reshape(wanted.shape).copy() for each, wanted in zip(graph.run(given).values(), expected, strict=True)]
        errors = [_distance(*each) for each in zip(judge.outputs, found, expected, strict=True)]
        ours, theirs, status = 0.0, 0.0, "ok"
        if max(errors) > TOLERANCE:
            exact = [
                each.reshape(wanted.shape)
                for each, wanted in zip(compute(imported.description, given, exact=True).values(), expected, strict=True)
            ]
            sides = [[_distance(*each) for each in zip(judge.outputs, side, exact, strict=True)] for side in (found, expected)]
            ours, theirs = map(max, sides)
            status = "sensitive" if ours <= _FACTOR * theirs else "wrong"
    except Exception as error:  # a fault of either side is a result, too
        return Result(package=package, file=file, status="failed", message=f"{type(error).__name__}: {error}", seconds=seconds)
    return Result(
        package=package,
        file=file,
        status=status,
        error=max(errors),
        ours=ours,
        theirs=theirs,
        nodes=len(imported.report.nodes),
        operators=len(imported.description.operators),
        seconds=seconds,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the files, print their results, and return 1 if one is wrong or fails."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.tflite_models",
        description="Import the TFLite files of some packages, and compare the emulator with LiteRT's reference kernels.",
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="which files to run, such as 'pose*' (default: all)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where the packages are kept (default: a temporary folder)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the inputs (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to a file as well")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tflite-models-") as temporary:
        results = [
            check(package, file, model, options.seed)
            for package in PACKAGES
            for file, model in find_models(package, options.cache or Path(temporary)).items()
            if not options.patterns or any(fnmatchcase(file, each) for each in options.patterns)
        ]
    table = Table("package", "file", "result", "error", "from float64", "LiteRT", "nodes", "operators", "import ms")
    for each in results:
        numbers = (
            f"{each.error:.1e}",
            *(f"{side:.1e}" if side else "" for side in (each.ours, each.theirs)),
            str(each.nodes),
            str(each.operators),
            f"{1e3 * each.seconds:.0f}",
        )
        table.add_row(each.package, each.file, each.status, *([""] * 6 if each.message else numbers))
    console = Console() if sys.stdout.isatty() else Console(width=160)
    console.print(table)
    for each in results:
        if each.message:
            console.print(f"{each.package} {each.file}: {each.message}", markup=False, highlight=False, soft_wrap=True)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(each) for each in results], indent=1) + "\n", encoding="utf-8")
    return 1 if any(each.status in ("wrong", "failed") for each in results) else 0


if __name__ == "__main__":
    sys.exit(main())
