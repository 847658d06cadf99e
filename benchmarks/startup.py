"""The cost of starting: imports, commands, the pytest plugin and web-platform-tests, each in fresh processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from benchmarks.measure import UNITS, Effort, Result, SkippedError, summarize, summarize_difference

__all__ = ["CASES", "Run", "cpu_seconds", "first_line_seconds"]

ROOT = Path(__file__).resolve().parents[1]
#: The command of a process, behind the interpreter.
Run = Sequence[str]

_PROGRAM = "print('the first line')\n"
_TEST = "def test():\n    assert True\n"
#: The names of webnn's entry points, for a run of pytest without them.
_PLUGINS = ("-p", "no:webnn", "-p", "no:webnn_wpt")


def _environment(root: Path) -> dict[str, str]:
    # The bytecode of the first run must be kept, so that later runs do not compile.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**environment, "PYTHONPATH": str(root)}


def cpu_seconds(run: Run, folder: Path, root: Path = ROOT) -> float:
    """Run Python, and return the CPU time that the process and its children took, in seconds.

    Args:
        run: The arguments of the interpreter.
        folder: Where it runs.
        root: The checkout whose webnn it imports.

    Raises:
        SkippedError: Windows does not tell it.
        subprocess.CalledProcessError: It failed.
    """
    if sys.platform == "win32":
        raise SkippedError("Windows does not tell the CPU time of children")
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *run], check=True, capture_output=True, cwd=folder, env=_environment(root))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_line_seconds(run: Run, folder: Path) -> float:
    """Run Python, and return how long its first line took, in seconds.

    Raises:
        RuntimeError: It wrote none.
    """
    start = time.perf_counter()
    with subprocess.Popen([sys.executable, *run], stdout=subprocess.PIPE, cwd=folder, env=_environment(ROOT)) as process:
        assert process.stdout is not None  # as just asked for
        line = process.stdout.readline()
        seconds = time.perf_counter() - start
    if not line:
        raise RuntimeError(f"{' '.join(run)} wrote nothing and ended with {process.returncode}")
    return seconds


def _turns(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> tuple[list[float], list[float]]:
    """Let the two sides take turns, in seconds. The first turn, which fills the system's file cache, does not count."""
    turns = [(ours(), theirs()) for _ in range(rounds + 1)][1:]
    return [mine for mine, _ in turns], [other for _, other in turns]


def _above(name: str, title: str, ours: Run, theirs: Run, against: str, effort: Effort, bar: float | None) -> Result:
    """Make the result of a benchmark whose bar is the difference of CPU times."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        place.joinpath("program.py").write_text(_PROGRAM, encoding="utf-8")
        place.joinpath("test_of_a_user.py").write_text(_TEST, encoding="utf-8")
        times = _turns(lambda: cpu_seconds(ours, place), lambda: cpu_seconds(theirs, place), effort.rounds)
    return summarize_difference(name, title, times, unit="ms", bar=bar, against=against)


def _import(effort: Effort) -> Result:
    packages = "import numpy, pydantic"
    return _above("import", "from webnn import ML", ["-c", "from webnn import ML"], ["-c", packages], packages, effort, 60)


def _first_ml(effort: Effort) -> Result:
    ours, packages = "from webnn import ML; ML()", "import numpy; from pydantic import BaseModel"
    return _above("first-ml", "from webnn import ML, and the first ML()", ["-c", ours], ["-c", packages], packages, effort, None)


def _version(effort: Effort) -> Result:
    return _above("version", "webnn --version", ["-m", "webnn", "--version"], ["-c", "pass"], "python -c pass", effort, 40)


def _help(effort: Effort) -> Result:
    return _above("help", "webnn --help", ["-m", "webnn", "--help"], ["-c", "import typer"], "import typer", effort, None)


def _plugin(effort: Effort) -> Result:
    collect = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    title = "pytest --collect-only of one test that does not use webnn"
    return _above("plugin", title, collect, [*collect, *_PLUGINS], "without the plugins", effort, 20)


def _first_line(effort: Effort) -> Result:
    with TemporaryDirectory() as folder:
        place = Path(folder)
        place.joinpath("program.py").write_text(_PROGRAM, encoding="utf-8")
        ours, theirs = ["-u", "-m", "webnn", "run", "program.py"], ["-u", "program.py"]
        times = _turns(lambda: first_line_seconds(ours, place), lambda: first_line_seconds(theirs, place), effort.rounds)
    mine, other = ([seconds * UNITS["ms"] for seconds in side] for side in times)
    return Result(
        name="first-line",
        title="webnn run of a Python program, to its first line",
        unit="ms",
        webnn=statistics.median(mine),
        other=statistics.median(other),
        against="python program.py",
        metric="time",
        # The fastest round counts, because a busy machine only adds time.
        value=min(mine),
        low=min(mine),
        high=max(mine),
        bar=350,
    )


def _wpt(effort: Effort) -> Result:
    checkout, before = os.environ.get("WEBNN_WPT"), os.environ.get("WEBNN_BEFORE")
    if not checkout or not before:
        raise SkippedError("WEBNN_WPT must name a checkout of web-platform-tests, and WEBNN_BEFORE one of webnn to compare with")
    run = ["-m", "webnn", "wpt", "run", "--quiet", "--jobs", "1", "--variant", "cpu", "--wpt", str(Path(checkout).absolute())]
    with TemporaryDirectory() as folder:
        roots = ROOT, Path(before).absolute()
        turns = [[cpu_seconds(run, Path(folder), root) for root in roots] for _ in range(max(1, effort.rounds // 5))]
    mine, other = zip(*turns, strict=True)
    title = "web-platform-tests, the cpu variant, CPU time"
    return summarize("wpt", title, (mine, other), unit="s", bar=0.5, against="the same with $WEBNN_BEFORE")


#: The benchmarks by their names on the command line.
CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        "import": _import,
        "first-ml": _first_ml,
        "version": _version,
        "help": _help,
        "first-line": _first_line,
        "plugin": _plugin,
        "wpt": _wpt,
    }
)
