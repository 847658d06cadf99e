"""Content Security Policies that let the emulator's script run, and nothing else that they did not allow before.

A document may have several policies, in headers, in lists, and in ``<meta>`` elements. Each one must allow what a page does, so each one is
amended: the script's address, or a nonce where addresses do not count (``'strict-dynamic'``); the addresses that the script calls; the
workers that it starts. Other directives are not touched. ``sandbox`` is not, either: without ``allow-scripts`` there is nothing to emulate,
and without ``allow-same-origin`` the page has an origin that the emulator refuses. Policies that only report are left alone.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["TRUSTED_TYPES_POLICY", "Addresses", "amend", "choose_nonce", "isolation", "needs_trusted_types", "split"]

#: The name of the Trusted Types policy with which a worker loads the script.
TRUSTED_TYPES_POLICY = "webnn-emulator"

_NONCE = re.compile(r"'nonce-([A-Za-z0-9+/_-]+={0,2})'", re.IGNORECASE)
_SPACE = " \t\n\f\r"
#: Where the sources of a kind of request stand: in the first of these directives that the policy has.
_SCRIPT = ("script-src-elem", "script-src", "default-src")
_WORKER = ("worker-src", "child-src", "script-src", "default-src")
_CONNECT = ("connect-src", "default-src")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the emulator is, for a page.

    Attributes:
        base: The address below which all of its addresses lie: ``"http://127.0.0.1:8000/__webnn__/TOKEN/"``.
        query: Facts about the document for the script, as the query of its address.
    """

    base: str
    query: str = ""

    @property
    def script(self) -> str:
        """The script for documents and workers."""
        return f"{self.base}webnn.js"

    @property
    def socket(self) -> str:
        """The address below which its WebSockets lie."""
        return f"ws{self.base.removeprefix('http')}"


def split(headers: Iterable[str]) -> list[str]:
    """Return the policies of headers, each of which may be a list."""
    return [policy.strip(_SPACE) for header in headers for policy in header.split(",") if policy.strip(_SPACE)]


def choose_nonce(policies: Sequence[str]) -> str | None:
    """Return the nonce that the tag of the script needs: one that the policies have, else a new one if they need one."""
    sources = [source for policy in policies for source in _effective(_parse(policy), _SCRIPT) or ()]
    for source in sources:
        if found := _NONCE.fullmatch(source):
            return found[1]
    return secrets.token_urlsafe(16) if "'strict-dynamic'" in map(str.lower, sources) else None


def amend(policy: str, addresses: Addresses, nonce: str | None = None) -> str:
    """Let a policy allow the emulator by further sources. It is the same text if it allows everything already."""
    directives = _parse(policy)
    before = {name: list(sources) for name, sources in directives.items()}
    # A copy for elements leaves the sources of inline handlers, and of everything else that `default-src` is about, as they are.
    if (sources := _effective(directives, _SCRIPT)) is not None:
        strict = "'strict-dynamic'" in map(str.lower, sources)
        _add(directives, _SCRIPT, f"'nonce-{nonce}'" if strict and nonce is not None else addresses.script)
    _add(directives, _WORKER, addresses.base)
    # The script of a worker in a Blob is read before it is changed. The page has made such a Blob itself.
    workers = _effective(directives, _WORKER)
    blob = ("blob:",) if workers is None or "blob:" in map(str.lower, workers) else ()
    _add(directives, _CONNECT, addresses.base, addresses.socket, *blob)
    if "trusted-types" in directives:
        _add(directives, ("trusted-types",), TRUSTED_TYPES_POLICY)
    if directives == before:
        return policy
    return "; ".join(" ".join([name, *sources]) for name, sources in directives.items())


def needs_trusted_types(policies: Iterable[str]) -> bool:
    """Tell whether scripts may be loaded by objects of Trusted Types only."""
    return any("require-trusted-types-for" in _parse(policy) for policy in policies)


def isolation(kind: str | None) -> Mapping[str, str]:
    """Return the headers that isolate an answer of a kind from other origins, which gives a page `SharedArrayBuffer`."""
    headers = {"Cross-Origin-Resource-Policy": "same-origin"}
    if kind is not None:
        headers["Cross-Origin-Embedder-Policy"] = "require-corp"
    if kind == "document":
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return headers


def _parse(policy: str) -> dict[str, list[str]]:
    """Return the directives of a policy. As in browsers, the first one of a name counts."""
    directives: dict[str, list[str]] = {}
    for text in policy.split(";"):
        name, *sources = text.replace("\f", " ").split() or [""]
        if name:
            directives.setdefault(name.lower(), sources)
    return directives


def _effective(directives: Mapping[str, list[str]], names: Sequence[str]) -> list[str] | None:
    return next((directives[name] for name in names if name in directives), None)


def _add(directives: dict[str, list[str]], names: Sequence[str], *further: str) -> None:
    """Add sources to the first of some directives, which begins as a copy of the one that counts. Without any, everything is allowed."""
    sources = _effective(directives, names)
    if sources is None:
        return
    kept = [source for source in sources if source.lower() != "'none'"]
    directives[names[0]] = [*kept, *(source for source in further if source not in kept)]
