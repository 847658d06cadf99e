"""``webnn wpt new``: writes a conformance test from graphs."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

import webnn
from webnn.commands.failure import failing, failure
from webnn.commands.feeds import build, compute, read_archive, read_inputs, seeded_inputs, split_pairs
from webnn.commands.graphs import collect_graphs, graph_name
from webnn.commands.text import one_line, show_controls
from webnn.display.text import plural
from webnn.reference.wpt_tolerances import distance, elements_of
from webnn.validation.drafts import extra_additions, find_addition, find_revision
from webnn.wpt_runner.recording.files import write_file
from webnn.wpt_runner.terminal import make_console, print_line
from webnn.wpt_runner.vectors.comparison import show_number
from webnn.wpt_runner.writing.cases import ConformanceCase
from webnn.wpt_runner.writing.conformance import Form, find_form, write_conformance_test
from webnn.wpt_runner.writing.proposal import write_proposal_tests

__all__ = ["command"]

Array = np.ndarray[Any, np.dtype[Any]]
_WRONG = 2
_SUFFIX = ".any.js"
_SECURE = f".https{_SUFFIX}"
_UTILS = Path("..") / "resources" / "utils.js"
#: A subtest is named after its operations, up to this many.
_NAMED = 4
_LONGEST = 100
_PROPOSAL = re.compile(r"[\w.]+:\w+")


def command(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE",
            help="Graphs .webnn, .webnn.json, .onnx, or programs .py, .mjs, .js, .html; or a proposal, by its name or as MODULE:NAME.",
            show_default=False,
        ),
    ],
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar=f"FILE{_SECURE}",
            help="The test file; of a proposal the folder webnn of a checkout.",
            show_default=False,
        ),
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input", metavar="NAME=FILE.npy", help="An input of the graphs. Repeatable.", show_default="the program's, or seeded"
        ),
    ] = None,
    archive: Annotated[Path | None, typer.Option("--inputs", metavar="FILE.npz", help="Inputs by their names.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of inputs that nothing gives.")] = 0,
    name: Annotated[str | None, typer.Option(help="The name of the subtest, for one graph.", show_default="from the graph")] = None,
    title: Annotated[str | None, typer.Option(help="The title of the file.", show_default="from the file's name")] = None,
    variant: Annotated[
        list[str] | None, typer.Option(help="A variant, for example cpu (repeatable).", show_default="cpu, gpu and npu")
    ] = None,
    form: Annotated[
        Form | None, typer.Option(help="The form of tests.", show_default=f"that of {_UTILS.as_posix()} beside the file, or 2025-03")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite the file.")] = False,
) -> None:
    """Write tests in the form of web-platform-tests.

    They are a conformance test from graphs, or the tentative tests of a proposal.

    Each graph of a file, or of a program that builds some, becomes a subtest, with its inputs, and with the outputs that float64 gives. A
    program's graph has the inputs of its first computation.

    The tests of a proposal are files *.tentative.https.any.js: what it computes, what it refuses, and what it changes in the IDL.
    """
    variants: dict[str, Any] = {"variants": [f"?{each.removeprefix('?')}" for each in variant]} if variant else {}
    if any(map(_is_proposal, sources)):
        if len(sources) > 1 or any(each is not None for each in (inputs, archive, name, title, form)):
            raise failure("a proposal stands alone, with --output, --variant and --force only", _WRONG)
        _write_proposal(str(sources[0]), output, variants, force=force)
        return
    if not output.name.endswith(_SUFFIX):
        raise failure(f"--output must be a file *{_SECURE}, got {output}", _WRONG)
    if not output.parent.is_dir():
        raise failure(f"there is no folder {output.parent} for the test {output.name}", _WRONG)
    if output.exists() and not force:
        raise failure(f"{output} exists already: --force overwrites", _WRONG)
    stem = output.name.removesuffix(_SUFFIX).removesuffix(".https")
    found = [pair for source in sources for pair in _collect(source)]
    if name is not None and len(found) > 1:
        raise failure(f"--name can only be given for one graph, got {len(found)}", _WRONG)
    with failing((OSError, ValueError), _WRONG):
        descriptors = {key: each for graph, _ in found for key, each in graph.inputs.items()}
        files = split_pairs(inputs or [], list(descriptors), "--input")
        cases: list[ConformanceCase] = []
        for graph, computed in found:
            given = {**seeded_inputs(graph.inputs, seed), **computed}
            if archive is not None:
                given.update(read_archive(archive, graph.inputs))
            given.update(read_inputs({key: file for key, file in files.items() if key in graph.inputs}, graph.inputs))
            cases.append(_make_case(name or graph.name, stem, graph, given, cases))
        text = write_conformance_test(
            cases, title=one_line(title or f"test WebNN API {stem}", _LONGEST), **variants, form=form or _detect_form(output)
        )
    try:
        write_file(output, text)
    except OSError as error:
        raise failure(f"cannot write {output}: {error.strerror or error}", _WRONG) from None
    console = make_console()
    print_line(console, Text(f"wrote {show_controls(str(output))}: {plural(len(cases), 'case')}"))
    for case in cases:
        line = Text(f"  {one_line(case.name, _LONGEST)}  {show_number(case.tolerance.value)} {case.tolerance.metric}")
        print_line(console, line + Text(_run(case), "yellow"))


def _is_proposal(source: Path) -> bool:
    return str(source) in extra_additions() or (_PROPOSAL.fullmatch(str(source)) is not None and not source.exists())


def _write_proposal(name: str, folder: Path, variants: Mapping[str, Any], *, force: bool) -> None:
    """Write the tests of a proposal into a folder."""
    with failing(ValueError, _WRONG):
        proposal = find_addition(name)
        # Imported lazily: an extra, which is there if it has the addition.
        from webnn.proposals.proposal import Proposal  # noqa: PLC0415

        if not isinstance(proposal, Proposal):
            raise ValueError(f"{name} must be a proposal, got an addition without a page")
        module, _, attribute = name.partition(":")
        if attribute:  # as an addition it has another name
            proposal = getattr(sys.modules[module], attribute)
        texts = write_proposal_tests(proposal, find_revision(f"{proposal.since}+{name}"), **variants)
    if not folder.is_dir():
        raise failure(f"there is no folder {folder} for the tests of {name}", _WRONG)
    for path in texts:
        if (folder / path).exists() and not force:
            raise failure(f"{folder / path} exists already: --force overwrites", _WRONG)
    console = make_console()
    for path, text in texts.items():
        try:
            (folder / path).parent.mkdir(exist_ok=True)
            write_file(folder / path, text)
        except OSError as error:
            raise failure(f"cannot write {folder / path}: {error.strerror or error}", _WRONG) from None
        print_line(console, Text(f"wrote {show_controls(str(folder / path))}: {plural(text.count('promise_test('), 'test')}"))


def _collect(source: Path) -> list[tuple[webnn.GraphDescription, dict[str, Array]]]:
    """Return the graphs of a file or of a program, with the inputs of each one's first computation."""
    # The graphs are kept, so that no two have one identity.
    built: list[tuple[webnn.MLGraph, dict[str, Array]]] = []

    def note(graph: webnn.MLGraph, inputs: Mapping[str, Array]) -> None:
        for each, arrays in built:
            if each is graph and not arrays:
                arrays.update({name: array.copy() for name, array in inputs.items()})

    with webnn.emulate(on_compute=note):
        graphs = collect_graphs(source, on_build=lambda _, graph: built.append((graph, {})))
    return list(zip(graphs, [arrays for _, arrays in built] or [{} for _ in graphs], strict=True))


