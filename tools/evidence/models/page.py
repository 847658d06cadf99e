"""The page docs/models.md, from the results of the last runs."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from tools.evidence.models.catalog import Model
from tools.evidence.models.files import ROOT
from tools.evidence.models.formats import FORMATS, format_of
from tools.evidence.models.result import Place, Result
from tools.evidence.models.running import DEVICES, options
from tools.written import fill

__all__ = ["PAGE", "RESULTS", "keep_results", "make_page", "read_results"]

PAGE = ROOT / "docs" / "models.md"
RESULTS = Path(__file__).resolve().with_name("results.json")
_TOOL = "tools.evidence.models"
_PACKAGES = ("webnn", "onnx", "onnxruntime", "numpy", "jaxlib", "ai-edge-litert")
#: How many operations that leave a device are named.
_NAMED = 3


def keep_results(path: Path, results: Sequence[Result], models: Mapping[str, Model], seed: int) -> None:
    """Write results to a file of JSON, in the order of the catalogue. The file keeps those of other models, if the catalogue has them."""
    before = {each.name: each for each in read_results(path)} if path.exists() else {}
    found = before | {each.name: each for each in results}
    rows = ",\n".join(json.dumps(_round(found[name].to_dict())) for name in models if name in found)
    known = json.loads(path.read_text(encoding="utf-8"))["versions"] if path.exists() else {}
    head = json.dumps({"versions": {**known, **_find_versions()}, "seed": seed}).removesuffix("}")
    # A line for each model: a change of one shows.
    path.write_text(f'{head}, "models": [\n{rows}\n]}}\n', encoding="utf-8", newline="\n")


def _find_versions() -> dict[str, str]:
    """Return the versions of the packages that are installed: one that judges is only needed for models of its format."""
    found = {name: next(iter(distributions(name=name)), None) for name in _PACKAGES}
    return {name: each.version for name, each in found.items() if each is not None}


def read_results(path: Path = RESULTS) -> list[Result]:
    """Read the results that `keep_results` wrote. Raises `ValueError` or `TypeError` if the file is another one."""
    return [Result.from_dict(row) for row in json.loads(path.read_text(encoding="utf-8"))["models"]]


def _round(value: Any) -> Any:
    """Round floats to three digits: more of them differ from run to run."""
    if isinstance(value, float):
        return float(f"{value:.3g}")
    if isinstance(value, dict):
        return {name: _round(each) for name, each in value.items()}
    return [_round(each) for each in value] if isinstance(value, list | tuple) else value


def make_page(models: Mapping[str, Model], results: Path = RESULTS) -> str:
    """Return the page, with the text that is written by hand."""
    versions = json.loads(results.read_text(encoding="utf-8"))["versions"]
    found = {each.name: each for each in read_results(results)}
    return fill(PAGE, _TOOL, "".join(f"{line}\n" for line in _lines(models, found, versions)))


def _lines(models: Mapping[str, Model], found: Mapping[str, Result], versions: Mapping[str, str]) -> Iterator[str]:
    measured = ", ".join(f"{name} {each}" for name, each in versions.items() if name != "webnn")
    yield f"Measured with {measured}."
    yield from _starts(found)
    for kind in FORMATS.values():
        rows = [(model, found[name]) for name, model in models.items() if name in found and format_of(model) is kind]
        if not rows:
            continue
        right = sum(each.status == "ok" for _, each in rows)
        within = sum(_is_within(each) for _, each in rows)
        more = f", and {within} more are within the spread of the judge" if within else ""
        sensitive = sum(each.status == "sensitive" for _, each in rows)
        more += f", and {sensitive} more are as near to float64 as the judge" if sensitive else ""
        yield from ("", f"### {kind.name}", "", f"{right} of {len(rows)} are right{more}. The judge is {kind.engine}.", "")
        yield from _numbers(rows)
        yield from ("", *_devices(rows))
    yield from ("", "### Commands", "")
    yield "The commands that check each model, in the folder of `--cache`. `run`, `convert`, `show` and `diff` take the same options."
    yield from ("", "```text")
    for name in found:
        model = models[name]
        yield " ".join(["webnn check", f"{name}{model.suffix}", *map(_quote, options(model))])
    yield "```"


def _starts(found: Mapping[str, Result]) -> Iterator[str]:
    """Yield how long a model takes from its file to a graph, import and build, against a session of its judge."""
    whole = {name: each.times.start for name, each in found.items() if each.times is not None and each.times.start is not None}
    if not whole:
        return
    slowest = max(whole, key=whole.__getitem__)
    yield ""
    median = statistics.median(whole.values())
    yield f"Import and build together take {median:.2f} times a session of the judge in the median of {len(whole)}"
    yield f"models, and {whole[slowest]:.1f} times at most (`{slowest}`)."


def _numbers(rows: Sequence[tuple[Model, Result]]) -> Iterator[str]:
    yield "| model | task | from | MB | result | nodes | operators | error | spread | fast: error | import | inference | fast |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for model, result in rows:
        cells = [f"`{model.name}`", model.what, model.origin, f"{result.bytes / 1e6:.2f}", _verdict(result)]
        cells += [str(result.nodes or ""), f"{result.operators:,}" if result.operators else ""]
        cells += ["" if each is None else f"{each:.1e}" if each else "0" for each in (result.difference, result.spread, result.fast)]
        yield f"| {' | '.join([*cells, *_times(result)])} |"


def _times(result: Result) -> Sequence[str]:
    times = result.times
    if times is None:
        return ["", "", ""]
    if times.ratios is None:
        return [f"{1e3 * each:.3g} ms" for each in (times.load, times.run, times.fast)]
    load, run, fast = times.ratios
    return [f"{load:.2f}", f"{run:.2f} of {1e3 * (times.reference or 0):.3g} ms", f"{fast:.2f}"]


def _verdict(result: Result) -> str:
    if result.status == "ok":
        return "right"
    if result.status == "sensitive":
        return f"as near to float64: {result.ours:.0e}, the judge {result.theirs:.0e}"
    if _is_within(result):
        return "within the spread"
    return f"{result.status}: {_cell(result.message)}"


def _is_within(result: Result) -> bool:
    """Tell whether an error is not larger than the judge's own answers move."""
    if result.status != "wrong" or result.difference is None or result.spread is None:
        return False
    return result.difference <= result.spread


