"""Pages of a folder: the right files with the right types, and nothing outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.webnn.serve.raw import ask
from webnn.serve import folder, pages
from webnn.serve.folder import Folder
from webnn.serve.options import Options
from webnn.serve.server import Server

DOCUMENT = "Sec-Fetch-Dest: document"
PAGE = b"<!doctype html><html><head><title>a</title></head></html>"
FILES = {
    "index.html": PAGE,
    "page.htm": PAGE,
    "page.xhtml": b"<html xmlns='http://www.w3.org/1999/xhtml'><head><title/></head></html>",
    "worker.js": b"postMessage(1)",
    "module.mjs": b"export {}; postMessage(1)",
    "module.wasm": b"\0asm",
    "data.json": b"{}",
    "x.npy": bytes(range(100)),
    "model.onnx": b"onnx",
    "style.css": b"",
    "noname": b"?",
    "a b&c.txt": b"blank",
    "\u00e9.txt": b"accent",
    "packed.txt": b"plain",
    "packed.txt.gz": b"\x1f\x8b",
    "list/<b>.txt": b"",
    "list/deep/x.txt": b"",
    "sub/index.html": PAGE,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_bytes(b"secret")
    for name, content in FILES.items():
        file = tmp_path / "root" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return tmp_path / "root"


@pytest.fixture
def server(root: Path) -> Iterator[Server]:
    with Server(Folder(root), Options()) as running:
        yield running


@pytest.mark.parametrize(
    ("target", "content_type", "name"),
    [
        ("/", "text/html", "index.html"),
        ("/?a=../b", "text/html", "index.html"),
        ("/index.html", "text/html", "index.html"),
        ("/page.htm", "text/html", "page.htm"),
        ("/page.xhtml", "application/xhtml+xml", "page.xhtml"),
        ("/sub/", "text/html", "sub/index.html"),
        ("/worker.js", "text/javascript", "worker.js"),
        ("/module.mjs", "text/javascript", "module.mjs"),
        ("/module.wasm", "application/wasm", "module.wasm"),
        ("/data.json", "application/json", "data.json"),
        ("/x.npy", "application/octet-stream", "x.npy"),
        ("/model.onnx", "application/octet-stream", "model.onnx"),
        ("/style.css", "text/css", "style.css"),
        ("/noname", "application/octet-stream", "noname"),
        ("/a%20b&c.txt", "text/plain", "a b&c.txt"),
        ("/%C3%A9.txt", "text/plain", "\u00e9.txt"),
    ],
)
async def test_files_that_a_script_reads_are_as_they_are(server: Server, target: str, content_type: str, name: str) -> None:
    answer = await ask(server.port, target, "Sec-Fetch-Dest: empty")
    assert (answer.status, answer["Content-Type"], answer.body) == (200, content_type, FILES[name])
    assert answer["Cache-Control"] == "no-cache"


async def test_what_is_compressed_beside_a_file_is_not_sent(server: Server) -> None:
    answer = await ask(server.port, "/packed.txt", "Accept-Encoding: gzip, br")
    assert (answer.body, answer["Content-Encoding"]) == (b"plain", None)


@pytest.mark.parametrize(
    ("target", "header", "what"),
    [
        ("/", DOCUMENT, "document"),
        ("/page.xhtml", "Sec-Fetch-Dest: iframe", "document"),
        ("/", "Sec-Fetch-Dest: frame", "document"),
        ("/", "Sec-Fetch-Dest: embed", "document"),
        ("/", "Sec-Fetch-Dest: object", "document"),
        ("/", "Accept: text/html,*/*", "document"),
        ("/", "Accept: */*", None),
        ("/", "Sec-Fetch-Dest: empty\r\nAccept: text/html", None),
        ("/worker.js", "Sec-Fetch-Dest: worker", "worker"),
        ("/module.mjs", "Sec-Fetch-Dest: sharedworker", "worker"),
        ("/worker.js", "Sec-Fetch-Dest: serviceworker", None),
        ("/worker.js", "Sec-Fetch-Dest: script", None),
        ("/worker.js", DOCUMENT, None),
        ("/data.json", "Sec-Fetch-Dest: worker", None),
    ],
)
async def test_documents_and_workers_get_the_script(server: Server, target: str, header: str, what: str | None) -> None:
    answer = await ask(server.port, target, header)
    assert answer.status == 200
    assert (server.script_url.encode() in answer.body) == (what is not None)
    assert answer["Cache-Control"] == ("no-cache" if what is None else "no-store")
    assert (answer["ETag"] is None) == (what is not None)


async def test_the_script_has_the_name_of_the_host_that_was_asked(server: Server) -> None:
    answer = await ask(server.port, "/", DOCUMENT, host=f"localhost:{server.port}")
    assert server.script_url.replace("127.0.0.1", "localhost").encode() in answer.body


async def test_an_announced_worker_is_what_it_is_announced_as(server: Server) -> None:
    server.sessions.announce(f"{server.url}/worker.js?a=%20b#c", "module")
    answer = await ask(server.port, "/worker.js?a=%20b", "Sec-Fetch-Dest: worker")
    assert answer.body == f'import "{server.script_url}";'.encode() + FILES["worker.js"]


async def test_parts_and_conditions(server: Server) -> None:
    part = await ask(server.port, "/x.npy", "Range: bytes=10-19")
    assert (part.status, part.body, part["Content-Range"]) == (206, FILES["x.npy"][10:20], "bytes 10-19/100")
    outside = await ask(server.port, "/x.npy", "Range: bytes=200-")
    assert outside.status == 416
    whole = await ask(server.port, "/x.npy")
    assert (await ask(server.port, "/x.npy", f"If-None-Match: {whole['ETag']}")).status == 304
    assert (await ask(server.port, "/x.npy", f"If-Modified-Since: {whole['Last-Modified']}")).status == 304
    # A changed file is sent whole.
    document = await ask(server.port, "/", DOCUMENT, "Range: bytes=0-3", f"If-Modified-Since: {whole['Last-Modified']}")
    assert (document.status, document["Content-Range"]) == (200, None)
    head = await ask(server.port, "/", DOCUMENT, method="HEAD", head_only=True)
    assert (head.status, head["Content-Length"]) == (200, str(len(document.body)))


async def test_a_folder_without_a_slash_is_redirected(server: Server) -> None:
    answer = await ask(server.port, "/sub?a=%0D%0Ab")
    assert (answer.status, answer["Location"]) == (308, "/sub/?a=%0D%0Ab")


async def test_a_folder_without_an_index_is_listed(server: Server) -> None:
    answer = await ask(server.port, "/list/", DOCUMENT)
    assert answer["Content-Type"] == "text/html; charset=utf-8"
    assert b'<a href="./%3Cb%3E.txt">&lt;b&gt;.txt</a>' in answer.body
    assert b'<a href="./deep/">deep/</a>' in answer.body
    assert b"<b>" not in answer.body


@pytest.mark.parametrize(
    "target",
    [
        "/none",
        "/index.html/",
        "/../secret.txt",
        "/sub/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/%2e%2e%2fsecret.txt",
        "/..%2fsecret.txt",
        "/..%5csecret.txt",
        "/..\\secret.txt",
        "/sub/%2e%2e/%2e%2e/secret.txt",
        "/%252e%252e/secret.txt",
        "//secret.txt",
        "/./index.html",
        "/sub//index.html",
        "/%00",
        "/index.html%00.txt",
        "/index.html%20",
        "/index.html.",
        "/index.html::$DATA",
        "/C:/secret.txt",
        "/con",
        "/NUL.txt",
        "/com1",
        "/%ff",
        "/%C0%AE%C0%AE/secret.txt",
        "/~root",
        "/" + "a" * 5000,
        "/" + "a/" * 3000,
    ],
    ids=lambda target: target[:30],
)
async def test_nothing_else_can_be_read(server: Server, target: str) -> None:
    answer = await ask(server.port, target)
    assert answer.status == 404
    assert b"secret" not in answer.body


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"secret")


#: Windows opens devices by these names, whatever follows the name; or it drops the end of the name.
RESERVED = [
    *("CON", "con", "NUL", "nul.txt", "aux.txt", "PRN.tar.gz", "COM1", "com9.x", "LPT1", "lpt\u00b9.txt", "CONIN$", "conout$", "nul .txt"),
    *("a.", "a "),
]


@pytest.mark.skipif(os.name == "nt", reason="such files cannot be made there")
@pytest.mark.parametrize("name", [*RESERVED, "a:b", "a\\b", "a*b", "a?b", 'a"b', "a<b", "a|b", "a\tb"])
async def test_names_that_are_no_files_on_windows_are_not_served(server: Server, root: Path, name: str) -> None:
    """Here they are files: a page that works on one system works on all."""
    write(root, name, f"sub/{name}/x.txt")
    for target in (f"/{quote(name)}", f"/sub/{quote(name)}/x.txt"):
        assert (await ask(server.port, target)).status == 404


@pytest.mark.parametrize("name", ["console.txt", "nulls", "com10", "com", "auxiliary.js", "lpt0x"])
async def test_names_that_only_begin_like_reserved_ones_are_served(server: Server, root: Path, name: str) -> None:
    write(root, name)
    assert (await ask(server.port, f"/{name}")).body == b"secret"


HIDDEN = [
    *(
        ".env",
        ".htpasswd",
        ".git/config",
        "sub/.env",
        "sub/.git/config",
        ".well-known/.env",
        "sub/.well-known/x",
        ".hidden/index.html",
        "...",
    ),
    # Short names of Windows.
    *("GIT~1/config", "env~12.x"),
]


@pytest.mark.parametrize("name", HIDDEN)
async def test_names_that_begin_with_a_dot_are_not_served(server: Server, root: Path, name: str) -> None:
    if not (os.name == "nt" and name == "..."):
        write(root, name)
    for target in (name, name.replace(".", "%2e"), name.rpartition("/")[0] + "/"):
        answer = await ask(server.port, f"/{target.removeprefix('/')}", DOCUMENT)
        assert b"secret" not in answer.body
        assert answer.status == 404 or target in {"/", "sub/", ".well-known/"}


async def test_hidden_names_are_not_listed(server: Server, root: Path) -> None:
    write(root, "list/.env", "list/.git/config", "list/.well-known/x")
    body = (await ask(server.port, "/list/", DOCUMENT)).body
    assert b"deep/" in body
    assert not [name for name in (b"env", b"git", b"well-known") if name in body]


async def test_well_known_files_are_served(server: Server, root: Path) -> None:
    write(root, ".well-known/security.txt")
    (root / "index.html").unlink()
    assert (await ask(server.port, "/.well-known/security.txt")).body == b"secret"
    assert b"./.well-known/" in (await ask(server.port, "/")).body


async def test_a_link_is_served_by_its_own_name(server: Server, root: Path) -> None:
    """pnpm's packages lie in node_modules/.pnpm, behind links."""
    write(root, "node_modules/.pnpm/a@1/index.js")
    link(root / "node_modules" / "a", root / "node_modules" / ".pnpm" / "a@1")
    assert (await ask(server.port, "/node_modules/a/index.js")).body == b"secret"
    assert (await ask(server.port, "/node_modules/.pnpm/a@1/index.js")).status == 404


