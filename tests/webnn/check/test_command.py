"""``webnn check``, as a command: real processes, the report, exit codes, and programs that misbehave."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import webnn
from tests.command_line import call
from tests.shared import ROOT
from tests.support import PATIENCE, wait_until
from webnn.check import supervise, worker
from webnn.check.events import Job, Note, read_notes
from webnn.check.report import Report, Verdict
from webnn.context.profiles import PROFILES
from webnn.processes.child import Exit, Process, ends_at_signals

pytestmark = pytest.mark.processes

#: Builds a graph of one operation.
BUILD = """\
import sys
import webnn

def build(dataType, *shape):
    b = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    return b.buildSync({"y": b.neg(b.input("x", dataType=dataType, shape=shape))})

"""


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print as into a pipe of 80 columns; take nothing from the environment of the tests."""
    for name in ("COLUMNS", "FORCE_COLOR", "WEBNN_FALLBACK", "WEBNN_PROFILE", "WEBNN_REVISION"):
        monkeypatch.delenv(name, raising=False)


def check(*arguments: str | Path) -> tuple[int, str, str]:
    return call("check", *arguments)


def write(folder: Path, program: str, name: str = "program.py") -> Path:
    file = folder / name
    file.write_text(BUILD + textwrap.dedent(program), encoding="utf-8")
    return file


def verdicts(output: str) -> dict[str, str]:
    """Return the verdicts of a matrix by profile."""
    matrix = output.split("\n\n", maxsplit=1)[0].splitlines()[1:]
    return {line.split()[0]: line.split()[1] for line in matrix if not line.startswith(" ")}


@contextmanager
def runs_in_this_process() -> Iterator[None]:
    """Run the programs in this process, where a test is about the report and not about processes."""
    numbers = itertools.count()

    def start(runner: supervise._Runner, job: Job) -> tuple[list[Note], Exit]:
        file = runner._folder / f"{next(numbers)}.jsonl"
        output = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(output):
            # The program changes both.
            patch.setattr(sys, "argv", [])
            patch.setattr(sys, "path", [*sys.path])
            began = time.perf_counter()
            # As text, as a process gets it.
            code = worker.run(Job.model_validate_json(job.model_copy(update={"notes": str(file)}).model_dump_json()))
            seconds = time.perf_counter() - began
        return read_notes(file), Exit(code=code, output=output.getvalue(), seconds=seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supervise._Runner, "_start", start)
        # One program at a time.
        patch.setattr(supervise, "cores", lambda: 1)
        yield


@pytest.fixture
def in_this_process() -> Iterator[None]:
    with runs_in_this_process():
        yield


