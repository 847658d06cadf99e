"""The token of the pages: without it there is no page, and the browser that brings it gets a cookie for later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.webnn.serve.raw import Answer, ask
from webnn.serve.access import without_access
from webnn.serve.folder import Folder
from webnn.serve.options import Options
from webnn.serve.server import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "index.html").write_bytes(b"<!doctype html>")
    (tmp_path / "a.js").write_bytes(b"1")
    with Server(Folder(tmp_path), Options(), private=True) as running:
        yield running


def cookie_of(answer: Answer) -> str:
    """Return the header that a browser sends later."""
    line = answer["Set-Cookie"]
    assert line is not None
    value, *attributes = line.split("; ")
    assert {"HttpOnly", "Path=/", "SameSite=Lax"} <= set(attributes)
    return f"Cookie: {value}"


async def test_the_way_of_a_browser(server: Server) -> None:
    path = server.address("/?a=%20b&a=c").removeprefix(server.url)
    answer = await ask(server.port, path)
    assert (answer.status, answer["Location"], answer.body) == (303, "/?a=%20b&a=c", b"")
    cookie = cookie_of(answer)
    for target in ("/", "/a.js"):
        assert (await ask(server.port, target, cookie)).status == 200
    # The other cookies of the machine do not matter.
    assert (await ask(server.port, "/", f"Cookie: a=b; {cookie.removeprefix('Cookie: ')}; webnn-serve-1=x")).status == 200


@pytest.mark.parametrize("path", ["/", "/a.js", "/none", "/?token=", "/?token=x", "/?token=%ff", "//evil.test/?token=x"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
async def test_without_the_token_there_is_no_page(server: Server, path: str, method: str) -> None:
    cookie = f"Cookie: webnn-serve-{server.port}=x"
    for headers in ((), (cookie,), ("Cookie: \xff=;;=",)):
        answer = await ask(server.port, path, *headers, method=method, head_only=True)
        assert (answer.status, answer["Connection"], answer["Set-Cookie"]) == (403, "close", None)


async def test_only_addresses_bring_the_token(server: Server) -> None:
    path = server.address("/").removeprefix(server.url)
    assert (await ask(server.port, path, method="POST")).status == 403
    # The cookie is not the token.
    cookie = cookie_of(await ask(server.port, path)).partition("=")[2]
    assert (await ask(server.port, f"/?token={cookie}")).status == 403


async def test_the_address_leads_to_this_server(server: Server) -> None:
    token = server.address("").removeprefix(server.url)
    for path in ("//evil.test/", "/%2f/evil.test/"):
        answer = await ask(server.port, path + token)
        assert answer.status == 303
        assert answer["Location"] is not None
        assert not answer["Location"].startswith("//")


async def test_an_address_for_one_time(server: Server) -> None:
    path = server.address("/", once=True).removeprefix(server.url)
    assert [(await ask(server.port, path)).status for _ in range(2)] == [303, 403]


async def test_the_emulator_has_its_own_token(server: Server) -> None:
    assert (await ask(server.port, server.script_url.removeprefix(server.url))).status == 200


def test_without_privacy_the_address_has_no_token(tmp_path: Path) -> None:
    with Server(Folder(tmp_path), Options()) as server:
        assert server.address("/") == f"{server.url}/"


def test_another_server_does_not_get_the_cookie() -> None:
    assert without_access("a=b; webnn-serve-8000=secret;webnn-serve-1=x; c=d") == "a=b; c=d"
    assert without_access("webnn-serve-8000=secret") == ""
