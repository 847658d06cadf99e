"""The kept inputs: one folder for each harness, in the form of OSS-Fuzz's seeds. Files with a name are past crashers, and their like."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coverage import Coverage

__all__ = ["CORPUS", "DICTIONARIES", "HARNESSES", "inputs", "load", "measure"]

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
DICTIONARIES = HERE / "dictionaries"
#: The harnesses, without their prefix.
HARNESSES = tuple(sorted(each.stem.removeprefix("fuzz_") for each in HERE.glob("fuzz_*.py")))


def load(name: str) -> Any:
    """Import a harness: a module with `TestOneInput` and `PARSER`, the files whose lines count, below the folder of the package."""
    return importlib.import_module(f"tools.evidence.fuzzing.fuzz_{name}")


def inputs(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the files of some folders, in the order of their names."""
    for folder in folders:
        if folder.is_dir():
            yield from sorted(each for each in folder.iterdir() if each.is_file())


def measure(name: str, files: Iterable[Path]) -> Mapping[str, tuple[int, Sequence[int]]]:
    """Run a harness on inputs; return the number of lines of each file of its parser, and those that did not run.

    The lines of an import count only if nothing has imported the harness before.
    """
    coverage = Coverage(data_file=None, branch=False, config_file=False, source_pkgs=["webnn"])
    # Lines for other systems.
    coverage.exclude(r'if sys\.platform (== "win32"|!= "linux")')
    coverage.start()
    try:
        harness = load(name)
        test: Callable[[bytes], None] = harness.TestOneInput
        for file in files:
            test(file.read_bytes())
    finally:
        coverage.stop()
    found = {}
    for each in harness.PARSER:
        module = importlib.import_module(f"webnn.{each.removesuffix('.py').replace('/', '.')}")
        _, statements, _, missing, _ = coverage.analysis2(module)
        found[each] = len(statements), missing
    return found
