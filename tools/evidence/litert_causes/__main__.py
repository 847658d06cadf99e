"""The command line: ``python -m tools.evidence.litert_causes --browser PROGRAM --package FOLDER``.

It runs random programs in Chromium and here, as ``webnn fuzz --engine litert`` does. Where bits differ, it takes the model that Chromium
made of the graph (the browser's switch ``--webnn-tflite-dump-model``), and computes that with LiteRT here:

- ``mapping``: it has the browser's bits. So the export makes other operators than Chromium does.
- ``kernels``: it has the bits of our own model. So the kernels of the browser's LiteRT are others.
- ``both``: it has neither.

``--package FOLDER`` names further versions of LiteRT, which ``pip install --no-deps --target FOLDER ai-edge-litert==VERSION`` installs. The
versions that have the browser's bits are shown.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import webnn
from webnn.browser.chromium import VARIABLE, Chromium, find_browser, serve
from webnn.fuzz.generate import Generator
from webnn.fuzz.hosts import Emulator, Page
from webnn.fuzz.judges import Finding, compare_bits, compare_hosts, read_outputs
from webnn.fuzz.programs import FuzzProgram

__all__ = ["Difference", "cause_of", "main"]

Array = np.ndarray[Any, np.dtype[Any]]
Values = Mapping[str, Array]

_REVISION: Final = "2026-06"
_DIALECT, _PROFILE = "chromium-153", "tflite"
#: How many programs go to both sides at once.
_TOGETHER = 40
#: How many seconds the browser has to write a model, and how often that is looked at.
_PATIENCE, _PAUSE = 3.0, 0.02
_KINDS = ("numbers", "rounding")


@dataclass(frozen=True, slots=True)
class Difference:
    """A program whose numbers differ, with the browser's model of its graph.

    Attributes:
        program: The program.
        finding: The first operator that differs.
        model: The file that the browser made.
        inputs: The inputs of the graph.
        ours: The outputs here.
        theirs: The outputs in the browser.
    """

    program: FuzzProgram
    finding: Finding
    model: bytes
    inputs: Values
    ours: Values
    theirs: Values


def main(arguments: Sequence[str] | None = None) -> int:
    """Run programs, and show the cause of each difference; return an exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.evidence.litert_causes", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("programs", nargs="*", type=Path, metavar="PROGRAM", help="programs (JSON), in place of random ones")
    parser.add_argument("--browser", type=Path, metavar="PROGRAM", help=f"the browser; that of {VARIABLE} without")
    parser.add_argument("--package", type=Path, action="append", default=[], metavar="FOLDER", help="a folder with another LiteRT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--graphs", type=int, default=60)
    parser.add_argument("--operations", default="", metavar="NAME,NAME", help="the operations that are called; by default all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the differences and their causes, with the programs")
    options = parser.parse_args(arguments)
    ml = webnn.ML(revision=_REVISION, profile=_PROFILE, order={"gpu": [], "npu": []}, fallback="silent", engine="litert")
    generator = Generator(ml, _REVISION, options.seed, [name for name in options.operations.split(",") if name])
    given = [FuzzProgram.parse(path.read_text(encoding="utf-8")) for path in options.programs]
    programs = given or [*generator.calls(options.calls), *generator.graphs(options.graphs)]
    with tempfile.TemporaryDirectory() as folder:
        found = list(_find_differences(ml, programs, find_browser(options.browser), Path(folder)))
    packages = {"": None, **{path.name: path.resolve() for path in options.package}}
    results = {name: _compute(found, package) for name, package in packages.items()}
    rows: list[dict[str, Any]] = []
    for number, each in enumerate(found):
        cause = cause_of(results[""][number], each.ours, each.theirs)
        same = [name for name, computed in results.items() if name and _equal(computed[number], each.theirs)]
        rows.append({"operation": each.finding.operation, "cause": cause, "same": same, "text": each.finding.text})
        print(f"{cause:8} {each.program.name:10} {each.finding.text}; the browser's bits: {', '.join(same) or 'none of these versions'}")
        if options.json:
            rows[-1]["program"] = json.loads(each.program.json())
    for (cause, operation), count in sorted(Counter((row["cause"], row["operation"]) for row in rows).items()):
        print(f"{count:6,} {cause} {operation}")
    print(f"{len(programs):,} programs, {len(found):,} differ in bits")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def cause_of(computed: Values | None, ours: Values, theirs: Values) -> str:
    """Return why numbers differ, from what LiteRT here computes of the browser's model: ``"mapping"``, ``"kernels"`` or ``"both"``."""
    if _equal(computed, theirs):
        return "mapping"
    return "kernels" if _equal(computed, ours) else "both"


