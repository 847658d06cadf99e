"""Links out of the documentation: the files that they lead to become pages of the site."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from tools.site.text import ROOT, fence, table

__all__ = ["FOLDER", "file_page", "relink"]

FOLDER = "files"
_LANGUAGES: Mapping[str, str] = MappingProxyType(
    {
        ".py": "python",
        ".mjs": "javascript",
        ".js": "javascript",
        ".html": "html",
        ".css": "css",
        ".json": "json",
        ".toml": "toml",
        ".yml": "yaml",
    }
)
#: Links and pictures of Markdown and of HTML, except those with a scheme and those within a page.
_LINK = re.compile(r"""(\]\(|\b(?:src|srcset|href)=")(?![a-z]+:|#)([^)\s"#]+)((?:#[^)\s"]*)?[)"])""")
_FENCE = re.compile(r"^( *)(`{3,}).*?^\1\2`*$", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
#: The longest file that is shown.
_MOST_SHOWN = 100_000


def relink(text: str, source: str, page: str) -> tuple[str, set[str]]:
    """Change the links of a document to those of the page that shows it, and separate its lists from the text before them.

    Args:
        text: The document.
        source: Its path in the repository.
        page: The path of the page in the site's sources.

    Returns:
        The document, and the paths in the repository of the files outside the documentation that it links to.
    """
    found: set[str] = set()

    def change(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        if not (ROOT / target).exists():
            return match[0]
        new = _page_of(target)
        if new.startswith(f"{FOLDER}/"):
            found.add(target)
        return f"{match[1]}{posixpath.relpath(new, posixpath.dirname(page) or '.')}{match[3]}"

    parts: list[str] = []
    end = 0
    for block in _FENCE.finditer(text):
        parts += [_LINK.sub(change, _spaced(text[end : block.start()])), block[0]]
        end = block.end()
    return "".join([*parts, _LINK.sub(change, _spaced(text[end:]))]), found


def _spaced(text: str) -> str:
    """Separate lists from the paragraphs before them: Python's Markdown does not find them otherwise."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        starts = _ITEM.match(line) is not None
        if starts and not inside and lines and lines[-1]:
            lines.append("")
        inside = starts or (inside and bool(line))
        lines.append(line)
    return "\n".join(lines)


def _page_of(path: str) -> str:
    """Return the page of a file or a folder of the repository."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir():
        return f"{FOLDER}/{path}/index.md"
    return f"{FOLDER}/{path}" if path.endswith(".md") else f"{FOLDER}/{path}.md"


def file_page(path: str) -> tuple[str, str, set[str]]:
    """Return the page that shows a file or a folder: its name, its text, and the files that it links to."""
    page, file = _page_of(path), ROOT / path
    if file.is_dir():
        text = "\n".join(_folder(path))
    elif path.endswith(".md"):
        text = file.read_text(encoding="utf-8")
    else:
        text = "\n".join(_file(path))
    return (
        page,
        *relink(
            text, path if path.endswith(".md") else posixpath.join(path if file.is_dir() else posixpath.dirname(path), "page.md"), page
        ),
    )


def _folder(path: str) -> Iterator[str]:
    names = sorted(name for name in os.listdir(ROOT / path) if not name.startswith((".", "__")) and name != "node_modules")
    yield from (f"# {path}", "")
    yield from table(["file", ""], ([f"[{name}]({name})", _about(ROOT / path / name)] for name in names))


def _about(file: Path) -> str:
    """Return the first sentence of a Python file."""
    match = re.match(r'"""(.*?)(?:\.\s|"""|\n\n)', file.read_text(encoding="utf-8"), re.DOTALL) if file.suffix == ".py" else None
    return " ".join(match[1].split()).replace("``", "`") if match else ""


def _file(path: str) -> Iterator[str]:
    file = ROOT / path
    if file.suffix == ".ipynb":
        # It has a title of its own.
        yield from _notebook(file.read_text(encoding="utf-8"))
        return
    yield from (f"# {path}", "")
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text or len(text) > _MOST_SHOWN:
        yield from (f"A file of {file.stat().st_size:,} bytes, which is in the repository.", "")
    else:
        yield from fence(text, _LANGUAGES.get(file.suffix, "text"))


def _notebook(text: str) -> Iterator[str]:
    """Yield the cells of a notebook, without outputs."""
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        yield from fence(source, "python") if cell["cell_type"] == "code" else (source, "")
