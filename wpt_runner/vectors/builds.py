"""The graphs of recorded cases, each to be built by itself: what `webnn check` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import webnn
from webnn.javascript.idl import load_idl
from webnn.wpt_runner.levels import level_of
from webnn.wpt_runner.vectors import replay
from webnn.wpt_runner.vectors.cases import Case, load_cases
from webnn.wpt_runner.vectors.format import CaseError
from webnn.wpt_runner.vectors.graphs import read_graph

__all__ = ["CaseError", "load_builds"]


def load_builds(path: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the cases of a file: the name of each, and a function that builds its graph in a context of its own.

    The function raises `CaseError` if the case does not follow the format, and otherwise what the emulator raises.

    Args:
        path: The file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It does not hold cases.
    """
    for case in load_cases([path]):
        yield case.name, partial(_build, case)


def _build(case: Case) -> None:
    level = level_of(case.level)
    context = webnn.ML(revision=load_idl(level.revision, level.dialect).revision).createContextSync()
    replay.build(read_graph(case, level), context)
