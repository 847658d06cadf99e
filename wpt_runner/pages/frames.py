"""The documents of frames: their origins and policies, by the attributes of the frame."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import webnn

__all__ = ["Attributes", "declared_origin", "end", "make_blank", "make_document", "may", "origin_of"]

#: The attributes ``allow``, ``name``, ``sandbox``, ``src`` (resolved, empty if missing) and ``srcdoc``; ``None`` for one that is missing.
Attributes = Mapping[str, str | None]
_WITH_ORIGIN = ("http", "https")


def origin_of(url: str) -> str:
    """Return the origin of an address; ``"null"`` for one that has none, such as ``data:``."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in _WITH_ORIGIN else "null"


def may(attributes: Attributes, flag: str) -> bool:
    """Tell whether a frame's sandbox allows something, such as ``"allow-scripts"``; without a sandbox everything is allowed."""
    sandbox = attributes["sandbox"]
    return sandbox is None or flag in sandbox.lower().split()


def declared_origin(attributes: Attributes, parent: webnn.Document) -> str:
    """Return the origin of the page that the attributes name: *declared origin*, https://w3c.github.io/webappsec-permissions-policy/."""
    src = attributes["src"]
    return parent.origin if attributes["srcdoc"] is not None or not src or src == "about:blank" else origin_of(src)


def make_document(attributes: Attributes, parent: webnn.Document, origin: str, header: str | None = None) -> webnn.Document:
    """Make the document of a frame.

    Args:
        attributes: The attributes of the frame at this moment.
        parent: The page with the frame.
        origin: The origin of the document's address, which may be another one than the attributes name.
        header: The document's header Permissions-Policy.
    """
    opaque = origin == "null" or not may(attributes, "allow-same-origin")
    src = None if opaque or attributes["srcdoc"] is not None else attributes["src"] or None
    return webnn.Document(header, origin="null" if opaque else origin, parent=parent, allow=attributes["allow"] or "", src=src)


def make_blank(attributes: Attributes, parent: webnn.Document) -> webnn.Document:
    """Make the document of a frame that shows no page: it has the origin of the page around it."""
    return make_document({**attributes, "src": None}, parent, parent.origin)


def end(document: webnn.Document | None) -> None:
    """Make a document inactive, if there is one."""
    if document is not None:
        document.active = False