def has_ended(process: int) -> bool:
    """Tell whether a process is gone, or only waits for somebody to ask how it ended."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, check=False, text=True).stdout.strip()
    return not state or state.startswith("Z")


# The report


@pytest.mark.usefixtures("in_this_process")
def test_every_profile() -> None:
    code, output, errors = check(ROOT / "examples" / "int8_graph.py")
    # Without profiles, a check only informs.
    assert (code, errors) == (0, "")
    assert max(len(line) for line in output.splitlines()) <= 80
    assert "\x1b" not in output
    assert not any(line.endswith(" ") for line in output.splitlines())
    found = verdicts(output)
    assert found.keys() == {"(none)", *PROFILES}
    builds = {name for name, verdict in found.items() if verdict == "builds"}
    assert {name for name, verdict in found.items() if verdict == "refused"} == found.keys() - builds
    assert builds >= {"(none)", "dml", "dml-fl4_0", "dml-fl4_1", "dml-fl5_0", "dml-fl5_1", "dml-fl6_0", "dml-fl6_2", "ort", "ort-openvino"}
    assert builds.isdisjoint({"coreml", "coreml-macos14", "tflite-chromium147", "tflite-chromium153"})
    assert output.splitlines()[-1].startswith(f"builds on {len(builds) - 1} of {len(PROFILES)} profiles in ")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Report]:
    """Check an example on a few profiles, and return what the command prints for programs."""
    os.environ.pop("WEBNN_REVISION", None)
    arguments = ["--profile", "tflite", "--profile", "ort", "--profile", "ort", "--require", "coreml", "--all", "--json"]
    with runs_in_this_process():
        code, output, errors = check(ROOT / "examples" / "int8_graph.py", *arguments)
    assert errors == ""
    return code, Report.model_validate_json(output)


def test_json(report: tuple[int, Report]) -> None:
    code, found = report
    assert code == 1
    assert (found.version, found.program, found.arguments) == (webnn.__version__, str(ROOT / "examples" / "int8_graph.py"), ())
    assert (found.revision, found.device) == (None, None)
    assert (found.baseline.profile, found.baseline.verdict, len(found.baseline.graphs)) == (None, Verdict.BUILDS, 2)
    # Each profile once, under its own name; one that is required is checked, too.
    assert [(run.profile, run.required, run.verdict) for run in found.profiles] == [
        ("tflite-chromium153", False, Verdict.REFUSED),
        ("ort", False, Verdict.BUILDS),
        ("coreml", True, Verdict.REFUSED),
    ]
    assert (found.totals.profiles, found.totals.passed, found.totals.failed_required) == (3, 1, ("coreml",))
    assert found.seconds >= max(run.seconds for run in (found.baseline, *found.profiles)) > 0


def test_everything_that_is_refused(report: tuple[int, Report]) -> None:
    refusals = {
        run.profile: [
            (each.operation, each.label, each.argument, each.given, each.count, each.change and each.change.data_type)
            for each in run.refusals
        ]
        for run in report[1].profiles
    }
    pool = ("maxPool2d", "pool", "input", "int8", 1, "float16")
    assert refusals == {
        "tflite-chromium153": [pool],
        "ort": [],
        "coreml": [
            ("input", "pixels", "descriptor", "uint8", 2, "int32"),
            pool,
            ("createTensor", "", "descriptor", "uint8", 2, "int32"),
        ],
    }
    assert [run.fatal for run in report[1].profiles] == [0, None, 0]


def test_the_json_is_the_model(report: tuple[int, Report]) -> None:
    again = json.loads(report[1].model_dump_json())
    assert Report.model_validate(again) == report[1]
    assert set(again) == set(Report.model_fields)


# Exit codes

REFUSED = "build('int64', 2)"
FINE = "build('float32', 2)"


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("program", "options", "expected"),
    [
        (FINE, ["--profile", "coreml"], 0),
        (REFUSED, ["--profile", "coreml"], 1),
        (REFUSED, ["--profile", "coreml", "--profile", "ort"], 1),
        (REFUSED, ["--profile", "coreml", "--profile", "ort", "--require", "ort"], 0),
        (REFUSED, ["--profile", "ort", "--require", "coreml"], 1),
        (REFUSED, ["--profile", "ort", "--profile", "coreml", "--require", "all"], 1),
        ("build('int8', 0)", ["--profile", "ort"], 2),
        ("raise SystemExit(5)", ["--profile", "ort"], 2),
    ],
)
def test_exit_codes(tmp_path: Path, program: str, options: list[str], expected: int) -> None:
    code, output, _ = check(write(tmp_path, program), *options)
    assert code == expected
    assert ("required, and fails: coreml" in output) is (code == 1)


# Wrong calls

SMALL = str(ROOT / "examples" / "profiles" / "small-npu.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.py"], "nowhere.py is not there: a program is a file"),
        (["."], ". is a folder: a program is a file"),
        ([__file__ + "c"], "is not there"),
        (
            [str(ROOT / "README.md")],
            "a program is a file .py, .js, .mjs, .html, .htm, .webnn, .webnn.json, "
            ".onnx, .mlir, .tflite, .mlirbc, .stablehlo, .pt2, .json, got ",
        ),
        ([__file__, "--profile", "cormel"], "cormel: must be a device profile, one of coreml, "),
        ([__file__, "--require", "cormel"], "cormel: must be a device profile, one of coreml, "),
        ([__file__, "--profile", "nowhere.json"], "nowhere.json: must be a file that can be read"),
        ([__file__, "--profile", str(ROOT / "pyproject.toml")], "pyproject.toml: must be JSON"),
        ([__file__, "--profile", ""], "must be a device profile"),
        ([__file__, "--revision", "1999-01"], "there is no revision '1999-01'"),
        ([__file__, "\udcff"], "names and arguments must be text"),
        ([SMALL], "does not hold conformance cases"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str) -> None:
    code, output, errors = check(*arguments)
    assert (code, output) == (2, "")
    assert errors.startswith("webnn: ")
    assert message in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("arguments", [[__file__, "--device", "tpu"], [__file__, "--timeout", "0"], [], [__file__, "--unknown"]])
def test_wrong_options(arguments: list[str]) -> None:
    assert check(*arguments)[0] == 2


def test_a_file_of_no_cases(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text('{"tests": []}', encoding="utf-8")
    assert check(file) == (2, "", f"webnn: there are no cases in {file}\n")


# Programs that fail without a profile


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("content", "message", "shown"),
    [
        (b"import nothing_of_that_name\n", "ModuleNotFoundError: No module named 'nothing_of_that_name'", "Traceback (most recent call"),
        (b"x = = 1\n", "SyntaxError: invalid syntax", "x = = 1"),
        (b"\xff\xfe\x00", "SyntaxError: ", ""),
        (b"'\xff'\n", "SyntaxError: (unicode error)", ""),
        (b"x = 1\0\n", "Error: source code", ""),
        (b"print()\n", "built no graph: there is nothing to check (what processes of its own build is not seen)", None),
        (b"def f(): f()\nf()\n", "RecursionError: maximum recursion depth exceeded", "[Previous line repeated"),
    ],
)
def test_programs_that_fail(tmp_path: Path, content: bytes, message: str, shown: str | None) -> None:
    assert_it_fails(tmp_path, content, message, shown)


@pytest.mark.parametrize(
    ("content", "message", "shown"),
    [
        (b"print('\\x1b[31m no \\xe4')\n", "built no graph: there is nothing to check", "\\x1b[31m no ä"),
        (b"import sys\nsys.exit('because')\n", "the program ended with exit code 1", "because"),
        (b"input()\n", "EOFError: EOF when reading a line", "Traceback (most recent call"),
        (b"import os\nos._exit(3)\n", "the process ended with exit code 3", None),
        (b"import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n", "the process ", None),
        (b"import faulthandler\nfaulthandler._sigsegv()\n", "the process ", None),
    ],
)
def test_processes_that_fail(tmp_path: Path, content: bytes, message: str, shown: str | None) -> None:
    assert_it_fails(tmp_path, content, message, shown)


def assert_it_fails(folder: Path, content: bytes, message: str, shown: str | None) -> None:
    file = folder / "program.py"
    file.write_bytes(content)
    code, output, errors = check(file, "--profile", "ort")
    assert (code, output) == (2, "")
    if shown is None:
        assert errors.startswith("--- the program printed nothing without a profile\nwebnn: ")
    else:
        assert errors.startswith("--- what the program printed without a profile:\n")
        assert shown in errors
    assert "webnn/check/" not in errors
    assert message in errors.splitlines()[-1]


@pytest.mark.usefixtures("in_this_process")
def test_json_of_a_program_that_fails(tmp_path: Path) -> None:
    code, output, errors = check(write(tmp_path, "1 / 0"), "--json", "--profile", "ort")
    assert code == 2
    found = Report.model_validate_json(output)
    assert (found.baseline.verdict, found.baseline.error, found.profiles) == (Verdict.ERROR, "ZeroDivisionError: division by zero", ())
    assert errors.endswith("fails without a profile: ZeroDivisionError: division by zero\n")


def test_an_endless_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    program = write(
        tmp_path,
        """
        import subprocess
        build("float32", 2)
        if len(sys.argv) > 1:
            # Whatever it has started ends with it.
            child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            print("child", child.pid)
            while True:
                pass
        """,
    )
    wait = Process.wait

    def wait_in_the_loop(process: Process, timeout: float) -> Exit:
        """Have the time of the process begin when it is in its loop."""
        wait_until(lambda: b"child " in process._output)
        process._began = time.perf_counter()
        return wait(process, timeout)

    monkeypatch.setattr(Process, "wait", wait_in_the_loop)
    code, _, errors = check(program, "loop", "--timeout", "0.5")
    assert code == 2
    assert errors.endswith("fails without a profile: the program was not done after 0.5 s\n")
    if sys.platform != "win32":
        wait_until(lambda: has_ended(int(errors.partition("child ")[2].split()[0])))


# Programs that do more than build


def test_a_program_that_does_a_lot(tmp_path: Path) -> None:
    """It prints a lot, reads its input, starts processes that use the API, and warns."""
    program = write(
        tmp_path,
        """
        import multiprocessing
        import warnings

        def work(dataType):
            try:
                build(dataType, 2)
            except TypeError as error:
                return str(error)
            return "built"

        if __name__ == "__main__":
            warnings.warn("a warning")
            for _ in range(2000):
                print("x" * 1000)
            assert sys.stdin.read() == ""
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print("child:", pool.map(work, ["int64"]))
            build("float32", 2)
            print("the end ä")
        """,
    )
    code, output, errors = check(program, "--profile", "coreml", "--verbose")
    assert code == 0
    assert verdicts(output) == {"(none)": "builds", "coreml": "builds"}
    without, on = errors.split("--- what the program printed on coreml:\n")
    assert without.startswith("--- what the program printed without a profile:\n")
    assert "child: ['built']\nthe end ä\n" in without
    # A process of the program is held to the profile; what it builds is not in the report.
    assert 'on the device profile "coreml", got int64' in on
    assert len(on) < 100_000


@pytest.mark.parametrize(
    ("program", "runs"),
    [
        ("build('float32', 2)", 1),
        ("build('int64', 2)", 1),
        ("import subprocess\nsubprocess.run([sys.executable, '-c', ''], check=True)\nbuild('float32', 2)", 3),
    ],
)
def test_how_often_a_program_runs(tmp_path: Path, program: str, runs: int) -> None:
    count = tmp_path / "count"
    file = write(tmp_path, f"open({str(count)!r}, 'a').write('x')\n{program}")
    code, output, _ = check(file, "--profile", "coreml", "--profile", "ort", "--require", "ort")
    assert code == 0
    assert verdicts(output) == {"(none)": "builds", "coreml": "refused" if "int64" in program else "builds", "ort": "builds"}
    assert len(count.read_text(encoding="utf-8")) == runs


def test_a_process_that_dies_while_it_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs that it did not tell of take place."""
    dies = "import os; from webnn.check import follow; follow.Witness.finish = lambda self, end: os.abort(); worker.main"
    monkeypatch.setattr(supervise, "_START", supervise._START.replace("worker.main", dies))
    count = tmp_path / "count"
    file = write(tmp_path, f"open({str(count)!r}, 'a').write('x')\nbuild('int64', 2)")
    code, output, errors = check(file, "--profile", "coreml", "--profile", "ort", "--require", "ort")
    assert (code, errors) == (0, "")
    assert verdicts(output) == {"(none)": "builds", "coreml": "refused", "ort": "builds"}
    assert len(count.read_text(encoding="utf-8")) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_program_that_forks(tmp_path: Path) -> None:
    program = write(
        tmp_path,
        """
        import os
        if os.fork() == 0:
            build("float32", 3)
            sys.exit()
        os.wait()
        build("float32", 2)
        """,
    )
    mine = tmp_path / "mine.json"
    mine.write_text('{"_extends": "ort"}', encoding="utf-8")
    code, output, _ = check(program, "--profile", mine, "--json")
    assert code == 0
    assert [len(run.graphs) for run in Report.model_validate_json(output).profiles] == [1]


