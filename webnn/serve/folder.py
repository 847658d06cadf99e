"""Pages of a folder. Nothing outside it can be read, whatever a request or a link in the folder says.

Names that begin with a dot are not served either: `.git`, `.env` and `.htpasswd` often have secrets. A link is served by its own name,
because package managers put the files behind their links into such folders.
"""

from __future__ import annotations

import asyncio
import mimetypes
import os
import re
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from aiohttp import hdrs, web
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict

from webnn.display.pages import render
from webnn.serve.guard import refuse
from webnn.serve.pages import LONGEST_CHANGED, change, find_change, isolate

__all__ = ["Folder"]

#: Types that systems state wrongly or not at all.
_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".npy": "application/octet-stream",
    ".onnx": "application/octet-stream",
    ".bin": "application/octet-stream",
    ".tflite": "application/octet-stream",
}
#: Names that are devices on Windows, whatever their suffix is, and characters that name other things than files there.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:[ .:].*)?", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[\x00-\x1f\\:*?"<>|]')
#: The short names that Windows may give to files beside their own: GIT~1 is .git.
_SHORT = re.compile(r"[^.]{1,6}~[0-9]{1,6}(?:\.[^.]{0,3})?")
#: The one folder that is served though its name begins with a dot: RFC 8615 says what is in it.
_WELL_KNOWN = ".well-known"
_INDEX = "index.html"
#: The most entries of a list.
_MOST_LISTED = 10_000


class Folder:
    """Pages of a folder. Raises `ValueError` if there is no such folder or page, or the page's name begins with a dot.

    Args:
        path: The folder, or a page in it.

    Attributes:
        start: The path of the page's address; ``"/"`` for a folder.
    """

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            self._root, self.start = path.resolve(), "/"
        elif path.is_file():
            if path.name.startswith("."):
                raise ValueError(f"{path} is not served: its name begins with a dot")
            # The page may be a link: its neighbours are those of the name that was given.
            self._root, self.start = path.parent.resolve(), f"/{quote(path.name)}"
            if not path.resolve().is_relative_to(self._root):
                raise ValueError(f"{path} is a link that leads out of its folder, got {path.resolve()}")
        else:
            raise ValueError(f"{path} is not there: give a page or a folder")

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request with a file, or with the list of a folder that has no index.html."""
        if request.method not in {hdrs.METH_GET, hdrs.METH_HEAD}:
            return refuse(405, "files can only be read", {hdrs.ALLOW: "GET, HEAD"})
        # Files on a slow disk must not hold up the calls of pages.
        return await asyncio.to_thread(self._find, request)

    async def close(self) -> None:
        """Release nothing: it holds nothing."""

    def _find(self, request: web.Request) -> web.StreamResponse:
        names = _names_of(request)
        if names is None:
            return refuse(404, "there is no such file")
        try:
            path = self._root.joinpath(*names).resolve()
            if not path.is_relative_to(self._root):
                return refuse(404, "this is a link that leads out of the folder, which is not followed")
            if path.is_dir():
                if not request.path.endswith("/"):
                    # A path and no address: nothing of the request can lead to another server.
                    target = "/" + "/".join(map(quote, names)) + "/"
                    query = request.rel_url.raw_query_string
                    headers = {hdrs.LOCATION: target + (f"?{query}" if query else ""), hdrs.CACHE_CONTROL: "no-store"}
                    return web.Response(status=308, headers=headers)
                index = (path / _INDEX).resolve()
                if not index.is_file() or not index.is_relative_to(self._root):
                    return _list(request, path, names)
                path = index
            elif request.path.endswith("/"):
                return refuse(404, "there is no such folder")
            if not path.is_file():
                return refuse(404, "there is no such file")
            return _send(request, path)
        except (OSError, RuntimeError, ValueError):  # no name for the system, a loop of links, a file that may not be read
            return refuse(404, "there is no such file")


class _File(web.FileResponse):
    """A file as it is. aiohttp would send a compressed one beside it, which may be older, or a link that leads out of the folder."""

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Prepare the answer; see the class."""
        headers = CIMultiDict(request.headers)
        headers.popall(hdrs.ACCEPT_ENCODING, None)
        return await super().prepare(request.clone(headers=headers))


def _names_of(request: web.Request) -> list[str] | None:
    """Return the names of a path's folders and file; ``None`` if it cannot be a path below a folder."""
    path = request.rel_url.raw_path
    if not path.startswith("/"):
        return None
    try:
        # Decoded once, and after it is cut: an encoded slash is not a separator.
        names = [unquote_to_bytes(name).decode("utf-8") for name in path.removeprefix("/").removesuffix("/").split("/")]
    except UnicodeDecodeError:
        return None
    if names == [""]:
        return []
    if any(_is_hidden(name, first=index == 0) for index, name in enumerate(names)):
        return None
    for name in names:
        if not name or "/" in name or _FORBIDDEN.search(name) or _RESERVED.fullmatch(name) or name.endswith((" ", ".")):
            return None
    return names


def _is_hidden(name: str, *, first: bool) -> bool:
    """Tell whether a name is not served, though there may be such a file. ``first``: it is in the served folder itself."""
    return _SHORT.fullmatch(name) is not None or (name.startswith(".") and not (first and name == _WELL_KNOWN))


def _send(request: web.Request, path: Path) -> web.StreamResponse:
    content_type = _TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    what = find_change(request, content_type)
    # Without an encoding: a document's own <meta> states it.
    headers: CIMultiDict[str] = CIMultiDict({hdrs.CONTENT_TYPE: content_type, hdrs.CACHE_CONTROL: "no-cache"})
    isolate(request, what, headers)
    if what is None:
        return _File(path, headers=headers)
    if path.stat().st_size > LONGEST_CHANGED:
        return refuse(500, f"a document or a worker's script has at most {LONGEST_CHANGED} bytes")
    body = change(request, what, path.read_bytes(), headers, content_type)
    return web.Response(body=body, headers=headers)


def _list(request: web.Request, path: Path, names: list[str]) -> web.Response:
    entries = sorted((entry.name, entry.is_dir()) for entry in os.scandir(path) if not _is_hidden(entry.name, first=not names))
    items = [(f"./{quote(name, errors='surrogateescape')}{'/' * folder}", f"{_show(name)}{'/' * folder}") for name, folder in entries]
    more = len(items) - _MOST_LISTED
    text = render("webnn.serve/folder.html", title="/" + "/".join(names), items=items[:_MOST_LISTED], more=more)
    headers: CIMultiDict[str] = CIMultiDict({hdrs.CONTENT_TYPE: "text/html; charset=utf-8", hdrs.CACHE_CONTROL: "no-store"})
    headers["Content-Security-Policy"] = "default-src 'none'"
    isolate(request, "document", headers)
    return web.Response(body=text.encode("utf-8"), headers=headers)


def _show(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
