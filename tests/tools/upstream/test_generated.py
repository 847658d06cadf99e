"""The generated files are up to date, and have WPT's form."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

from tools.upstream.files import FOLDER
from tools.upstream.generated import generate


@cache
def generated() -> dict[Path, str]:
    return generate()


def test_the_files_are_up_to_date() -> None:
    """`python -m tools.upstream` writes them."""
    assert [path.name for path, text in generated().items() if path.read_text(encoding="utf-8") != text] == []


def test_no_generated_file_is_left_behind() -> None:
    found = {*FOLDER.rglob("*-extremes.https.any.js"), *FOLDER.rglob("*.tentative.https.any.js")}
    assert found - set(generated()) == set()


def test_the_form() -> None:
    for path in FOLDER.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n"), path
        assert "\t" not in text, path
        assert [line for line in text.split("\n") if line != line.rstrip()] == [], path
        if path.name.endswith(".any.js"):
            assert text.startswith("// META: title="), path
            assert "\n'use strict';\n" in text, path
            names = [line for line in text.split("\n") if line.startswith("}, '")]
            assert [name for name, count in Counter(names).items() if count > 1] == [], path
