"""The steps that can throw are those of the drafts: the extractor knows their forms, and an independent extraction found the same."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from tests.shared import SHARED
from tests.support import each_row
from webnn.validation.drafts import DRAFTS_WITH_TEXT
from webnn.validation.steps import Algorithm, load_steps

extract_steps = pytest.importorskip("tools.extract_steps", reason="widlparser is not installed")

#: A floor for the number of steps, by draft.
LEAST = {"2024-06": 329, "2026-06": 479}


@pytest.mark.shared
def test_the_file_is_what_the_draft_gives(capsys: pytest.CaptureFixture[str]) -> None:
    status = extract_steps.main([str(SHARED / "spec" / "webnn-2024-06.bs"), "2024-06", "--check"])
    assert status == 0, capsys.readouterr().err


@pytest.mark.parametrize("draft", DRAFTS_WITH_TEXT)
def test_the_amount(draft: str) -> None:
    assert sum(len(each.steps) for each in load_steps(draft).values()) >= LEAST.get(draft, 1)


def test_a_draft_without_data() -> None:
    with pytest.raises(ValueError, match="no steps of a draft '1999-01'"):
        load_steps("1999-01")


def is_named(algorithm: Algorithm, title: str) -> bool:
    """Tell whether a title, which may be cut off, is that of an algorithm."""
    name = algorithm.name.removeprefix("new ")
    called = name if algorithm.anchor else name.removeprefix("ML.").removeprefix("MLContext.").removeprefix("MLGraphBuilder.")
    text = title.removeprefix("The ").removeprefix("To ").removeprefix("[=new=] ")
    return text.startswith(called) or (len(title) == 90 and called.startswith(text))


@pytest.mark.shared
@pytest.mark.parametrize("draft", DRAFTS_WITH_TEXT)
def test_an_independent_extraction_found_the_same(draft: str) -> None:
    algorithms = load_steps(draft).values()
    found: set[tuple[str, str]] = set()
    missing: list[list[str]] = []
    with (SHARED / "spec" / f"throwing-steps-{draft}.csv").open(encoding="utf-8", newline="") as file:
        for section, title, number, text in csv.reader(file):
            named = [each for each in algorithms if each.section == section and is_named(each, title) and number in each.steps]
            if len(named) == 1:
                found.add((named[0].name, number))
            else:
                missing.append([section, title, number, text])
    assert missing == []
    assert found == {(each.name, number) for each in algorithms for number in each.steps}


def draft(text: str) -> dict[str, Any]:
    head = "<pre class='metadata'>\nTitle: T\nURL: https://example.org/\n</pre>\n### A section ### {#a-section}\n"
    algorithms: dict[str, Any] = extract_steps.extract(head + text, "2030-01")["algorithms"]
    return algorithms


def steps(*lines: str, summary: str = "The <dfn method for=MLGraphBuilder>f(|a|)</dfn> method steps are:") -> dict[str, list[str]]:
    text = "\n".join(["<details open algorithm>", "<summary>", summary, "</summary>", *lines, "</details>"])
    (algorithm,) = draft(text).values()
    # The hashes are those of the texts; what they are does not matter.
    return {number: [what, *kind] for number, (what, _, *kind) in algorithm["steps"].items()}


THROW = "[=exception/throw=] a {{TypeError}}."

FORMS = [
    # steps, what throws
    ([f"    1. If |a| is 0, then {THROW}"], {"1": ["TypeError"]}),
    (["    1. Let |b| be |a|.", f"    1. If |b| is 0, then {THROW}"], {"2": ["TypeError"]}),
    (
        ["    1. For each:", f"        1. {THROW}", "    1. For each:", "        1. A.", f"        1. {THROW}"],
        {"1.1": ["TypeError"], "2.2": ["TypeError"]},
    ),
    (["    1. A.", "", "        Note: an implementation may throw.", "", f"    1. {THROW}"], {"2": ["TypeError"]}),
    (["    1. If |a| is 0,", f"        then {THROW}"], {"1": ["TypeError"]}),
    (['    1. Return [=a new promise=] [=rejected=] with a "{{DataError}}" {{DOMException}}.'], {"1": ["DataError"]}),
    (["    1. If that threw an exception, return [=a new promise=] [=rejected=] with it."], {"1": ["error"]}),
    (["    1. If |a| is 0, return failure."], {"1": ["failure"]}),
    (["    1. If |a| is 0, then return false.", "    1. Return true."], {"1": ["false"]}),
    (["    1. A.", "        1. If that [=exception/throws=] an error, then re-[=exception/throw=] the error."], {"1.1": ["again"]}),
    ([f"    1. If [=this=] [=MLGraphBuilder/can not build=], then {THROW}"], {"1": ["TypeError", "can build"]}),
    (
        [f"    1. If [=MLGraphBuilder/validating operand=] with [=this=] and any of |a| and |b| returns false, then {THROW}"],
        {"1": ["TypeError", "operands", "a", "b"]},
    ),
    (
        [f"    1. If |a|'s [=MLOperand/dataType=] is not one of its [=/allowed data types=], then {THROW}"],
        {"1": ["TypeError", "data type", "a"]},
    ),
    (
        [
            "    1. If |options|.{{MLFOptions/bias}} [=map/exists=]:",
            f"        1. If its [=MLOperand/dataType=] is not one of its [=/allowed data types=], then {THROW}",
        ],
        {"1.1": ["TypeError", "data type", "bias"]},
    ),
    ([f"    1. If |a|'s [=MLOperand/rank=] is not its [=/allowed rank=], then {THROW}"], {"1": ["TypeError", "rank", "a"]}),
]


@each_row(("lines", "expected"), FORMS)
def test_forms_of_steps(lines: list[str], expected: dict[str, list[str]]) -> None:
    assert steps(*lines) == expected


def test_the_hash_is_that_of_the_words() -> None:
    def digest(text: str) -> str:
        return str(next(iter(draft(f"<div algorithm>\nTo <dfn>g</dfn>:\n    1. {text}\n</div>").values()))["steps"]["1"][1])

    assert digest("If |a| is 0, return failure.") == digest("if  |a| is 0  then return failure".replace("then ", ""))
    assert digest("If |a| is 0, return failure.") != digest("If |a| is 1, return failure.")


NAMES = [
    ("The <dfn method for=MLGraphBuilder>f(|a|, |b|)</dfn> method steps are:", "MLGraphBuilder.f(a, b)", ""),
    ("The <dfn constructor for=MLGraphBuilder lt='x'>MLGraphBuilder(|context|)</dfn> steps are:", "new MLGraphBuilder(context)", ""),
    ("To <dfn>do a thing</dfn> given |a|:", "do a thing", "do-a-thing"),
    ('To <dfn for="MLGraphBuilder" data-lt="thing-op">create a thing</dfn>:', "create a thing", "mlgraphbuilder-thing-op"),
]


@pytest.mark.parametrize(("summary", "name", "anchor"), NAMES)
def test_names(summary: str, name: str, anchor: str) -> None:
    algorithms = draft(f"<p algorithm>\n{summary}\n    1. If it fails, return failure.\n</p>")
    assert list(algorithms) == [name]
    assert (algorithms[name]["section"], algorithms[name].get("anchor", "")) == ("a-section", anchor)


RUN = """
<details open algorithm>
  <summary>To <dfn for="MLGraphBuilder">create sum operation</dfn>:</summary>
    1. If it fails, return failure.
</details>
<div algorithm>
The <dfn method for=MLGraphBuilder>sum(|a|)</dfn> method steps are:
    1. Let |output| be the result of [=MLGraphBuilder/creating sum operation=] given |a|.
        1. If that [=exception/throws=] an error, then re-[=exception/throw=] the error.
</div>
"""


def test_the_algorithm_that_a_method_runs() -> None:
    assert draft(RUN)["MLGraphBuilder.sum(a)"]["runs"] == "mlgraphbuilder-create-sum-operation"


WRONG = [
    ("", "no algorithm with a step that throws"),
    ("<div algorithm>\n    1. If it fails, return failure.\n</div>", "an algorithm has no name"),
    ("<div algorithm>\nTo <dfn>g</dfn>:\n    1. If it fails, return failure.", "line 6: the algorithm has no end"),
    ("<div algorithm>\nTo <dfn>g</dfn>:\n    1. If it fails, return failure.\n</div>\n" * 2, "two algorithms 'g'"),
    (RUN.replace("create sum", "create a sum"), "run algorithms that are not there"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_forms_that_are_not_known(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draft(text)