async def test_an_address_below_the_emulator_is_no_file(server: Server, root: Path) -> None:
    (root / "__webnn__").mkdir()
    (root / "__webnn__" / "a.txt").write_bytes(b"")
    assert (await ask(server.port, "/__webnn__/a.txt")).status == 404
    assert (await ask(server.port, "/__webnn__")).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
async def test_files_can_only_be_read(server: Server, method: str) -> None:
    answer = await ask(server.port, "/index.html", method=method)
    assert (answer.status, answer["Allow"]) == (405, "GET, HEAD")


def link(source: Path, target: Path) -> None:
    try:
        os.symlink(target, source, target_is_directory=target.is_dir())
    except OSError as error:
        pytest.skip(f"no links can be made here: {error}")


async def test_links_lead_to_files_inside_only(server: Server, root: Path) -> None:
    link(root / "inside.txt", root / "data.json")
    link(root / "outside.txt", root.parent / "secret.txt")
    link(root / "outside", root.parent)
    link(root / "loop", root / "loop")
    link(root / "list" / "index.html", root.parent / "secret.txt")
    assert (await ask(server.port, "/inside.txt")).body == FILES["data.json"]
    for target in ("/outside.txt", "/outside/secret.txt", "/outside/"):
        answer = await ask(server.port, target)
        assert (answer.status, answer.body) == (404, b"webnn serve: this is a link that leads out of the folder, which is not followed\n")
    assert (await ask(server.port, "/loop")).status == 404
    assert b"secret" not in (await ask(server.port, "/list/")).body