def _make_case(
    name: str, stem: str, graph: webnn.GraphDescription, given: Mapping[str, Array], others: Sequence[ConformanceCase]
) -> ConformanceCase:
    try:
        return ConformanceCase.of(_choose_name(name or _describe(graph, stem), others), graph, given)
    except (webnn.DOMException, webnn.DescriptionError, TypeError) as error:
        raise ValueError(f"the graph {one_line(graph_name(graph), _LONGEST)} cannot be a test: {error}") from None


def _describe(graph: webnn.GraphDescription, stem: str) -> str:
    """Name a graph after its operations, and after the type and the number of axes of its first output: ``"relu float32 2D tensor"``."""
    operations = [operator.operation for operator in graph.operators]
    what = " + ".join(operations) if len(operations) <= _NAMED else f"{stem} of {len(operations)} operators"
    descriptor = graph.infer().descriptors()[next(iter(graph.outputs.values()))]
    return f"{what} {descriptor.dataType} {len(descriptor.shape)}D tensor"


def _choose_name(wanted: str, others: Sequence[ConformanceCase]) -> str:
    taken = {case.name for case in others}
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted} ({number})"
    return name


def _run(case: ConformanceCase) -> str:
    """Compute a case here; return remarks about it, none if it passes."""
    known = case.graph.descriptors()
    worst = 0.0
    try:
        context, graph = build(case.graph)
        results = compute(context, graph, case.inputs)
    except (webnn.DOMException, TypeError) as error:
        return f"  the emulator refuses it: {one_line(str(error), _LONGEST)}"
    for name, value in case.graph.outputs.items():
        actual, expected = (elements_of(array, known[value]).reshape(-1) for array in (results[name], case.expected[name]))
        worst = max(worst, float(distance(actual, expected, case.tolerance.metric).max(initial=0)))
    if worst <= case.tolerance.value:
        return ""
    return f"  the emulator is {show_number(worst)} {case.tolerance.metric} off: numbers cancel more than in web-platform-tests"


def _detect_form(output: Path) -> Form:
    try:
        return find_form((output.parent / _UTILS).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return Form.march_2025
