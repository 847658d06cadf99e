"""A page of HTML as a browser reads it."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["Page"]

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


class Page(HTMLParser):
    """Reads a page, and checks that its elements are closed in order and have no attributes that run scripts.

    Attributes:
        elements: The elements, each with its attributes.
        parts: The pieces of text, each with the element around it.
        comments: The comments.
    """

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.parts: list[tuple[str, str]] = []
        self.comments: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.parts.append((self._open[-1] if self._open else "", data))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def tags(self) -> set[str]:
        """The names of the elements."""
        return {tag for tag, _ in self.elements}

    @property
    def text(self) -> str:
        """All text, with a space behind each piece."""
        return "".join(f"{data} " for _, data in self.parts)

    def texts(self, tag: str) -> list[str]:
        """Return the pieces of text directly in elements of a name."""
        return [data for name, data in self.parts if name == tag]

    def count(self, tag: str) -> int:
        """Count the elements of a name."""
        return sum(each == tag for each, _ in self.elements)
