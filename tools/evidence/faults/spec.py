"""The texts of `upstream/spec`, and their connection with the rows of docs/spec-issues.md, which is the list of all entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.evidence.faults.entries import UPSTREAM, load_results
from tools.evidence.faults.index import EMULATOR, TOOL, cell
from tools.written import fill

__all__ = ["ISSUES", "README", "RESULTS", "SPEC", "Row", "Text", "read_rows", "read_text", "read_texts", "spec_files"]

SPEC = UPSTREAM / "spec"
README = SPEC / "README.md"
RESULTS = SPEC / "results.json"
ISSUES = Path(__file__).resolve().parents[3] / "docs" / "spec-issues.md"
_REPOSITORY = "https://github.com/webmachinelearning/webnn"
_COLUMN = "upstream"
#: The states of an entry, as the last column of its row gives them.
_STATES = {
    "text": re.compile(r"\[([a-z0-9-]+)\]\(\.\./upstream/spec/\1\.md\)"),
    "settled": re.compile(r"settled: ([0-9a-f]{7}|#\d+|[\w-]+/[\w-]+@[0-9a-f]{7})"),
    "open": re.compile(r"open upstream: (#\d+)"),
    "choice": re.compile(r"a choice: (.+)"),
    "unchecked": re.compile(r"not checked: (.+)"),
}
#: The texts that entries are about, the newest draft first.
_DRAFTS = ("2026-06", "2024-06", "XLA")
_HEAD = re.compile(r"^- ([A-Z][\w -]+): (.+)$", re.MULTILINE)
_PROGRAM = re.compile(r"^```javascript\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of docs/spec-issues.md.

    Attributes:
        heading: The heading above its table.
        section: The section of the draft.
        says: The words of the draft, in short.
        state: A key of the states: a text, settled, open upstream, a choice, or unchecked.
        value: The text's name, the commit or pull request, the number of the issue, or the reason.
    """

    heading: str
    section: str
    says: str
    state: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text to file.

    Attributes:
        name: The file.
        title: Its title.
        head: The lines below the title, by their names.
        program: The example; empty without one.
    """

    name: str
    title: str
    head: Mapping[str, str]
    program: str


def read_rows(page: Path = ISSUES) -> list[Row]:
    """Read the rows of the tables that have the column "upstream".

    Raises:
        ValueError: A cell of this column has none of the known forms.
    """
    rows: list[Row] = []
    heading, counts = "", False
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [each.strip() for each in line.strip("|").split(" | ")]
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif not line.startswith("|"):
            counts = False
        elif cells[0] == "section":
            counts = cells[-1] == _COLUMN
        elif counts and not line.startswith("|---"):
            rows.append(Row(heading=heading, section=cells[0], says=cells[1], **_state(cells)))
    return rows


def _state(cells: Sequence[str]) -> dict[str, str]:
    for state, pattern in _STATES.items():
        match = pattern.fullmatch(cells[-1])
        if match:
            return {"state": state, "value": match[1]}
    forms = "a text of upstream/spec, 'settled:', 'open upstream:', 'a choice:' or 'not checked:'"
    raise ValueError(f"{ISSUES.name}: {cells[0]} ({cells[1]}): the column {_COLUMN} must have {forms}, got {cells[-1]!r}")


def read_text(path: Path) -> Text:
    """Read a text."""
    content = path.read_text(encoding="utf-8")
    program = _PROGRAM.search(content)
    return Text(
        name=path.stem,
        title=content.partition("\n")[0].removeprefix("# "),
        head=dict(_HEAD.findall(content.partition("\n## ")[0])),
        program=program[1] if program else "",
    )


def read_texts() -> list[Text]:
    """Read all texts, by their names."""
    return [read_text(path) for path in sorted(SPEC.glob("*.md")) if path != README]


def spec_files() -> dict[Path, str]:
    """Return the texts of the files in `upstream/spec` that are written, in part."""
    results = load_results(RESULTS)
    files = {}
    for text in read_texts():
        if text.program:
            path = SPEC / f"{text.name}.md"
            files[path] = fill(path, TOOL, "".join(f"{line}\n" for line in _outcomes(results.get(text.name, {}))))
    return {**files, README: fill(README, TOOL, "".join(f"{line}\n" for line in _index(results)))}


def _outcomes(found: Mapping[str, str]) -> Iterator[str]:
    yield from ("| in | it shows |", "|---|---|")
    for host, got in found.items():
        name = "an emulator of the draft of June 2026" if host == EMULATOR else host
        yield f"| {name} | {'<br>'.join(cell(line) for line in got.splitlines())} |"


def _index(results: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    rows = sorted(read_rows(), key=lambda row: _DRAFTS.index(_draft(row)))
    texts = {each.name: each for each in read_texts()}
    newest_first = dict.fromkeys(row.value for row in rows if row.state == "text")
    browsers = sorted({host for each in results.values() for host in each} - {EMULATOR})
    yield f"{len(texts)} texts for {sum(row.state == 'text' for row in rows)} of {len(rows)} entries, those of the newest draft first."
    yield ""
    yield f"| text | title | issue upstream | checked against | the emulator | {' | '.join(browsers)} |"
    yield f"|---|---|---|---|---|{'---|' * len(browsers)}"
    for name in newest_first:
        text, found = texts[name], results.get(name, {})
        outcomes = " | ".join(cell(found.get(host, "")) for host in (EMULATOR, *browsers))
        yield f"| [{name}]({name}.md) | {cell(text.title)} | {text.head['Issue upstream']} | {text.head['Checked against']} | {outcomes} |"
    for state, title, link in (
        ("settled", "Settled by a commit or a pull request", _settled),
        ("open", "Open upstream already", _issue),
        ("choice", "A choice, and not a contradiction", str),
        ("unchecked", "Not checked", str),
    ):
        yield from ("", f"## {title}", "", "| draft | section | the entry | |", "|---|---|---|---|")
        for row in rows:
            if row.state == state:
                yield f"| {_draft(row)} | {row.section} | {row.says} | {link(row.value)} |"


def _draft(row: Row) -> str:
    newest, first, other = _DRAFTS
    return newest if "June 2026" in row.heading else other if "XLA" in row.heading else first


def _settled(value: str) -> str:
    repository, _, commit = value.rpartition("@")
    if repository:
        return f"as of [{value}](https://github.com/{repository}/commit/{commit})"
    kind, name = ("pull", value[1:]) if value.startswith("#") else ("commit", value)
    return f"[{value}]({_REPOSITORY}/{kind}/{name})"


def _issue(value: str) -> str:
    return f"[{value}]({_REPOSITORY}/issues/{value[1:]})"
