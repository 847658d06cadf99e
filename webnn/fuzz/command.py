"""``webnn fuzz``: random programs, here and in a browser."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import webnn
from webnn.browser.chromium import BrowserError, Chromium, find_browser, serve
from webnn.commands.choices import Device, EngineOption, ExecutorOption, SimulatorsOption, set_devices, set_engine
from webnn.commands.completion import complete_dialect, complete_profile, complete_revision
from webnn.commands.failure import failure
from webnn.commands.progress import Bar, progress_console, show_progress
from webnn.commands.rows import make_console
from webnn.commands.text import show_controls
from webnn.context.emulation import ambient
from webnn.context.engines import ONNX_RUNTIME
from webnn.context.profiles import ProfileError
from webnn.formats import files
from webnn.fuzz.campaign import Campaign, Class
from webnn.fuzz.elsewhere import Setting, examine_elsewhere
from webnn.fuzz.generate import Generator
from webnn.fuzz.hosts import Emulator, Page
from webnn.fuzz.judges import Rebuilding
from webnn.fuzz.known import SHIPPED, Known, KnownError, load_known
from webnn.fuzz.programs import FuzzProgram
from webnn.fuzz.writing import file_stem, write_test
from webnn.javascript.idl import dialect_revision, load_idl
from webnn.javascript.realm import EngineMissingError, require_engine
from webnn.processes.executors import check_executor, open_workers
from webnn.validation.drafts import NEWEST

__all__ = ["command"]

#: The exit codes.
_FOUND, _WRONG = 1, 2
#: The orders of providers with which every context gets a device, also one that asks for none.
_ORDERS: Mapping[Device, dict[str, list[str]]] = {
    Device.cpu: {"gpu": [], "npu": []},
    Device.gpu: {"cpu": ["gpu"], "npu": ["gpu"]},
    Device.npu: {"cpu": ["npu"], "gpu": []},
}
#: How many programs run between two lines of progress.
_OFTEN = 1000
#: The profile and the dialect of a browser on Linux.
_PROFILE, _DIALECT = "tflite", "chromium-153"


def command(
    programs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PROGRAM", help="Programs that an earlier run wrote (JSON): they run in place of random ones.", show_default=False
        ),
    ] = None,
    *,
    browser: Annotated[
        Path | None, typer.Option(metavar="PROGRAM", help="A Chromium with WebNN, in which the programs run too.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed: the same programs for the same seed.")] = 1,
    calls: Annotated[int, typer.Option(min=0, help="How many programs of one call, or of tensors, builders and contexts.")] = 1000,
    graphs: Annotated[int, typer.Option(min=0, help="How many graphs of several operations.")] = 200,
    near: Annotated[int, typer.Option(min=0, help="How many near-valid calls.")] = 0,
    objects: Annotated[int, typer.Option(min=0, help="How many near-valid programs of scalars, names, contexts, tensors and graphs.")] = 0,
    skip: Annotated[int, typer.Option(min=0, help="How many programs an earlier run has done: the first ones are left out.")] = 0,
    operations: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="The operations that are called.", show_default="all of the draft")
    ] = "",
    revision: Annotated[str, typer.Option(help="The draft; it must have tensors.", autocompletion=complete_revision)] = NEWEST,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="A device profile.",
            autocompletion=complete_profile,
            show_default=f"{_PROFILE} with a browser, else none",
        ),
    ] = None,
    engine: EngineOption = None,
    device: Annotated[Device, typer.Option(help="The device that computes.")] = Device.cpu,
    simulators: SimulatorsOption = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="Additions of browsers to the draft's IDL.",
            autocompletion=complete_dialect,
            show_default=f"{_DIALECT} with a browser, else none",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a test file and a program for each class of findings.", show_default=False)
    ] = None,
    known: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Differences that are known (TOML).", show_default="those of Chromium 153")
    ] = None,
    as_json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the classes to a file, also while the programs run.", show_default=False),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="How many seconds one program may take in the browser.")] = 10.0,
    executor: ExecutorOption = None,
) -> None:
    """Run random programs, and compare their results.

    The other side is a browser, the reference, or another way to build the same graph.

    Each class of differences is shown with the smallest program that has it. The exit status is 0 if all are known, 1 if one is not, and 2
    if the call is wrong.
    """
    if browser and executor is not None:
        raise failure("--browser and --executor cannot be given together: the browser runs on this machine", _WRONG)
    set_devices(simulators, None)
    set_engine(engine)
    engine = ambient().engine or ONNX_RUNTIME
    if engine != ONNX_RUNTIME and not browser:
        raise failure(f"--engine {engine} and --browser must be given together: the browser judges this engine", _WRONG)
    if browser and device is not Device.cpu:
        raise failure("--browser and --device cannot be given together: the browser chooses its device", _WRONG)
    try:
        require_engine()
        check_executor(executor, "--executor")
        profile = profile or (_PROFILE if browser else None)
        dialect = dialect or (_DIALECT if browser and dialect_revision(_DIALECT) == revision else None)
        followed = load_idl(revision, dialect).revision
        ml = webnn.ML(revision=followed, profile=profile, order=_ORDERS[device], fallback="silent", engine=engine)
        generator = Generator(ml, revision, seed, [name for name in operations.split(",") if name])
        path = known or SHIPPED.get(engine)
        entries = load_known(path) if path else []
        emulator = Emulator(ml, revision, dialect)
        given = [FuzzProgram.parse(path.read_text(encoding="utf-8")) for path in programs or ()]
        with ExitStack() as stack:
            page, thread = stack.enter_context(_open(find_browser(browser), timeout)) if browser else (None, None)
            campaign = Campaign(emulator, Rebuilding(ml) if engine == ONNX_RUNTIME else None, page, thread, entries)
            examine = None
            if executor is not None:
                workers = stack.enter_context(open_workers(executor, "--executor"))
                examine = partial(examine_elsewhere, workers, Setting(ml=ml, revision=revision, dialect=dialect))
            count = len(given) or max(calls + graphs + near + objects - skip, 0)
            tell = _progress(campaign, count, stack.enter_context(show_progress("programs", count, "classes of differences")), as_json)
            campaign.run(given, tell, examine)
            if not given:
                left = skip
                kinds = {generator.calls: calls, generator.graphs: graphs, generator.near: near, generator.objects: objects}
                for make, number in kinds.items():
                    campaign.run(make(number, left), tell, examine)
                    left = max(left - number, 0)
            for each in campaign.classes.values():
                if each.known is None:
                    campaign.shrink(each)
    except (BrowserError, EngineMissingError, ImportError, KnownError, ProfileError, OSError, ValueError) as error:
        raise failure(str(error), _WRONG) from None
    classes = sorted(campaign.classes.values(), key=lambda each: (each.known is not None, -each.count, each.finding.key))
    origin = f"webnn fuzz --seed {seed}"
    # An entry without a finding says something only of a whole run.
    is_whole = browser and not given and not operations and not skip and calls >= 20_000 and graphs >= 3_000
    used = {id(each.known) for each in classes}
    _print(campaign, classes, [entry for entry in entries if is_whole and id(entry) not in used])
    if out is not None:
        reference = Emulator(webnn.ML(revision=followed, profile=profile, reference=True), revision, dialect)
        _write(out, [each for each in classes if each.known is None], reference, origin)
    if as_json is not None:
        _save(as_json, campaign, classes)
    if any(each.known is None for each in classes):
        raise typer.Exit(_FOUND)


@contextmanager
def _open(program: Path, timeout: float) -> Iterator[tuple[Page, Executor]]:
    """Start a browser, whose calls all come from one thread."""
    with serve({}) as address, ThreadPoolExecutor(1) as thread:
        browser = Chromium(program)
        thread.submit(browser.__enter__).result()
        try:
            thread.submit(browser.open, address).result()
            yield Page(browser, timeout), thread
        finally:
            thread.submit(browser.__exit__, None, None, None).result()


def _progress(campaign: Campaign, count: int, bar: Bar, file: Path | None) -> Callable[[int], None]:
    """Return a function that shows how far a run is: on a terminal by a bar, elsewhere by lines of the standard error.

    It also writes the classes to the file, so that a run that is stopped leaves what it has found.
    """
    moves = progress_console().is_terminal

    def tell(more: int) -> None:
        new = sum(each.known is None for each in campaign.classes.values())
        bar.advance(new, more)
        if campaign.programs % _OFTEN >= more and campaign.programs != count:
            return
        if file is not None:
            _save(file, campaign, campaign.classes.values())
        if not moves:
            print(f"{campaign.programs:,} of {count:,} programs, {new} classes of differences", file=sys.stderr, flush=True)

    return tell


def _print(campaign: Campaign, classes: Sequence[Class], stale: Sequence[Known]) -> None:
    console = make_console()

    def show(text: str, style: str = "") -> None:
        console.print(show_controls(text), style=style, markup=False, highlight=False, soft_wrap=True)

    for each in classes:
        if each.known is None:
            finding = each.finding
            once = "" if each.again else " (not when the program runs alone)"
            subject = " ".join((finding.judge, finding.kind, finding.operation or "program"))
            show(f"{each.count:6,} {subject}{once}", "yellow")
            show(f"       {finding.text}")
            show(f"       {each.program.name}: {', '.join(step['call'] for step in each.program.steps)}")
    for entry in stale:
        show(f"known, but not found: {entry}")
    new = [each for each in classes if each.known is None]
    told = sum(each.count for each in classes if each.known is not None)
    show(
        f"{campaign.programs:,} programs, {campaign.graphs:,} graphs computed: {len(new)} classes of differences, "
        f"{len(classes) - len(new)} known ones ({told:,} programs)"
    )


def _write(folder: Path, classes: Iterable[Class], reference: Emulator, origin: str) -> None:
    """Write the programs of classes, and tests of what the reference says about them."""
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    for each in classes:
        stem = file_stem(each.finding)
        while stem in taken:
            stem += "_"
        taken.add(stem)
        (folder / f"{stem}.json").write_text(each.program.json(), encoding="utf-8")
        [expected] = reference.run([each.program])
        test = write_test(each.program, each.finding, expected, f"{origin} ({each.program.name})")
        (folder / f"{stem}.https.any.js").write_text(test, encoding="utf-8")


def _save(file: Path, campaign: Campaign, classes: Iterable[Class]) -> None:
    # Whole or not at all: the run may be stopped meanwhile.
    files.write(file, json.dumps(_tell(campaign, classes), indent=1) + "\n")


def _tell(campaign: Campaign, classes: Iterable[Class]) -> dict[str, Any]:
    rows = [
        {
            "judge": each.finding.judge,
            "operation": each.finding.operation,
            "kind": each.finding.kind,
            "text": each.finding.text,
            "count": each.count,
            "known": None if each.known is None else each.known.reason,
            "program": json.loads(each.program.json()),
        }
        for each in classes
    ]
    return {"programs": campaign.programs, "graphs": campaign.graphs, "classes": rows}
