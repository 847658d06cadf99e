"""The scripts of pages and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from webnn.javascript.page_scripts import Script, scripts_of_page, scripts_of_script

PAGE = "https://app.test/sub/page.html"


def inline(source: str, line: int, kind: str = "classic", number: int = 0) -> Script:
    return Script(url=f"{PAGE}#script-{number}" if number else PAGE, kind=kind, source=source, line=line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("<p>no script</p>", []),
        ("<script>a</script>", [inline("a", 0)]),
        ("<!doctype html>\n\n<script\n>\na < b && '</p>'</script>", [inline("\na < b && '</p>'", 3)]),
        ("<SCRIPT TYPE=' Text/JavaScript '>a</SCRIPT>", [inline("a", 0)]),
        ("<script>é</script><script></script>", [inline("é", 0), inline("", 0)]),
        ("<!-- <script>a</script> --><script>b</script>", [inline("b", 0)]),
        ("<script src='../x.js'>ignored</script>", [Script(url="https://app.test/x.js", kind="classic")]),
        ("<script src=https://cdn.test/x.js></script>", [Script(url="https://cdn.test/x.js", kind="classic")]),
        ("<script type=module>a</script><script>b</script>", [inline("b", 0), inline("a", 0, "module", 1)]),
        ("<script type=module src=/m.js></script>", [Script(url="https://app.test/m.js", kind="module")]),
        ("<script defer src=d.js></script><script>b</script>", [inline("b", 0), Script(url="https://app.test/sub/d.js", kind="classic")]),
        ("<script type=application/json>{}</script><script type=text/x-other>x</script><script nomodule>y</script>", []),
        (
            "<script type=module>a</script><script type=module>b</script>",
            [inline("a", 0, "module", 1), inline("b", 0, "module", 2)],
        ),
        ("<script>never closed", []),
    ],
)
def test_scripts_of_a_page(text: str, expected: list[Script]) -> None:
    assert scripts_of_page(text, PAGE) == expected


@pytest.mark.parametrize(
    ("name", "package", "kind"),
    [
        ("a.mjs", '{"type": "commonjs"}', "module"),
        ("a.MJS", None, "module"),
        ("a.js", '{"type": "module"}', "module"),
        ("a.js", '{"type": "commonjs"}', "classic"),
        ("a.js", '{"name": "x"}', "unknown"),
        ("a.js", "[]", "unknown"),
    ],
)
def test_the_kind_of_a_file(tmp_path: Path, name: str, package: str | None, kind: str) -> None:
    program = tmp_path / "sub" / name
    if package is not None:
        (tmp_path / "package.json").write_text(package, encoding="utf-8")
    assert scripts_of_script(program, "https://app.test/a") == [Script(url="https://app.test/a", kind=kind)]


@pytest.mark.parametrize("content", ["{", "[" * 100_000], ids=["half", "deep"])
def test_a_package_that_cannot_be_read_is_passed_over(tmp_path: Path, content: str) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/package.json").write_text(content, encoding="utf-8")
    assert scripts_of_script(tmp_path / "sub/a.js", "https://app.test/a")[0].kind == "module"
