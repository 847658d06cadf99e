"""The text of a page, taken apart: what `page.js` builds, and the scripts between."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import pairwise

from webnn.javascript.page_scripts import find_kind

__all__ = ["Metadata", "Part", "find_metadata", "read_page"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Elements and text, and the script behind them.

    Attributes:
        tokens: ``["start", name, attributes]``, ``["end", name]`` and ``["text", text]``; the script's own start is the last one.
        source: The text of the script; ``None`` if there is no script, or it is in a file of its own.
        src: The address of that file, as the page has it; ``None`` if there is none.
        line: How many lines of the page precede the script's text.
        kind: ``"classic"``, ``"deferred"``, ``"module"``, or empty if there is no script.
    """

    tokens: list[list[object]]
    source: str | None = None
    src: str | None = None
    line: int = 0
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The head of a page that has a test.

    Attributes:
        test: It loads testharness.js.
    """

    title: str
    variants: tuple[str, ...]
    long: bool
    test: bool


def read_page(text: str) -> list[Part]:
    """Take a page apart, in its order."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return [*reader.parts, Part(tokens=reader.tokens)]


def find_metadata(text: str) -> Metadata:
    """Return what a page says of the test in it."""
    parts = read_page(text)
    tokens = [token for part in parts for token in part.tokens]
    metas = [dict(token[2]) for token in tokens if token[:2] == ["start", "meta"]]  # type: ignore[call-overload]
    titles = [after[1] for token, after in pairwise(tokens) if token[:2] == ["start", "title"] and after[0] == "text"]
    return Metadata(
        title=str(titles[0]).strip() if titles else "",
        variants=tuple(meta.get("content", "") for meta in metas if meta.get("name") == "variant") or ("",),
        long=any(meta.get("name") == "timeout" and meta.get("content") == "long" for meta in metas),
        test=any((part.src or "").endswith("/resources/testharness.js") for part in parts),
    )


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[Part] = []
        self.tokens: list[list[object]] = []
        self._script: tuple[str, str | None, int, list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tokens.append(["start", tag, list(attributes.items())])
        kind = find_kind(attributes) if tag == "script" else None
        if kind is not None:
            line = self.getpos()[0] - 1 + (self.get_starttag_text() or "").count("\n")
            deferred = kind == "classic" and "src" in attributes and "defer" in attributes
            self._script = "deferred" if deferred else kind, attributes.get("src"), line, []

    def handle_data(self, data: str) -> None:
        self.tokens.append(["text", data])
        if self._script is not None:
            self._script[3].append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._script is not None:
            kind, src, line, texts = self._script
            source = "".join(texts) if src is None else None
            self.parts.append(Part(tokens=self.tokens, source=source, src=src, line=line, kind=kind))
            self.tokens, self._script = [], None
        self.tokens.append(["end", tag])
