"""Pages of another server, such as that of a development tool. Nothing but that server can be reached."""

from __future__ import annotations

import asyncio
import re
import secrets
import zlib
from contextlib import suppress

import aiohttp
from aiohttp import hdrs, web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from webnn.display.pages import render
from webnn.serve.access import without_access
from webnn.serve.pages import LONGEST_CHANGED, Change, change, find_change, isolate

__all__ = ["Proxy"]

#: Headers of one connection, which are not passed on.
_HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split()  # noqa: SIM905
)
#: Headers of requests that are made anew.
_OWN = _HOP_BY_HOP | {"host", "accept-encoding", "expect"}
#: Headers that ask for a part of a file, or for a file that is newer: a changed file is sent whole.
_CONDITIONAL = frozenset({"range", "if-range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since"})
#: Headers of answers that are about the other server's address.
_NOT_HERE = _HOP_BY_HOP | {"alt-svc", "strict-transport-security", "public-key-pins"}
_CHANGED = frozenset({"document", "iframe", "frame", "embed", "object", "worker", "sharedworker"})
#: Headers that the handshake of a WebSocket writes itself.
_HANDSHAKE = "sec-websocket-"
#: The longest message of a WebSocket, the longest line of a header, and how long the other server may take to accept a connection.
_LONGEST_MESSAGE, _LONGEST_HEADER, _CONNECT = 64 << 20, 1 << 16, 10.0
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT)
#: The argument of `zlib.decompressobj` for an encoding; 0 for none.
_DECODERS = {"identity": 0, "gzip": 31, "x-gzip": 31, "deflate": 15}
#: The attributes of a cookie that name another server, or a secure connection.
_COOKIE_NAME = re.compile(r"\s*__(?:host|secure)-", re.IGNORECASE)


class Proxy:
    """Pages of another server. Raises `ValueError` if it is no such address.

    Attributes:
        start: The path of that address.
    """

    def __init__(self, address: str) -> None:
        try:
            url = URL(address)
            valid = url.scheme in {"http", "https"} and url.host and url.user is None and url.password is None
            origin = url.origin() if valid else None
        except ValueError:
            origin = None
        if origin is None:
            raise ValueError(f"a proxy needs the address of a server, such as http://localhost:5173, got {address}")
        self._origin = str(origin)
        self.start = url.raw_path_qs
        self._client: aiohttp.ClientSession | None = None
        #: Known again if a request comes back: then the other server is this one.
        self._mark = f"1.1 webnn-serve-{secrets.token_hex(8)}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Ask the other server, and answer with what it says."""
        if not request.rel_url.raw_path.startswith("/"):
            return _refuse(400, "the address of a request must be a path")
        if self._mark in request.headers.getall(hdrs.VIA, []):
            return _refuse(508, f"{self._origin} leads to this server itself")
        try:
            if request.headers.get(hdrs.UPGRADE, "").lower() == "websocket":
                return await self._connect(request)
            return await self._forward(request)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return _refuse(502, f"{self._origin} does not answer: {error or type(error).__name__}")

    async def close(self) -> None:
        """Close the connections to the other server."""
        if self._client is not None:
            await self._client.close()

    def _session(self) -> aiohttp.ClientSession:
        if self._client is None:
            self._client = aiohttp.ClientSession(
                auto_decompress=False,
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                max_field_size=_LONGEST_HEADER,
                max_line_size=_LONGEST_HEADER,
                skip_auto_headers=(hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.CONTENT_TYPE),
                timeout=_TIMEOUT,
            )
        return self._client

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        async with self._session().request(
            request.method,
            self._address(request),
            allow_redirects=False,
            data=request.content if request.can_read_body else None,
            headers=self._request_headers(request),
        ) as answer:
            what = find_change(request, answer.content_type) if answer.status not in {204, 304} else None
            headers = self._answer_headers(request, answer.headers)
            isolate(request, what, headers)
            if what is not None:
                return await _change(request, what, answer, headers)
            response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=headers)
            await response.prepare(request)
            try:
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
            except aiohttp.ClientError:
                # The answer is incomplete, and must not look complete.
                if request.transport is not None:
                    request.transport.abort()
            return response

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        """Pass the messages of a WebSocket on, both ways."""
        protocols = [
            name.strip() for line in request.headers.getall("Sec-WebSocket-Protocol", []) for name in line.split(",") if name.strip()
        ]
        headers = self._request_headers(request)
        for name in [name for name in headers if name.lower().startswith(_HANDSHAKE)]:
            headers.popall(name, None)
        address = self._address(request)
        try:
            there = await self._session().ws_connect(address, protocols=protocols, headers=headers, max_msg_size=_LONGEST_MESSAGE)
        except aiohttp.WSServerHandshakeError as error:
            return _refuse(error.status if error.status >= 400 else 502, f"{self._origin} opens no WebSocket here")
        async with there:
            here = web.WebSocketResponse(
                protocols=[there.protocol] if there.protocol else [], max_msg_size=_LONGEST_MESSAGE, compress=False
            )
            await here.prepare(request)
            tasks = [asyncio.create_task(_pump(here, there)), asyncio.create_task(_pump(there, here))]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(ConnectionError):
                await here.close(code=there.close_code or 1001)
            with suppress(ConnectionError):
                await there.close(code=here.close_code or 1001)
            return here

    def _address(self, request: web.Request) -> URL:
        return URL(self._origin + request.rel_url.raw_path_qs, encoded=True)

    def _request_headers(self, request: web.Request) -> CIMultiDict[str]:
        left_out = _OWN | _listed(request.headers)
        if request.headers.get("Sec-Fetch-Dest") in _CHANGED:
            left_out |= _CONDITIONAL
        headers = CIMultiDict((name, value) for name, value in request.headers.items() if name.lower() not in left_out)
        own = f"http://{request.host}"
        if headers.get(hdrs.ORIGIN) == own:
            headers[hdrs.ORIGIN] = self._origin
        if hdrs.REFERER in headers and (path := _path_below(headers[hdrs.REFERER], own)) is not None:
            headers[hdrs.REFERER] = self._origin + path
        if hdrs.COOKIE in headers:
            headers[hdrs.COOKIE] = without_access(headers[hdrs.COOKIE])
        headers[hdrs.ACCEPT_ENCODING] = "identity"
        headers.add(hdrs.VIA, self._mark)
        return headers

    def _answer_headers(self, request: web.Request, given: CIMultiDictProxy[str]) -> CIMultiDict[str]:
        left_out = _NOT_HERE | _listed(given)
        own = f"http://{request.host}"
        headers: CIMultiDict[str] = CIMultiDict()
        for name, value in given.items():
            match name.lower():
                case lower if lower in left_out:
                    continue
                case "location" | "content-location" if (path := _path_below(value, self._origin)) is not None:
                    headers.add(name, own + path)
                case "access-control-allow-origin" if value == self._origin:
                    headers.add(name, own)
                case "set-cookie":
                    headers.add(name, _rewrite_cookie(value))
                case _:
                    headers.add(name, value)
        return headers


