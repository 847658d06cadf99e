"""The tool for the coverage of the specification's steps: tags, and runs of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tools import spec_coverage
from tools.steps import cited, reach
from tools.steps.cited import Function, Key
from webnn.validation.steps.tags import Tag, parse

CONV2D = "MLGraphBuilder.conv2d(input, filter, options)"


def find(name: str, text: str) -> tuple[Function, Tag]:
    """Return a function, and the first one of its tags with a text."""
    function = next(each for each in cited.functions() if each.name == name)
    return function, next(tag for tag in function.tags if tag.parts == parse(text))


WRONG = [
    # a tag in the place of another one of conv2d, and what is wrong with it
    ("99", "the tag cites 99, which is not a throwing step of any draft"),
    ("15.5", "step 15.5 of 2026-06 does not throw"),
    ("15.5; 2026-06: 6.6", "step 6.6 of 2026-06 does not throw"),
    ("#no-such-section 1", "the tag cites 1, which is not a throwing step of any draft"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_wrong_tags(text: str, message: str) -> None:
    function, tag = find("conv2d", "15.5; 2026-06: 16.5")
    assert any(message in problem for problem in cited._tag_problems(function, replace(tag, parts=parse(text))))


def test_a_tag_with_too_few_steps_for_the_function_that_it_calls() -> None:
    function, tag = find("conv2d", "7, 9, 10, 12, 13; 2026-06: 8, 10, 11, 13, 14")
    problems = list(cited._tag_problems(function, replace(tag, parts=parse("7, 9; 2026-06: 8, 10"))))
    assert problems == ["_check_window() has 5 steps, and the tag cites 2"] * 2


def test_the_step_of_all_operations_of_a_validator() -> None:
    function, _ = find("same_as_input", "2; 2026-06: 3")
    named = {algorithm.method for algorithm in cited.algorithms(function, "2026-06")}
    assert {"elu", "tanh"} < named
    assert "clamp" not in named


def record(
    function: Function, line: int, draft: str, operation: str, argument: str = "", test: str = "tests/a.py::test"
) -> dict[str, object]:
    frames = [["webnn.validation.operation", 1], [function.module, line]]
    return {"errors": [[frames, draft, operation, argument, test]], "lines": {}}


def resolve(records: Sequence[Mapping[str, Any]]) -> dict[Key, str]:
    return reach.simplest(reach.gather(records))


def test_an_error_reaches_its_step() -> None:
    function, tag = find("conv2d", "15.5; 2026-06: 16.5")
    assert resolve([record(function, tag.last, "2026-06", "conv2d")]) == {("2026-06", CONV2D, "16.5"): "tests/a.py::test"}


def test_an_error_reaches_the_step_of_its_operation_only() -> None:
    function, tag = find("same_as_input", "2; 2026-06: 3")
    reached = resolve([record(function, tag.first, "2026-06", "elu")])
    assert [name for _, name, _ in reached] == ["MLGraphBuilder.elu(input, options)"]


def test_an_error_reaches_the_step_of_a_letter() -> None:
    function, tag = find("conv2d", "7, 9, 10, 12, 13; 2026-06: 8, 10, 11, 13, 14")
    helper, inner = find("_check_window", "b")
    error = record(function, tag.first, "2024-06", "conv2d")
    frames = [[helper.module, inner.first], [function.module, tag.first]]
    error["errors"] = [[frames, "2024-06", "conv2d", "options.strides", "tests/a.py::test"]]
    assert list(resolve([error])) == [("2024-06", CONV2D, "9")]


def test_an_error_reaches_the_step_of_its_operand() -> None:
    function, tag = find("BuilderBase._checkLimits", "2026-06: rank")
    reached = resolve([record(function, tag.first, "2026-06", "conv2d", "filter")])
    assert list(reached) == [("2026-06", CONV2D, "5")]


def test_a_line_that_returns_a_failure_reaches_its_step() -> None:
    function, tag = find("unidirectionally_broadcast", "3")
    lines = {str(cited.ROOT / function.path): {str(tag.last): ["tests/a.py::test"]}}
    reached = resolve([{"errors": [], "lines": lines}])
    assert list(reached) == [(draft, "unidirectionally broadcast the shapes", "3") for draft in ("2024-06", "2026-06")]


def test_the_simplest_test_is_kept() -> None:
    function, tag = find("conv2d", "15.5; 2026-06: 16.5")
    tests = [
        "tests/webnn/test_a.py::test",
        "tests/validation/test_conv.py::test_of_a_profile",
        "tests/validation/test_conv.py::test_groups",
    ]
    records = [record(function, tag.last, "2026-06", "conv2d", test=test) for test in tests]
    assert list(resolve(records).values()) == ["tests/validation/test_conv.py::test_groups"]
    [(key, reached)] = reach.gather(records).items()
    assert reach.simplest({key: reached}, {key: tests[0]}) == {key: tests[0]}
    assert reach.simplest({key: reached}, {key: "tests/gone.py::test"}) == {key: tests[2]}


def test_steps_that_no_test_reaches() -> None:
    reached = reach.load()
    key = next(iter(reached))
    without = {each: test for each, test in reached.items() if each != key}
    assert [message for message in spec_coverage.unreached(without) if "but no test reaches it" in message] != []
    unneeded = next(iter(cited.reasons()[1]))
    assert [message for message in spec_coverage.unreached({**reached, unneeded: "tests/a.py::test"}) if "needs none" in message] != []


def test_a_record_that_is_stale(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The night measures, and fails if a test that is kept does not reach its step any more, though others do."""
    reached: dict[Key, set[str]] = {key: {test, "tests/other.py::test"} for key, test in reach.load().items()}
    monkeypatch.setattr(reach, "measure", lambda _: reached)
    assert spec_coverage.main(["--check", "--measure"]) == 0
    capsys.readouterr()
    key, test = next(iter(reach.load().items()))
    reached[key].remove(test)
    assert spec_coverage.main(["--check", "--measure"]) == 1
    assert capsys.readouterr().err.splitlines()[0] == f"{test} does not reach {key}, though reached.json says so"


