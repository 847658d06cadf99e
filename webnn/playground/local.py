"""Programs in Python in this very process: for the page without a server, where Python itself runs in the browser.

Nothing here starts a thread or a process, or needs ONNX Runtime: `webnn.reference` computes.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from webnn.context.emulation import Emulation, Settings
from webnn.context.profiles import PROFILES
from webnn.playground.order import Order, read_order
from webnn.playground.program import run, tabulate_report

__all__ = ["answer"]

#: The end of a program's output that is shown, in characters.
_LONGEST = 1 << 16


def answer(what: str, text: str) -> str:
    """Run a program in Python, or check it on every profile; return what became of it.

    Args:
        what: ``"run"`` or ``"check"``.
        text: The members of an `Order`, as JSON.

    Returns:
        JSON, as the server answers; ``{"error": {"message": ...}}`` if the order is wrong.
    """
    try:
        order = read_order(json.loads(text))
        if order.language != "python":
            raise ValueError("only programs in Python run in this page")
    except (TypeError, ValueError) as error:
        return json.dumps({"error": {"message": str(error), "line": None, "column": None}, "output": "", "seconds": 0})
    began, output = time.perf_counter(), io.StringIO()
    with TemporaryDirectory() as name, redirect_stdout(output), redirect_stderr(output), chdir(name):
        folder = Path(name)
        (folder / order.file).write_text(order.source, encoding="utf-8", newline="\n")
        with Emulation(Settings(reference=True)):
            outcome = _DO[what](order, folder)
    return json.dumps({**outcome, "output": output.getvalue()[-_LONGEST:], "seconds": round(time.perf_counter() - began, 3)})


def _run(order: Order, folder: Path) -> dict[str, Any]:
    return run(order, folder, 0)


def _check(order: Order, folder: Path) -> dict[str, Any]:
    """Run a program once for each profile, one after the other."""
    # A run does without.
    import webnn  # noqa: PLC0415
    from webnn.check.conclude import conclude  # noqa: PLC0415
    from webnn.check.events import Job, read_notes  # noqa: PLC0415
    from webnn.check.report import Report, Totals  # noqa: PLC0415
    from webnn.check.worker import run as run_job  # noqa: PLC0415
    from webnn.processes.child import Exit  # noqa: PLC0415

    runs = []
    for profile in (None, *PROFILES):
        notes = folder / "notes.jsonl"
        notes.unlink(missing_ok=True)
        job = Job(program=order.file, kind="python", profile=profile, revision=order.revision or None, notes=str(notes))
        began = time.perf_counter()
        code = run_job(job)
        runs.append(conclude(profile, read_notes(notes), Exit(code=code, output="", seconds=time.perf_counter() - began), 0))
    report = Report(
        version=webnn.__version__,
        program=order.file,
        arguments=(),
        revision=order.revision or None,
        device=None,
        baseline=runs[0],
        profiles=tuple(runs[1:]),
        totals=Totals(profiles=len(runs) - 1, passed=sum(each.passed for each in runs[1:]), failed_required=()),
        seconds=0,
    )
    return tabulate_report(report)


_DO: dict[str, Callable[[Order, Path], dict[str, Any]]] = {"run": _run, "check": _check}
