"""Mutation testing: what is changed, what is drawn, which tests are asked, and what a run says."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT
from tests.support import each_row
from tools.evidence.mutation import __main__ as command
from tools.evidence.mutation.mutants import Mutant, draw, find_mutants
from tools.evidence.mutation.reach import ENDLESS, Reach, _moved_lines
from tools.evidence.mutation.trial import KILLED, NOT_COVERED, SURVIVED, TIMED_OUT, Outcome, choose


def changes(source: str) -> list[tuple[str, str]]:
    return [(mutant.before, mutant.after) for mutant in find_mutants("a.py", source)]


# ---- What is changed


@each_row(
    ("source", "expected"),
    [
        ("x = a < b", [("a < b", "(a <= b)"), ("a < b", "(a >= b)")]),
        ("x = a == b", [("a == b", "(a != b)")]),
        ("x = a is not b", [("a is not b", "(a is b)")]),
        ("x = a <= b in c", [("a <= b in c", "(a < b in c)"), ("a <= b in c", "(a > b in c)"), ("a <= b in c", "(a <= b not in c)")]),
        ("x = a and b", [("a and b", "(a or b)")]),
        ("x = a + b", [("a + b", "(a - b)")]),
        ("x = not a", [("not a", "(a)")]),
        ("x = -a", [("-a", "(a)")]),
        ("x = 3", [("3", "(4)"), ("3", "(2)")]),
        ("x = 0.5", [("0.5", "(1.5)"), ("0.5", "(-0.5)")]),
        ("x = True", [("True", "False")]),
        ("x = a if b else c", [("a if b else c", "(a if not b else c)")]),
        ("a()", [("a()", "pass")]),
        ("a.b = c", [("a.b = c", "pass")]),
        ("a += b", [("a += b", "pass")]),
        ("if a:\n    raise b", [("a", "(not a)"), ("raise b", "pass")]),
        ("while a:\n    break", [("a", "(not a)"), ("break", "continue"), ("break", "pass")]),
        ("while a:\n    continue", [("a", "(not a)"), ("continue", "break"), ("continue", "pass")]),
        ("x = [y for y in z if y]", [("y", "(not y)")]),
        ("def f(a='b', *, c=''):\n    return a", [("'b'", "''"), ("''", "'changed'"), ("return a", "return None")]),
        ("class A:\n    a: str = ''", [("''", "'changed'")]),
        # Nothing that a test can see.
        ("'A text.'", []),
        ("x = 'a text'", []),
        ("def f():\n    'A text.'\n    return None", []),
        ("__all__ = ['a' + 'b']", []),
        ("import a", []),
        ("if TYPE_CHECKING:\n    a()", []),
        ("@a(1)\ndef f(x: 'a < 1') -> 'b < 1':\n    y: c[1]", []),
        ("x = f'{a + b}'", []),
        ("zip(a, strict=True)", [("zip(a, strict=True)", "pass")]),
        ("class A(B, total=False): ...", []),
    ],
)
def test_changes(source: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(changes(source)) == sorted(expected)
    for mutant in find_mutants("a.py", source):
        assert mutant.apply(source) != source


def test_a_change_is_where_its_node_is() -> None:
    source = "é = 'ü', a < b  # <\nx = (\n    c +\n    'ß'\n) * d\n"
    texts = [mutant.apply(source) for mutant in find_mutants("a.py", source)]
    assert "é = 'ü', (a <= b)  # <\nx = (\n    c +\n    'ß'\n) * d\n" in texts
    assert "é = 'ü', a < b  # <\nx = (\n    (c - 'ß')\n) * d\n" in texts
    assert "é = 'ü', a < b  # <\nx = ((c + 'ß') // d)\n" in texts
    (mutant,) = (mutant for mutant in find_mutants("a.py", source) if mutant.after == "(a >= b)")
    assert mutant.diff(source).splitlines()[3:5] == ["-é = 'ü', a < b  # <", "+é = 'ü', (a >= b)  # <"]


def test_the_lines_of_a_change() -> None:
    source = "def f(a=1):\n    if (a\n            > 2):\n        b(\n            3,\n        )\n"
    found = {mutant.before: (mutant.line, set(mutant.lines), mutant.at_import) for mutant in find_mutants("a.py", source)}
    assert found["1"] == (1, {1}, True)
    assert found["2"] == (3, {2, 3}, False)
    assert found["3"] == (5, {4, 5, 6}, False)


def test_every_mutant_of_this_project_is_python() -> None:
    """On a sample: the changed text is compiled."""
    for path in ("validation/conv.py", "context/timeline.py", "webnn/commands/program.py"):
        source = (ROOT / path).read_text(encoding="utf-8")
        for mutant in find_mutants(path, source)[::5]:
            mutant.apply(source)


# ---- What is drawn

SOURCE = "".join(f"def f{number}(a):\n    return a[{number}] + {number}\n" for number in range(50))


def drawn(source: str, count: int = 20, seed: int = 1) -> list[tuple[str, str]]:
    return [(mutant.source, mutant.after) for mutant in draw(find_mutants("a.py", source), count, seed)]


def test_a_draw_is_fixed() -> None:
    first = drawn(SOURCE)
    assert len({line for line, _ in first}) == 20
    assert drawn(SOURCE) == first
    assert drawn(SOURCE, seed=2) != first
    assert drawn(SOURCE, 5) == first[:5]
    assert len(drawn(SOURCE, 1000)) == 50


def test_other_lines_do_not_change_a_draw() -> None:
    first = drawn(SOURCE)
    assert drawn(f"import os\n\n\n{SOURCE}") == first
    gone = first[3][0]
    without = [line for line in drawn(SOURCE.replace(gone, "return None")) if line in first]
    assert without == [line for line in first if line[0] != gone]


def test_a_line_that_occurs_twice_is_two_lines() -> None:
    twice = find_mutants("a.py", "x(a < b)\nx(a < b)\n")
    assert len({mutant.identity for mutant in twice}) == len(twice) == 6


ENTRY = 'path = "a.py"\nsource = "x = a < b"\nbefore = "a < b"\nafter = "(a <= b)"\n'


def test_mutants_that_cannot_be_noticed() -> None:
    mutants = find_mutants("a.py", "x = a < b\n")
    reasons = command.read_equivalent(mutants, f'[[equivalent]]\n{ENTRY}reason = "they never are equal"\n')
    assert reasons == {mutants[0].identity: "they never are equal"}
    with pytest.raises(ValueError, match="no reason"):
        command.read_equivalent(mutants, f"[[equivalent]]\n{ENTRY}")
    with pytest.raises(ValueError, match=r"no mutant is .*a\.py"):
        command.read_equivalent(find_mutants("a.py", "x = a > b\n"), f'[[equivalent]]\n{ENTRY}reason = "they never are equal"\n')


def test_the_list_of_this_project_is_current() -> None:
    text = command.EQUIVALENT.read_text(encoding="utf-8")
    paths = {entry["path"] for entry in tomllib.loads(text).get("equivalent", [])}
    assert len(command.read_equivalent(command.find_all(sorted(paths)), text)) >= text.count("[[equivalent]]")


# ---- Which tests are asked


class Reached(Reach):
    """The record of a run of the tests, without the run."""

    def __init__(self, seconds: dict[str, float], lines: dict[int, list[str]]) -> None:
        self.seconds = seconds
        self.reached = lines

    def tests(self, path: str, lines: Iterable[int] | None = None) -> set[str]:
        return {test for line in (self.reached if lines is None else lines) for test in self.reached.get(line, ())}


NEAR, OTHER = "tests/builder/test_a.py", "tests/context/test_b.py"
SECONDS = {f"{NEAR}::slow": 9.0, f"{NEAR}::fast": 1.0, f"{NEAR}::beside": 2.0, f"{OTHER}::fast": 0.5, "tests/builder/test_c.py::x": 0.1}
REACHED = Reached(SECONDS, {3: [f"{OTHER}::fast", f"{NEAR}::slow", f"{NEAR}::fast", f"{NEAR}::failed"], 8: [""]})


def mutant_of(line: int, *, at_import: bool = False, path: str = "builder/a.py") -> Mutant:
    return Mutant(path=path, line=line, lines=frozenset({line}), at_import=at_import, source="", before="", after="", start=0, identity="x")


@pytest.mark.parametrize(
    ("mutant", "budget", "expected"),
    [
        pytest.param(
            mutant_of(3),
            100,
            [f"{NEAR}::fast", f"{NEAR}::slow", f"{OTHER}::fast", f"{NEAR}::beside"],
            id="the package's first, the file's last",
        ),
        pytest.param(mutant_of(3), 10.2, [f"{NEAR}::fast", f"{NEAR}::slow"], id="no more than fit"),
        pytest.param(mutant_of(4), 100, [], id="a line that nothing reaches"),
        pytest.param(mutant_of(8), 1, [f"{NEAR}::fast"], id="reached by an import"),
        pytest.param(mutant_of(4, at_import=True), 1, [f"{NEAR}::fast"], id="at import"),
    ],
)
def test_which_tests_are_asked(mutant: Mutant, budget: float, expected: list[str]) -> None:
    assert choose(mutant, REACHED, budget) == expected


def test_a_module_without_lines_that_a_test_reaches() -> None:
    """A table: all tests of its package, and those about the project."""
    reach = Reached({**SECONDS, "tests/meta/test_d.py::x": 3.0}, {1: [""]})
    expected = ["tests/builder/test_c.py::x", f"{NEAR}::fast", f"{NEAR}::beside", f"{NEAR}::slow", "tests/meta/test_d.py::x"]
    assert choose(mutant_of(1, at_import=True), reach, 100) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("a b c d", {1: 1, 2: 2, 3: 3, 4: 4}),
        ("x a b c d", {2: 1, 3: 2, 4: 3, 5: 4}),
        ("a c d", {1: 1, 2: 3, 3: 4}),
        ("a x y z d", {1: 1, 2: 2, 3: 3, 4: 3, 5: 4}),
        ("a x d", {1: 1, 2: 2, 3: 4}),
    ],
)
def test_lines_of_an_earlier_run(now: str, expected: dict[int, int]) -> None:
    assert _moved_lines(now.replace(" ", "\n"), "a\nb\nc\nd\n") == expected


# ---- A run


def test_results_of_earlier_runs(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    assert command.read_results(file, again=False) == {}
    lines = [
        {"identity": "a", "outcome": SURVIVED},
        {"identity": "b", "outcome": KILLED, "by": "t"},
        {"identity": "c", "outcome": NOT_COVERED},
    ]
    file.write_text("\n".join(map(json.dumps, lines)) + '\n{"identity": "d", "outc', encoding="utf-8")
    assert list(command.read_results(file, again=False)) == ["a", "b", "c"]
    assert list(command.read_results(file, again=True)) == ["b"]
    with file.open("a", encoding="utf-8") as more:
        more.write('\n{"identity": "a", "outcome": "killed"}\n')
    assert command.read_results(file, again=True)["a"] == Outcome(identity="a", outcome=KILLED)


def test_the_score() -> None:
    outcomes = [
        Outcome(identity=str(number), outcome=word) for number, word in enumerate([KILLED, TIMED_OUT, SURVIVED, NOT_COVERED, KILLED])
    ]
    assert command.score(outcomes) == 60
    assert command.score([]) == 0


#: A project of one module, with what tools.evidence.mutation expects around it.
PROJECT = {
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\npythonpath = ["."]\n',
    "webnn/__init__.py": """
        def noticed(a):
            return a < 3

        def overlooked(a):
            return a > 3

        def unreached(a):
            return a == 3
    """,
    "tests/webnn/test_all.py": """
        import subprocess, sys
        import webnn

        def test_noticed():
            assert [webnn.noticed(a) for a in (2, 3)] == [True, False]

        def test_overlooked():
            subprocess.run([sys.executable, "-c", "import webnn; webnn.overlooked(9)"], check=True)

        def test_that_fails():
            assert webnn.noticed(9)
    """,
}
#: This process's plug-ins of pytest, without the one of the real project.
PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin,pytest_timeout,_hypothesis_pytestplugin"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in PROJECT.items():
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    tools = Path("tools") / "evidence" / "mutation"
    shutil.copytree(ROOT / tools, tmp_path / "project" / tools, ignore=shutil.ignore_patterns("__pycache__", "equivalent.toml"))
    return tmp_path / "project"


def run(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COVERAGE_", "MUTATION_", "COV_"))}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**environment, **PLUGINS, "PYTHONPATH": str(project), **variables},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="it needs limits of CPU time")
@pytest.mark.skipif(shutil.which("git") is None, reason="it asks git for the files")
def test_a_whole_run(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    before = {file: file.read_bytes() for file in project.rglob("*.py")}
    arguments = ["-m", "tools.evidence.mutation", "--folder", str(project.parent / "folder"), "--jobs", "1"]
    done = run(project, *arguments, "--bar", "40")
    assert "3 mutants: 1 killed, 0 timed out, 1 survived, 1 not covered; score 33.3 %" in done.stdout, done.stdout + done.stderr
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "the score must be at least 40 %")
    assert " killed tests/webnn/test_all.py::test_noticed (" in done.stdout
    assert "survived, 2 tests: webnn/__init__.py:6\n--- webnn/__init__.py\n+++ webnn/__init__.py\n@@ " in done.stdout
    assert "not covered, 0 tests: webnn/__init__.py:9\n" in done.stdout
    # Nothing is tried a second time, and the working tree is what it was.
    done = run(project, *arguments, "--bar", "33", "--count", "3")
    assert (done.returncode, done.stdout.splitlines()[-1].partition(":")[0]) == (0, "3 mutants")
    assert "1/" not in done.stdout
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="it needs limits of CPU time")
def test_a_test_that_does_not_end(project: Path, tmp_path: Path) -> None:
    names = [f"tests/webnn/test_all.py::test_{name}" for name in ("noticed", "overlooked", "that_fails")]
    record, selection = tmp_path / "record.json", tmp_path / "tests.json"

    def outcome(limits: dict[str, float]) -> tuple[int, Any]:
        selection.write_text(json.dumps(limits), encoding="utf-8")
        record.unlink(missing_ok=True)
        variables = {"MUTATION_TESTS": str(selection), "MUTATION_RECORD": str(record)}
        done = run(project, "-m", "pytest", "-q", "-x", "-p", "tools.evidence.mutation.plugin", "tests", **variables)
        return done.returncode, json.loads(record.read_text(encoding="utf-8"))

    # In the given order, and no other test.
    status, found = outcome(dict.fromkeys(reversed(names[:2]), 60.0))
    assert (status, list(found["seconds"]), found["failed"]) == (0, names[1::-1], [])
    status, found = outcome({names[2]: 60.0, names[0]: 60.0})
    assert (status, found["failed"]) == (1, [names[2]])
    package = project / "webnn" / "__init__.py"
    package.write_text(package.read_text(encoding="utf-8").replace("return a < 3", "while True: pass"), encoding="utf-8")
    status, found = outcome(dict(zip(names, itertools.repeat(0.5), strict=False)))
    assert (status, found["failed"]) == (ENDLESS, [names[0]])
