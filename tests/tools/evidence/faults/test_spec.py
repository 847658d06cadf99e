"""The texts on the drafts: each belongs to a row of docs/spec-issues.md, is complete, and its program shows what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.evidence.faults.entries import UPSTREAM, load_results
from tools.evidence.faults.hosts import run_here
from tools.evidence.faults.index import EMULATOR
from tools.evidence.faults.spec import ISSUES, README, RESULTS, SPEC, Text, read_rows, read_text, read_texts, spec_files

needs_folder = pytest.mark.skipif(not UPSTREAM.is_dir(), reason="the source distribution has no folder upstream/")
TEXTS = read_texts() if UPSTREAM.is_dir() else []
PARTS = ("The text", "The problem", "Example", "Suggestion")
PAGE = """
## Operations

| section | the draft | here | why | upstream |
|---|---|---|---|---|
| `#a` | one | x | y | {} |

| section | the page | here | why |
|---|---|---|---|
| `Clamp` | two | x | y |
"""


def test_every_table_of_the_drafts_has_the_column() -> None:
    heads = [line for line in ISSUES.read_text(encoding="utf-8").splitlines() if line.startswith("| section")]
    assert [line for line in heads if not line.endswith("| upstream |")] == []
    assert {"Interfaces", "Operations", "The draft of June 2026", "XLA's operation semantics"} == {row.heading for row in read_rows()}


@needs_folder
def test_each_row_has_its_text_and_each_text_a_row() -> None:
    linked = {row.value for row in read_rows() if row.state == "text"}
    assert linked == {text.name for text in TEXTS}


@needs_folder
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_each_text_is_complete(text: Text) -> None:
    content = (SPEC / f"{text.name}.md").read_text(encoding="utf-8")
    assert [line.removeprefix("## ") for line in content.splitlines() if line.startswith("## ")] == [*PARTS]
    assert set(text.head) - {"Web-platform-tests"} == {"Section", "Checked against", "Issue upstream"}
    assert all(part.partition("\n")[2].strip() for part in content.split("\n## "))


@needs_folder
@pytest.mark.sample(10)
@pytest.mark.parametrize("text", [each for each in TEXTS if each.program], ids=lambda text: text.name)
def test_each_program_shows_the_outcome_that_is_stated(text: Text) -> None:
    assert run_here(text.program) == load_results(RESULTS)[text.name][EMULATOR]


@needs_folder
def test_the_files_are_up_to_date_and_no_other_is_there() -> None:
    for path, content in spec_files().items():
        assert path.read_text(encoding="utf-8") == content, f"{path.name}: python -m tools.evidence.faults write"
    assert {*SPEC.iterdir()} == {README, RESULTS, *(SPEC / f"{text.name}.md" for text in TEXTS)}
    assert set(load_results(RESULTS)) == {text.name for text in TEXTS if text.program}


@needs_folder
def test_the_index_names_every_entry() -> None:
    content = README.read_text(encoding="utf-8")
    for row in read_rows():
        assert row.state == "text" or f"| {row.section} | {row.says} |" in content


@pytest.mark.parametrize(
    ("cell", "state", "value"),
    [
        ("[clamp-defaults](../upstream/spec/clamp-defaults.md)", "text", "clamp-defaults"),
        ("settled: 9f58451", "settled", "9f58451"),
        ("settled: #953", "settled", "#953"),
        ("settled: openxla/xla@0388230", "settled", "openxla/xla@0388230"),
        ("open upstream: #486", "open", "#486"),
        ("a choice: the formula is clear", "choice", "the formula is clear"),
        ("not checked: HTML", "unchecked", "HTML"),
    ],
)
def test_rows(tmp_path: Path, cell: str, state: str, value: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(cell), encoding="utf-8")
    (row,) = read_rows(page)
    assert (row.heading, row.section, row.says, row.state, row.value) == ("Operations", "`#a`", "one", state, value)


@pytest.mark.parametrize("cell", ["", "y", "settled: soon", "[a](../upstream/spec/b.md)", "a choice: "])
def test_a_row_without_a_state(tmp_path: Path, cell: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(cell), encoding="utf-8")
    with pytest.raises(ValueError, match=r"`#a` \(one\): the column upstream must have a text of upstream/spec"):
        read_rows(page)


def test_a_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# T\n\n- Section: `#a`\n\n## The text\n\n- Not: head\n\n```javascript\nconsole.log(1);\n```\n", encoding="utf-8")
    assert read_text(path) == Text(name="a", title="T", head={"Section": "`#a`"}, program="console.log(1);\n")
