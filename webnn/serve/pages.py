"""Where pages come from, and what is done to each of their files on its way to the browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol
from urllib.parse import quote

from aiohttp import hdrs, web
from multidict import CIMultiDict

from webnn.serve.guard import PREFIX
from webnn.serve.injection import Kind, inject_into_document, inject_into_worker
from webnn.serve.policies import Addresses, isolation

__all__ = ["ENDPOINT", "LONGEST_CHANGED", "Change", "Endpoint", "Pages", "change", "find_change", "isolate"]

#: Documents and workers get the script.
Change = Literal["document", "worker"]

_POLICY, _PERMISSIONS = "Content-Security-Policy", "Permissions-Policy"
_DOCUMENTS = frozenset({"document", "iframe", "frame", "embed", "object"})
_WORKERS = frozenset({"worker", "sharedworker"})
_HTML, _XHTML = "text/html", "application/xhtml+xml"
#: The types of scripts: a browser runs no worker of another type.
_SCRIPTS = frozenset({"text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript", "application/x-javascript"})
#: The longest file that is changed, in bytes. Longer ones are refused: without the script they would be another page than was asked for.
LONGEST_CHANGED = 64 << 20


class Pages(Protocol):
    """Where pages come from."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request for anything but the emulator."""
        ...

    async def close(self) -> None:
        """Release what it holds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The addresses and settings of the emulator that pages need.

    Attributes:
        isolate: Documents are isolated from other origins.
        announced: Returns the type of the worker that is about to start with a script, ``"classic"`` or ``"module"``; ``None`` if none is.
    """

    token: str
    isolate: bool
    announced: Callable[[str], str | None]


#: Where the server keeps it.
ENDPOINT = web.AppKey("ENDPOINT", Endpoint)


def find_change(request: web.Request, content_type: str) -> Change | None:
    """Tell what is done to the answer to a request: it is a document, a worker's script, or stays as it is.

    Documents are what a browser shows, not HTML that a script reads. A service worker is not changed: it has no synchronous requests.
    """
    destination = request.headers.get("Sec-Fetch-Dest")
    content_type = content_type.lower()
    if content_type in {_HTML, _XHTML}:
        shown = destination in _DOCUMENTS if destination is not None else _HTML in request.headers.get(hdrs.ACCEPT, "")
        return "document" if shown else None
    return "worker" if destination in _WORKERS and content_type in _SCRIPTS else None


def change(
    request: web.Request, what: Change, body: bytes, headers: CIMultiDict[str], content_type: str, charset: str | None = None
) -> bytes:
    """Put the script into a document or a worker's script. Its headers change accordingly."""
    endpoint = request.app[ENDPOINT]
    policies = headers.getall(_POLICY, [])
    # The host is one of the names of this server: the guard has seen to it.
    base = f"http://{request.host}{PREFIX}/{endpoint.token}/"
    if what == "document":
        permissions = ", ".join(headers.getall(_PERMISSIONS, []))
        addresses = Addresses(base, query=f"?policy={quote(permissions, safe='')}" if permissions else "")
        changed = inject_into_document(body, addresses, policies, charset=charset, xml=content_type.lower() == _XHTML)
    else:
        announced = endpoint.announced(f"http://{request.host}{request.rel_url.raw_path_qs}")
        kind: Kind | None = "module" if announced == "module" else "classic" if announced else None
        changed = inject_into_worker(body, Addresses(base), kind, policies)
    headers.popall(_POLICY, None)
    headers.extend((_POLICY, policy) for policy in changed.policies)
    # They are those of the content before.
    for name in (hdrs.ETAG, hdrs.LAST_MODIFIED, hdrs.CONTENT_MD5, hdrs.ACCEPT_RANGES, hdrs.CONTENT_LENGTH, "Digest", "Repr-Digest"):
        headers.popall(name, None)
    headers[hdrs.CACHE_CONTROL] = "no-store"
    return changed.body


def isolate(request: web.Request, what: Change | None, headers: CIMultiDict[str]) -> None:
    """Add the headers that isolate a page from other origins, if pages are to be isolated."""
    if request.app[ENDPOINT].isolate:
        headers.update(isolation(what))
