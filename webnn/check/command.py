"""``webnn check``: build a program's graphs on every device profile."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from webnn.builder.regular import describe_kind
from webnn.check.ci import annotate, write_junit
from webnn.check.events import Job, Kind
from webnn.check.page import write_page
from webnn.check.report import Report, Run, Verdict
from webnn.check.show import print_report
from webnn.check.supervise import Named, check
from webnn.commands.choices import Device, ExecutorOption, RevisionOption
from webnn.commands.completion import complete_profile
from webnn.commands.failure import failing, failure
from webnn.commands.models import (
    MODELS,
    ConstantOption,
    DimOption,
    Int32Option,
    ModelOptions,
    PrecisionOption,
    ShapeOption,
    SignatureOption,
    read_graph,
)
from webnn.commands.progress import show_progress
from webnn.commands.registry import CASES
from webnn.commands.text import replace_surrogates, show_controls
from webnn.context.profiles import PROFILES, ProfileError, is_name, load_profile
from webnn.formats import READERS
from webnn.processes.executors import check_executor
from webnn.validation.drafts import find_revision

__all__ = ["command"]

_KINDS: dict[str, Kind] = {
    ".py": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".html": "javascript",
    ".htm": "javascript",
    **dict.fromkeys(READERS, "graph"),
    **dict.fromkeys(MODELS, "model"),
    ".json": "cases",
}
_WITHOUT_ARGUMENTS = {"graph": "a graph", "model": "a model", "cases": "a file of cases"}
_ALL = "all"
#: The exit codes.
_REFUSED, _WRONG, _INTERRUPTED = 1, 2, 130


def command(
    program: Annotated[
        Path,
        typer.Argument(
            help="A program .py, .js, .mjs or .html, a graph, a model .onnx, .tflite or .mlir, or .json of recorded cases.",
            show_default=False,
        ),
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGS", help="The program's arguments; its options follow --.", show_default=False)
    ] = None,
    *,
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="NAME|FILE",
            help="A device profile to check. Repeatable.",
            autocompletion=complete_profile,
            show_default="every shipped one",
        ),
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE|all",
            help="Fail if the program does not build on this profile. Repeatable.",
            autocompletion=complete_profile,
            show_default="those that --profile names",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Find every refusal, not only the first one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Write the report in the format of JUnit, too.", show_default=False)] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page, too.", show_default=False)] = None,
    annotations: Annotated[
        bool, typer.Option("--annotations", help="Print annotations of GitHub Actions for profiles that fail, in place of the report.")
    ] = False,
    revision: RevisionOption = None,
    shapes: ShapeOption = None,
    dims: DimOption = None,
    constants: ConstantOption = None,
    int32: Int32Option = False,
    precision: PrecisionOption = None,
    signature: SignatureOption = None,
    device: Annotated[
        Device | None, typer.Option(help="Simulate the placement for this deviceType.", show_default="what the program asks for")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.001, help="How many seconds a run may take.")] = 300.0,
    executor: ExecutorOption = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print the end of each run's output on the standard error.")] = False,
) -> None:
    """Build a program's graphs on every device profile.

    The report says what is refused and why, what falls back, and what to change.

    The program runs without a profile, and again on those where it may go another way, as in a browser with that backend. The exit status
    is 0 if it builds on every required profile, 1 if it does not, and 2 if the call is wrong, the program fails even without a profile, or
    ONNX Runtime refuses the model.
    """
    kind = _kind(program)
    for text in (str(program), *(arguments or ()), *(profiles or ()), *(require or ())):
        # Surrogates represent bytes that are not text.
        if text != replace_surrogates(text):
            raise failure(f"names and arguments must be text, got {text!r}", _WRONG)
    if kind in _WITHOUT_ARGUMENTS and arguments:
        raise failure(f"{_WITHOUT_ARGUMENTS[kind]} takes no arguments, got {' '.join(arguments)}", _WRONG)
    if as_json and annotations:
        raise failure("--json and --annotations cannot be given together: both print on the standard output", _WRONG)
    chosen = _choose(profiles or [], require or [])
    with failing(ValueError, _WRONG):
        check_executor(executor, "--executor")
        if revision is not None:
            find_revision(revision)
    job = Job(
        program=str(program),
        kind=kind,
        arguments=tuple(arguments or ()),
        revision=revision,
        device=None if device is None else device.value,
        options=ModelOptions.parse(program, shapes, dims, constants, int32, precision, signature=signature),
    )
    if kind == "graph":
        # Report a broken file before any profile runs.
        read_graph(program, job.options)
    started = time.time()

    def tell(run: Run, output: str) -> None:
        bar.tell(f"checked {run.profile or 'without a profile'}")
        bar.advance()
        if verbose or (run.profile is None and not run.passed and kind != "model"):
            _print_output(run, output)

    try:
        with show_progress("checking", len(chosen) + 1) as bar:
            # Of a model, the first limit that each node breaks is reported.
            everything = every or kind == "model"
            # The output of a program on a profile is known only from a run there.
            replay = not verbose or kind in _WITHOUT_ARGUMENTS
            report = check(job, chosen, tell, every=everything, timeout=timeout, executor=executor, replay=replay)
    except KeyboardInterrupt:
        raise failure("interrupted", _INTERRUPTED) from None
    except (ImportError, OSError) as error:
        raise failure(f"the program cannot be run: {error}", _WRONG) from None
    if as_json:
        # ASCII, whatever the output can take.
        typer.echo(json.dumps(report.model_dump(mode="json"), indent=1))
    with failing(OSError, _WRONG, "the report cannot be written: {}"):
        if junit is not None:
            write_junit(report, junit, started)
        if html is not None:
            write_page(report, html)
    if annotations:
        for line in annotate(report):
            typer.echo(line)
    if not as_json and not annotations and (report.baseline.passed or report.model is not None):
        print_report(Console(highlight=False), report, every=every)
    if report.model is not None and report.model.refusal:
        raise failure(f"ONNX Runtime refuses {report.program}: {report.model.refusal}", _WRONG)
    if not report.baseline.passed:
        raise failure(_describe_failure(report), _WRONG)
    if report.totals.failed_required:
        raise typer.Exit(_REFUSED)


def _kind(program: Path) -> Kind:
    if not program.is_file():
        raise failure(f"{program} is {describe_kind(program)}: a program is a file", _WRONG)
    fitting = [suffix for suffix in _KINDS if program.name.lower().endswith(suffix)]
    kind = _KINDS[max(fitting, key=len)] if fitting else None
    if kind is None:
        raise failure(f"a program is a file {', '.join(_KINDS)}, got {program}", _WRONG)
    if kind == "cases":
        with failing((OSError, ValueError), _WRONG):
            if not list(import_module(CASES).load_builds(program)):
                raise failure(f"there are no cases in {program}", _WRONG)
    return kind


def _choose(named: Sequence[str], required: Sequence[str]) -> list[Named]:
    """Find the profiles to check, each once: those that are named or required, or else every shipped one.

    Without ``--require``, those that ``--profile`` names are required. If neither option is given, no profile is required.
    """
    needed = [source for source in required if source != _ALL]
    every = _ALL in required or (bool(named) and not required)
    chosen: dict[str, Named] = {}
    must = {_identity(source)[1] for source in needed}
    for source in (*(named or PROFILES), *needed):
        name, identity = _identity(source)
        chosen.setdefault(identity, Named(name, identity, every or identity in must))
    names = [each.name for each in chosen.values()]
    # Files with the same name in several folders are shown by their paths.
    return [each if names.count(each.name) == 1 else each._replace(name=each.source) for each in chosen.values()]


def _identity(source: str) -> tuple[str, str]:
    """Return the name of a profile, and the name or path to load it by, which is unique for each profile."""
    with failing(ProfileError, _WRONG):
        profile = load_profile(source)
    if is_name(source):
        return profile.name, profile.name
    return profile.name, str(Path(source).resolve())


def _print_output(run: Run, output: str) -> None:
    title = "without a profile" if run.profile is None else f"on {run.profile}"
    if not output.strip():
        typer.echo(f"--- the program printed nothing {title}", err=True)
        return
    typer.echo(f"--- what the program printed {title}:", err=True)
    typer.echo(show_controls(output).rstrip("\n"), err=True)
    typer.echo("---", err=True)


def _describe_failure(report: Report) -> str:
    run = report.baseline
    if run.verdict is Verdict.NO_GRAPH:
        return f"{report.program} built no graph: there is nothing to check (what processes of its own build is not seen)"
    return f"{report.program} fails without a profile: {run.error}"
