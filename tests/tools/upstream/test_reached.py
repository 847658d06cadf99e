"""Our files pass here, and reach the steps that the record says; every step has a file or a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.upstream.written import small_checkout
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.checkouts import make_checkout
from tools.steps import reach
from tools.steps.cited import Key, citations
from tools.upstream import reached
from tools.upstream.files import FOLDER, folder_of, our_files
from tools.upstream.measuring import Measured, measure
from tools.upstream.reached import OURS
from webnn.wpt_runner.levels import find_level
from webnn.wpt_runner.results import FileResult, FileStatus, SubtestStatus


def test_every_step_is_reached_or_has_a_reason() -> None:
    found = reach.load(reached.FILE)
    assert list(reached.unreached(found)) == []
    assert set(found) <= set(citations())
    assert len(found) >= 680
    for file in found.values():
        assert not file.startswith(OURS) or (FOLDER / file.removeprefix(OURS)).is_file(), file


def test_steps_without_file_and_reasons_without_need() -> None:
    found = reach.load(reached.FILE)
    key = next(iter(found))
    missing = {other: file for other, file in found.items() if other != key}
    assert list(reached.unreached(missing)) == [f"no file reaches {key}"]
    needless = next(iter(reached.reasons()))
    assert list(reached.unreached({**found, needless: "x"})) == [f"{needless} has a reason why no file reaches it, and needs none"]


def test_each_reason_has_a_test_or_says_that_nothing_can_fail() -> None:
    tests = reach.load()
    assert [key for key, reason in reached.reasons().items() if not reason.startswith("Cannot fail: ") and key not in tests] == []


@pytest.mark.processes
def test_the_tests_of_steps_without_a_file_reach_them() -> None:
    tests = {key: test for key, test in reach.load().items() if key in reached.reasons()}
    assert len(tests) >= 12
    assert list(reach.stale(tests, reach.measure(["-n", "0", *sorted(set(tests.values()))]))) == []


#: A profile, a program that asks for what it lacks, and the steps that it reaches with the fallback policy "deny".
SETTINGS: list[tuple[str, str, set[tuple[str, str]]]] = [
    (
        '{"_extends": "coreml", "_devices": {"gpu": "cpu"}, "_native": ["mul"]}',
        "navigator.ml.createContext({deviceType: 'gpu'})",
        {("create a context", "4"), ("ML.createContext(options)", "5.1")},
    ),
    (
        '{"_extends": "coreml", "_native": ["mul"]}',
        """navigator.ml.createContext().then(context => {
          const builder = new MLGraphBuilder(context);
          return builder.build({y: builder.relu(builder.input('x', {dataType: 'float32', shape: [1]}))});
        })""",
        {("MLGraphBuilder.build(outputs)", "18.1.2")},
    ),
]


@needs_quickjs
@pytest.mark.processes
@pytest.mark.parametrize(("profile", "program", "steps"), SETTINGS, ids=["createContext", "build"])
def test_settings_of_the_emulator_reach_steps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, profile: str, program: str, steps: set[tuple[str, str]]
) -> None:
    (tmp_path / "small.json").write_text(profile, encoding="utf-8")
    monkeypatch.setenv("WEBNN_PROFILE", str(tmp_path / "small.json"))
    monkeypatch.setenv("WEBNN_FALLBACK", "deny")
    script = f"promise_test(async () => {{ try {{ await {program}; }} catch {{ return; }} assert_unreached('it was accepted'); }}, 'a');"
    root = make_checkout(tmp_path / "wpt", {"a.https.any.js": script})
    measured = measure(root, ["webnn/a.https.any.js"], find_level("2026-06"), jobs=1)
    (result,) = measured.results.values()
    assert [(each.status, each.message) for each in result.subtests] == [("PASS", "")]
    assert {("2026-06", *each) for each in steps} <= set(measured.reached) & set(reached.reasons())


def test_steps_that_only_we_reach() -> None:
    first, second, third = list(citations())[:3]
    found = {third: f"{OURS}webnn/x.js", second: "webnn/y.js", first: f"{OURS}webnn/x.js"}
    assert reached.new_steps(found) == {"webnn/x.js": [first, third]}


def test_a_file_that_fails() -> None:
    def measured(result: FileResult) -> Measured:
        return Measured(results={"x.js": result}, reached={})

    empty = FileResult(file="x.js", variant="", status=FileStatus.OK, message="", subtests=[], seconds=0.0)
    with pytest.raises(ValueError, match=r"x\.js must pass here, got OK"):
        reached._require_success(measured(empty))


@needs_quickjs
@pytest.mark.processes
@pytest.mark.parametrize("draft", ["2024-06", "2026-06"])
def test_our_files_pass_here(draft: str, tmp_path: Path) -> None:
    found = reach.load(reached.FILE)
    root = small_checkout(tmp_path / "wpt")
    ran = 0
    ours: dict[Key, set[str]] = {}
    for measured in reached.measure_ours(root, draft, jobs=2):
        for name, result in measured.results.items():
            assert result.status is FileStatus.OK, (name, result.message)
            assert [(each.name, each.message) for each in result.subtests if each.status is not SubtestStatus.PASS] == [], name
            assert result.subtests, name
            ran += 1
        for key, names in measured.reached.items():
            ours.setdefault(key, set()).update(names)
    assert ran == len([each for each in our_files() if folder_of(each.draft) == folder_of(draft)])
    asserted = reached._read("asserted")
    for key, file in found.items():
        if key[0] == draft and file.startswith(OURS) and key not in asserted:
            assert file.removeprefix(OURS) in ours.get(key, ()), key
