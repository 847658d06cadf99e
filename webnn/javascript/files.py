"""The files that a program sees, by their addresses: the program's process reads none itself.

Two origins represent two folders. ``https://app.test`` is the root that the user names; ``https://program.test`` is the program's own
folder, if it is outside the root. Packages that a page would load from a content delivery network,
``https://cdn.jsdelivr.net/npm/NAME@VERSION/PATH``, are looked for in ``node_modules/NAME/PATH`` below the root: the copy of that version if
another package has one of its own.
"""

from __future__ import annotations

import json
import mimetypes
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

__all__ = ["ORIGIN", "PROGRAM_ORIGIN", "File", "Files", "RefusedError", "guess_type"]

ORIGIN = "https://app.test"
PROGRAM_ORIGIN = "https://program.test"

#: The package's name may begin with a scope. If no installed copy has the version, the one that is installed is used.
_PACKAGE = re.compile(r"https://cdn\.jsdelivr\.net/npm/((?:@[^/@]+/)?[^/@]+)(?:@([^/]*))?/(.+)", re.DOTALL)

#: Characters of a path that a browser leaves as they are: a module is known by its address.
_PLAIN = "/@:+,;=!$&'()*"
#: The standard library's own table, without the system's: the answer is the same everywhere.
_TYPES = mimetypes.MimeTypes()
for _suffix, _type in {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".npy": "application/octet-stream",
}.items():
    _TYPES.add_type(_type, _suffix)


def guess_type(name: str) -> str:
    """Return the media type of a file by its name."""
    return _TYPES.guess_type(name)[0] or "application/octet-stream"


class RefusedError(Exception):
    """The program may not read what the address names."""


class File(NamedTuple):
    """The content of a file, and its media type."""

    content: bytes
    type: str


class Files:
    """Reads files below two folders, and nothing else: the root, which the user lets the program read, and the program's own folder."""

    def __init__(self, root: Path, program: Path) -> None:
        self._folders = {ORIGIN: root.resolve(), PROGRAM_ORIGIN: program.resolve()}

    def address(self, path: Path) -> str:
        """Return the address of a file that lies in one of the folders."""
        for origin, folder in self._folders.items():
            if path.is_relative_to(folder):
                return f"{origin}/{quote(path.relative_to(folder).as_posix(), safe=_PLAIN)}"
        raise ValueError(f"{path} lies outside {' and '.join(map(str, self._folders.values()))}")

    def read(self, address: str) -> File | None:
        """Read the file at an absolute address; ``None`` if there is none.

        Raises `RefusedError` if the address is that of another site, or leads out of the folders.
        """
        try:
            place = self._find(address)
            if place is None:
                return None
            content = place.read_bytes()
        except OSError as error:
            # The name is too long, links go in a circle, or the user may not read the file.
            if isinstance(error, PermissionError):
                raise RefusedError("the file may not be read") from None
            return None
        except RuntimeError:  # a circle of links, in Python 3.12 and older
            return None
        return File(content, guess_type(place.name))

    def has(self, address: str) -> bool:
        """Tell whether `read` would find a file."""
        try:
            return self._find(address) is not None
        except (OSError, RefusedError, RuntimeError):
            return False

    def describe(self, address: str) -> str:
        """Return the path where `read` looks for an address, for a message; the address if that is another site's."""
        try:
            folder, path = self._locate(address)
        except RefusedError:
            return address
        return str(folder / path)

    def localize(self, address: str) -> str:
        """Return the address below the root that an address on the content delivery network means; other addresses stay."""
        return f"{ORIGIN}/{quote(self._locate(address)[1], safe=_PLAIN)}" if _match_package(address) else address

    def canonical(self, address: str) -> str:
        """Return the address of a folder with links followed, as managers of packages make them; it ends with a slash."""
        folder, path = self._locate(address)
        try:
            return f"{self.address((folder / path).resolve())}/"
        except (OSError, RuntimeError, ValueError):
            return address

    def _find(self, address: str) -> Path | None:
        """Return the place of a file; ``None`` if there is none."""
        folder, path = self._locate(address)
        if "\0" in path:
            return None
        # The check also refuses absolute paths and "..": it compares the final place, with links followed.
        place = (folder / path).resolve()
        if not place.is_relative_to(folder):
            raise RefusedError("the file lies outside the folder that the program may read (--root)")
        return place if place.is_file() else None

    def _locate(self, address: str) -> tuple[Path, str]:
        package = _match_package(address)
        if package is not None:
            root = self._folders[ORIGIN]
            return root, f"{_installed(root, unquote(package[1]), package[2] or '')}/{unquote(package[3])}"
        parts = urlsplit(address)
        folder = self._folders.get(f"{parts.scheme}://{parts.netloc}")
        if folder is None:
            raise RefusedError("a program has no access to the network")
        return folder, unquote(parts.path).lstrip("/")


def _match_package(address: str) -> re.Match[str] | None:
    return _PACKAGE.fullmatch(address.partition("?")[0].partition("#")[0])


@cache
def _installed(root: Path, name: str, version: str) -> str:
    """Return the folder of a package, by its path in the root: the copy of a version, or else the one that the root itself has."""
    usual = f"node_modules/{name}"
    if not re.fullmatch(r"(?:@[\w.-]+/)?[\w.-]+", name) or not version:
        return usual
    for place in (root / usual, *root.glob(f"node_modules/*/{usual}"), *root.glob(f"node_modules/@*/*/{usual}")):
        try:
            found = json.loads((place / "package.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(found, dict) and found.get("version") == version:
            return place.relative_to(root).as_posix()
    return usual
