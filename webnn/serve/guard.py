"""Admit requests from this machine to a name of this machine; to the emulator only those of its own pages that know its token."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping

from aiohttp import hdrs, web

__all__ = ["PREFIX", "Guard", "refuse"]

#: Where the paths of the emulator begin.
PREFIX = "/__webnn__"
#: The names of this machine. Any other name may be that of a page whose owner made it lead here (DNS rebinding).
_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
#: How many requests to the emulator may be under way, live connections included.
_MOST_REQUESTS = 2048
#: The answer to the question of a browser what a page of another origin may do.
_PREFLIGHT = {
    hdrs.ACCESS_CONTROL_ALLOW_METHODS: "GET, POST",
    hdrs.ACCESS_CONTROL_ALLOW_HEADERS: "Content-Type",
    hdrs.ACCESS_CONTROL_MAX_AGE: "600",
    "Access-Control-Allow-Private-Network": "true",
}

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Guard:
    """Refuses requests that are not meant for this server.

    The token is the secret part of the addresses below `PREFIX`. Pages of other servers with one of the ``origins`` may use these
    addresses; ``"*"`` means all.
    """

    def __init__(self, token: str, origins: Collection[str] = ()) -> None:
        self._token = token.encode("ascii")
        self._origins = frozenset(origins)
        self._requests = 0

    @web.middleware
    async def check(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Answer a request, or refuse it: a middleware of aiohttp."""
        own = _own_origins(request)
        hosts = request.headers.getall(hdrs.HOST, [])
        # A request may also name a server in its first line, which the headers then differ from.
        if len(hosts) != 1 or f"http://{hosts[0].lower()}" not in own or request.host != hosts[0]:
            return refuse(421, "this server has no such name")
        if request.path.split("/")[1:2] != [PREFIX.removeprefix("/")]:
            return await handler(request)
        token = (request.path.split("/")[2:3] or [""])[0].encode("utf-8", "surrogatepass")
        if not secrets.compare_digest(token, self._token):
            return refuse(404, "there is no such page")
        origin = request.headers.get(hdrs.ORIGIN)
        foreign = origin is not None and origin not in own
        if foreign and not self._origins & {origin, "*"}:
            return refuse(403, "pages of this origin may not use the emulator")
        if self._requests >= _MOST_REQUESTS:
            return refuse(503, "there are too many requests")
        headers = {"Cross-Origin-Resource-Policy": "cross-origin" if self._origins else "same-origin", "X-Content-Type-Options": "nosniff"}
        if foreign:
            headers |= {hdrs.ACCESS_CONTROL_ALLOW_ORIGIN: str(origin), hdrs.VARY: hdrs.ORIGIN}
        if request.method == hdrs.METH_OPTIONS:
            return web.Response(status=204, headers={**headers, **(_PREFLIGHT if foreign else {})})
        self._requests += 1
        try:
            response = await handler(request)
        except web.HTTPException as refusal:
            refusal.headers.update(headers)
            raise
        finally:
            self._requests -= 1
        if not response.prepared:
            response.headers.update(headers)
        return response


def _own_origins(request: web.Request) -> frozenset[str]:
    """Return the origins of this server, by the port that the request came to."""
    address = request.get_extra_info("sockname")
    port = address[1] if address else None
    return frozenset(f"http://{name}{ending}" for name in _NAMES for ending in ([f":{port}", ""] if port == 80 else [f":{port}"]))


def refuse(status: int, why: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return an answer that says why there is no other."""
    return web.Response(status=status, text=f"webnn serve: {why}\n", headers={hdrs.CACHE_CONTROL: "no-store", **(headers or {})})
