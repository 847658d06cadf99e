"""Fills a folder with modules: the examples, and the recorded conformance cases with the values of their inputs."""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import runpy
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import webnn
from tools.evidence.browser.modules import save_module
from webnn.builder.describe import Names
from webnn.demo import network
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.vectors.cases import load_cases
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.graphs import read_graph

__all__ = ["export_examples", "export_recorded", "main"]

_EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
#: Examples whose graphs the newest draft has, with their arguments; ``{models}`` is the folder of the models.
EXAMPLES: dict[str, Sequence[str]] = {
    "squeezenet": ("--models", "{models}"),
    "transformer_block": (),
    "int8_graph": (),
    "add_and_multiply": (),
    "several_outputs": (),
    "buffers": (),
    "emulation": (),
}


def export_examples(folder: Path, models: Path) -> int:
    """Write the graphs of the examples and of `webnn demo`; return how many there are."""
    count = 0
    for example, arguments in EXAMPLES.items():
        found: list[webnn.GraphDescription] = []
        given = [each.format(models=models) for each in arguments]
        with (
            webnn.emulate(on_build=lambda description, _, found=found: found.append(description)),  # type: ignore[misc]
            patch.object(sys, "argv", [example, *given]),
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            runpy.run_path(str(_EXAMPLES / f"{example}.py"), run_name="__main__")
        for number, description in enumerate(found):
            _save(description, folder, f"example_{example}{f'_{number}' if number else ''}")
            count += 1
    with webnn.emulate(on_build=lambda description, _: _save(description, folder, "example_demo")):
        network.build(webnn.ML().createContextSync(), network.load_digits())
    return count + 1


def _save(description: webnn.GraphDescription, folder: Path, name: str) -> None:
    description.save(folder / f"{name}.mjs")


def export_recorded(folder: Path) -> int:
    """Write the newest recorded cases, with the values of their inputs; return how many there are."""
    level = LEVELS[-1]
    context, names, count = level.make_ml().createContextSync(), Names(), 0
    (archive,) = [path for path in bundled_archives() if path.stem == level.name]
    for case in load_cases([archive]):
        builder = webnn.MLGraphBuilder(context)
        try:
            recorded = read_graph(case)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                description = webnn.describe(recorded.graph.build(builder))
        except webnn.WebNNTypeError:
            # The draft refuses it; the expectations say why.
            continue
        name = names.find(re.sub(r"\W+", "_", f"{case.file} {case.name}", flags=re.ASCII)[:120].strip("_"))
        save_module(description, folder, name, recorded.inputs)
        count += 1
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.browser.export", description="Export examples and recorded cases as modules."
    )
    parser.add_argument("folder", type=Path, help="where the modules go")
    parser.add_argument("--models", type=Path, default=Path("models"), metavar="DIR", help="the folder with squeezenet1.0_nhwc")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{export_examples(options.folder, options.models)} graphs of examples, {export_recorded(options.folder)} recorded cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
