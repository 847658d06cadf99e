"""The results of a run as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table

from tools.evidence.models.catalog import Model
from tools.evidence.models.result import Result

__all__ = ["IMPORT_BAR", "make_table"]

#: The largest ratio of the time to import a file to the time that the judge needs to read it.
IMPORT_BAR = 1.5
_FAST_BAR = 1.10
_COUNTS = ("nodes", "folded", "operators", "error", "spread", "fast")
_TIMES = ("import", "session", "ratio", "run", "judge", "ratio", "fast")


def make_table(models: Mapping[str, Model], results: Iterable[Result]) -> Table:
    """Make the table; times are CPU times of one thread in milliseconds, and a ratio above its bar has a star."""
    table = Table("model", "result", *_COUNTS, *_TIMES, "profiles")
    for column in table.columns[2:]:
        column.justify = "right"
    for result in results:
        built = f"{result.profiles - sum(map(bool, result.refusals))}/{result.profiles}" if result.profiles else ""
        table.add_row(result.name, result.status, *_counts(result), *_times(models[result.name], result), built)
    return table


def _counts(result: Result) -> Sequence[str]:
    if result.status in ("refused", "failed"):
        return (str(result.nodes or ""), *[""] * (len(_COUNTS) - 1))
    errors = (("" if each is None else f"{each:.1e}") for each in (result.difference, result.spread, result.fast))
    return (str(result.nodes), str(result.folded), str(result.operators), *errors)


def _times(model: Model, result: Result) -> Sequence[str]:
    times = result.times
    if times is None:
        return [""] * len(_TIMES)
    ratios = times.ratios or (None, None, None)
    bars = (IMPORT_BAR, model.bar, _FAST_BAR)
    load, run, fast = ("" if each is None else f"{each:.2f}{'*' if each > bar else ' '}" for each, bar in zip(ratios, bars, strict=True))
    session, reference = ("" if each is None else f"{1e3 * each:.2f}" for each in (times.session, times.reference))
    return (f"{1e3 * times.load:.0f}", session, load, f"{1e3 * times.run:.2f}", reference, run, fast)
