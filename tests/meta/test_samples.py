"""The samples of a run of the whole suite, in a small one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CASES, PROCESSES, Sample
from tests.shared import ROOT

SUITE = """
import pytest

@pytest.mark.parametrize("case", range(40))
def test_many(case):
    assert case != FAILS

@pytest.mark.sample(3)
@pytest.mark.parametrize("case", range(40))
def test_marked(case):
    pass

@pytest.mark.parametrize("case", range(5))
def test_few(case):
    pass

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.sample(2)
class TestSeveral:
    def test_a(self): pass
    def test_b(self): pass
    def test_c(self): pass

@pytest.mark.processes
@pytest.mark.parametrize("case", range(9))
def test_process(case):
    pass

@pytest.mark.processes
def test_another_process():
    pass

def test_in_itself(sample):
    print("chosen", len(sample(range(50), 7)))
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    tests = tmp_path / "tests"
    tests.mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", tests)
    settings = (
        "[pytest]\ntestpaths = tests\npythonpath = .\naddopts = -m 'not slow'\nmarkers =\n  shared\n  processes\n  slow\n  sample(count)\n"
    )
    (tmp_path / "pytest.ini").write_text(settings, encoding="utf-8")
    return tmp_path


def run(suite: Path, *options: str, fails: str = "-1", folder: Path | None = None) -> tuple[str, dict[str, int]]:
    """Run the suite; return what it prints, and how many cases of each test ran."""
    (suite / "tests" / "test_it.py").write_text(SUITE.replace("FAILS", fails), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-s", "-p", "no:xdist", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "WEBNN_"))}
    done = subprocess.run(command, cwd=folder or suite, env=environment, capture_output=True, encoding="utf-8", timeout=600, check=False)
    counts: dict[str, int] = {}
    for line in done.stdout.splitlines():
        if "::" in line and "test_it.py" in line.split("::")[0] and not line.startswith("FAILED"):
            name = line.split(" ")[0].rpartition("::")[2].partition("[")[0]
            counts[name] = counts.get(name, 0) + 1
    return done.stdout + done.stderr, counts


@pytest.mark.processes
def test_runs_take_samples_only_of_the_whole_suite(suite: Path) -> None:
    printed, counts = run(suite)
    assert "tests: samples, --seed 0" in printed
    assert counts["test_marked"] == 3
    assert counts["test_few"] == 5
    assert counts["test_many"] == CASES
    assert sum(counts.get(f"test_{letter}", 0) for letter in "abc") == 2
    assert counts.get("test_process", 0) + counts.get("test_another_process", 0) == PROCESSES
    assert "test_slow" not in counts
    assert "chosen 7\n" in printed
    whole = {
        "test_many": 40,
        "test_marked": 40,
        "test_few": 5,
        "test_a": 1,
        "test_b": 1,
        "test_c": 1,
        "test_in_itself": 1,
        "test_process": 9,
    }
    whole["test_another_process"] = 1
    for options, expected in (
        (["--all"], {**whole, "test_slow": 1}),
        (["--no-samples"], whole),
        (["tests/test_it.py"], whole),
        (["-k", "many"], {"test_many": 40}),
    ):
        printed, counts = run(suite, *options)
        assert "tests: all\n" in printed
        assert counts == expected, options
        assert "chosen 50\n" in printed or options[0] == "-k"


@pytest.mark.processes
def test_what_did_not_pass_elsewhere_runs(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    _, first = run(suite, "--seed", "5", fails="case")
    other = tmp_path_factory.mktemp("other") / "checkout"
    shutil.copytree(suite, other, ignore=shutil.ignore_patterns(".pytest_cache"))
    printed, second = run(other, f"--not-passed-in={suite}")
    assert second.pop("test_process", 0) + second.pop("test_another_process", 0) == 10 - PROCESSES
    assert second == {"test_many": 40, "test_marked": 37, **{f"test_{letter}": 1 for letter in "abc" if f"test_{letter}" not in first}}
    assert "tests: all\n" in printed
    printed, counts = run(other, f"--not-passed-in={other / 'nowhere'}")
    assert (counts, " passed" in printed) == ({}, False)


def test_samples() -> None:
    cases = list(range(1000))
    chosen = Sample("a", 0, everything=False)(cases, 20)
    assert chosen == sorted(chosen)
    assert len(set(chosen)) == 20
    assert chosen == Sample("a", 0, everything=False)(cases, 20)
    assert chosen != Sample("a", 1, everything=False)(cases, 20)
    assert chosen != Sample("b", 0, everything=False)(cases, 20)
    assert Sample("a", 0, everything=True)(cases, 20) == cases
    assert Sample("a", 0, everything=False)(cases[:20], 20) == cases[:20]


@pytest.mark.processes
def test_a_name_with_an_address_is_refused(suite: Path) -> None:
    """Workers that share the tests would not agree on their names."""
    (suite / "tests" / "test_names.py").write_text(
        'import pytest\n\n@pytest.mark.parametrize("value", [object()], ids=repr)\ndef test_it(value): pass\n', encoding="utf-8"
    )
    printed, counts = run(suite)
    assert "a test's name must not have an address: give the case an id" in printed
    assert not counts