@pytest.mark.processes
def test_tests_are_measured(tmp_path: Path) -> None:
    """A run keeps each test that reaches a step, and not only the first one."""
    file = tmp_path / "test_two.py"
    file.write_text(
        """
import pytest
from webnn import ML, MLGraphBuilder

@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_one(dtype):
    test_other(dtype)

def test_other(dtype="uint8"):
    builder = MLGraphBuilder(ML(revision="2024-06").createContextSync())
    with pytest.raises(TypeError):
        builder.elu(builder.input("x", {"dataType": dtype, "dimensions": [1]}))
""",
        encoding="utf-8",
    )
    settings = tmp_path / "pytest.ini"
    settings.write_text("[pytest]\n", encoding="utf-8")
    reached = reach.measure([str(file), "-c", str(settings)])
    [tests] = [tests for (_, name, _), tests in reached.items() if "elu" in name]
    assert {test.rpartition("::")[2] for test in tests} == {"test_one", "test_other"}


def test_a_page_that_is_not_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "spec-coverage.md"
    copy.write_text(spec_coverage.PAGE.read_text(encoding="utf-8").replace("| TypeError |", "| DataError |", 1), encoding="utf-8")
    monkeypatch.setattr(spec_coverage, "PAGE", copy)
    assert spec_coverage.main(["--check"]) == 1
    assert "spec-coverage.md is outdated" in capsys.readouterr().err
    monkeypatch.setattr(reach, "FILE", tmp_path / "reached.json")
    (tmp_path / "reached.json").write_text(reach.render({}), encoding="utf-8")
    assert spec_coverage.main(["--check"]) == 1
    assert "but no test reaches it" in capsys.readouterr().err


def test_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, reached = spec_coverage.PAGE.read_text(encoding="utf-8"), reach.FILE.read_text(encoding="utf-8")
    monkeypatch.setattr(spec_coverage, "PAGE", tmp_path / "spec-coverage.md")
    monkeypatch.setattr(reach, "FILE", tmp_path / "reached.json")
    spec_coverage.PAGE.write_text(text.partition("\n## The draft ")[0], encoding="utf-8")
    reach.FILE.write_text(reached, encoding="utf-8")
    assert spec_coverage.main([]) == 0
    assert (spec_coverage.PAGE.read_text(encoding="utf-8"), reach.FILE.read_text(encoding="utf-8")) == (text, reached)
