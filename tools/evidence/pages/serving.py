"""Serves files with the emulator behind their `navigator.ml`, to pages that are isolated from other origins."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping, MutableSequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from aiohttp import web
from multidict import CIMultiDict

from webnn.browser.chromium import Read
from webnn.javascript.files import File, RefusedError
from webnn.serve.options import Options
from webnn.serve.pages import change, find_change, isolate
from webnn.serve.server import Server

__all__ = ["Reports", "mount_folders", "open_emulator", "serve_files"]

_BLANK = File(b"<!doctype html><meta charset=utf-8><title>WebNN</title>", "text/html")


@dataclass(slots=True)
class Reports:
    """The reports of a server and its pages.

    Attributes:
        faults: The tracebacks of errors of the emulator itself.
        bodies: The bodies that pages have sent to ``/-/report``.
    """

    faults: MutableSequence[str] = field(default_factory=list)
    bodies: MutableSequence[bytes] = field(default_factory=list)


class _Pages:
    """Files, with the emulator's script first in documents and workers."""

    def __init__(self, read: Read, reports: Reports, *, native: bool) -> None:
        self._read = read
        self._reports = reports
        self._native = native

    async def answer(self, request: web.Request) -> web.Response:
        """Send a file, or take a report."""
        headers = CIMultiDict({"Cache-Control": "no-store"})
        if request.method == "POST":
            self._reports.bodies.append(await request.read())
            return web.Response(headers=headers)
        path = request.path
        try:
            file = self._read(path) or (_BLANK if path == "/" else None)
        except RefusedError:
            file = None
        if file is None:
            return web.Response(status=404, headers=headers)
        content, content_type = bytes(file.content), file.type.partition(";")[0]
        what = None if self._native else find_change(request, content_type)
        if what is not None:
            content = change(request, what, content, headers, content_type, "utf-8")
        isolate(request, what, headers)
        return web.Response(body=content, content_type=content_type, charset="utf-8", headers=headers)

    async def close(self) -> None:
        """Do nothing: it holds nothing."""


@contextmanager
def open_emulator(read: Read, options: Options, reports: Reports, *, isolated: bool = True, native: bool = False) -> Iterator[Server]:
    """Serve files with the emulator; yield the server.

    Args:
        read: The files by their paths.
        options: The options of `navigator.ml`.
        reports: Takes what the server and its pages tell.
        isolated: Isolate the pages from other origins.
        native: Leave the pages as they are, with the browser's own WebNN.
    """
    pages, used = _Pages(read, reports, native=native), replace(options, isolate=isolated)
    with Server(pages, used, on_fault=reports.faults.append, alone=True) as server:
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
