"""Serves files with the emulator behind their `navigator.ml`, to pages that are isolated from other origins."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterator, Mapping, MutableSequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from webnn.browser.chromium import Read
from webnn.javascript.files import File, RefusedError
from webnn.serve.options import Options
from webnn.serve.server import Server

__all__ = ["Reports", "mount_folders", "open_emulator", "serve_files"]

_ISOLATION = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_HEAD = re.compile(rb"<head(?:\s[^>]*)?>|<!doctype[^>]*>", re.IGNORECASE)
_BLANK = File(b"<!doctype html><meta charset=utf-8><title>WebNN</title>", "text/html")


@dataclass(slots=True)
class Reports:
    """What a server and its pages have told.

    Attributes:
        faults: The tracebacks of errors of the emulator itself.
        bodies: What pages have sent to ``/-/report``.
    """

    faults: MutableSequence[str] = field(default_factory=list)
    bodies: MutableSequence[bytes] = field(default_factory=list)


class _Pages:
    """Files, with the emulator's script first in documents and workers."""

    def __init__(self, read: Read, reports: Reports, *, isolate: bool) -> None:
        self._read = read
        self._reports = reports
        self._headers = _ISOLATION if isolate else {"Cache-Control": "no-store"}
        self.script_url = ""
        self.announced: Callable[[str], str | None] = lambda _: None

    async def answer(self, request: web.Request) -> web.Response:
        """Send a file, or take a report."""
        if request.method == "POST":
            self._reports.bodies.append(await request.read())
            return web.Response(headers=self._headers)
        path = request.path
        try:
            file = self._read(path) or (_BLANK if path == "/" else None)
        except RefusedError:
            file = None
        if file is None:
            return web.Response(status=404, headers=self._headers)
        content = self._prefix(file, request)
        return web.Response(body=content, content_type=file.type.partition(";")[0], charset="utf-8", headers=self._headers)

    async def close(self) -> None:
        """Do nothing: it holds nothing."""

    def _prefix(self, file: File, request: web.Request) -> bytes:
        content, destination = bytes(file.content), request.headers.get("Sec-Fetch-Dest", "")
        if destination in ("worker", "sharedworker"):
            is_module = self.announced(str(request.url)) == "module"
            return (f"import '{self.script_url}';" if is_module else f"importScripts('{self.script_url}');").encode() + content
        if destination not in ("document", "iframe") or not file.type.startswith("text/html"):
            return content
        match = _HEAD.search(content)
        at = match.end() if match else 0
        return content[:at] + f'<script src="{self.script_url}"></script>'.encode() + content[at:]


@contextmanager
def open_emulator(read: Read, options: Options, reports: Reports, *, isolate: bool = True) -> Iterator[Server]:
    """Serve files with the emulator; yield the server.

    Args:
        read: The files by their paths.
        options: What `navigator.ml` is made with.
        reports: Takes what the server and its pages tell.
        isolate: Isolate the pages from other origins.
    """
    pages = _Pages(read, reports, isolate=isolate)
    with Server(pages, options, on_fault=reports.faults.append) as server:
        pages.script_url, pages.announced = server.script_url, server.announced
        yield server


@contextmanager
def serve_files(read: Read, options: Options, reports: Reports) -> Iterator[str]:
    """Serve files with the emulator; yield the address, which ends with a slash."""
    with open_emulator(read, options, reports) as server:
        yield f"{server.url}/"


def mount_folders(folders: Mapping[str, Path]) -> Read:
    """Return a function that reads the files of folders by their paths on a server, such as ``"/models/"``, the longer ones first."""
    roots = {prefix: folders[prefix].resolve() for prefix in sorted(folders, key=len, reverse=True)}

    def read(path: str) -> File | None:
        for prefix, root in roots.items():
            file = (root / path.removeprefix(prefix)).resolve()
            if path.startswith(prefix) and file.is_relative_to(root) and file.is_file():
                return File(file.read_bytes(), mimetypes.guess_type(file.name)[0] or "application/octet-stream")
        return None

    return read
