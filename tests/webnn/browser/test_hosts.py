"""A program in Node and in a browser, watched in both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import webnn
from webnn.browser.hosts import Subject, run_in_browser, run_in_emulator
from webnn.browser.hosts import _files as files_of
from webnn.browser.watch import Log
from webnn.javascript.node import find_node

ADD = """
  const context = await navigator.ml.createContext();
  const builder = new MLGraphBuilder(context), d = {dataType: 'float32', shape: [2]};
  console.log(builder.add(builder.input('a', d), builder.input('b', d)).shape);
"""


def emulate(program: Path, root: Path | None = None, timeout: float = 60.0) -> Log:
    return run_in_emulator(Subject(program=program, root=root or program.parent, timeout=timeout), find_node(), "2026-06", "browsers-2026")


def members(log: Log) -> list[str]:
    return [call.member.partition(".")[2] for call in log.calls]


@pytest.mark.processes
def test_programs_in_the_emulator(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.mjs").write_text(f"{ADD} console.log(location.pathname); process.stdout.write('no line');")
    (tmp_path / "b.html").write_text(f"<script type=module>{ADD}</script><script>console.log(1);</script>")
    (tmp_path / "c.js").write_text(f"(async () => {{ {ADD} throw new RangeError('too far'); }})();")
    wanted = ["createContext", "constructor", "input", "input", "add", "shape"]
    log = emulate(tmp_path / "sub" / "a.mjs", tmp_path)
    assert members(log) == wanted
    assert [text for _, text in log.console] == ["[2]", "/sub/a.mjs.html"]
    log = emulate(tmp_path / "b.html")
    assert members(log) == wanted
    assert [text for _, text in log.console] == ["1", "[2]"]
    log = emulate(tmp_path / "c.js")
    assert members(log) == wanted
    assert (log.uncaught, log.end) == ([("RangeError", "too far")], "")


@pytest.mark.processes
def test_how_a_program_may_end_in_the_emulator(tmp_path: Path) -> None:
    for source, timeout, uncaught, end in (
        ("throw new DOMException('why', 'DataError');", 60, [("DataError", "why")], ""),
        ("process.exit(3);", 60, [], "the exit code 3"),
        ("for (;;);", 1, [], "the program was not done after 1 s"),
    ):
        (tmp_path / "a.mjs").write_text(source)
        log = emulate(tmp_path / "a.mjs", timeout=timeout)
        assert (log.uncaught, log.end) == (uncaught, end)


def test_the_pages_of_scripts(tmp_path: Path) -> None:
    for name, words in (("a 'b'.mjs", '<script type="module" src="/a%20%27b%27.mjs">'), ("a.js", "new Function(text)")):
        (tmp_path / name).write_text("1")
        subject = Subject(program=tmp_path / name, root=tmp_path)
        page = files_of(subject)(subject.page)
        assert page is not None
        assert words.encode() in page.content
        found = files_of(subject)(subject.path)
        assert found is not None
        assert found.content == b"1"
    (tmp_path / "package.json").write_text('{"type": "commonjs"}')
    classic = files_of(Subject(program=tmp_path / "a.js", root=tmp_path))("/a.js.html")
    assert classic is not None
    assert b'<script src="/a.js">' in classic.content


# With a browser.

PROGRAMS: list[Any] = [
    ("a.mjs", ADD, [], ["[2]"], ""),
    ("a.mjs", f"{ADD} setTimeout(() => {{ console.log(3); throw new RangeError('x'); }}, 1200);", [("RangeError", "x")], ["[2]", "3"], ""),
    ("a.js", f"(async () => {{ {ADD} }})(); const x = 5;", [], ["[2]"], ""),
    ("a.js", f"import './b.mjs'; {ADD}", [], ["[2]"], ""),
    ("a.html", f"<script type=module>{ADD}</script>", [], ["[2]"], ""),
    ("a.mjs", "await Promise.reject(new DOMException('why', 'DataError'));", [("DataError", "why")], [], ""),
    ("a.html", "<script type=module>import './none.mjs';</script>", "TypeError", [], ""),
    ("a.mjs", "console.log(await fetch('https://example.org/').catch(e => e.name));", [], ["TypeError"], ""),
    ("a.mjs", "console.log(await (await fetch('b.mjs')).text());", [], ["1"], ""),
    ("a.mjs", f"{ADD} for (;;);", [], ["[2]"], "the page was not done after 4 s"),
]


@pytest.mark.processes
@pytest.mark.parametrize(("name", "source", "uncaught", "console", "end"), PROGRAMS)
def test_programs_in_both(
    browser_program: Path, tmp_path: Path, name: str, source: str, uncaught: Any, console: list[str], end: str
) -> None:
    (tmp_path / "b.mjs").write_text("1")
    (tmp_path / name).write_text(source)
    subject = Subject(program=tmp_path / name, root=tmp_path, timeout=4 if end else 60)
    with webnn.emulate(profile="tflite"):
        emulator = run_in_emulator(subject, find_node(), "2026-06", "browsers-2026")
    browser, version = run_in_browser(subject, browser_program, expected=emulator.size)
    assert version
    for log in (emulator, browser):
        # The messages about a script that cannot be loaded differ.
        assert [name for name, _ in log.uncaught] == [uncaught] if isinstance(uncaught, str) else log.uncaught == uncaught
        assert [text for _, text in log.console] == console
    assert members(emulator) == members(browser)
    assert browser.end == end
    assert bool(emulator.end) == bool(end)
