"""All pages that are not in docs/: the home page, the reference, and the files that pages link to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from tools.site import commands, compatibility, environment, errors, home, messages, names, operations, python_api, testing
from tools.site.examples import examples
from tools.site.files import FOLDER, file_page, relink
from tools.site.text import ROOT

__all__ = ["DOCUMENTS", "fill_navigation", "linked_pages", "reference"]

DOCUMENTS = ROOT / "docs"


@cache
def reference() -> dict[str, str]:
    """Return the pages of the reference by their names."""
    return {
        names.PAGE: names.page(),
        **operations.pages(),
        **python_api.pages(),
        compatibility.PAGE: compatibility.page(),
        messages.PAGE: messages.page(),
        errors.PAGE: errors.page(),
        **commands.pages(),
        environment.PAGE: environment.page(),
        testing.PAGE: testing.page(),
    }


def linked_pages(documents: Iterable[str]) -> dict[str, str]:
    """Return the home page, pages of the project's own documents, of the files that documents link to, and of those that these link to.

    Args:
        documents: The paths of documents in the repository, such as ``"docs/wpt.md"``.
    """
    readme, waiting = relink((ROOT / "README.md").read_text(encoding="utf-8"), "README.md", home.PAGE)
    waiting.update(_project())
    made = {home.PAGE: home.page(readme)}
    for document in documents:
        waiting |= relink((ROOT / document).read_text(encoding="utf-8"), document, document.removeprefix("docs/"))[1]
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        seen.add(path)
        page, text, found = file_page(path)
        made[page] = text
        waiting |= found - seen
    return made


def _project() -> list[str]:
    """Return the documents at the top of the repository, such as the changelog."""
    return sorted(path.name for path in ROOT.glob("*.md") if path.name != "README.md")


def fill_navigation(navigation: Any) -> Any:
    """Return the navigation of mkdocs.yml with pages in place of their folders.

    Documents that it does not name come last, in a section of their own.
    """
    filled = _fill(navigation)
    named = set(_named(filled))
    documents = (path.relative_to(DOCUMENTS).as_posix() for path in sorted(DOCUMENTS.rglob("*.md")))
    others = [name for name in documents if name not in named]
    return [*filled, {"More": others}] if others else filled


def _fill(entry: Any) -> Any:
    match entry:
        case list():
            filled = [_fill(each) for each in entry]
            # The pages of a folder within a list are entries of the list.
            return [name for each in filled for name in (each if isinstance(each, list) else [each])]
        case dict():
            return {title: _fill(each) for title, each in entry.items()}
        case str() if entry.rstrip("/") == operations.FOLDER:
            families = {
                title: [f"{entry}{name}.md" for name, example in examples().items() if example.family == family]
                for family, title in operations.FAMILIES.items()
            }
            return [f"{entry}index.md", *({title: members} for title, members in families.items())]
        case str() if entry.rstrip("/") == FOLDER:
            return [f"{entry}{name}" for name in _project()]
        case str() if entry.endswith("/"):
            written = [path.relative_to(DOCUMENTS).as_posix() for path in sorted((DOCUMENTS / entry).glob("*.md"))]
            generated = [name for name in reference() if name.startswith(entry)]
            return sorted(written + generated, key=lambda name: not name.endswith("/index.md"))
        case _:
            return entry


def _named(entry: Any) -> Iterator[str]:
    match entry:
        case str():
            yield entry
        case list():
            yield from (name for each in entry for name in _named(each))
        case dict():
            yield from (name for each in entry.values() for name in _named(each))
