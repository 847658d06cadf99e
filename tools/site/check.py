"""Builds the site, and checks what it says.

python -m tools.site.check [FOLDER]    writes it to the folder, or to a temporary one
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.site.names import index
from tools.site.text import ROOT

__all__ = ["Document", "build", "main", "problems"]

#: Elements that load what they name, with the attribute. A link is loaded unless it only leads somewhere.
_LOADING: Mapping[str, tuple[str, ...]] = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "use": ("href",),
    "video": ("src", "poster"),
}


#: The most bytes of a page with everything that it loads: a phone gets it in some seconds.
_MOST_BYTES = 1_000_000


class Document(HTMLParser):
    """A page: its anchors, its links, what it loads, the text of its code, its headings, and what its readers miss."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.words: set[str] = set()
        self.headings: list[int] = []
        self.faults: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read an element."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "img":
            self.faults += [f"a picture without {name}: {given.get('src')}" for name in ("alt", "width", "height") if not given.get(name)]
        if tag == "html" and not given.get("lang"):
            self.faults.append("no language")
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        # The address of the page itself is loaded by nobody.
        if not (tag == "link" and given.get("rel") in {"canonical", "next", "prev"}):
            self.loaded += [given[name] for name in _LOADING.get(tag, ()) if name in given]

    def problems(self) -> Iterator[str]:
        """Say what readers with a screen reader, or with a slow connection, miss."""
        yield from self.faults
        if self.headings.count(1) != 1:
            yield f"{self.headings.count(1)} headings of the first level"
        for before, after in itertools.pairwise(self.headings):
            if after > before + 1:
                yield f"a heading of level {after} behind one of level {before}"

    def handle_data(self, data: str) -> None:
        """Read a text."""
        self.words.update(data.split())


def build(folder: Path) -> None:
    """Build the site.

    Raises:
        SystemExit: There is a warning or an error; the text has what MkDocs printed.
    """
    # With `--quiet` a warning would be none.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    # The theme would advertise another program in each run.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", env=environment, check=False
    )
    if done.returncode:
        sys.exit("\n".join(line for line in done.stdout.splitlines() if not line.startswith("INFO")))


def problems(folder: Path) -> Iterator[str]:
    """Say what is wrong with a built site."""
    documents = {file: Document(file.read_text(encoding="utf-8")) for file in sorted(folder.rglob("*.html"))}
    for file, document in documents.items():
        name = file.relative_to(folder).as_posix()
        yield from (f"{name} loads {address}" for address in document.loaded if _is_foreign(address))
        yield from (f"{name} has {problem}" for problem in document.problems())
        weight = sum(path.stat().st_size for path in {file, *_loaded(file, document)})
        if weight > _MOST_BYTES:
            yield f"{name} has {weight:,} bytes with what it loads, more than {_MOST_BYTES:,}"
        for link in (*document.links, *document.loaded):
            # The page of errors of a server has links from its root.
            if not _is_foreign(link) and name != "404.html" and not _leads(file, link, documents):
                yield f"{name} has a link to {link}, which leads nowhere"
    for file in sorted(folder.rglob("*.css")):
        if "url(http" in file.read_text(encoding="utf-8").replace("'", "").replace('"', ""):
            yield f"{file.relative_to(folder).as_posix()} loads from another host"
    yield from _missing(folder, documents)


def _loaded(file: Path, document: Document) -> Iterator[Path]:
    """Yield the files that a page loads."""
    for address in document.loaded:
        path = unquote(urlsplit(address).path)
        if path and not _is_foreign(address) and (target := _resolved(file.parent / path)).is_file():
            yield target


def _is_foreign(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def _leads(file: Path, link: str, documents: Mapping[Path, Document]) -> bool:
    parts = urlsplit(link)
    if parts.scheme:
        return True
    target = _resolved(file.parent / unquote(parts.path)) if parts.path else file
    if target.is_dir():
        target /= "index.html"
    if target not in documents or not parts.fragment:
        return target.is_file()
    return unquote(parts.fragment) in documents[target].anchors


@cache
def _resolved(path: Path) -> Path:
    return Path(os.path.normpath(path))


def _missing(folder: Path, documents: Mapping[Path, Document]) -> Iterator[str]:
    """Say which names of the index are not on the page that it names."""
    for kind, names in index().items():
        for name, address in names.items():
            page, _, anchor = address.partition("#")
            document = documents.get(folder / f"{page.removesuffix('.md')}.html")
            if document is None or (anchor and anchor not in document.anchors):
                yield f"{kind}: {name} has no place on the page {page}"
            elif not anchor and name not in document.words:
                yield f"{kind}: {name} does not stand on the page {page}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.site.check", description="Build the site, and check what it says.")
    parser.add_argument("folder", type=Path, nargs="?", help="where the site goes; otherwise a temporary folder")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        build(folder)
        found = list(problems(folder))
        pages = sum(1 for _ in folder.rglob("*.html"))
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"the site: {pages} pages, {sum(map(len, index().values()))} names, {len(found)} problems")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
