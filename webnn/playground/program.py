"""The process that runs a program of the page, or checks it, and leaves a file about what became of it."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from webnn.commands.scripts import print_error, run_script
from webnn.context.emulation import Emulation
from webnn.context.processes import end_with_parent
from webnn.context.profiles import PROFILES
from webnn.display.pages import read
from webnn.display.table import as_data
from webnn.javascript.ends import OUT_OF_TIME
from webnn.playground.order import Order
from webnn.playground.record import MARK, Record, find_place, locate
from webnn.validation.caller import PLACE

if TYPE_CHECKING:
    from webnn.check.report import Report

__all__ = ["OUTCOME", "check", "main", "prepare", "run", "tabulate_report"]

#: The files of a run, in its folder: the order, what became of it, and the folder of the program, which holds nothing else.
_ORDER, OUTCOME, _PROGRAM = "order.json", "outcome.json", "program"
#: The end of the output that an error is looked for in, in bytes.
_LONGEST_REPORT = 1 << 16
#: The most rows of a table, and the longest text in one.
_MOST_ROWS, _LONGEST = 100, 600
#: Shows the numbers of a program: the marked lines do not reach its output.
_READS = "(%s)((text) => globalThis.console.log(%s + text));"


def prepare(folder: Path, order: Order) -> None:
    """Write the files of a run."""
    (folder / _ORDER).write_text(json.dumps(asdict(order)), encoding="utf-8")
    (folder / _PROGRAM).mkdir()
    (folder / _PROGRAM / order.file).write_text(order.source, encoding="utf-8", newline="\n")


def main(what: str, folder: str, timeout: float) -> None:
    """Run the program of a folder that `prepare` has filled, or check it: the main function of the process."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    end_with_parent()
    place = Path(folder)
    order = Order(**json.loads((place / _ORDER).read_text(encoding="utf-8")))

    def save(outcome: dict[str, Any]) -> None:
        # A process that is ended leaves the last whole file.
        (place / "next.json").write_text(json.dumps(outcome), encoding="utf-8")
        (place / "next.json").replace(place / OUTCOME)

    save(run(order, place / _PROGRAM, timeout, save) if what == "run" else check(order, place / _PROGRAM, timeout))


def check(order: Order, folder: Path, timeout: float) -> dict[str, Any]:
    """Run a program, whose file is in a folder, on every profile, as `webnn check` does, and return the table."""
    # A run does without.
    from webnn.check.events import Job  # noqa: PLC0415
    from webnn.check.supervise import Named  # noqa: PLC0415
    from webnn.check.supervise import check as check_profiles  # noqa: PLC0415

    language: Any = order.language
    job = Job(program=str(folder / order.file), kind=language, revision=order.revision or None)
    profiles = [Named(profile, profile, False) for profile in PROFILES]
    report = check_profiles(job, profiles, lambda run, output: None, every=False, timeout=timeout)
    return tabulate_report(report.model_copy(update={"program": order.file}))


def tabulate_report(report: Report) -> dict[str, Any]:
    """Return the table of a check, as what became of a program."""
    from webnn.check.page import tabulate_profiles  # noqa: PLC0415 (as above)
    from webnn.check.show import summary  # noqa: PLC0415

    table = as_data(tabulate_profiles(report), _MOST_ROWS, _LONGEST)
    return {"tables": [{**table, "title": "Every profile", "facts": [summary(report)]}], "error": None, "ended": True}


def run(order: Order, folder: Path, timeout: float, save: Callable[[dict[str, Any]], None] = lambda outcome: None) -> dict[str, Any]:
    """Run a program, whose file is in a folder, and return what became of it.

    Args:
        order: The program.
        folder: The folder of its file.
        timeout: After how many seconds it ends; 0 for never, in Python. This process ends with a program in Python.
        save: Gets what is known meanwhile.
    """
    record = Record(save)
    # A program that loops can only be ended with the process.
    timer = threading.Timer(timeout, _expire, [record, timeout, save])
    timer.daemon = True
    if order.language == "python" and timeout:
        timer.start()
    try:
        with Emulation(order.settings(on_build=record.note_graph, lines=True)):
            error = _RUN[order.language](order, folder, timeout, record)
    finally:
        timer.cancel()
    return {**record.describe(), "error": error, "ended": True}


