"""``webnn wpt record``: writes conformance cases from a checkout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from webnn.commands.failure import failure
from webnn.commands.progress import show_progress
from webnn.commands.text import one_line, show_controls
from webnn.display.text import plural
from webnn.javascript.realm import EngineMissingError, require_engine
from webnn.processes.pool import StartError, cores
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.levels import detect_level
from webnn.wpt_runner.recording.choice import choose_tests, stem
from webnn.wpt_runner.recording.files import encode_file, write_file
from webnn.wpt_runner.recording.recorder import Recording, record_tests
from webnn.wpt_runner.settings import Settings
from webnn.wpt_runner.terminal import make_console

__all__ = ["command"]

_INCOMPLETE, _BAD_INPUT, _INTERRUPTED = 1, 2, 130
_MOST_NAMED = 3
_LONGEST = 200


def command(
    folder: Annotated[Path, typer.Argument(metavar="OUT_DIR", help="The folder for the JSON files.", show_default=False)],
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATTERN", help="Parts of the files' paths, or shell patterns; all conformance tests if none.", show_default=False
        ),
    ] = None,
    *,
    wpt: Annotated[
        Path, typer.Option(metavar="CHECKOUT", help="The checkout of web-platform-tests.", envvar="WEBNN_WPT", show_default=False)
    ],
    variant: Annotated[
        str | None, typer.Option(help="The variant to record, for example gpu.", show_default="cpu, where a file has variants")
    ] = None,
    level: Annotated[
        str | None, typer.Option(metavar="NAME", help="The level that the files name as theirs.", show_default="that of the checkout")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="How many processes record tests.", show_default="the cores")
    ] = None,
    timeout_multiplier: Annotated[float, typer.Option(min=0.01, help="Multiplies the time-outs of 10 s and 60 s.")] = 1.0,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite files.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name every subtest that is not recorded.")] = False,
) -> None:
    """Record conformance tests as JSON.

    Each file of web-platform-tests becomes a file that `webnn wpt vectors` replays.

    A subtest becomes a case if it compares what it computes. The case holds the graph, its inputs, and what the test expects, whatever the
    emulator computes. The exit status is 0 if every test ran to its end and there are cases, 1 if not, and 2 if the input is not valid.
    """
    try:
        require_engine()
        checkout = Checkout(wpt)
        detected = detect_level(checkout)
        settings = Settings(revision=detected.revision, dialect=detected.dialect, timeout_multiplier=timeout_multiplier)
        tests = choose_tests(checkout, patterns or (), variant)
        files = {test: folder / f"{stem(test)}.json" for test in tests}
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise failure(f"OUT_DIR must be a folder, got the file {folder}", _BAD_INPUT) from None
    except (EngineMissingError, OSError, ValueError) as error:
        raise failure(str(error), _BAD_INPUT) from None
    existing = [file for file in files.values() if file.exists()]
    if existing and not force:
        more = f", and {len(existing) - 1} more of the files to write" if len(existing) > 1 else ""
        raise failure(f"{existing[0]} exists already{more}: --force overwrites", _BAD_INPUT)
    written: list[Path] = []
    try:
        recordings = _record(checkout, settings, files, level or detected.name, jobs or cores(), written)
    except StartError as error:
        raise failure(str(error), _INCOMPLETE) from None
    except OSError as error:
        raise failure(f"cannot write to {folder}: {error}", _BAD_INPUT) from None
    except KeyboardInterrupt:
        raise failure(f"interrupted, {plural(len(written), 'file')} of {len(files)} written", _INTERRUPTED) from None
    console = make_console()
    _print_table(console, recordings)
    for test, recording in recordings.items():
        _print_remarks(console, test, recording, verbose=verbose)
    if not _print_summary(console, list(recordings.values()), folder):
        raise typer.Exit(_INCOMPLETE)


def _record(
    checkout: Checkout, settings: Settings, files: Mapping[Test, Path], level: str, processes: int, written: list[Path]
) -> dict[Test, Recording]:
    """Record tests, and write the file of each as soon as it has ended; add the files to `written`."""
    revision = checkout.revision()
    cases = 0
    with show_progress("tests", len(files), "cases") as bar:

        def write(test: Test, recording: Recording) -> None:
            nonlocal cases
            if recording.complete and recording.cases:
                source = f"web-platform-tests {test.file.path}{test.variant}" + (f" at {revision}" if revision else "")
                write_file(files[test], encode_file(source, level, recording.cases))
                written.append(files[test])
                cases += len(recording.cases)
            bar.advance(cases)

        return record_tests(checkout, list(files), settings, processes=processes, on_recording=write)


def _print_table(console: Console, recordings: Mapping[Test, Recording]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("file", no_wrap=True)
    for name in ("recorded", "skipped", "seconds"):
        table.add_column(name, justify="right", min_width=len(name), no_wrap=True)
    for test, recording in recordings.items():
        count = f"{len(recording.cases)}" if recording.complete else recording.result.status.value
        style = "red" if recording.failed else "" if recording.cases else "yellow"
        numbers = (Text(count, style), f"{len(recording.skipped) or ''}", f"{recording.result.seconds:.1f}")
        table.add_row(Text(show_controls(stem(test)), style), *numbers)
    console.print(table)


def _print_remarks(console: Console, test: Test, recording: Recording, *, verbose: bool) -> None:
    """Print remarks on a test: why it has no file, the skipped subtests, and those that the emulator computes differently."""
    result = recording.result
    lines: list[Text] = []
    if not recording.complete:
        lines.append(Text.assemble((f"{result.status}", "red" if recording.failed else "yellow"), f": {_line(result.message)}"))
    by_reason: dict[str, list[str]] = {}
    for skipped in recording.skipped:
        by_reason.setdefault(_line(skipped.reason), []).append(_line(skipped.name))
    for reason, names in by_reason.items():
        lines += [Text.assemble((f"{len(names)} skipped", "yellow"), f": {reason}"), *_names(names, verbose=verbose)]
    if recording.differing:
        lines.append(Text.assemble((f"{len(recording.differing)} recorded", "yellow"), " that the emulator computes otherwise:"))
        lines += _names([_line(name) for name in recording.differing], verbose=verbose)
    if lines:
        console.print()
        console.print(Text(show_controls(test.name), "bold"), soft_wrap=True)
        for line in lines:
            console.print(Text("  ") + line, soft_wrap=True)


def _names(names: Sequence[str], *, verbose: bool) -> list[Text]:
    shown = names if verbose or len(names) <= _MOST_NAMED + 1 else names[:_MOST_NAMED]
    rest = [Text(f"  and {len(names) - len(shown)} more (--verbose names them)", "dim")] if len(shown) < len(names) else []
    return [Text(f"  {name}", "dim") for name in shown] + rest


def _print_summary(console: Console, recordings: Sequence[Recording], folder: Path) -> bool:
    """Print the totals; return whether everything succeeded."""
    written = [recording for recording in recordings if recording.complete and recording.cases]
    cases = sum(len(recording.cases) for recording in written)
    skipped = sum(len(recording.skipped) for recording in recordings)
    failed = sum(recording.failed for recording in recordings)
    parts = [f"{plural(cases, 'case')} in {plural(len(written), 'file')} in {folder}" if cases else "nothing recorded"]
    if skipped:
        parts.append(f"{plural(skipped, 'subtest')} skipped")
    if failed:
        parts.append(f"{plural(failed, 'test')} did not run to the end, and {'is' if failed == 1 else 'are'} not written")
    well = bool(cases) and not failed
    console.print()
    console.print(Text(", ".join(parts), "bold green" if well else "bold red"), soft_wrap=True)
    return well


def _line(text: str) -> str:
    return one_line(text, _LONGEST)