def test_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that the user made for other runs do not hold; options of this run do."""
    monkeypatch.setenv("WEBNN_PROFILE", "coreml")
    monkeypatch.setenv("WEBNN_FALLBACK", "deny")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemError('the folder of the user shadows the library')", encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    program = write(folder, "print(webnn.navigator.ml._revision.name, sys.argv[1:])\nbuild('int64', 2)")
    options = ["--profile", "ort", "--revision", "2026-06", "--device", "npu", "-v", "--json"]
    code, output, errors = check(program, "one", *options, "--", "--two")
    assert code == 0, errors
    found = Report.model_validate_json(output)
    assert (found.revision, found.device, found.arguments) == ("2026-06", "npu", ("one", "--two"))
    assert (found.baseline.graphs[0].profile, found.profiles[0].graphs[0].profile) == (None, "ort")
    assert found.profiles[0].graphs[0].requested == "npu"
    assert errors.count("2026-06 ['one', '--two']\n") == 2


@pytest.mark.usefixtures("in_this_process")
def test_a_profile_of_the_user(tmp_path: Path) -> None:
    """Two files of one name are two profiles; one file by two paths is one."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.json").write_text('{"_extends": "ort", "neg": null}' if name == "two" else '{"_extends": "ort"}')
    one, two = (tmp_path / name / "mine.json" for name in ("one", "two"))
    again = tmp_path / "two" / ".." / "one" / "mine.json"
    code, output, _ = check(write(tmp_path, FINE), "--profile", one, "--profile", two, "--profile", again, "--json")
    assert code == 1
    assert [(run.profile, run.verdict) for run in Report.model_validate_json(output).profiles] == [
        (str(one), Verdict.BUILDS),
        (str(two), Verdict.REFUSED),
    ]
    assert "refused  0 of 1  neg: not there" in check(write(tmp_path, FINE), "--profile", two)[1]