def _expire(record: Record, timeout: float, save: Callable[[dict[str, Any]], None]) -> None:
    sys.stdout.flush()
    error = {"message": f"the program was not done after {timeout:g} s", "line": None, "column": None}
    save({**record.describe(), "error": error, "ended": True})
    os._exit(OUT_OF_TIME)


def _run_python(order: Order, folder: Path, _: float, record: Record) -> dict[str, Any] | None:
    """Run a program in Python with the rights of this process."""
    # Without a server, the next program has the same process.
    os.environ.pop("WEBNN_REVISION", None)
    if order.revision:
        os.environ["WEBNN_REVISION"] = order.revision
    # Its messages name the file without the folder.
    os.chdir(folder)
    path = order.file
    try:
        run_script(path, [])
    except SystemExit as ended:
        return None if ended.code in (None, 0) else {"message": f"the program ended with {ended.code!r}", "line": None, "column": None}
    except BaseException as error:  # whatever the program raises: the interpreter would print it, too
        place = locate(error, path)
        print_error(error, path)
        return place
    return None


class _Console(io.RawIOBase):
    """Passes the output of a program on, and takes the marked lines out of it."""

    def __init__(self, output: BinaryIO, record: Record) -> None:
        super().__init__()
        self._output = output
        self._record = record
        self.end = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, content: Any, /) -> int:
        if bytes(content[: len(MARK)]) == MARK:
            self._record.note_read(bytes(content[len(MARK) :]))
        else:
            self._output.write(content)
            self._output.flush()
            self.end += content
            del self.end[:-_LONGEST_REPORT]
        return len(content)


def _run_javascript(order: Order, folder: Path, timeout: float, record: Record) -> dict[str, Any] | None:
    """Run a program in JavaScript in Node, behind the walls of `webnn.javascript.node`."""
    # Only a program in JavaScript needs these.
    from webnn.javascript.files import ORIGIN, Files  # noqa: PLC0415
    from webnn.javascript.node import NodeMissingError, NodeProgram, find_node, run_program  # noqa: PLC0415
    from webnn.javascript.page_scripts import Script  # noqa: PLC0415
    from webnn.validation.drafts import NEWEST  # noqa: PLC0415

    console, errors = _Console(sys.stdout.buffer, record), _Console(sys.stderr.buffer, record)
    url = f"{ORIGIN}/{order.file}"
    reads = _READS % (read("webnn.playground/reads.js"), json.dumps(MARK.decode()))
    program = NodeProgram(
        scripts=[
            Script(url=f"{ORIGIN}/reads.js", kind="classic", source=reads),
            Script(url=url, kind="module", source=order.source),
        ],
        location=url,
        arguments=["node", order.file],
        files=Files(folder, folder),
        timeout=timeout,
        revision=order.revision or NEWEST,
        on_line=PLACE.set,
    )
    try:
        named = os.environ.get("WEBNN_NODE")
        code = run_program(
            find_node(Path(named) if named else None), program, stdout=cast("BinaryIO", console), stderr=cast("BinaryIO", errors)
        )
    except (NodeMissingError, ValueError) as error:
        return {"message": str(error), "line": None, "column": None}
    if not code:
        return None
    report = errors.end.decode(errors="replace")
    return find_place(report, order.file) or {
        "message": (report.strip().splitlines() or [f"the program ended with exit code {code}"])[-1],
        "line": None,
        "column": None,
    }


_RUN: dict[str, Callable[[Order, Path, float, Record], dict[str, Any] | None]] = {"javascript": _run_javascript, "python": _run_python}
