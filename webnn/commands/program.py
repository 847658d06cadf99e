"""``webnn run``: run a program, in JavaScript or in Python."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import webnn
from webnn.builder.regular import describe_kind
from webnn.commands.choices import (
    PAGES,
    AccuracyLevel,
    DialectOption,
    EngineOption,
    Fallback,
    FallbackOption,
    IsolateOption,
    NumericsOption,
    PageRevisionOption,
    PluginOption,
    ProfileOption,
    ReferenceOption,
    SemanticsOption,
    SimulatorsOption,
    set_devices,
    set_engine,
    set_numerics,
    set_semantics,
)
from webnn.commands.failure import failing, failure
from webnn.commands.inspection import write_inspection, write_recordings
from webnn.commands.models import ConstantOption, DimOption, Int32Option, ModelOptions, PrecisionOption, ShapeOption, SignatureOption
from webnn.commands.scripts import print_error, run_script
from webnn.formats import READERS
from webnn.javascript.ends import ENDED_BY_USER, MEMORY, OUT_OF_TIME

__all__ = ["CLASS", "CONTEXT_SETTINGS", "JAVASCRIPT", "PYTHON", "command", "is_graph"]

#: Arguments after the program belong to the program.
CONTEXT_SETTINGS = {"allow_interspersed_args": False}


class CLASS(TyperCommand):
    """Takes options also behind a saved graph, which has no arguments of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a call; see the class."""
        given, _, _ = self.make_parser(ctx).parse_args(list(args))
        ctx.allow_interspersed_args = is_graph(str(given.get("program")))
        return super().parse_args(ctx, args)


def is_graph(path: str) -> bool:
    """Tell whether a file is a saved graph, by its name."""
    return path.lower().endswith(tuple(READERS))


#: The suffixes of programs in JavaScript, pages included, and in Python.
JAVASCRIPT = (".mjs", ".js", *PAGES)
PYTHON = (".py",)
#: The exit code of a wrong call.
_WRONG = 2


def command(
    program: Annotated[
        Path,
        typer.Argument(help="A program .mjs, .js, .html or .py, or a graph .webnn, .webnn.json, .onnx or .tflite.", show_default=False),
    ],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGS", help="The program's arguments.", show_default=False)] = None,
    *,
    root: Annotated[Path | None, typer.Option(help="The folder that the program may read; by default its own.", show_default=False)] = None,
    node: Annotated[
        Path | None, typer.Option(help="The Node to run it with, 22.15 or newer.", envvar="WEBNN_NODE", show_default=False)
    ] = None,
    dialect: DialectOption = None,
    revision: PageRevisionOption = None,
    profile: ProfileOption = None,
    fallback: FallbackOption = None,
    numerics: NumericsOption = None,
    simulators: SimulatorsOption = None,
    isolate: IsolateOption = None,
    engine: EngineOption = None,
    plugins: PluginOption = None,
    semantics: SemanticsOption = None,
    embedder: Annotated[
        str | None, typer.Option(metavar="ORIGIN", help="Run a JavaScript program in a frame of this page.", show_default=False)
    ] = None,
    allow: Annotated[
        str | None, typer.Option(metavar="POLICY", help="The frame's attribute allow, for example webnn.", show_default=False)
    ] = None,
    permissions_policy: Annotated[
        str | None, typer.Option(metavar="HEADER", help="The program's header Permissions-Policy.", show_default=False)
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=FILE.npy", help="An input of a graph. Repeatable.", show_default="seeded random numbers"),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output", metavar="NAME=FILE.npy", help="Write an output of a graph. Repeatable.", show_default="statistics of each"
        ),
    ] = None,
    shapes: ShapeOption = None,
    dims: DimOption = None,
    constants: ConstantOption = None,
    int32: Int32Option = False,
    precision: PrecisionOption = None,
    signature: SignatureOption = None,
    reference: ReferenceOption = False,
    timeout: Annotated[float | None, typer.Option(min=0.001, help="Seconds after which the program ends.", show_default=False)] = None,
    memory_limit: Annotated[
        int, typer.Option(min=1024, help="The most MiB of memory that a JavaScript program and its workers may use together, on Linux.")
    ] = MEMORY >> 20,
    inspect: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Write a page about every graph that the program builds: picture, times, values, accuracy, placement.",
            show_default=False,
        ),
    ] = None,
    accuracy: Annotated[
        AccuracyLevel | None,
        typer.Option(
            help="Compare on the page operators by themselves and the whole graph in float64, operators only, or nothing.",
            show_default="whole",
        ),
    ] = None,
    waste: Annotated[
        str | None,
        typer.Option(
            metavar="-|FILE",
            help="Report what each step of a loop copies and allocates, and the lines that do: on the standard error (-), .json or .html.",
            show_default=False,
        ),
    ] = None,
    timeline: Annotated[
        str | None,
        typer.Option(
            metavar="-|FILE",
            help="Report when the program calls and when its contexts work: on the standard error (-), .html, or .json for trace viewers.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say on the standard error which walls of the system stand around the program.")
    ] = False,
) -> None:
    """Run a program that uses navigator.ml, or a saved graph.

    A JavaScript program, or a page without a document, runs in Node: it sees what a page sees, and can read files below --root only. A
    Python program runs in this process. The exit code is the program's.
    """
    if not program.is_file():
        raise failure(f"{program} is {describe_kind(program)}: a program is a file", _WRONG)
    set_numerics(numerics)
    set_devices(simulators, plugins, isolate)
    set_engine(engine)
    set_semantics(semantics)
    emulation = _emulate(profile, fallback, reference=reference)
    isGraph = is_graph(program.name)
    if isGraph or program.suffix.lower() in PYTHON:
        _refuse_javascript_options(
            "a saved graph has no JavaScript" if isGraph else "a Python program runs in this process, and can do what it can",
            root=root,
            node=node,
            dialect=dialect,
            embedder=embedder,
            allow=allow,
            permissions_policy=permissions_policy,
            verbose=verbose or None,
        )
    if isGraph:
        # Imported lazily: most programs are not graphs.
        from webnn.commands.model import run_graph  # noqa: PLC0415

        if arguments:
            raise failure(f"a graph takes no arguments, got {' '.join(arguments)}", _WRONG)
        for option, target in (("--waste", waste), ("--timeline", timeline)):
            if target is not None:
                raise failure(f"{option} can only be given for a program: a saved graph makes no calls", _WRONG)
        options = ModelOptions.parse(program, shapes, dims, constants, int32, precision, signature=signature)
        with emulation, write_inspection(inspect, program, accuracy):
            run_graph(program, inputs or [], outputs or [], options)
        return
    if inputs or outputs or shapes or dims or constants or int32 or precision or signature:
        raise failure(
            "--input, --output, --shape, --dim, --constant, --int32, --precision and --signature can only be given for a graph", _WRONG
        )
    suffix = program.suffix.lower()
    if suffix in PYTHON:
        if profile:
            from webnn.context.profiles import is_name  # noqa: PLC0415 (most programs have no profile)

            if not is_name(profile):
                # It stays the same in another folder.
                profile = str(Path(profile).absolute())
        # Set as environment variables: `navigator.ml` reads them on first use, and processes that the program starts inherit them.
        variables = {"WEBNN_REVISION": revision, "WEBNN_PROFILE": profile, "WEBNN_FALLBACK": fallback}
        os.environ.update({name: str(value) for name, value in variables.items() if value is not None})
        with _emulate(reference=reference), write_inspection(inspect, program, accuracy), write_recordings(waste, timeline, program):
            code = _run_python(program, arguments or [], timeout)
        raise typer.Exit(code)
    if suffix not in JAVASCRIPT:
        raise failure(f"a program is a file {', '.join(JAVASCRIPT + PYTHON)}, got {program}", _WRONG)
    # Imported lazily: a Python program does not need it.
    from webnn.commands.page import make_document, run_page  # noqa: PLC0415

    code = run_page(
        program,
        arguments or [],
        emulation,
        document=make_document(embedder, allow, permissions_policy),
        root=root,
        node=node,
        dialect=dialect,
        revision=revision,
        timeout=timeout,
        memory=memory_limit << 20,
        inspect=inspect,
        accuracy=accuracy,
        waste=waste,
        timeline=timeline,
        verbose=verbose,
    )
    raise typer.Exit(code)


def _emulate(profile: str | None = None, fallback: Fallback | None = None, *, reference: bool = False) -> AbstractContextManager[object]:
    """Return `webnn.emulate` of what was given. If nothing was, it is not called: it loads NumPy."""
    if profile is None and fallback is None and not reference:
        return nullcontext()
    with failing(ValueError, _WRONG):
        return webnn.emulate(profile=profile, fallback=None if fallback is None else fallback.value, reference=reference or None)


def _refuse_javascript_options(why: str, **options: object) -> None:
    given = [
        f"--{name.replace('_', '-')}"
        for name, value in options.items()
        if value is not None and not (name == "node" and os.environ.get("WEBNN_NODE"))
    ]
    if given:
        raise failure(f"{' and '.join(given)} can only be given for JavaScript: {why}", _WRONG)


def _run_python(program: Path, arguments: list[str], timeout: float | None) -> int:
    """Run a Python program as the interpreter would; a `SystemExit` of the program passes."""
    timer = threading.Timer(timeout or 0, _expire, [timeout])
    timer.daemon = True
    if timeout is not None:
        timer.start()
    try:
        run_script(str(program), arguments)
    except KeyboardInterrupt:
        return ENDED_BY_USER
    except Exception as error:  # whatever the program raises: the interpreter would print it, too
        print_error(error, str(program))
        return 1
    finally:
        timer.cancel()
    return 0


def _expire(timeout: float) -> None:
    # A program that loops in C code can only be ended with the process.
    sys.stdout.flush()
    typer.echo(f"webnn: the program was not done after {timeout:g} s", err=True)
    os._exit(OUT_OF_TIME)
