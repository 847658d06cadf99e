"""A second judge of TFLite models: LiteRT.js, whose WebNN delegate builds its own graph of a model on the emulator."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from tools.evidence.models.catalog import Model
from tools.evidence.models.formats import format_of
from tools.evidence.models.measure import Graph, judge

__all__ = ["PACKAGE", "LiteRTJSError", "compare", "make_comparison"]

#: The package of npm.
PACKAGE = "@litertjs/core@2.5.3"
_PROGRAM = Path(__file__).with_name("litert_js.mjs")
_FOLDER = Path("node_modules", "@litertjs")
#: Methods of a builder that are not operations.
_OTHERS = frozenset({"build", "constant", "input"})


class LiteRTJSError(Exception):
    """LiteRT.js cannot be run; the message says why."""


def compare(models: Sequence[Model], files: Sequence[Path], site: Path, *, seed: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Run models in LiteRT.js on the emulator, and yield what became of each.

    Args:
        models: The models.
        files: Their files.
        site: The folder into which npm has installed `@litertjs/core`.
        seed: The seed of the inputs.
        seconds: The time of all models.

    Yields:
        The name; how many graphs the delegate builds, and their operators; the operators of the import; the largest difference of an
        output, as a part of its largest value, or the error.

    Raises:
        LiteRTJSError: The package is missing, or the program ended without results.
    """
    core = site / _FOLDER / "core" / "dist" / "index.js"
    if not core.exists():
        raise LiteRTJSError(f"there is no LiteRT.js in {site}: npm install --prefix {site} {PACKAGE}")
    with tempfile.TemporaryDirectory(prefix="litert-js-", dir=site) as folder:
        work = Path(folder)
        # There are no import maps.
        (site / "litert-js").mkdir(exist_ok=True)
        text = core.read_text(encoding="utf-8").replace('"@litertjs/wasm-utils"', f'"/{_FOLDER.as_posix()}/wasm-utils/dist/index.js"')
        (site / "litert-js" / "core.mjs").write_text(text, encoding="utf-8")
        # A program beside the modules may import them.
        program = site / "litert-js" / _PROGRAM.name
        program.write_bytes(_PROGRAM.read_bytes())
        entries, expected = [], {}
        for model, path in zip(models, files, strict=True):
            kind = format_of(model)
            imported = kind.load(model, path).description
            inputs = kind.inputs(model, path, seed)
            expected[model.name] = {name: each.copy() for name, each in Graph(imported).run(inputs).items()}, len(imported.operators)
            entries.append(_write(work, site, model.name, path, inputs))
        listed = work / "list.json"
        listed.write_text(json.dumps(entries), encoding="utf-8")
        options = ["--revision", "2026-06", "--dialect", "browsers-2026", "--root", str(site)]
        command = [sys.executable, "-m", "webnn", "run", *options, str(program), _address(site, listed)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=seconds)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(lines) != len(models):
        raise LiteRTJSError(f"LiteRT.js ended after {len(lines)} of {len(models)} models: {done.stderr.strip()[-2000:]}")
    for line in lines:
        ours, operators = expected[line["name"]]
        yield {
            "name": line["name"],
            "graphs": line["counts"].get("build", 0),
            "theirs": sum(number for method, number in line["counts"].items() if method not in _OTHERS),
            "ours": operators,
            "difference": _judge(ours, line["outputs"]) if "outputs" in line else None,
            "error": line.get("error", ""),
        }


def _write(work: Path, site: Path, name: str, path: Path, inputs: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    """Write the files of a model into the site, and return their addresses."""
    model = work / f"{name}.tflite"
    model.write_bytes(path.read_bytes())
    addresses = {}
    for index, (input, value) in enumerate(inputs.items()):
        file = work / f"{name}.{index}.bin"
        file.write_bytes(value.tobytes())
        addresses[input] = _address(site, file)
    return {"name": name, "model": _address(site, model), "inputs": addresses}


def _address(site: Path, file: Path) -> str:
    return f"/{file.relative_to(site).as_posix()}"


def _judge(ours: Mapping[str, np.ndarray[Any, Any]], theirs: Mapping[str, Sequence[float]]) -> float:
    """Return the largest difference. LiteRT.js may have the names of tensors in place of those of a signature, in the same order."""
    named = theirs if theirs.keys() == ours.keys() else dict(zip(ours, theirs.values(), strict=True))
    found = {name: np.asarray(named[name], each.dtype).reshape(each.shape) for name, each in ours.items()}
    return judge(found, ours, 1)[0]


def make_comparison(results: Sequence[Mapping[str, Any]]) -> Table:
    """Return what became of the models as a table."""
    table = Table("model", "graphs", "operators of LiteRT.js", "of the import", "difference")
    for each in results:
        difference = each["error"] if each["difference"] is None else f"{each['difference']:.1e}"
        table.add_row(each["name"], *(str(each[key]) for key in ("graphs", "theirs", "ours")), difference)
    return table
