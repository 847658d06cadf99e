"""Comparing two runs, and the command that does it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.support import each_row
from webnn.wpt_runner.commands.compare import command
from webnn.wpt_runner.compare import Change, Comparison, Lone, compare
from webnn.wpt_runner.reports.wptreport import write_wptreport
from webnn.wpt_runner.results import FileResult, FileStatus, RunResult, Subtest, SubtestStatus

CPU = "/webnn/relu.https.any.html?cpu"


def made(status: str = "OK", *, name: str = CPU, subsuite: str = "", **subtests: str) -> FileResult:
    """Return a test; its subtests have the statuses given by name, and say why if they do not pass."""
    page, mark, variant = name.partition("?")
    outcomes = [Subtest(name=each, status=SubtestStatus(value), message=f"{each} says {value}") for each, value in subtests.items()]
    return FileResult(
        file=page, variant=mark + variant, status=FileStatus(status), subtests=outcomes, subsuite=subsuite, message=f"it is {status}"
    )


def run(*results: FileResult) -> RunResult:
    return RunResult(results=results, info={"product": "webnn", "product_version": "1.0", "revision": "f7769857250000"})


def summary(comparison: Comparison) -> dict[str, list[str]]:
    """Return all that differs as short texts; what is empty is left out."""

    def change(each: Change) -> str:
        return f"{each.test} {each.subtest or '*'} {each.before or '-'} {each.after or '-'}"

    def lone(each: Lone) -> str:
        return f"{each.test} {each.subtest or '*'} {each.status} {each.subtests}"

    texts = {
        "failing": [change(each) for each in comparison.newly_failing],
        "passing": [change(each) for each in comparison.newly_passing],
        "changed": [change(each) for each in comparison.changed],
        "before": [lone(each) for each in comparison.only_before],
        "after": [lone(each) for each in comparison.only_after],
        "paired": [" ".join(names) for names in comparison.paired],
    }
    return {name: found for name, found in texts.items() if found}


GPU, WORKER = "/webnn/relu.https.any.html?gpu", "/webnn/relu.https.any.worker.html?cpu"
CASES: dict[str, tuple[list[FileResult], list[FileResult], dict[str, list[str]]]] = {
    "nothing": ([], [], {}),
    "the same": ([made(a="PASS", b="FAIL")], [made(a="PASS", b="FAIL")], {}),
    "fails": ([made(a="PASS", b="PASS")], [made(a="FAIL", b="PASS")], {"failing": [f"{CPU} a PASS FAIL"]}),
    "passes": ([made(a="TIMEOUT")], [made(a="PASS")], {"passing": [f"{CPU} a TIMEOUT PASS"]}),
    "changes": ([made(a="FAIL")], [made(a="NOTRUN")], {"changed": [f"{CPU} a FAIL NOTRUN"]}),
    "crashes, with its subtests": (
        [made(a="PASS", b="FAIL")],
        [made("CRASH")],
        {"failing": [f"{CPU} * OK CRASH", f"{CPU} a PASS -"], "changed": [f"{CPU} b FAIL -"]},
    ),
    "is late, with half of its subtests": (
        [made(a="PASS", b="PASS")],
        [made("TIMEOUT", a="PASS")],
        {"failing": [f"{CPU} * OK TIMEOUT", f"{CPU} b PASS -"]},
    ),
    "crashes no more": (
        [made("CRASH", a="PASS")],
        [made(a="PASS", b="PASS", c="FAIL")],
        {"passing": [f"{CPU} * CRASH OK", f"{CPU} b - PASS"], "changed": [f"{CPU} c - FAIL"]},
    ),
    "crashes in another way": ([made("CRASH")], [made("ERROR")], {"changed": [f"{CPU} * CRASH ERROR"]}),
    "is skipped": ([made()], [made("SKIP")], {"failing": [f"{CPU} * OK SKIP"]}),
    "other subtests": ([made(a="PASS")], [made(b="FAIL")], {"before": [f"{CPU} a PASS 0"], "after": [f"{CPU} b FAIL 0"]}),
    "other tests": (
        [made(a="PASS"), made(name="/both.html", a="PASS")],
        [made("CRASH", name=WORKER), made(name="/both.html", a="PASS")],
        {"before": [f"{CPU} * OK 1"], "after": [f"{WORKER} * CRASH 0"]},
    ),
    "other variants": ([made()], [made(name=GPU)], {"before": [f"{CPU} * OK 0"], "after": [f"{GPU} * OK 0"]}),
    "another subsuite": ([made()], [made(subsuite="gpu")], {"before": [f"{CPU} * OK 0"], "after": [f"gpu:{CPU} * OK 0"]}),
    "twice": ([made(a="PASS"), made(a="FAIL")], [made(a="PASS"), made(a="PASS")], {"passing": [f"{CPU} a FAIL PASS"]}),
}


@each_row("case", CASES)
def test_compare(case: str) -> None:
    before, after, expected = CASES[case]
    assert summary(compare(run(*before), run(*after))) == expected


@each_row("case", CASES)
def test_compare_backwards(case: str) -> None:
    """In the other direction, everything is on the other side."""
    before, after, expected = CASES[case]
    found = summary(compare(run(*after), run(*before)))
    other_side = {"failing": "passing", "passing": "failing", "before": "after", "after": "before"}
    assert {name: len(each) for name, each in found.items()} == {other_side.get(name, name): len(each) for name, each in expected.items()}


BLIND: dict[str, tuple[list[FileResult], list[FileResult], dict[str, list[str]]]] = {
    "one of each": ([made(a="PASS")], [made(name=GPU, a="FAIL")], {"failing": [f"{GPU} a PASS FAIL"], "paired": [f"{CPU} {GPU}"]}),
    "the same first": ([made(), made(name=GPU)], [made(name=GPU)], {"before": [f"{CPU} * OK 0"]}),
    "two of them": (
        [made(), made(name=GPU)],
        [made(name="/webnn/relu.https.any.html")],
        {"before": [f"{CPU} * OK 0", f"{GPU} * OK 0"], "after": ["/webnn/relu.https.any.html * OK 0"]},
    ),
    "a subsuite": ([made()], [made(subsuite="gpu")], {"paired": [f"{CPU} gpu:{CPU}"]}),
    "a worker is not a variant": ([made()], [made(name=WORKER)], {"before": [f"{CPU} * OK 0"], "after": [f"{WORKER} * OK 0"]}),
}


@pytest.mark.parametrize("case", BLIND)
def test_variant_blind(case: str) -> None:
    before, after, expected = BLIND[case]
    assert summary(compare(run(*before), run(*after), variant_blind=True)) == expected


def test_messages_and_counts() -> None:
    comparison = compare(run(made(a="PASS", b="FAIL", c="PASS")), run(made("ERROR", a="FAIL", b="PASS", c="PASS")))
    wanted = {None: "it is ERROR", "a": "a says FAIL", "b": "b says FAIL"}
    assert {each.subtest: each.message for each in (*comparison.newly_failing, *comparison.newly_passing)} == wanted
    assert (comparison.common, comparison.same) == (1, 1)
    assert comparison.before.tests == {FileStatus.OK: 1}
    assert comparison.before.subtests == comparison.after.subtests == {SubtestStatus.PASS: 2, SubtestStatus.FAIL: 1}


# The command.


def invoke(folder: Path, before: RunResult, after: RunResult, *options: str) -> Result:
    write_wptreport(before, folder / "a.json")
    write_wptreport(after, folder / "b.json")
    return invoke_with(str(folder / "a.json"), str(folder / "b.json"), *options)


def invoke_with(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, arguments)


def body(result: Result) -> list[str]:
    """Return what is printed below the paths, without trailing blanks."""
    return [line.rstrip() for line in result.stdout.splitlines()[2:]]


def test_a_regression(tmp_path: Path) -> None:
    before = run(made(a="PASS", b="PASS", c="FAIL"), made(name="/old.html"))
    after = run(made(a="FAIL", b="PASS", c="PASS", d="PASS"))
    result = invoke(tmp_path, before, after)
    assert result.exit_code == 1
    assert all(line.endswith(".json  webnn 1.0 f776985725") for line in result.stdout.splitlines()[:2])
    assert body(result) == [
        "",
        "          before  after  difference",
        "tests          2      1          -1",
        "  OK           2      1          -1",
        "subtests       3      4          +1",
        "  PASS         2      3          +1",
        "  FAIL         1      1",
        "",
        "Newly failing  1",
        f"  {CPU}",
        "    PASS → FAIL  a",
        "      a says FAIL",
        "",
        "Newly passing  1",
        f"  {CPU}",
        "    FAIL → PASS  c",
        "      c says FAIL",
        "",
        "Only before  1 test with 0 subtests  (--all lists them)",
        "",
        "Only after  1 subtest of tests in both  (--all lists them)",
        "",
        "1 newly failing, 1 newly passing, 0 changed otherwise, 2 the same, 1 test in both",
    ]
    assert "\x1b" not in result.stdout


def test_everything_is_listed(tmp_path: Path) -> None:
    before = run(made(**{f"s{number}": "PASS" for number in range(100)}), made(name="/old.html", x="FAIL"))
    after = run(made(e="ASSERT", **{f"s{number}": "FAIL" for number in range(100)}))
    short, long = invoke(tmp_path, before, after), invoke(tmp_path, before, after, "--all")
    assert short.stdout.count("PASS → FAIL") == 25
    assert "  and 75 more (--all lists them)" in body(short)
    assert long.stdout.count("PASS → FAIL") == 100
    assert "  /old.html  OK  1 subtest" in body(long)
    lines = body(long)
    assert lines[lines.index("    ASSERT  e") - 1] == f"  {CPU}"
    assert "--all" not in long.stdout


def test_a_crash_is_told_once(tmp_path: Path) -> None:
    before, after = run(made(**{f"s{number}": "PASS" for number in range(100)})), run(made("CRASH"))
    lines = body(invoke(tmp_path, before, after))
    assert lines[lines.index("Newly failing  101") :][:5] == [
        "Newly failing  101",
        f"  {CPU}",
        "    OK → CRASH  the test as a whole",
        "      it is CRASH",
        "    PASS → absent  100 subtests",
    ]
    assert invoke(tmp_path, before, after, "--all").stdout.count("PASS → absent  s") == 100


def test_no_regression(tmp_path: Path) -> None:
    result = invoke(tmp_path, run(made(a="FAIL", b="FAIL")), run(made(a="TIMEOUT", b="PASS")))
    assert result.exit_code == 0
    assert body(result)[-1] == "0 newly failing, 1 newly passing, 1 changed otherwise, 1 the same, 1 test in both"
    # A status that only one of the reports has counts 0 in the other one.
    rows = [line.split() for line in body(result)]
    assert [row for row in (["PASS", "0", "1", "+1"], ["FAIL", "2", "0", "-2"], ["TIMEOUT", "0", "1", "+1"]) if row not in rows] == []


def test_as_json(tmp_path: Path) -> None:
    target = tmp_path / "c.json"
    assert invoke(tmp_path, run(made(a="PASS")), run(made("CRASH")), "--json", str(target)).exit_code == 1
    content: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    assert content["reports"] == {"before": str(tmp_path / "a.json"), "after": str(tmp_path / "b.json")}
    assert content["newly_failing"] == [
        {"test": CPU, "subtest": None, "before": "OK", "after": "CRASH", "message": "it is CRASH"},
        {"test": CPU, "subtest": "a", "before": "PASS", "after": None, "message": ""},
    ]
    assert content["before"] == {"tests": {"OK": 1}, "subtests": {"PASS": 1}}
    assert content["same"] == 0


def test_filter(tmp_path: Path) -> None:
    before = run(made(a="PASS"), made(name="/css/x.html", a="PASS"))
    after = run(made(a="PASS"), made(name="/css/x.html", a="FAIL"))
    assert invoke(tmp_path, before, after).exit_code == 1
    assert invoke(tmp_path, before, after, "--filter", "/webnn/").exit_code == 0
    assert invoke(tmp_path, before, after, "--filter", "/webnn/", "--filter", "css").exit_code == 1


def test_variants(tmp_path: Path) -> None:
    before, after = run(made(a="PASS")), run(made(name=GPU, a="PASS"))
    refused = invoke(tmp_path, before, after)
    assert (refused.exit_code, refused.stderr) == (2, "webnn: the reports have no test in common; --variant-blind pairs other variants\n")
    paired = invoke(tmp_path, before, after, "--variant-blind", "--all")
    assert paired.exit_code == 0
    lines = body(paired)
    assert lines[lines.index(f"  {CPU}  {GPU}") - 1] == "Paired  1 test although the variants differ"
    assert body(paired)[-1].endswith("1 test in both (1 paired across variants)")


def test_nothing_in_common(tmp_path: Path) -> None:
    refused = invoke(tmp_path, run(), run(made()))
    assert (refused.exit_code, refused.stderr) == (2, "webnn: the reports have no test in common\n")


def test_a_report_of_a_browser(tmp_path: Path) -> None:
    """Of a crashed test a browser's report has no subtests; its run has workers and other members."""
    write_wptreport(run(made(a="PASS")), tmp_path / "a.json")
    crash = {"test": CPU, "status": "CRASH", "expected": "OK", "subtests": [], "duration": 5, "asserts": {"count": 1}}
    worker = {"test": WORKER, "status": "OK", "subtests": [{"name": "a", "status": "PASS", "message": None}]}
    report = {"run_info": {"product": "chrome", "debug": False}, "results": [crash, worker]}
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps(report).encode()))
    result = invoke_with(str(tmp_path / "a.json"), str(tmp_path / "b.json.gz"))
    assert result.exit_code == 1
    assert "    PASS → absent  a" in body(result)
    assert "Only after  1 test with 1 subtest  (--all lists them)" in body(result)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read: "), ("{}", "is not a wptreport: it has no member 'results'"), ("[", "is not a wptreport: it is not JSON")],
)
def test_a_report_that_cannot_be_read(content: str | None, message: str, tmp_path: Path) -> None:
    write_wptreport(run(made()), tmp_path / "a.json")
    bad = tmp_path / "bad.json"
    if content is not None:
        bad.write_text(content, encoding="utf-8")
    for sides in ((tmp_path / "a.json", bad), (bad, tmp_path / "a.json")):
        result = invoke_with(*map(str, sides))
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"webnn: {bad} {message}")
        assert result.stderr.count("\n") == 1


def test_json_that_cannot_be_written(tmp_path: Path) -> None:
    result = invoke(tmp_path, run(made()), run(made()), "--json", str(tmp_path / "none" / "c.json"))
    assert result.exit_code == 2
    assert "cannot be written: " in result.stderr


def test_any_text_can_be_printed(tmp_path: Path) -> None:
    strange = "[bold]\x1b[31m \ud800 \U0001f600 " + "x" * 1000
    result = invoke(tmp_path, run(made(**{strange: "PASS"})), run(made(**{strange: "FAIL"})))
    assert result.exit_code == 1
    (line,) = [line for line in body(result) if "→" in line]
    assert line.startswith("    PASS → FAIL  [bold]\\x1b[31m U+d800 \U0001f600 xxx")
    assert line.endswith("characters more)")
