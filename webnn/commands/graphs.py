"""The graphs of a file, or of a program that builds some."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import typer

import webnn
from webnn.builder.regular import describe_kind
from webnn.commands import program as run
from webnn.commands.failure import failure
from webnn.commands.models import ModelOptions, read_graph
from webnn.context.emulation import Emulation, Settings
from webnn.formats import READERS

__all__ = ["NO_OPTIONS", "PROGRAMS", "choose_graph", "collect_graphs", "graph_name", "load_graph"]

#: The suffixes of programs.
PROGRAMS = (*run.PYTHON, *run.JAVASCRIPT)
#: The environment variable of the draft that `navigator.ml` follows.
_REVISION = "WEBNN_REVISION"
_WRONG = 2
#: A model that leaves nothing open.
NO_OPTIONS = ModelOptions()


def load_graph(
    path: Path, arguments: Sequence[str] = (), *, graph: str | None = None, revision: str | None = None, options: ModelOptions = NO_OPTIONS
) -> webnn.GraphDescription:
    """Return one graph of a file or of a program, with all descriptors.

    ``graph`` is its number, from 1, or its name: the names of its outputs, with commas. It is needed if there are several. Raises
    `typer.Exit` if there is no such graph, or the file is wrong; the message is printed.
    """
    return choose_graph(collect_graphs(path, arguments, revision=revision, options=options), path, graph)


def choose_graph(found: Sequence[webnn.GraphDescription], path: Path, graph: str | None) -> webnn.GraphDescription:
    """Return one of the graphs of a file or program: the only one, or that of ``--graph``; see `load_graph`.

    Raises `typer.Exit` if there is no such graph; the message is printed.
    """
    names = [graph_name(each) for each in found]
    if graph is None:
        if len(found) > 1:
            listed = "; ".join(f"{number} {name}" for number, name in enumerate(names, start=1))
            raise failure(f"{path} builds {len(found)} graphs: choose one with --graph: {listed}", _WRONG)
        return found[0]
    if graph.isdigit() and 0 < int(graph) <= len(found):
        return found[int(graph) - 1]
    if graph in names:
        return found[names.index(graph)]
    raise failure(f"--graph must be a number from 1 to {len(found)}, or the outputs of a graph, got {graph!r}", _WRONG)


def graph_name(description: webnn.GraphDescription) -> str:
    """Return the name by which a command knows a graph: those of its outputs."""
    return ", ".join(description.outputs)


def collect_graphs(
    path: Path,
    arguments: Sequence[str] = (),
    *,
    revision: str | None = None,
    options: ModelOptions = NO_OPTIONS,
    on_build: Callable[[webnn.GraphDescription, webnn.MLGraph], None] = lambda description, graph: None,
    lines: bool = False,
) -> list[webnn.GraphDescription]:
    """Return the graph of a file, or those that a program builds; what the program prints goes to standard error.

    ``on_build`` is called with every graph that the program builds, as by `webnn.emulate`. With ``lines`` the graphs' sources have the
    program's line of each operator. Raises `typer.Exit` if the file is wrong, the
    program fails, or it builds no graph; the message is printed.
    """
    if not path.is_file():
        raise failure(f"{path} is {describe_kind(path)}: a graph or a program is a file", _WRONG)
    name = path.name.lower()
    if run.is_graph(name):
        if arguments:
            raise failure(f"a graph takes no arguments, got {' '.join(arguments)}", _WRONG)
        return [read_graph(path, options)]
    if not name.endswith(PROGRAMS):
        raise failure(f"must be a file {', '.join((*READERS, *PROGRAMS))}, got {path}", _WRONG)
    found: list[webnn.GraphDescription] = []
    before = threading.enumerate()

    def note(description: webnn.GraphDescription, graph: webnn.MLGraph) -> None:
        found.append(description)
        on_build(description, graph)

    with webnn.emulate(on_build=note), Emulation(Settings(lines=lines or None)), _output_to_errors():
        code = _run(path, arguments, revision)
        # Threads of the program may still build.
        for thread in threading.enumerate():
            if thread not in before and not thread.daemon:
                thread.join()
    if code:
        raise failure(f"{path} ended with exit code {code}", _WRONG)
    if not found:
        raise failure(f"{path} built no graph", _WRONG)
    return found


@contextlib.contextmanager
def _output_to_errors() -> Iterator[None]:
    """Send what this process and its children print to standard error, because standard output is the command's."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _run(path: Path, arguments: Sequence[str], revision: str | None) -> int:
    """Run a program as ``webnn run`` does; return its exit code."""
    try:
        run.command(path, list(arguments), root=None, node=None, dialect=None, revision=revision or os.environ.get(_REVISION), timeout=None)
    except typer.Exit as ended:
        return ended.exit_code
    except SystemExit as ended:
        if ended.code is not None and not isinstance(ended.code, int):
            print(ended.code, file=sys.stderr)
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
