"""The runner's own server: headers, substitution, pipes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wpt_runner.checkouts import make_checkout
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.serving import Server

FILES = {
    "plain.js": "'{{host}}'",
    "a.sub.js": "'{{GET[q]}}'",
    "a.sub.html": "{{GET[q]}}",
    "x.html": "page",
    "x.html.headers": "X-One: 1\nx-two: a:b\nnothing\nX-One: 2\n",
    "x.html.sub.headers": "X-Three: {{host}}\nX-One: 3",
    "y.any.js": "",
    "y.any.js.headers": "Content-Type: text/plain; charset=utf-16\nPermissions-Policy: webnn=()",
    "deep/__dir__.headers": "X-Folder: 1\nX-File: 0",
    "deep/z.json": "{}",
    "deep/z.json.headers": "X-File: 1",
    "handler.py": "def main(): pass",
    "é b.txt": "é",
}


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(Checkout(make_checkout(tmp_path, FILES)))


def url(path: str) -> str:
    return f"https://web-platform.test:8443/webnn/{path}"


#: Addresses, and the status, the text, the type and the headers.
ANSWERS = [
    ("plain.js", 200, "'{{host}}'", "text/javascript", {}),
    ("plain.js?pipe=sub", 200, "'web-platform.test'", "text/javascript", {}),
    ("a.sub.js?q=%3Ca%3E", 200, "'<a>'", "text/javascript", {}),
    ("a.sub.html?q=%3Ca%3E", 200, "&lt;a&gt;", "text/html", {}),
    ("x.html", 200, "page", "text/html", {"x-one": "3", "x-two": "a:b", "x-three": "web-platform.test"}),
    ("deep/z.json", 200, "{}", "application/json", {"x-folder": "1", "x-file": "1"}),
    ("deep/z.json?pipe=header(X-File,2)|status(201)", 201, "{}", "application/json", {"x-folder": "1", "x-file": "2"}),
    ("plain.js?pipe=header(Permissions-Policy,webnn=%5C(%5C))", 200, "'{{host}}'", "text/javascript", {"permissions-policy": "webnn=()"}),
    ("%C3%A9%20b.txt", 200, "é", "text/plain", {}),
    ("deep/../x.html#f", 200, "page", "text/html", {"x-one": "3", "x-two": "a:b", "x-three": "web-platform.test"}),
]


@pytest.mark.parametrize(("path", "status", "text", "kind", "headers"), ANSWERS)
def test_answers(server: Server, path: str, status: int, text: str, kind: str, headers: dict[str, str]) -> None:
    answer = server.answer(url(path))
    assert (answer.status, answer.text, answer.type, answer.headers, answer.problem) == (status, text, kind, headers, "")


#: Addresses, the status and the problem.
REFUSED = [
    (url("none.js"), 404, "there is no file /webnn/none.js in the checkout"),
    (url("../../../etc/passwd"), 404, "there is no file /etc/passwd in the checkout"),
    (url("handler.py"), 501, "/webnn/handler.py is a program of the server, which the runner does not run"),
    (url("a.sub.js"), 500, "the runner's server does not know the expression {{GET[q]}} of /webnn/a.sub.js"),
    (url("plain.js?pipe=trickle(d1)"), 500, "the runner's server does not know the pipe trickle(d1) of /webnn/plain.js"),
    (url("plain.js?pipe=status(x)"), 500, "the runner's server does not know the pipe status(x) of /webnn/plain.js"),
    (url("plain.js?pipe=%7C"), 500, "the runner's server cannot read the pipe |"),
    ("https://example.test/webnn/plain.js", 404, "there is no server at https://example.test"),
    ("http://[", 404, "http://[ is not an address"),
]


@pytest.mark.parametrize(("address", "status", "problem"), REFUSED)
def test_refused(server: Server, address: str, status: int, problem: str) -> None:
    answer = server.answer(address)
    assert (answer.status, answer.problem, answer.content) == (status, problem, b"")


def test_the_type_of_a_header_counts(server: Server) -> None:
    assert server.answer(url("y.any.js")).type == "text/plain; charset=utf-16"


def test_paths(server: Server) -> None:
    assert server.read("/webnn/x.html") == server.read(url("x.html")) == server.answer_path("/webnn/x.html").text == "page"
    assert server.read("/webnn/none?x=https://web-platform.test:8443/webnn/x.html") is None
