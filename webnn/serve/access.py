"""Access to the pages: for browsers that have opened an address with the token of this start once. They get a cookie."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from aiohttp import hdrs, web

from webnn.serve.guard import refuse

__all__ = ["Access", "without_access"]

#: The part of an address that has the token, and how the names of the cookies begin. Browsers send a cookie to all ports of a machine.
_PARAMETER, _COOKIE = "token", "webnn-serve-"


class Access:
    """The token of the pages, and the cookie that a browser gets for it."""

    def __init__(self) -> None:
        self._token, self._cookie = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._tickets: set[str] = set()

    def address(self, address: str, *, once: bool = False) -> str:
        """Return an address with the token in it. ``once``: it can be opened one time, because other users may see it."""
        token = self._token
        if once:
            self._tickets.add(token := secrets.token_urlsafe(24))
        page, mark, fragment = address.partition("#")
        return f"{page}{'&' if '?' in page else '?'}{_PARAMETER}={token}{mark}{fragment}"

    def check(self, request: web.Request) -> web.Response | None:
        """Return the answer to a request that has no access yet, or brings the token; ``None`` if it has access."""
        given = request.query.get(_PARAMETER, "")
        if given and request.method in {hdrs.METH_GET, hdrs.METH_HEAD} and self._takes(given):
            # The address without the token: it stays in the history, and others are told it.
            path, _, query = request.rel_url.raw_path_qs.partition("?")
            rest = "&".join(each for each in query.split("&") if not each.startswith(f"{_PARAMETER}="))
            answer = web.Response(status=303, headers={hdrs.CACHE_CONTROL: "no-store", "Referrer-Policy": "no-referrer"})
            answer.headers[hdrs.LOCATION] = "/" + path.lstrip("/") + (f"?{rest}" if rest else "")
            answer.set_cookie(_name(request), self._cookie, httponly=True, samesite="Lax")
            return answer
        if _same(_cookies(request.headers).get(_name(request), ""), self._cookie):
            return None
        answer = refuse(403, "open the address that was printed at the start: it has the token of the pages")
        answer.force_close()
        return answer

    def _takes(self, token: str) -> bool:
        if token in self._tickets:
            self._tickets.remove(token)
            return True
        return _same(token, self._token)


def without_access(header: str) -> str:
    """Return a header with cookies without those that give access here: they are not for other servers."""
    return "; ".join(part for each in header.split(";") if (part := each.strip()) and not part.startswith(_COOKIE))


def _name(request: web.Request) -> str:
    return f"{_COOKIE}{request.get_extra_info('sockname')[1]}"


def _cookies(headers: Mapping[str, str]) -> dict[str, str]:
    try:
        return {name: each.value for name, each in SimpleCookie(headers.get(hdrs.COOKIE, "")).items()}
    except CookieError:
        return {}


def _same(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode("ascii"))
