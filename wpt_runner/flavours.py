"""Flavours of a test: the global objects that one file runs in, each a test of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from webnn.javascript.realm import Scope

__all__ = ["Flavour", "flavours_of", "join_place", "split_place"]


class Flavour(StrEnum):
    """A flavour, as the identifiers of web-platform-tests name it: ``"worker"`` for ``/webnn/relu.https.any.worker.html``."""

    WINDOW = "window"
    WORKER = "worker"
    SHARED = "sharedworker"
    SERVICE = "serviceworker"

    @property
    def suffix(self) -> str:
        """Its part of an identifier."""
        return "" if self is Flavour.WINDOW else f".{self.value}"

    @property
    def scope(self) -> Scope:
        """The global object of the realm."""
        return _SCOPES[self]


_SCOPES: Mapping[Flavour, Scope] = {
    Flavour.WINDOW: "window",
    Flavour.WORKER: "dedicatedworker",
    Flavour.SHARED: "sharedworker",
    Flavour.SERVICE: "serviceworker",
}
#: The flavours of a name in ``META: global``. Other names are for modules, and for shells without a web.
_GLOBALS: Mapping[str, Iterable[Flavour]] = {
    "window": [Flavour.WINDOW],
    "worker": [Flavour.WORKER, Flavour.SHARED, Flavour.SERVICE],
    **{scope: [flavour] for flavour, scope in _SCOPES.items()},
}
_PLACE = re.compile(r"([a-z]*)(.*)", re.DOTALL)


def flavours_of(globals_: str) -> tuple[Flavour, ...]:
    """Return the flavours that a line ``META: global`` asks for: ``"window,worker"``; a name may be taken back with ``!``."""
    names = [name.strip() for name in globals_.split(",")]
    wanted = {flavour for name in names for flavour in _GLOBALS.get(name, ())}
    refused = {flavour for name in names for flavour in _GLOBALS.get(name.removeprefix("!"), ()) if name.startswith("!")}
    return tuple(flavour for flavour in Flavour if flavour in wanted - refused)


def join_place(flavour: Flavour, variant: str) -> str:
    """Return the name of a flavour and a variant among those of one file: ``"worker?cpu"``; a window's is the variant alone."""
    return f"{'' if flavour is Flavour.WINDOW else flavour.value}{variant}"


def split_place(place: str) -> tuple[Flavour, str]:
    """Return flavour and variant of such a name."""
    match = _PLACE.fullmatch(place)
    assert match is not None
    return Flavour(match[1] or "window"), match[2]
