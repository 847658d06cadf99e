"""The table, and where it was measured."""

from __future__ import annotations

import dataclasses
import datetime
import os
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.measure import Result

__all__ = ["COLUMNS", "as_json", "cells", "environment", "make_markdown", "make_table"]

COLUMNS = ("benchmark", "webnn", "onnxruntime", "ratio", "bar", "ok")


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def environment() -> dict[str, str]:
    """Describe the machine and the versions."""
    versions = {name: metadata.version(name) for name in ("webnn", "onnx", "numpy", "pydantic")}
    for name in ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "CPU": _cpu_model(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **versions,
    }


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def cells(result: Result) -> tuple[str, ...]:
    """Return the texts of a result's row, in the order of `COLUMNS`."""
    spread = f"[{_number(result.low)} .. {_number(result.high)}]"
    other = f"{_number(result.other)} {result.unit}"
    limit = "" if result.bar is None else _number(result.bar)
    if result.against != "onnxruntime":
        other += f" ({result.against})"
    if result.metric == "rate":
        value = f"{result.webnn / result.other:.2f}"
        bar = f">= {limit} {result.unit}"
        ours = f"{_number(result.webnn)} {result.unit} {spread}"
    elif result.metric == "time":
        value = f"{result.webnn / result.other:.2f}"
        bar = f"<= {limit} {result.unit}"
        ours = f"{_number(result.webnn)} {result.unit} {spread}"
    elif result.metric == "difference":
        value = f"{result.value:+.3g} {result.unit} {spread}"
        bar = f"<= +{limit} {result.unit}"
        ours = f"{_number(result.webnn)} {result.unit}"
    else:
        value = f"{result.value:.2f} [{result.low:.2f} .. {result.high:.2f}]"
        bar = f"<= {limit}"
        ours = f"{_number(result.webnn)} {result.unit}"
    title = f"{result.title} ({result.notes})" if result.notes else result.title
    if result.bar is None:
        return title, ours, other, value, "", ""
    return title, ours, other, value, bar, "yes" if result.ok else "NO"


def make_table(results: Sequence[Result]) -> Table:
    """Make the table for a terminal."""
    table = Table(*COLUMNS, title="webnn and onnxruntime on the same work")
    for result in results:
        table.add_row(*cells(result), style=None if result.ok else "red")
    return table


def make_markdown(results: Sequence[Result], where: Mapping[str, str]) -> str:
    """Make the table for the documentation."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    lines += ["| " + " | ".join(cells(result)) + " |" for result in results]
    return "\n".join([*lines, "", ", ".join(f"{name} {value}" for name, value in where.items()) + "."])


def as_json(results: Sequence[Result], skipped: Mapping[str, str], where: Mapping[str, str]) -> dict[str, Any]:
    """Return everything as plain data."""
    return {
        "environment": dict(where),
        "results": [{**dataclasses.asdict(result), "ok": result.ok} for result in results],
        "skipped": dict(skipped),
    }