async def _change(request: web.Request, what: Change, answer: aiohttp.ClientResponse, headers: CIMultiDict[str]) -> web.StreamResponse:
    """Answer with a document or a worker's script that has the emulator's script."""
    encoding = headers.popall(hdrs.CONTENT_ENCODING, ["identity"])
    wide = _DECODERS.get(encoding[0].strip().lower())
    if len(encoding) > 1 or wide is None:
        return _refuse(502, f"the server has compressed the page, which it was not asked for: {', '.join(encoding)}")
    decoder = zlib.decompressobj(wide) if wide else None
    body = bytearray()
    try:
        # Not the whole: a little that was compressed may become very much.
        async for chunk in answer.content.iter_any():
            body += decoder.decompress(chunk, LONGEST_CHANGED + 1 - len(body)) if decoder else chunk
            if len(body) > LONGEST_CHANGED:
                return _refuse(502, f"a document or a worker's script has at most {LONGEST_CHANGED} bytes")
    except zlib.error:
        return _refuse(502, "the page that the server has compressed cannot be read")
    content = change(request, what, bytes(body), headers, answer.content_type, answer.charset)
    if request.method == hdrs.METH_HEAD:
        content = b""
    return web.Response(status=answer.status, reason=answer.reason, body=content, headers=headers)


async def _pump(
    source: web.WebSocketResponse | aiohttp.ClientWebSocketResponse, target: web.WebSocketResponse | aiohttp.ClientWebSocketResponse
) -> None:
    """Pass messages on until one end closes."""
    async for message in source:
        if message.type is aiohttp.WSMsgType.TEXT:
            await target.send_str(message.data)
        elif message.type is aiohttp.WSMsgType.BINARY:
            await target.send_bytes(message.data)


def _listed(headers: CIMultiDictProxy[str]) -> frozenset[str]:
    """Return the headers that are of this connection only, because `Connection` lists them."""
    lines = headers.getall(hdrs.CONNECTION, [])
    return frozenset(name.strip().lower() for line in lines for name in line.split(","))


def _path_below(address: str, origin: str) -> str | None:
    """Return the rest of an address below an origin; ``None`` if it has another one."""
    rest = address[len(origin) :]
    return rest if address[: len(origin)].lower() == origin.lower() and rest[:1] in {"", "/", "?", "#"} else None


def _rewrite_cookie(cookie: str) -> str:
    """Let a cookie be kept by a page of this server: it names no other one, and needs no secure connection."""
    first, *attributes = cookie.split(";")
    # A browser keeps such names with the attribute only, also for this machine.
    secure = _COOKIE_NAME.match(first) is not None
    kept = [first]
    for attribute in attributes:
        name, _, value = (part.strip().lower() for part in attribute.partition("="))
        if name == "domain" or (name in {"secure", "partitioned"} and not secure):
            continue
        kept.append(" SameSite=Lax" if name == "samesite" and value == "none" and not secure else attribute)
    return ";".join(kept)


def _refuse(status: int, why: str) -> web.Response:
    text = render("webnn.serve/refusal.html", status=status, why=why)
    headers = {hdrs.CACHE_CONTROL: "no-store", "Content-Security-Policy": "default-src 'none'"}
    return web.Response(status=status, text=text, content_type="text/html", headers=headers)
