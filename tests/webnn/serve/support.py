"""A page that speaks to a server without a browser, and a network that it builds."""

from __future__ import annotations

import http.client
import json
import secrets
from collections.abc import Sequence
from typing import Any

from tests.webnn.serve.pages import HELLO, open_body, request
from webnn.serve.guard import PREFIX
from webnn.serve.messages import pack
from webnn.serve.server import Server

__all__ = ["Client", "ask"]


def ask(
    server: Server, method: str, path: str, body: bytes | None = None, *, port: int | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Send a request to a server, and return the status, the headers and the body of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port if port is None else port, timeout=30)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


class Client:
    """A session of a server."""

    def __init__(self, server: Server, **visitor: Any) -> None:
        self.name = secrets.token_hex(16)
        self._server = server
        self._number = 0
        self._send("call", "H", [json.dumps(HELLO | visitor).encode()])

    def call(self, interface: str, member: str, handle: int | None, *arguments: object, views: Sequence[object] = ()) -> Any:
        """Call a member, and return what the answer says."""
        answer = self._send("call", "C", [request(interface, member, handle, *arguments, views=views)])
        if "pending" in answer:
            _, _, body = ask(self._server, "POST", self._path("result", f"&n={answer['pending']}"), b"")
            answer = _read(body)
        return answer

    def make(self, interface: str, member: str, handle: int | None, *arguments: object) -> int:
        """Call a member that makes an object, and return the object's handle."""
        handle = self.call(interface, member, handle, *arguments)["value"]["$h"]
        assert handle is not None
        return handle

    def build(self, context: int, operations: Sequence[str] = ("relu",)) -> int:
        """Build a graph of operations of one operand, of four numbers."""
        builder = self.make("MLGraphBuilder", "constructor", None, {"$h": context})
        value = self.make("MLGraphBuilder", "input", builder, "x", {"dataType": "float32", "shape": [2, 2]})
        for each in operations:
            value = self.make("MLGraphBuilder", each, builder, {"$h": value})
        return self.make("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": value}]]})

    def dispatch(self, context: int, graph: int) -> None:
        """Compute a graph that `build` has built, and wait for it."""
        tensors = [
            self.make("MLContext", "createTensor", context, {"dataType": "float32", "shape": [2, 2], "readable": True}) for _ in range(2)
        ]
        sides = [{"$r": [[name, {"$h": tensor}]]} for name, tensor in zip("xy", tensors, strict=True)]
        assert self.call("MLContext", "dispatch", context, {"$h": graph}, *sides)["value"] is None
        self.call("MLContext", "readTensor", context, {"$h": tensors[1]})

    def _send(self, path: str, kind: str, parts: Sequence[bytes]) -> Any:
        status, _, body = ask(self._server, "POST", self._path(path), b"".join(pack(self._number + 1, kind, parts)))
        self._number += kind != "H"
        assert status == 200, body
        return _read(body)

    def _path(self, name: str, rest: str = "") -> str:
        return f"{PREFIX}/{self._server.token}/{name}?s={self.name}{rest}"


def _read(body: bytes) -> Any:
    """Return the text of the only message of a body."""
    return json.loads(open_body([body])[2][0])
