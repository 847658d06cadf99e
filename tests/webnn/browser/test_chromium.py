"""The driver of a real browser: the local server and the search for a browser, and with WEBNN_BROWSER the browser itself."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from webnn.browser.chromium import (
    BrowserError,
    Chromium,
    PageCrashError,
    PageError,
    PageTimeoutError,
    find_browser,
    read_below,
    serve,
)
from webnn.javascript.files import File


def get(address: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_files_have_types_and_pages_are_isolated(tmp_path: Path) -> None:
    (tmp_path / "ä b.mjs").write_text("export {};")
    with serve(read_below(tmp_path)) as address:
        assert address.startswith("http://127.0.0.1:")
        status, headers, content = get(address, "/%C3%A4%20b.mjs?cpu#part")
        assert (status, headers["Content-Type"], content) == (200, "text/javascript", b"export {};")
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert headers["Cross-Origin-Embedder-Policy"] == "require-corp"
        assert get(address, "/")[2].startswith(b"<!doctype html>")


REFUSED = [
    ("/none.js", {}, 404),
    ("/../secret", {}, 403),
    ("/%2e%2e/secret", {}, 403),
    ("/sub/..%2f..%2fsecret", {}, 403),
    ("//etc/passwd", {}, 404),
    ("/link", {}, 403),
    ("/a%00.js", {}, 404),
    ("/a.js", {"Host": "elsewhere.example"}, 421),
]


@pytest.mark.parametrize(("path", "headers", "status"), REFUSED)
def test_what_is_not_served(tmp_path: Path, path: str, headers: dict[str, str], status: int) -> None:
    (tmp_path / "secret").write_text("secret")
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.js").write_text("1")
    (root / "link").symlink_to(tmp_path / "secret")
    with serve(read_below(root)) as address:
        assert get(address, path, **headers)[0] == status


def test_a_table_of_files() -> None:
    with serve({"/": File(b"page", "text/html"), "/a": File(b"a", "text/plain")}) as address:
        assert [get(address, path)[::2] for path in ("/", "/a", "/b")] == [(200, b"page"), (200, b"a"), (404, b"")]


def test_the_search_for_a_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("WEBNN_BROWSER", raising=False)
    with pytest.raises(BrowserError, match="--browser PROGRAM or the environment variable WEBNN_BROWSER"):
        find_browser()
    monkeypatch.setenv("WEBNN_BROWSER", sys.executable)
    assert find_browser() == Path(sys.executable)
    with pytest.raises(BrowserError, match="missing is not a program that can be run"):
        find_browser(tmp_path / "missing")


# With a browser.


@pytest.fixture
def browser(browser_program: Path) -> Iterator[Chromium]:
    with serve({}) as address, Chromium(browser_program, timeout=20) as browser:
        browser.open(address, before="globalThis.early = 5;")
        yield browser


@pytest.mark.processes
def test_values_are_json(browser: Chromium) -> None:
    assert browser.version
    assert browser.evaluate("() => [early, typeof SharedArrayBuffer, isSecureContext]") == [5, "function", True]
    assert browser.evaluate("async (x) => ({x, y: [NaN, undefined]})", {"é": "\ud800", "n": [1.5]}) == {
        "x": {"é": "\ud800", "n": [1.5]},
        "y": [None, None],
    }
    assert browser.evaluate("() => undefined") is None


THROWN = [
    ("() => { throw new TypeError('no'); }", "TypeError", "no"),
    ("async () => { throw new DOMException('why', 'DataError'); }", "DataError", "why"),
    ("() => { throw 5; }", "Error", "5"),
    ("() => { throw null; }", "Error", "null"),
    ("(=>", "Error", "SyntaxError"),
    ("() => { location = '/else'; return new Promise(() => {}); }", "Error", "navigation"),
]


@pytest.mark.processes
def test_errors_of_the_page(browser: Chromium) -> None:
    for function, name, message in THROWN:
        with pytest.raises(PageError, match=message) as caught:
            browser.evaluate(function)
        assert caught.value.name == name, function


@pytest.mark.processes
@pytest.mark.parametrize("function", ["() => { for (;;); }", "() => new Promise(() => {})"])
def test_a_page_that_hangs(browser: Chromium, function: str) -> None:
    with pytest.raises(PageTimeoutError, match=r"not done after 0\.5 s"):
        browser.evaluate(function, timeout=0.5)
    assert browser.evaluate("() => early") == 5


def children(parent: int, words: str) -> list[int]:
    listing = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, check=True, encoding="utf-8").stdout
    rows = [line.split(None, 2) for line in listing.splitlines()]
    return [int(pid) for pid, above, command in rows if int(above) == parent and words in command]


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="there is no ps")
@pytest.mark.parametrize("which", ["page", "browser", "driver"])
def test_a_process_that_is_killed(browser: Chromium, which: str) -> None:
    (driver,) = children(os.getpid(), "run-driver")
    (program,) = children(driver, "--user-data-dir")
    victim = {"driver": driver, "browser": program, "page": children(program, "type=renderer")[0]}[which]
    timer = threading.Timer(0.3, os.kill, [victim, signal.SIGKILL])
    timer.start()
    with pytest.raises(PageCrashError):
        browser.evaluate("() => new Promise(() => {})")
    timer.join()
    assert browser.evaluate("() => early") == 5


PROGRAM = """
import os, signal, sys, threading
from pathlib import Path
from webnn.browser.chromium import Chromium, serve
with serve({}) as address, Chromium(Path(sys.argv[1]), timeout=20) as browser:
    browser.open(address)
    if sys.argv[2] == "terminated":
        threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGTERM]).start()
        browser.evaluate("() => new Promise(() => {})")
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    raise KeyError("an error")
"""


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="there is no ps")
@pytest.mark.parametrize(("end", "code"), [("killed", -9), ("terminated", 128 + 15), ("raises", 1)])
def test_nothing_is_left(browser_program: Path, tmp_path: Path, end: str, code: int) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", PROGRAM, browser_program, end], env=environment, capture_output=True, check=False)
    assert ended.returncode == code, ended.stderr

    def left() -> list[object]:
        listing = subprocess.run(["ps", "-wweo", "args="], capture_output=True, check=True, encoding="utf-8").stdout
        processes = [line for line in listing.splitlines() if str(tmp_path) in line]
        return [*processes, *(path for path in tmp_path.rglob("*") if path.parent != tmp_path)]

    # After a kill the driver notices the end of this side, and cleans up.
    limit = time.monotonic() + 20
    while left() and time.monotonic() < limit:
        time.sleep(0.1)
    assert left() == []
    assert end == "killed" or list(tmp_path.iterdir()) == []


def test_the_environment_is_put_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from webnn.browser.chromium import _temporary

    name = "TEMP" if sys.platform == "win32" else "TMPDIR"
    for before in ("/before", None):
        if before is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, before)
        with _temporary(tmp_path):
            assert os.environ[name] == str(tmp_path)
        assert os.environ.get(name) == before
    assert tempfile.gettempdir()
