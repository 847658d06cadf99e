"""Comments, docstrings and messages are plain English: these patterns stand in none of them (`CONTRIBUTING.md`, *Style*)."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

FOLDERS = ("validation", "builder", "context", "webnn", "wpt_runner", "tests", "tools", "benchmarks", "examples")

PATTERNS = re.compile(
    r"(?:^|(?<=[.:!?] ))(?:(?:What|Who)\b(?![^.!]*\?)|(?:Those|Nobody|That of)\b)"
    r"|(?<!\b[Tt]here )\b(?:is|are) no (?!longer\b|more\b|less\b|better\b|such\b|other\b)"
    r"|\bso many\b|\bas far as\b|\bstands? (?:for|in)\b|\bhears? of\b|\b(?:has|have|had) (?:\w+ )+told\b"
)


def read_texts(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments and the strings of a file, each with its line; the lines of a comment as one text."""
    comment: list[str] = []
    line = 0
    for token in tokenize.generate_tokens(io.StringIO(file.read_text(encoding="utf-8")).readline):
        alone = token.type == tokenize.COMMENT and token.line.lstrip().startswith("#")
        if comment and token.type != tokenize.NL and not (alone and token.start[0] == line + len(comment)):
            yield line, " ".join(comment)
            comment = []
        if token.type == tokenize.COMMENT:
            line = line if comment else token.start[0]
            comment.append(token.string.lstrip("#: "))
        elif token.type == tokenize.STRING and " " in token.string:
            yield token.start[0], " ".join(re.sub(r"^\w*(\"\"\"|'''|\"|')", "", token.string).split())


@pytest.mark.parametrize("folder", FOLDERS)
def test_sentences(folder: str) -> None:
    files = [file for file in sorted((ROOT / folder).rglob("*.py")) if file.resolve().is_relative_to((ROOT / folder).resolve())]
    assert files
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text[max(0, each.start() - 30) : each.end() + 40]}"
        for file in files
        if file != Path(__file__)
        for line, text in read_texts(file)
        for each in PATTERNS.finditer(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("# What is found.", 1),
        ("# It ends. Those of the\n# tensors remain.", 1),
        ("'''It is no tensor.'''", 1),
        ("'there is no tensor, and it is no longer needed'", 0),
        ("x = 1  # stands for x", 1),
        ("'what it does'", 0),
        ("'What does it do? It adds.'", 0),
    ],
)
def test_the_patterns(tmp_path: Path, text: str, count: int) -> None:
    (tmp_path / "file.py").write_text(text + "\n", encoding="utf-8")
    assert sum(len(PATTERNS.findall(found)) for _, found in read_texts(tmp_path / "file.py")) == count
