"""The files that a program can read, and those that it cannot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import each_row
from webnn.javascript.files import File, Files, RefusedError


@pytest.fixture
def files(tmp_path: Path) -> Files:
    contents = {
        "outside.txt": "outside",
        "root/a.txt": "a",
        "root/sub/ünï döt.json": "{}",
        "root/module.mjs": "",
        "root/add.wasm": "wasm",
        "root/plus+percent%.bin": "b",
        "root/node_modules/plain/dist/x.js": "plain",
        "root/node_modules/@scope/name/y.mjs": "scoped",
        "program/own.js": "own",
    }
    for path, content in contents.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    return Files(tmp_path / "root", tmp_path / "program")


@each_row(
    ("address", "expected"),
    [
        ("https://app.test/a.txt", File(b"a", "text/plain")),
        ("https://app.test/a.txt?x=1#y", File(b"a", "text/plain")),
        ("https://app.test//a.txt", File(b"a", "text/plain")),
        ("https://app.test/sub/../a.txt", File(b"a", "text/plain")),
        ("https://app.test/sub/%C3%BCn%C3%AF%20d%C3%B6t.json", File(b"{}", "application/json")),
        ("https://app.test/module.mjs", File(b"", "text/javascript")),
        ("https://app.test/add.wasm", File(b"wasm", "application/wasm")),
        ("https://app.test/plus+percent%25.bin", File(b"b", "application/octet-stream")),
        ("https://program.test/own.js", File(b"own", "text/javascript")),
        ("https://cdn.jsdelivr.net/npm/plain@1.2.3/dist/x.js", File(b"plain", "text/javascript")),
        ("https://cdn.jsdelivr.net/npm/plain/dist/x.js", File(b"plain", "text/javascript")),
        ("https://cdn.jsdelivr.net/npm/@scope/name@2/y.mjs?z", File(b"scoped", "text/javascript")),
        ("https://app.test/", None),
        ("https://app.test/sub", None),
        ("https://app.test/none", None),
        ("https://app.test/own.js", None),
        ("https://app.test/a%00.txt", None),
        ("https://app.test/" + 5000 * "x", None),
        ("https://cdn.jsdelivr.net/npm/other@1/x.js", None),
    ],
)
def test_reading(files: Files, address: str, expected: File | None) -> None:
    assert files.read(address) == expected


@each_row(
    ("address", "message"),
    [
        ("https://app.test/../outside.txt", "outside the folder"),
        ("https://app.test/%2e%2e/outside.txt", "outside the folder"),
        ("https://app.test/sub/..%2f..%2foutside.txt", "outside the folder"),
        ("https://program.test/../root/a.txt", "outside the folder"),
        ("https://cdn.jsdelivr.net/npm/x@1/../../../outside.txt", "outside the folder"),
        ("http://app.test/a.txt", "no access to the network"),
        ("https://app.test:444/a.txt", "no access to the network"),
        ("https://user@app.test/a.txt", "no access to the network"),
        ("https://example.test/a.txt", "no access to the network"),
        ("https://cdn.jsdelivr.net/gh/x/y.js", "no access to the network"),
        ("file:///etc/passwd", "no access to the network"),
        ("", "no access to the network"),
    ],
)
def test_refusals(files: Files, address: str, message: str) -> None:
    with pytest.raises(RefusedError, match=message):
        files.read(address)


def link(place: Path, target: Path) -> None:
    try:
        place.symlink_to(target)
    except OSError:
        pytest.skip("this system makes no links for this user")


def test_links_count_by_where_they_end(files: Files, tmp_path: Path) -> None:
    link(tmp_path / "root/out.txt", tmp_path / "outside.txt")
    link(tmp_path / "root/folder", tmp_path)
    link(tmp_path / "root/in.txt", tmp_path / "root/a.txt")
    link(tmp_path / "root/circle", tmp_path / "root/circle")
    for name in ("out.txt", "folder/outside.txt"):
        with pytest.raises(RefusedError, match="outside the folder"):
            files.read(f"https://app.test/{name}")
    assert files.read("https://app.test/in.txt") == File(b"a", "text/plain")
    assert files.read("https://app.test/circle") is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may read everything")
def test_a_file_that_may_not_be_read(files: Files, tmp_path: Path) -> None:
    (tmp_path / "root/a.txt").chmod(0)
    with pytest.raises(RefusedError, match="may not be read"):
        files.read("https://app.test/a.txt")


def test_addresses(files: Files, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    assert files.address(root / "root/sub/ünï döt.json") == "https://app.test/sub/%C3%BCn%C3%AF%20d%C3%B6t.json"
    assert files.address(root / "program/own.js") == "https://program.test/own.js"
    with pytest.raises(ValueError, match="outside"):
        files.address(root / "outside.txt")
