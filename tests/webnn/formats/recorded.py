"""The graphs of the recorded conformance cases, as descriptions with names for people."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator

import webnn
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.vectors.cases import load_cases
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.graphs import read_graph

__all__ = ["recorded"]


@functools.cache
def _level(name: str) -> webnn.MLContext:
    return next(level for level in LEVELS if level.name == name).make_ml().createContextSync()


def recorded(level: str, step: int = 1) -> Iterator[tuple[str, webnn.GraphDescription]]:
    """Yield name and description of each graph of a level that its draft accepts, or of every n-th one."""
    (archive,) = [path for path in bundled_archives() if path.stem == level]
    for case in list(load_cases([archive]))[::step]:
        builder = webnn.MLGraphBuilder(_level(level))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                described = webnn.describe(read_graph(case).graph.build(builder))
            except webnn.WebNNTypeError:
                # The recorded corrections say why.
                continue
        yield f"{case.file}: {case.name}", described
