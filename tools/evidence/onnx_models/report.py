"""The results of a run: a table for people, JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from tools.evidence.onnx_models.measure import IMPORT_BAR, Result
from webnn.builder.numerics import Numerics

__all__ = ["as_json", "make_table"]

_COUNTS = ("nodes", "folded", "operators", "error", "spread", "largest")
_TIMES = ("import", "build", "session", "ratio", "run", "ORT", "ratio")


def make_table(results: Iterable[Result]) -> Table:
    """Make the table; times are in milliseconds, and a ratio above its bar has a star."""
    table = Table("model", "result", *_COUNTS, *_TIMES)
    for column in table.columns[2:]:
        column.justify = "right"
    for result in results:
        table.add_row(result.model.name, result.status, *_counts(result), *_times(result))
    return table


def _counts(result: Result) -> Sequence[str]:
    if result.status in ("refused", "failed"):
        return (str(result.nodes or ""), *[""] * (len(_COUNTS) - 1))
    largest = " ".join(f"{value:.2g}" for value in result.largest.values())
    return (str(result.nodes), str(result.folded), str(result.operators), f"{result.difference:.1e}", f"{result.spread:.0e}", largest)


def _times(result: Result) -> Sequence[str]:
    times = result.times
    if times is None:
        return [""] * len(_TIMES)
    return (
        *(f"{1e3 * each:.0f}" for each in (times.load, times.build, times.session)),
        _ratio(times.load_ratio, IMPORT_BAR),
        *(f"{1e3 * each:.2f}" for each in (times.run, times.reference)),
        _ratio(times.run_ratio, result.model.bar),
    )


def _ratio(value: float, bar: float) -> str:
    return f"{value:.2f}{'*' if value > bar else ' '}"


def as_json(results: Iterable[Result], versions: Mapping[str, str], seed: int, numerics: Numerics) -> dict[str, Any]:
    """Return the results as JSON's values.

    Args:
        results: The results.
        versions: The versions of what ran.
        seed: The seed of the inputs.
        numerics: The emulator's numerics.
    """
    models = []
    for result in results:
        model, times = result.model, result.times
        row: dict[str, Any] = {"name": model.name, "status": result.status, "message": result.message, "fault": result.fault}
        if model.wheel is not None:
            row |= {"package": model.wheel.package, "version": model.wheel.version}
        row |= {"nodes": result.nodes, "folded": result.folded, "operators": result.operators}
        difference = result.difference if math.isfinite(result.difference) else None
        row |= {"difference": difference, "spread": result.spread, "largest": dict(result.largest)}
        if times is not None:
            row |= {"seconds": asdict(times), "importRatio": times.load_ratio, "runRatio": times.run_ratio}
        models.append(row)
    return {"versions": dict(versions), "seed": seed, "numerics": numerics, "models": models}
