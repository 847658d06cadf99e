"""The runner's own server of a checkout, without a network: what the server of web-platform-tests would answer for an address.

It knows the headers of files (``NAME.headers``, ``__dir__.headers``), the substitution in files with ``.sub.`` in their names, and the
pipes ``sub``, ``header`` and ``status``. https://web-platform-tests.org/writing-tests/server-features.html
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.substitution import Hosts, SubstitutionError, substitute

__all__ = ["Answer", "Server"]

_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MARKUP = (".html", ".htm", ".xht", ".xhtml", ".xml", ".svg")
_PIPE = re.compile(r"(\w+)(?:\(((?:\\.|[^\\)])*)\))?(?:\||$)")
_ARGUMENT = re.compile(r"((?:\\.|[^\\,])*)(?:,|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of the server.

    Attributes:
        name: The file's name.
        headers: The headers by their names in lower case; several of one name are joined by commas.
        problem: Why the server could not answer as web-platform-tests' would; empty if it could.
    """

    status: int = 200
    content: bytes = b""
    name: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    @property
    def type(self) -> str:
        """The media type, with its parameters."""
        from webnn.javascript.files import guess_type  # noqa: PLC0415 (behind walls its tables cannot be read)

        return self.headers.get("content-type") or guess_type(self.name)

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode("utf-8", "replace")


class Server:
    """Answers for the files of a checkout."""

    def __init__(self, checkout: Checkout, hosts: Hosts | None = None) -> None:
        self.checkout = checkout
        self.hosts = hosts or Hosts()

    def answer_path(self, path: str) -> Answer:
        """Answer for a path on the origin of tests with HTTPS."""
        return self.answer(f"{self.hosts.origin}{quote(path)}")

    def read(self, url: str) -> str | None:
        """Return the text at an address, or at a path with HTTPS; ``None`` if the status is not 200."""
        answer = self.answer(url if _ABSOLUTE.match(url) else f"{self.hosts.origin}/{url.lstrip('/')}")
        return answer.text if answer.status == 200 else None

    def answer(self, url: str) -> Answer:
        """Answer for an absolute address. A host that the server does not have, and a missing file, have the status 404."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return Answer(status=404, problem=f"{url} is not an address")
        if not self.hosts.has(url):
            return Answer(status=404, problem=f"there is no server at {parts.scheme}://{parts.netloc}")
        path = posixpath.normpath(unquote(parts.path))
        if path.endswith(".py"):
            return Answer(status=501, problem=f"{path} is a program of the server, which the runner does not run")
        content = self.checkout.read_bytes(path)
        if content is None:
            return Answer(status=404, problem=f"there is no file {path} in the checkout")
        try:
            return self._answer(url, path, content, dict(parse_qsl(parts.query, keep_blank_values=True)).get("pipe", ""))
        except SubstitutionError as error:
            return Answer(status=500, problem=str(error))

    def _answer(self, url: str, path: str, content: bytes, pipe: str) -> Answer:
        name, status, headers = posixpath.basename(path), 200, self._headers(url, path)
        replaces = ".sub." in name
        for command, text in _pipes(pipe):
            arguments = [each.replace("\\", "") for each in _ARGUMENT.findall(text)]
            match command, arguments:
                case "sub", _:
                    replaces = True
                case "header", [header, value, *_]:
                    headers[header.strip().lower()] = value.strip()
                case "status", [code, *_] if code.strip().isdecimal():
                    status = int(code)
                case _:
                    raise SubstitutionError(f"the runner's server does not know the pipe {command}({text}) of {path}")
        if replaces:
            text = content.decode("utf-8", "surrogateescape")
            content = substitute(text, url, self.hosts, markup=name.endswith(_MARKUP)).encode("utf-8", "surrogateescape")
        return Answer(status=status, content=content, name=name, headers=headers)

    def _headers(self, url: str, path: str) -> dict[str, str]:
        """Return the headers of a file: those of its folder, then its own."""
        headers: dict[str, str] = {}
        for stem in (posixpath.join(posixpath.dirname(path), "__dir__"), path):
            for suffix in (".headers", ".sub.headers"):
                text = self.checkout.read(stem + suffix)
                if text is None:
                    continue
                own: dict[str, str] = {}
                for line in (substitute(text, url, self.hosts, markup=False) if suffix.startswith(".sub") else text).splitlines():
                    name, colon, value = line.partition(":")
                    if colon and name.strip():
                        key = name.strip().lower()
                        own[key] = f"{own[key]}, {value.strip()}" if key in own else value.strip()
                headers |= own
        return headers


def _pipes(pipe: str) -> list[tuple[str, str]]:
    """Return the commands of a pipe with the texts of their arguments: ``sub|header(X-Name,1)``."""
    found = _PIPE.findall(pipe)
    if pipe and sum(len(each[0]) for each in found) == 0:
        raise SubstitutionError(f"the runner's server cannot read the pipe {pipe}")
    return [each for each in found if each[0]]
