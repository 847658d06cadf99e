"""The files that a program sees, by their addresses: the program's process reads none itself.

Two origins represent two folders. ``https://app.test`` is the root that the user names; ``https://program.test`` is the program's own
folder, if it is outside the root. Packages that a page would load from a content delivery network,
``https://cdn.jsdelivr.net/npm/NAME@VERSION/PATH``, are looked for in ``node_modules/NAME/PATH`` below the root.
"""

from __future__ import annotations

import mimetypes
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

__all__ = ["ORIGIN", "PROGRAM_ORIGIN", "File", "Files", "RefusedError"]

ORIGIN = "https://app.test"
PROGRAM_ORIGIN = "https://program.test"

#: The package's name may begin with a scope; its version is ignored: the installed package is used.
_PACKAGE = re.compile(r"https://cdn\.jsdelivr\.net/npm/((?:@[^/@]+/)?[^/@]+)(?:@[^/]*)?/(.+)", re.DOTALL)

#: The standard library's own table, without the system's: the answer is the same everywhere.
_TYPES = mimetypes.MimeTypes()
for _suffix, _type in {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".npy": "application/octet-stream",
}.items():
    _TYPES.add_type(_type, _suffix)


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
                return f"{origin}/{quote(path.relative_to(folder).as_posix())}"
        raise ValueError(f"{path} lies outside {' and '.join(map(str, self._folders.values()))}")

    def read(self, address: str) -> File | None:
        """Read the file at an absolute address; ``None`` if there is none.

        Raises `RefusedError` if the address is that of another site, or leads out of the folders.
        """
        folder, path = self._locate(address)
        if "\0" in path:
            return None
        # The check below also refuses absolute paths and "..": it compares the final place, with links followed.
        try:
            place = (folder / path).resolve()
            if not place.is_relative_to(folder):
                raise RefusedError("the file lies outside the folder that the program may read (--root)")
            if not place.is_file():
                return None
            content = place.read_bytes()
        except OSError as error:
            # The name is too long, links go in a circle, or the user may not read the file.
            if isinstance(error, PermissionError):
                raise RefusedError("the file may not be read") from None
            return None
        except RuntimeError:  # a circle of links, in Python 3.12 and older
            return None
        return File(content, _TYPES.guess_type(place.name)[0] or "application/octet-stream")

    def _locate(self, address: str) -> tuple[Path, str]:
        package = _PACKAGE.fullmatch(address.partition("?")[0].partition("#")[0])
        if package is not None:
            return self._folders[ORIGIN], unquote(f"node_modules/{package[1]}/{package[2]}")
        parts = urlsplit(address)
        folder = self._folders.get(f"{parts.scheme}://{parts.netloc}")
        if folder is None:
            raise RefusedError("a program has no access to the network")
        return folder, unquote(parts.path).lstrip("/")