def test_cases(tmp_path: Path) -> None:
    tensor = {"data": [1, 2], "descriptor": {"shape": [2], "dataType": "int64"}}
    graph = {
        "inputs": {"x": tensor},
        "operators": [{"name": "neg", "arguments": [{"operand": "x"}], "outputs": ["y"]}],
        "expectedOutputs": {"y": tensor},
    }
    file = tmp_path / "cases.json"
    test = {"name": "neg int64", "tolerance": {"metricType": "ULP", "value": 0}, "graph": graph}
    file.write_text(json.dumps({"level": "2025-03", "tests": [test]}), encoding="utf-8")
    assert check(file, "more") == (2, "", "webnn: a file of cases takes no arguments, got more\n")
    refusal = "refused by coreml\n  neg int64: input [x]: descriptor is int64, allowed: float32, float16, int32\n"
    code, output, errors = check(file, "--profile", "coreml", "--all")
    assert (code, errors, refusal in output) == (1, "", True)
    with runs_in_this_process():
        code, output, errors = check(file, "--profile", "coreml", "--profile", "ort", "--all")
    assert (code, errors, refusal in output) == (1, "", True)
    assert "\nbuilds on 1 of 2 profiles in " in output


# Ctrl-C, the end of a job of continuous integration, a terminal that is closed


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows, a process gets no signals from another one")
@pytest.mark.parametrize(("number", "code", "told"), [("SIGINT", 130, "webnn: interrupted\n"), ("SIGTERM", 143, ""), ("SIGHUP", 129, "")])
def test_signals(tmp_path: Path, number: str, code: int, told: str) -> None:
    program = write(tmp_path, "import os\nopen('started', 'w').write(f'{os.getpid()} ')\nwhile True: pass")
    process = subprocess.Popen(
        [sys.executable, "-m", "webnn", "check", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    started = tmp_path / "started"
    wait_until(lambda: started.exists() and started.read_text(encoding="utf-8").endswith(" "))
    process.send_signal(getattr(signal, number))
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output, errors) == (code, "", told)
    wait_until(lambda: has_ended(int(started.read_text(encoding="utf-8"))))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGHUP on Windows")
def test_a_terminal_that_is_closed_under_nohup() -> None:
    before = signal.getsignal(signal.SIGTERM)
    hangup = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ends_at_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not before
        assert signal.getsignal(signal.SIGTERM) is before
    finally:
        signal.signal(signal.SIGHUP, hangup)


def test_importing_webnn_does_not_load_it() -> None:
    code = "import sys, webnn; print([name for name in sys.modules if name.startswith('webnn.check')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "[]\n"
