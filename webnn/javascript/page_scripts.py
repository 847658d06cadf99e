"""The scripts of a program: a JavaScript file is one script, a page has those of its `<script>` elements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal
from urllib.parse import urljoin

__all__ = ["Script", "find_kind", "import_maps_of_page", "scripts_of_page", "scripts_of_script"]

#: How a script is to be run; a script that is ``"unknown"`` is a module if its text only makes sense as one.
Kind = Literal["module", "classic", "unknown"]

_CLASSIC = {"", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One script of a program, as `node_host.mjs` reads it.

    Attributes:
        url: Its address. An inline module has the page's address with a fragment, because a module is known by its address.
        kind: How it runs.
        source: The text of an inline script; ``None`` if the script is in a file of its own.
        line: How many lines of the page precede the text of an inline script.
    """

    url: str
    kind: Kind
    source: str | None = None
    line: int = 0


def find_kind(attributes: Mapping[str, str]) -> Kind | None:
    """Return how the script of an element `<script>` runs; ``None`` for a block of data, and for browsers that know no modules."""
    stated = attributes.get("type", "").strip().lower()
    kind: Kind = "module" if stated == "module" else "classic"
    return None if stated not in _CLASSIC | {"module"} or (kind == "classic" and "nomodule" in attributes) else kind


def scripts_of_script(program: Path, url: str) -> list[Script]:
    """Return the one script of a file ``.mjs`` or ``.js``."""
    kind: Kind = "module" if program.suffix.lower() == ".mjs" else _kind_by_package(program)
    return [Script(url=url, kind=kind)]


def scripts_of_page(text: str, url: str) -> list[Script]:
    """Return the scripts of a page in the order in which a browser runs them: modules wait until the page has been read."""
    page = _read_page(text, url)
    return page.immediate + page.deferred


def import_maps_of_page(text: str) -> list[str]:
    """Return the texts of a page's import maps."""
    return _read_page(text, "").import_maps


def _read_page(text: str, url: str) -> _Page:
    page = _Page(url)
    page.feed(text)
    page.close()
    return page


def _kind_by_package(program: Path) -> Kind:
    """Return the kind from the nearest package.json, as Node does; ``"unknown"`` if it has no `type`."""
    for folder in program.parents:
        try:
            package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        stated = package.get("type") if isinstance(package, dict) else None
        return "module" if stated == "module" else "classic" if stated == "commonjs" else "unknown"
    return "unknown"


class _Page(HTMLParser):
    """Collects the scripts of a page."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=False)
        self.immediate: list[Script] = []
        self.deferred: list[Script] = []
        self.import_maps: list[str] = []
        self._url = url
        self._open: tuple[Kind, int, list[str]] | None = None
        self._map: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "script":
            return
        attributes = {name: value or "" for name, value in attrs}
        if attributes.get("type", "").strip().lower() == "importmap":
            self._map = []
        kind = find_kind(attributes)
        if kind is None:
            return
        if "src" in attributes:
            script = Script(url=urljoin(self._url, attributes["src"].strip()), kind=kind)
            self._add(script, deferred=kind == "module" or "defer" in attributes)
        else:
            # The text begins where the tag ends.
            line = self.getpos()[0] - 1 + (self.get_starttag_text() or "").count("\n")
            self._open = kind, line, []

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open[2].append(data)
        elif self._map is not None:
            self._map.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._map is not None:
            self.import_maps.append("".join(self._map))
            self._map = None
        if tag == "script" and self._open is not None:
            kind, line, texts = self._open
            self._open = None
            number = len(self.immediate) + len(self.deferred) + 1
            url = f"{self._url}#script-{number}" if kind == "module" else self._url
            self._add(Script(url=url, kind=kind, source="".join(texts), line=line), deferred=kind == "module")

    def _add(self, script: Script, *, deferred: bool) -> None:
        (self.deferred if deferred else self.immediate).append(script)