async def test_a_page_that_is_too_long_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "LONGEST_CHANGED", 10)
    answer = await ask(server.port, "/", DOCUMENT)
    assert (answer.status, answer.body) == (500, b"webnn serve: a document or a worker's script has at most 10 bytes\n")
    assert pages.LONGEST_CHANGED > 10


def test_the_page_that_is_given_is_opened_and_its_folder_served(root: Path) -> None:
    assert Folder(root).start == "/"
    assert Folder(root / "a b&c.txt").start == "/a%20b%26c.txt"
    with pytest.raises(ValueError, match="none is not there: give a page or a folder"):
        Folder(root / "none")
    write(root, ".page.html")
    with pytest.raises(ValueError, match=r"\.page\.html is not served: its name begins with a dot"):
        Folder(root / ".page.html")
    link(root / "away.html", root.parent / "secret.txt")
    with pytest.raises(ValueError, match="is a link that leads out of its folder"):
        Folder(root / "away.html")


async def test_isolation(root: Path) -> None:
    with Server(Folder(root), Options(isolate=True)) as server:
        document, worker, file = [
            await ask(server.port, target, f"Sec-Fetch-Dest: {kind}")
            for target, kind in (("/", "document"), ("/worker.js", "worker"), ("/x.npy", "empty"))
        ]
    names = ("Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy", "Cross-Origin-Resource-Policy")
    assert [[answer[name] for name in names] for answer in (document, worker, file)] == [
        ["same-origin", "require-corp", "same-origin"],
        [None, "require-corp", "same-origin"],
        [None, None, "same-origin"],
    ]
