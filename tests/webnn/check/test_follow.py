"""`webnn check` runs a program once, and says of each profile how it runs there: exactly as a run on it does, or not at all."""

from __future__ import annotations

import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.shared import ROOT
from tests.webnn.check.test_worker import BEHAVIOURS, BUILDING, PREAMBLE, PROGRAMS, SMALL_NPU, TRY, WIDE
from webnn.check import worker
from webnn.check.conclude import complete, conclude, end_of_replay
from webnn.check.events import Job, Kind, Note, Replay, read_notes
from webnn.check.report import Run
from webnn.context.emulation import ambient
from webnn.processes.child import Exit
from webnn.validation.errors import DOMException, WebNNTypeError

PROFILES = ("coreml", "dml-fl4_0", "ort", "tflite-chromium153", SMALL_NPU)
Runs = Callable[[Job], tuple[list[Note], int]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Return a function that runs a job in this process, and returns its notes and its exit code."""

    enumerate_threads = threading.enumerate
    others = {each for each in enumerate_threads() if each is not threading.main_thread()}

    def run_job(job: Job) -> tuple[list[Note], int]:
        notes = tmp_path / "notes"
        notes.unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [])
            # The command's process has no threads of other tests.
            patch.setattr(threading, "enumerate", lambda: [each for each in enumerate_threads() if each not in others])
            patch.setattr(sys, "path", [*sys.path])
            code = worker.run(job.model_copy(update={"notes": str(notes)}))
        return read_notes(notes), code

    return run_job


def write(folder: Path, program: str) -> Path:
    file = folder / "program.py"
    file.write_text(PREAMBLE + textwrap.dedent(TRY) + textwrap.dedent(program), encoding="utf-8")
    return file


def follow(run: Runs, program: Path, kind: Kind = "python", profiles: tuple[str, ...] = PROFILES, **more: Any) -> dict[str, Run]:
    """Run a program once; return how it runs on the profiles of which that is known. Each must be the run on that profile."""
    job = Job(program=str(program), kind=kind, **more)
    notes, _ = run(job.model_copy(update={"replay": profiles, "every": True}))
    found = {}
    for replay in [note for note in notes if isinstance(note, Replay)]:
        known = conclude(replay.profile, replay.notes, end_of_replay(replay), 1)
        own = job.model_copy(update={"profile": replay.profile})
        wanted = conclude(replay.profile, *_finished(run(own)), 1)
        if replay.again is not None:
            known = complete(known, replay.again, end_of_replay(replay, again=True), 1)
            wanted = complete(wanted, *_finished(run(own.model_copy(update={"go_on": True}))), 1)
        found[replay.profile] = known.model_copy(update={"seconds": 0.0})
        assert found[replay.profile] == wanted.model_copy(update={"seconds": 0.0})
    return found


def _finished(ran: tuple[list[Note], int]) -> tuple[list[Note], Exit]:
    return ran[0], Exit(code=ran[1], output="", seconds=0)


@pytest.mark.parametrize("program", [behaviour[0] for behaviour in BEHAVIOURS])
def test_a_replay_is_what_a_run_on_the_profile_is(run: Runs, tmp_path: Path, program: str) -> None:
    follow(run, write(tmp_path, program))


@pytest.mark.parametrize("program", [*PROGRAMS])
def test_programs_of_one_graph_run_once(run: Runs, tmp_path: Path, program: str) -> None:
    asked, _, _ = PROGRAMS[program]
    file = write(tmp_path, f"b = new_builder()\nb.buildSync({{'y': {asked}}})")
    assert follow(run, file).keys() == {*PROFILES}


@pytest.mark.parametrize("example", ["int8_graph", "transformer_block", "add_and_multiply_async"])
def test_examples_run_once(run: Runs, example: str) -> None:
    assert follow(run, ROOT / "examples" / f"{example}.py").keys() == {*PROFILES}


def test_placements_and_rules_of_builds(run: Runs, tmp_path: Path) -> None:
    assert follow(run, write(tmp_path, WIDE), device="npu").keys() == {*PROFILES}
    assert follow(run, write(tmp_path, BUILDING)).keys() == {*PROFILES}


#: Programs that some profiles must run themselves, with those that need not.
UNKNOWN: dict[str, tuple[str, set[str]]] = {
    "reads the limits": ("webnn.ML(revision='2026-06').createContextSync().opSupportLimits()\nbuild('int32')", set()),
    "asks whether it is accelerated": ("webnn.ML(revision='2026-06').createContextSync().accelerated\nbuild('int32')", set()),
    "asks for the placement": ("build('int32').devices", set()),
    "catches what is refused": (
        "try:\n    build('int64')\nexcept TypeError:\n    build('int32')",
        {"ort", "tflite-chromium153", SMALL_NPU},
    ),
    "has a finally": ("try:\n    build('int64')\nfinally:\n    build('int32')", {"ort", "tflite-chromium153", SMALL_NPU}),
    "suppresses what is refused": (
        "import contextlib\nwith contextlib.suppress(TypeError):\n    build('int64')\nbuild('int32')",
        {"ort", "tflite-chromium153", SMALL_NPU},
    ),
    "builds in a thread": (
        "import threading\nt = threading.Thread(target=build, args=['int64'])\nt.start()\nt.join()\nbuild('int32')",
        {"ort", "tflite-chromium153", SMALL_NPU},
    ),
    "catches an error of the draft": ("try:\n    build('int4')\nexcept TypeError:\n    build('int32')", set()),
    "computes what is not the same": (
        """
        b = new_builder()
        graph = b.buildSync({"y": b.cast(new_input(b, "float32", 2), "int32")})
        context = webnn.ML(revision="2026-06").createContextSync()
        b = webnn.MLGraphBuilder(context)
        graph = b.buildSync({"y": b.cast(new_input(b, "float32", 2), "int32")})
        x = context.createTensorSync(dataType="float32", shape=[2], writable=True)
        y = context.createTensorSync(dataType="int32", shape=[2], readable=True)
        context.writeTensor(x, np.array([1, np.nan], np.float32))
        context.dispatch(graph, {"x": x}, {"y": y})
        context.readTensorSync(y)
        """,
        {"coreml", "dml-fl4_0", "ort", SMALL_NPU},
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_depends_on_the_device_is_not_guessed(run: Runs, tmp_path: Path, name: str) -> None:
    program, known = UNKNOWN[name]
    file = write(tmp_path, program)
    assert run(Job(program=str(file), kind="python"))[1] == 0
    assert follow(run, file).keys() == known


def test_a_device_with_small_tensors(run: Runs, tmp_path: Path) -> None:
    small = tmp_path / "small.json"
    small.write_text('{"_extends": "ort", "maxTensorByteLength": 7}', encoding="utf-8")
    assert follow(run, write(tmp_path, "build('int32')"), profiles=("ort", str(small))).keys() == {"ort"}


def test_what_is_read_after_the_end_does_not_count(run: Runs, tmp_path: Path) -> None:
    program = write(tmp_path, "build('int64')\nwebnn.ML(revision='2026-06').createContextSync().opSupportLimits()")
    assert follow(run, program).keys() == {"coreml", "dml-fl4_0"}


def test_numbers_that_are_the_same_are_computed_again(run: Runs, tmp_path: Path) -> None:
    same = UNKNOWN["computes what is not the same"][0].replace("np.nan", "2")
    assert follow(run, write(tmp_path, same)).keys() == {*PROFILES}


def test_only_processes_of_the_program_count(run: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "multiprocessing.popen_before", ModuleType("popen_before"))
    assert follow(run, write(tmp_path, "build('int32')")).keys() == {*PROFILES}
    # Set and deleted, so that the name is gone after the test, too.
    monkeypatch.setitem(sys.modules, "multiprocessing.popen_during", ModuleType("popen_during"))
    monkeypatch.delitem(sys.modules, "multiprocessing.popen_during")
    during = "import sys\nsys.modules['multiprocessing.popen_during'] = sys\nbuild('int32')"
    assert follow(run, write(tmp_path, during)).keys() == set()


def test_nothing_is_left_behind(run: Runs, tmp_path: Path) -> None:
    before = [kind.__init__ for kind in (WebNNTypeError, DOMException)]
    follow(run, write(tmp_path, "build('int32')"))
    assert [kind.__init__ for kind in (WebNNTypeError, DOMException)] == before
    assert ambient().witness is None