def _equal(computed: Values | None, wanted: Values) -> bool:
    """Tell whether the outputs that are wanted have the same bits; all NaN are equal."""
    if computed is None:
        return False
    pairs = [(computed[name].reshape(-1), array.reshape(-1)) for name, array in wanted.items()]
    return all(np.array_equal(one, other, equal_nan=one.dtype.kind == "f") for one, other in pairs)


def _find_differences(ml: webnn.ML, programs: Sequence[FuzzProgram], browser: Path, folder: Path) -> Iterator[Difference]:
    """Run programs on both sides; yield those with a graph whose numbers differ."""
    emulator = Emulator(ml, _REVISION, _DIALECT)
    models = folder / "models"
    models.mkdir()
    wrapper = folder / "browser"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(str(browser))} --webnn-tflite-dump-model={shlex.quote(str(models))} "$@"\n')
    wrapper.chmod(0o700)
    with serve({}) as address, Chromium(wrapper) as chromium:
        chromium.open(address)
        page = Page(chromium)
        for start in range(0, len(programs), _TOGETHER):
            group = programs[start : start + _TOGETHER]
            ours = emulator.run(group)
            for program, mine, built, other in zip(group, ours, emulator.graphs, page.run(group), strict=True):
                if compare_hosts(program, mine, other) is None and compare_bits(program, built, mine, other) is not None:
                    difference = _run_alone(program, emulator, page, models)
                    if difference is not None:
                        yield difference


def _run_alone(program: FuzzProgram, emulator: Emulator, page: Page, models: Path) -> Difference | None:
    """Run a program alone, so that the model that the browser writes is that of its graph."""
    before = set(models.iterdir())
    [ours], [built], [theirs] = emulator.run([program]), emulator.graphs, page.run([program])
    finding = compare_bits(program, built, ours, theirs)
    mine, other = read_outputs(program, built, ours), read_outputs(program, built, theirs)
    if finding is None or finding.kind not in _KINDS or len(other) != 1:
        return None
    limit = time.monotonic() + _PATIENCE
    while not (new := set(models.iterdir()) - before) and time.monotonic() < limit:
        time.sleep(_PAUSE)
    time.sleep(_PAUSE)
    if len(new) != 1:
        print(f"{program.name}: {len(new)} models, where one is expected: {finding.text}", file=sys.stderr)
        return None
    return Difference(program, finding, new.pop().read_bytes(), other[0][1].inputs or {}, mine[0][2], other[0][2])


def _compute(found: Sequence[Difference], package: Path | None) -> list[Values | None]:
    """Compute the browser's models with a LiteRT, in a process of its own; None where it refuses one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, each in enumerate(found):
            (folder / f"{number}.tflite").write_bytes(each.model)
            arrays: dict[str, Any] = dict(each.inputs)
            np.savez(folder / f"{number}.in.npz", **arrays)
        path = [str(package)] if package else []
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
        script = Path(__file__).with_name("run.py")
        subprocess.run([sys.executable, str(script), str(folder)], check=True, env=environment, capture_output=True)
        return [_load(folder / f"{number}.out.npz") for number in range(len(found))]


def _load(path: Path) -> Values | None:
    if not path.exists():
        return None
    with np.load(path) as arrays:
        return dict(arrays)


if __name__ == "__main__":
    sys.exit(main())
