"""Recording and verifying profiles. Without a browser, the page is a realm of the emulator with a profile of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import webnn
from tests.support import NEWEST
from tests.webnn.javascript.engines import make_realm
from webnn.browser.chromium import Chromium, PageCrashError, PageError, serve
from webnn.browser.profile_calls import Draws
from webnn.browser.profile_probe import Outcome, Page, judge
from webnn.browser.profile_record import record, write
from webnn.browser.profile_rules import Example, find_rules
from webnn.browser.profile_verify import compare_limits, verify
from webnn.commands import main as cli
from webnn.context.profiles import Profile, load_profile, make_profile
from webnn.context.profiles.difference import compare
from webnn.javascript.realm import require_engine

KEPT = ("cast", "concat", "gatherElements", "identity", "maxPool2d", "pad", "reduceMax", "reshape", "slice")
RULES: dict[str, Any] = {
    "concat": [{"must": {"inputs": {"dataTypes": ["float32", "int32"]}}, "error": "UnknownError"}],
    "gatherElements": [{"must": {"indices": {"constant": True}}, "error": "NotSupportedError"}],
    "maxPool2d": [{"must": {"dilated": {"equals": False}}, "error": "NotSupportedError"}],
    "pad": [{"must": {"mode": {"oneOf": ["constant", "reflection"]}}, "error": "OperationError"}],
    "reduceMax": [
        {"must": {"input": {"rankRange": {"min": 0, "max": 2}}}, "when": {"input": {"dataTypes": ["float32"]}}, "error": "UnknownError"}
    ],
    "slice": [{"must": {"longStrides": {"equals": False}}, "at": "call", "error": "TypeError"}],
    "constant": [{"must": {"constant": {"maxByteLength": 3 << 20}}, "error": "NotSupportedError"}],
}


def small_profile(rules: dict[str, Any]) -> Profile:
    """Return a profile with few operations and types, and some rules."""
    limits: dict[str, Any] = load_profile("tflite").limits()
    said: dict[str, Any] = {
        name: row for name, row in limits.items() if name in KEPT or name in ("preferredInputLayout", "input", "output")
    }
    for operation in KEPT:
        for row in said[operation].values():
            row["dataTypes"] = [each for each in row["dataTypes"] if each in ("float32", "int32", "int8")]
            row["rankRange"]["max"] = min(row["rankRange"]["max"], 4)
    return make_profile("small", {**said, "constant": limits["constant"], "maxTensorByteLength": 4 << 20, "_build": rules})


def realm_of(profile: Profile, script: str = "") -> Callable[[str, object], Any]:
    """Return what calls a function in a new realm of the emulator, as `Chromium.evaluate` does in a page."""
    require_engine()
    answer: dict[str, Any] = {}
    realm = make_realm(
        lambda *_: None,
        NEWEST,
        ml=webnn.ML(revision=NEWEST, profile=profile, fallback="silent"),
        emit=lambda kind, text: answer.update({kind: json.loads(text)}),
        memory=1 << 29,
        dialect="browsers-2026",
    )
    realm.evaluate(script)

    def evaluate(function: str, argument: object) -> Any:
        answer.clear()
        done = "value => emit('done', JSON.stringify(value ?? null)), error => emit('failed', JSON.stringify(String(error)))"
        realm.connect(f"(window, emit) => {{ (async () => ({function})({json.dumps(argument)}))().then({done}); }}")
        realm.run(lambda: bool(answer), time.monotonic() + 300)
        assert not realm.faults
        assert "failed" not in answer, answer["failed"]
        return answer["done"]

    return evaluate


@pytest.fixture(scope="module")
def browser() -> Page:
    """Return a page whose WebNN has rules."""
    return Page(realm_of(small_profile(RULES)))


def test_a_recorded_profile_is_the_one_of_the_page(browser: Page) -> None:
    told: list[str] = []
    recorded = record(browser, {"summary": "a realm"}, probes=120, tell=lambda operation, *_: told.append(operation))
    assert set(told) == {*KEPT, "constant"}
    assert recorded.unexplained == {}
    assert recorded.probes >= 120 * len(KEPT)
    text = write(recorded.data)
    assert json.loads(text) == recorded.data
    assert all(len(line) < 2000 for line in text.splitlines())
    profile = make_profile("recorded", recorded.data)
    assert profile.summary == "a realm"
    assert compare(small_profile(RULES), profile) == []
    assert profile.members["interfaces"]["MLGraph"] == ["destroy", "devices"]
    assert profile.members["dictionaries"]["MLPadOptions"] == ["label", "mode", "value"]
    assert profile.members["dictionaries"]["MLTensorDescriptor"] == ["dataType", "dimensions", "readable", "shape", "usage", "writable"]
    assert {message for rules in profile.rules.values() for message in [rules[0].says]} >= {
        'gatherElements: indices must be a constant on the device profile "small", got an input'
    }


def test_verification(browser: Page) -> None:
    assert list(compare_limits(browser, small_profile(RULES))) == []
    done: list[int] = []
    assert verify(browser, small_profile(RULES), 500, seed=3, tell=done.append) == []
    assert done == [0, 250]


def test_what_disagrees(browser: Page) -> None:
    wrong = {
        **RULES,
        "pad": [],
        "identity": [{"must": {"input": {"dataTypes": ["float32"]}}}],
        "gatherElements": [{**RULES["gatherElements"][0], "error": "UnknownError"}],
    }
    found = verify(browser, small_profile(wrong), 500, seed=3)
    assert {(each.call["operation"], each.page[:2], each.profile[:2]) for each in found} == {
        ("pad", ("build", "OperationError"), ("", "")),
        ("identity", ("", ""), ("build", "NotSupportedError")),
        ("gatherElements", ("build", "NotSupportedError"), ("build", "UnknownError")),
    }
    assert [each.count for each in found] == sorted((each.count for each in found), reverse=True)
    text = str(next(each for each in found if each.call["operation"] == "identity"))
    assert "the browser accepts it, the profile refuses it in build() with NotSupportedError (identity: input must have" in text
    assert text.splitlines()[1].startswith("  identity(int")


def test_limits_that_differ(browser: Page) -> None:
    other = make_profile("other", {**small_profile(RULES).limits(), "maxTensorByteLength": 5, "slice": None})
    assert list(compare_limits(browser, other)) == ["maxTensorByteLength", "slice"]


def test_a_call_that_ends_the_page() -> None:
    evaluate = realm_of(small_profile({}))
    draws = Draws(small_profile({}), "1")
    calls = [draws.draw("identity") for _ in range(9)]

    def crash(function: str, argument: object) -> Any:
        if isinstance(argument, list) and calls[5] in argument:
            raise PageCrashError("the page ended")
        return evaluate(function, argument)

    found = Page(crash).attempt(calls)
    assert [each.at for each in found] == ["", "", "", "", "", "page", "", "", ""]
    assert found[5] == Outcome("page", "PageCrash", "the page ended")


def test_a_lost_context_is_made_again() -> None:
    script = """
    const build = MLGraphBuilder.prototype.build;
    let count = 0;
    MLGraphBuilder.prototype.build = function (...given) {
      if (count++ === 1) throw new DOMException('the context is lost', 'InvalidStateError');
      return build.apply(this, given);
    };"""
    calls = [Draws(small_profile({}), "1").draw("identity") for _ in range(3)]
    assert [each.at for each in Page(realm_of(small_profile({}), script)).attempt(calls)] == ["", "", ""]


def test_rules_need_evidence() -> None:
    profile = small_profile({})
    draws = Draws(profile, "1")
    facts = [verdict.facts for verdict in judge(profile, [draws.draw("identity") for _ in range(40)]) if verdict.facts]
    accepted = [Example(each, "", "") for each in facts]
    limits = profile.operations["identity"]
    assert find_rules(accepted, limits) == ([], [])
    # The same calls are accepted, too; and two refusals are too few.
    refused = [Example(each, "UnknownError", "no") for each in facts[:5]]
    assert find_rules([*accepted, *refused], limits) == ([], refused)
    few = [Example(each, "UnknownError", "no") for each in facts if len(each.operands["input"][0].descriptor.dimensions) == 4][:2]
    rest = [each for each in accepted if len(each.facts.operands["input"][0].descriptor.dimensions) < 4]
    assert find_rules([*rest, *few], limits) == ([], few)


def test_draws_are_reproducible_and_mostly_accepted() -> None:
    profile = load_profile("tflite")
    one, two = (Draws(profile, "7") for _ in range(2))
    calls = [one.draw(operation, near=near) for operation in one.operations for near in (0, 1)]
    assert calls == [two.draw(operation, near=near) for operation in two.operations for near in (0, 1)]
    assert set(one.operations) == set(profile.operations)
    assert json.loads(json.dumps(calls)) == calls
    accepted = [
        verdict.outcome.at != "call" for verdict in judge(profile, [one.draw(operation) for operation in one.operations for _ in range(5)])
    ]
    assert sum(accepted) > 0.95 * len(accepted)
    near = [verdict.outcome.at == "call" for verdict in judge(profile, [one.draw(operation, near=1) for operation in one.operations])]
    assert 0.2 * len(near) < sum(near) < 0.9 * len(near)


@pytest.mark.processes
def test_a_browser(browser_program: Path) -> None:
    with serve({}) as address, Chromium(browser_program) as chromium:
        chromium.open(address)
        page = Page(chromium.evaluate)
        recorded = make_profile("recorded", record(page, {}, probes=30).data)
        assert list(compare_limits(page, recorded)) == []
        assert verify(page, recorded, 250)[3:] == []


def replace_browser(monkeypatch: pytest.MonkeyPatch, evaluate: Callable[[str, object], Any]) -> None:
    """Let the command start a browser whose page is a realm."""

    class Browser:
        version, title, name = "160.1.2", "Chromium", "Chromium 160.1.2"

        def __init__(self, program: Path) -> None:
            assert program.name == "chromium"

        def __enter__(self) -> Browser:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def open(self, address: str) -> None:
            assert address.startswith("http://127.0.0.1:")

        def evaluate(self, function: str, argument: object) -> Any:
            return evaluate(function, argument)

    monkeypatch.setattr("webnn.browser.chromium.Chromium", Browser)
    monkeypatch.setattr("webnn.browser.chromium.find_browser", lambda program: program)


def test_a_browser_without_a_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = realm_of(load_profile("tflite"))

    def refuse(function: str, argument: object) -> Any:
        if function.endswith(".limits(given)"):
            raise PageError("NotSupportedError", "WebNN is not supported on this platform.")
        return evaluate(function, argument)

    replace_browser(monkeypatch, refuse)
    file = tmp_path / "mine.json"
    start = ["profiles", "record", "--browser", "chromium", "-o", str(file)]
    result = CliRunner().invoke(cli.app, start)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert result.stderr.startswith("Chromium 160.1.2: has the interfaces of WebNN, but no backend here, ")
    assert result.stderr.endswith(": NotSupportedError: WebNN is not supported on this platform.\n")
    data = json.loads(file.read_text(encoding="utf-8"))
    assert (sorted(data), sorted(data["_members"]["dictionaries"])) == (["_members", "_source"], ["MLContextOptions"])
    assert data["_members"]["interfaces"]["ML"] == ["createContext"]
    assert "powerPreference" in data["_members"]["dictionaries"]["MLContextOptions"]
    # Nothing can be verified.
    assert CliRunner().invoke(cli.app, [*start, "--verify", "5"]).exit_code == 1


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_browser(monkeypatch, realm_of(small_profile(RULES)))
    start = ["profiles", "record", "--browser", str(tmp_path / "chromium")]
    file = tmp_path / "mine.json"
    result = CliRunner().invoke(cli.app, [*start, "--probes", "120", "-o", str(file), "--verify", "200"])
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    lines = result.stderr.splitlines()
    # The progress is for terminals.
    assert lines == [
        "1200 probes, 7 rules",
        "the recorded profile: the same opSupportLimits(); 200 of 200 calls are judged alike; 0 are not",
    ]
    profile = load_profile(file)
    assert compare(small_profile(RULES), profile) == []
    assert (profile.summary.startswith("Chromium 160 on "), profile.source["browser"].startswith("Chromium 160.1.2, ")) == (True, True)
    # Another profile is verified, and is wrong.
    other = {**small_profile(RULES).limits(), "_build": {**RULES, "pad": []}}
    file.write_text(json.dumps(other), encoding="utf-8")
    result = CliRunner().invoke(cli.app, [*start, "--profile", str(file), "--verify", "200"])
    assert result.exit_code == 1
    assert "pad (" in result.stderr
    assert "mine.json: the same opSupportLimits(); " in result.stderr
    assert result.stderr.endswith(" are not, in 1 classes\n")
