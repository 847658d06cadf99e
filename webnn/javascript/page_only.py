"""Explains errors of programs that need what only a browser has."""

from __future__ import annotations

import re

__all__ = ["explain_page"]

#: Names that a page has and a program lacks, in the engine's errors.
_ABSENT = re.compile(
    r"ReferenceError: ((?:HTML|SVG|CSS|Audio|Media|RTC|GPU|Image|Offscreen|WebGL|Canvas|Video|IDB|Service|Shared|Mutation|Resize|DOM)\w*"
    r"|createImageBitmap|localStorage|sessionStorage|indexedDB|caches|requestAnimationFrame|WebSocket|EventSource|getComputedStyle)"
    r" is not defined"
)
#: Members that a document and its elements have in a page.
_MEMBER = re.compile(r"TypeError: ([^\n]*\b(?:document|canvas|body|head|element)\.\w+) is not a function")
_PICTURES = frozenset(
    {"ImageData", "ImageBitmap", "Image", "OffscreenCanvas", "HTMLCanvasElement", "HTMLImageElement", "createImageBitmap"}
)


def explain_page(report: str) -> str:
    """Say that a program needs a browser, and which command gives it one; empty if the error has another reason."""
    if found := _ABSENT.search(report):
        name = found[1]
        pictures = "run `npm install canvaskit-wasm` below --root, or " if name in _PICTURES else ""
        return f"a program has no {name}: {pictures}use `webnn serve`"
    if found := _MEMBER.search(report):
        return f"a program has no {found[1]}(): use `webnn serve`"
    return ""
