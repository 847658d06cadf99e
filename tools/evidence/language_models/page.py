"""The tables of docs/language-models.md, from the results of the last run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.evidence.language_models.ways import WAYS
from tools.written import fill

__all__ = ["PAGE", "RESULTS", "keep_results", "make_page"]

PAGE = Path(__file__).resolve().parents[3] / "docs" / "language-models.md"
RESULTS = Path(__file__).resolve().with_name("results.json")
_TOOL = "tools.evidence.language_models"
_MIB = 1 << 20


def keep_results(ways: Mapping[str, Mapping[str, Any]], pages: Sequence[Mapping[str, Any]], results: Path = RESULTS) -> None:
    """Write the results of some ways, and of pages if there are some; those of others stay."""
    known = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {"ways": {}, "pages": []}
    found = {**known["ways"], **ways}
    data = {
        "versions": {name: version(name) for name in ("onnxruntime", "onnx", "numpy")},
        "ways": {name: _round(found[name]) for name in WAYS if name in found},
        "pages": _round(pages or known["pages"]),
    }
    results.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8", newline="\n")


def _round(value: Any) -> Any:
    """Round floats to three digits: more of them differ from run to run."""
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.3g}")
    if isinstance(value, Mapping):
        return {name: _round(each) for name, each in value.items()}
    return [_round(each) for each in value] if isinstance(value, list | tuple) else value


def make_page(results: Path = RESULTS, page: Path = PAGE) -> str:
    """Return the page, with the text that is written by hand."""
    data = json.loads(results.read_text(encoding="utf-8"))
    return fill(page, _TOOL, "".join(f"{line}\n" for line in _lines(data)))


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    versions = ", ".join([f"{name} {each}" for name, each in data["versions"].items()])
    yield from (f"Measured with {versions}.", "")
    ways = [(name, data["ways"][name]) for name in WAYS if name in data["ways"]]
    yield from ("### Graphs", "")
    heads = ["way", "device", "nodes of the file", "WebNN operators", "in calls", "nodes for the engine", "leave the device", "sessions"]
    yield from (_row([*heads, "their time"]), _row(["---"] * 9))
    for name, each in ways:
        calls = f"{each['calls'][0]} in {each['calls'][1]}" if each["calls"][1] else ""
        cells = [_title(name), WAYS[name].device, each["nodes"], each["operators"], calls, each["engineNodes"], each["left"] or ""]
        yield _row([*cells, each["sessions"], f"{each['compiling']:.2f} s"])
    yield from ("", "### A token", "")
    lengths = sorted({length["past"] for _, each in ways for length in each["lengths"]})
    yield _row(["way", "device", *[f"cache of {length:,}" for length in lengths], "same tokens"])
    yield _row(["---"] * (3 + len(lengths)))
    for name, each in ways:
        known = {length["past"]: length for length in each["lengths"]}
        cells = [_time(known[length]) if length in known else "" for length in lengths]
        yield _row([_title(name), WAYS[name].device, *cells, "yes" if all(each["same"] for each in known.values()) else "no"])
    yield from ("", "### The first token, memory and error", "")
    yield _row(
        ["way", "device", *[f"first token after {length:,}" for length in lengths], "memory", "of it the cache", "error", "onnxruntime's"]
    )
    yield _row(["---"] * (6 + len(lengths)))
    for name, each in ways:
        known = {length["past"]: length for length in each["lengths"]}
        firsts = [_seconds(known[length]["first"]) if length in known else "" for length in lengths]
        memory = [f"{each[key] / _MIB:.0f} MiB" for key in ("memory", "cache")]
        yield _row([_title(name), WAYS[name].device, *firsts, *memory, f"{each['error']:.1e}", f"{each['otherError']:.1e}"])
    if data["pages"]:
        yield from ("", "### In a page", "")
        yield "| WebNN | cache of | load the model | first token | a token |"
        yield "|---|---|---|---|---|"
        for each in data["pages"]:
            times = [_seconds(each[key]) for key in ("loading", "first", "token")]
            yield _row(["Chromium's own" if each["native"] else "the emulator's", f"{each['length']:,}", *times])


def _title(name: str) -> str:
    return f"{WAYS[name].title} (`{name}`)"


def _time(length: Mapping[str, Any]) -> str:
    return f"{_seconds(length['token'])}, {length['ratio']:.2f}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
