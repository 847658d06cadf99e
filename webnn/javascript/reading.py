"""Answers a program's process about files and packages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict

from webnn.javascript.channel import ChannelError
from webnn.javascript.files import Files, RefusedError
from webnn.javascript.packages import Packages, ResolveError

__all__ = ["PICTURES", "Reader"]

#: The package that draws pictures: `node_pictures.js` uses it.
PICTURES = "canvaskit-wasm"


class Reader:
    """Reads files for one process, and tells the user about those that do not exist."""

    def __init__(self, files: Files, note: Callable[[str], None]) -> None:
        self._files = files
        self._note = note
        self._packages = Packages(files)
        self._missed: set[str] = set()

    def read(self, address: str, *, told: bool = False) -> list[bytes]:
        """Return the type of the file at an address, in JSON, and its content. With ``told``, the user is told once that there is none."""
        try:
            file = self._files.read(address)
        except RefusedError as error:
            return [json.dumps({"refused": str(error)}).encode(), b""]
        if file is None:
            if told and address not in self._missed:
                self._missed.add(address)
                self._note(f"404: {address}: there is no file {self._files.describe(address)}")
            return [b'{"missing": true}', b""]
        return [json.dumps({"type": file.type}).encode(), file.content]

    def find_pictures(self) -> list[str] | None:
        """Return the addresses of the library that draws pictures and of its WebAssembly; ``None`` if it is not installed."""
        library = self._packages.find(PICTURES)
        return None if library is None else [library, re.sub(r"\.js$", ".wasm", library)]

    def resolve(self, text: str) -> str:
        """Answer where a module is, in JSON.

        Args:
            text: In JSON, the module's name, the address that it is or null, the address of the importing module, and how it is imported.

        Raises:
            ChannelError: The question cannot be read.
        """
        try:
            question = json.loads(text)
        except (ValueError, RecursionError):
            question = None
        match question:
            case [str(specifier), str() | None as url, str(base), "import" | "require" as kind]:
                try:
                    return json.dumps(asdict(self._packages.resolve(specifier, url, base, kind)))
                except (ResolveError, RefusedError) as error:
                    return json.dumps({"refused": str(error)})
        raise ChannelError("a question about a module cannot be read")