def _devices(rows: Sequence[tuple[Model, Result]]) -> Iterator[str]:
    built = [(model, result) for model, result in rows if result.places]
    if not built:
        return
    yield f"| model | profiles | {' | '.join(f'{kind}: `{profile}`' if profile else kind for kind, profile in DEVICES.items())} |"
    yield f"|---|---|{'---|' * len(DEVICES)}"
    for model, result in built:
        places = {each.profile: each for each in result.places}
        refused = sorted(result.refusals.keys() - {""})
        built_on = ", not ".join([f"{result.profiles - len(refused)} of {result.profiles}", *filter(None, [" and ".join(refused)])])
        cells = [_place(places[profile]) if profile in places else "" for profile in DEVICES.values()]
        yield f"| `{model.name}` | {built_on} | {' | '.join(cells)} |"


def _place(place: Place) -> str:
    if place.verdict != "builds":
        return f"{place.verdict}: {_cell(place.why)}"
    count = sum(place.left.values())
    if not count:
        return "builds"
    names = list(place.left)
    more = ", ..." if len(names) > _NAMED else ""
    return f"{count} of {place.operators} leave: {', '.join(names[:_NAMED])}{more}"


def _cell(text: str, longest: int = 160) -> str:
    """Return a text for a cell of a table."""
    line = " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
    return line if len(line) <= longest else f"{line[:longest].rsplit(' ', 1)[0]} ..."


def _quote(option: str) -> str:
    return f"'{option}'" if set(option) & set('[]"() ') else option
