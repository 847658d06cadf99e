"""Changes to the HTML of a page: names in the text become links, pictures get their size. And its rank in the search."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from html import unescape
from pathlib import Path

from mkdocs.structure.files import File, Files

from tools.site import commands, environment, python_api, testing
from webnn.validation.drafts import DRAFTS, find_revision

__all__ = ["boost", "finish", "is_data", "name_dialog"]

#: Code in the text, and names of guides; what is in a link, a heading or a block of code comes as a whole and stays as it is.
_NAME = re.compile(r"<(a|h[1-6]|pre|summary)\b.*?</\1>|<code>([^<]+)</code>|<[^>]+>|\bdocs/([\w-]+\.md)\b", re.DOTALL)
_IMAGE = re.compile(r'<img (?![^>]*\bwidth=)([^>]*?)src="(?!\w+:)([^"]+)"([^>]*?) ?/?>')
_SVG_SIZE = re.compile(r'<svg[^>]* width="([\d.]+)"[^>]* height="([\d.]+)"')
#: How far in front the search shows the pages of a folder; guides have no folder.
_BOOSTS = {"": 4.0, "proposals": 1.0, "api": 1.0, "files": 0.2}
_ANCHOR = re.compile(r"#[a-z][\w-]+")


def finish(html: str, file: File, files: Files) -> str:
    """Return the HTML of a page with links for the names in its text."""

    def change(match: re.Match[str]) -> str:
        name = unescape(match[2] or "")
        guide = files.get_file_from_path(match[3] or (name.removeprefix("docs/") if name.endswith(".md") else ""))
        if guide is not None:
            return f'<a href="{guide.url_relative_to(file)}">{match[0]}</a>'
        address = _specification(name)
        if not address and name in _targets():
            page, _, anchor = _targets()[name].partition("#")
            found = files.get_file_from_path(page)
            address = f"{found.url_relative_to(file)}#{anchor}" if found is not None and found is not file else ""
        return f'<a href="{address}">{match[0]}</a>' if address else match[0]

    html = _IMAGE.sub(lambda match: _sized(match, file, files), _NAME.sub(change, html))
    # A cell without a text is not a header.
    return html.replace("<th></th>", "<td></td>")


def name_dialog(html: str) -> str:
    """Return a whole page whose dialog of the search has a name, which the theme does not give it."""
    return html.replace('data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"')


def boost(page: str) -> float:
    """Return by which factor the search prefers a page: guides come first, then the reference, then files."""
    return _BOOSTS[page.partition("/")[0] if "/" in page else ""]


def is_data(page: str) -> bool:
    """Tell whether a page shows a file of data, in which nobody searches for words."""
    return page.startswith("files/") and page.removesuffix(".md").endswith((".json", ".toml", ".txt", ".csv", ".npz", ".mlir", ".mlirbc"))


def _sized(match: re.Match[str], file: File, files: Files) -> str:
    """Return a picture with its width and height, so that the text does not move when it is loaded."""
    picture = files.get_file_from_path(posixpath.normpath(posixpath.join(posixpath.dirname(file.src_uri), match[2].partition("#")[0])))
    size = None if picture is None or picture.abs_src_path is None else _size(picture.abs_src_path)
    attributes = "" if size is None else f' width="{size[0]}" height="{size[1]}"'
    return f'<img {match[1]}src="{match[2]}"{match[3]}{attributes}>'


@cache
def _size(path: str) -> tuple[int, int] | None:
    """Return the width and the height of a picture; ``None`` for other files than PNG and SVG, and for an SVG without them."""
    content = Path(path).read_bytes()
    if content.startswith(b"\x89PNG"):
        return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    found = _SVG_SIZE.search(content.decode("utf-8")) if path.endswith(".svg") else None
    return (round(float(found[1])), round(float(found[2]))) if found else None


def _specification(name: str) -> str:
    """Return the address of an anchor of the specification."""
    if not _ANCHOR.fullmatch(name):
        return ""
    found = [find_revision(draft).idl() for draft in reversed(DRAFTS)]
    return next((f"{idl['source']['url']}{name}" for idl in found if name[1:] in idl["anchors"]), "")


@cache
def _targets() -> dict[str, str]:
    """Return the pages of the names that the text may have, in the forms in which it has them."""
    found: dict[str, str] = {}
    for name, page in python_api.names().items():
        found[name] = found[f"{name}()"] = page
        # `load` alone may be anything; `MLContext` and `WebNNTypeError` are clear.
        short = name.removeprefix("webnn.")
        if short[:1].isupper() and "." not in short:
            found[short] = page
    found |= {each.name: f"{each.page}#{each.anchor()}" for each in commands.commands() if len(each.path) > 1}
    found |= {name: f"{environment.PAGE}#{name}" for name in environment.variables()}
    found |= {name: f"{testing.PAGE}#fixtures-{name}" for each in testing.plugins() for name in each.fixtures}
    return found
