"""Packages below the program's folders, as a bundler for pages resolves them.

A bare name is looked for in ``node_modules`` beside the importing file and in each folder above it. The package's ``exports`` count, with
the conditions of pages; without them its ``browser``, ``module`` and ``main``. `node_packages.js` asks, and runs what is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from webnn.javascript.files import ORIGIN, Files, RefusedError

__all__ = ["Packages", "ResolveError", "Resolved"]

#: How an address is asked for: by `import`, or by `require` of a CommonJS module.
Kind = Literal["import", "require"]
#: Conditions of ``exports`` that hold.
_CONDITIONS: Mapping[str, frozenset[str]] = {
    "import": frozenset({"browser", "import", "module", "production", "default"}),
    "require": frozenset({"browser", "require", "production", "default"}),
}
_NAME = re.compile(r"((?:@[^/@\\%]+/)?[^/@\\%.][^/@\\%]*)(/.*)?")
#: A package on a content delivery network without a path in it: its entry is meant.
_ENTRY = re.compile(r"https://cdn\.jsdelivr\.net/npm/((?:@[^/@]+/)?[^/@]+)(?:@[^/]*)?/?(?:\+esm)?")
_SUFFIXES = ("", ".js", ".mjs", ".cjs", ".json", "/index.js", "/index.mjs", "/index.cjs")
_FORMATS = {".mjs": "module", ".cjs": "commonjs", ".json": "json"}
_EMPTY = "data:text/javascript,export default {}"


class ResolveError(Exception):
    """A name leads to no file; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The result of a resolution.

    Attributes:
        url: The address of the file.
        format: "module", "commonjs", "json" or "empty"; "unknown" if the text decides; "" outside packages, where everything is a module.
    """

    url: str
    format: str = ""


class Packages:
    """Resolves names of modules; files are read through the walls of `Files`."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._manifests: dict[str, Mapping[str, Any] | None] = {}

    def resolve(self, specifier: str, url: str | None, base: str, kind: Kind) -> Resolved:
        """Resolve a name.

        Args:
            specifier: The name in the program.
            url: The address that it is; ``None`` for a bare name.
            base: The address of the importing module.
            kind: How it is imported.

        Raises:
            ResolveError: There is no such package or file, or the package does not offer it.
        """
        if url is not None and not url.startswith("https://"):
            scheme = url.partition(":")[0]
            raise ResolveError(f"a program has no access to {'the modules of Node' if scheme == 'node' else f'{scheme}:'}")
        base = self._files.localize(base)
        if url is None:
            return self._resolve_bare(specifier, base, kind)
        if (found := _ENTRY.fullmatch(url)) is not None:
            return self._resolve_bare(found[1], f"{ORIGIN}/", kind)
        if "/node_modules/" not in base:
            return Resolved(url=url)
        return self._finish(self._find(self._files.localize(url)) or url, base)

    def find(self, name: str, kind: Kind = "require") -> str | None:
        """Return the address of a package's entry, looked for from the root; ``None`` if it is not installed."""
        try:
            return self._resolve_bare(name, f"{ORIGIN}/", kind).url
        except ResolveError:
            return None

    def _resolve_bare(self, specifier: str, base: str, kind: Kind) -> Resolved:
        own = self._scope(base)
        if specifier.startswith("#") and own is not None:
            target = _match(_mapping(own[1].get("imports")), specifier, _CONDITIONS[kind])
            if target is None:
                raise ResolveError(f"its package has no import {specifier!r}")
            if not target.startswith("./"):
                return self._resolve_bare(target, base, kind)
            return self._finish(own[0] + target[2:], base)
        if own is not None and (replaced := _browser_map(own[1]).get(specifier)) is not None:
            if replaced is False:
                return Resolved(url=_EMPTY, format="empty")
            if isinstance(replaced, str):
                return self._finish(self._find(own[0] + replaced.removeprefix("./")) or "", base)
        match = _NAME.fullmatch(specifier)
        if match is None:
            raise ResolveError("this is neither an address nor the name of a package")
        name, path = match[1], match[2] or ""
        if own is not None and own[1].get("name") == name and "exports" in own[1]:
            folder: str | None = own[0]
        else:
            folder = next((each for each in _folders(base, name) if self._read(each) is not None), None)
        if folder is None:
            raise ResolveError(
                f"there is no node_modules/{name} in its folder or above it, up to --root: run `npm install {name}` there, "
                "or name an address or a path that begins with /, ./ or ../"
            )
        folder = self._files.canonical(folder)
        return self._finish(self._entry(folder, name, path, kind), base, folder)

    def _entry(self, folder: str, name: str, path: str, kind: Kind) -> str:
        """Return the address that a package offers under a path; "" or the path begins with a slash."""
        manifest = self._read(folder) or {}
        if (exports := manifest.get("exports")) is not None:
            if isinstance(exports, str | list) or not any(key.startswith(".") for key in _mapping(exports)):
                exports = {".": exports}
            target = _match(_mapping(exports), f".{path}", _CONDITIONS[kind])
            if target is None or not target.startswith("./"):
                raise ResolveError(f"the package {name} exports no '.{path}' to pages")
            return folder + target[2:]
        browser = manifest.get("browser")
        fields = [browser, *((manifest.get("module"),) if kind == "import" else ()), manifest.get("main"), "index.js"]
        wanted = [path.removeprefix("/")] if path else [each for each in fields if isinstance(each, str)]
        for each in wanted:
            if (found := self._find(folder + each.removeprefix("./"))) is not None:
                return found
        raise ResolveError(f"the package {name} has no file {wanted[0]}")

    def _finish(self, url: str, base: str, folder: str | None = None) -> Resolved:
        """Apply the replacements of the package that the file belongs to, and say how the file runs."""
        scope = self._scope(url) if folder is None else (folder, self._read(folder) or {})
        if scope is None:
            return Resolved(url=url)
        replaced = _browser_map(scope[1]).get(f"./{url.removeprefix(scope[0])}")
        if replaced is False:
            return Resolved(url=_EMPTY, format="empty")
        if isinstance(replaced, str):
            url = self._find(scope[0] + replaced.removeprefix("./")) or url
        suffix = re.search(r"\.\w+$", url.partition("?")[0])
        nearest = self._scope(url) or scope
        by_type = {"module": "module", "commonjs": "commonjs"}.get(str(nearest[1].get("type")), "unknown")
        return Resolved(url=url, format=_FORMATS.get(suffix[0] if suffix else "", by_type))

    def _find(self, url: str) -> str | None:
        """Return the first file that an address without a suffix, or that of a folder, can mean."""
        url = url.rstrip("/")
        main = (self._read(f"{url}/") or {}).get("main")
        bases = [url, *([f"{url}/{main.removeprefix('./')}"] if isinstance(main, str) else [])]
        return next((base + suffix for base in reversed(bases) for suffix in _SUFFIXES if self._files.has(base + suffix)), None)

    def _scope(self, url: str) -> tuple[str, Mapping[str, Any]] | None:
        """Return the folder of the nearest package.json, with a slash at its end, and its content."""
        for folder in _parents(url):
            if folder.endswith("/node_modules/"):
                return None
            if (manifest := self._read(folder)) is not None:
                return folder, manifest
        return None

    def _read(self, folder: str) -> Mapping[str, Any] | None:
        if folder not in self._manifests:
            try:
                file = self._files.read(f"{folder}package.json")
                self._manifests[folder] = None if file is None else _mapping(json.loads(file.content))
            except (RefusedError, ValueError, RecursionError):
                self._manifests[folder] = None
        return self._manifests[folder]


def _parents(url: str) -> Iterator[str]:
    """Yield the folders that an address lies in, the nearest one first."""
    parts = url.partition("?")[0].split("/")[:-1]
    # The first three are "https:", "" and the host.
    for count in range(len(parts), 2, -1):
        yield "/".join([*parts[:count], ""])


def _folders(base: str, name: str) -> Iterator[str]:
    """Yield the places where a package may be; those of the root come last, also for a program outside it."""
    for folder in _parents(base):
        if not folder.endswith("/node_modules/"):
            yield f"{folder}node_modules/{name}/"
    yield f"{ORIGIN}/node_modules/{name}/"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _browser_map(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(manifest.get("browser"))


def _match(table: Mapping[str, Any], path: str, conditions: frozenset[str]) -> str | None:
    """Look up a path in ``exports`` or ``imports``, where the longest pattern counts; ``None`` if it is not offered."""
    if path in table and "*" not in path:
        return _choose(table[path], conditions)
    for key in sorted((each for each in table if each.count("*") == 1), key=lambda each: (-each.index("*"), -len(each))):
        start, end = key.split("*")
        if path.startswith(start) and path.endswith(end) and len(path) >= len(key):
            target = _choose(table[key], conditions)
            return None if target is None else target.replace("*", path[len(start) : len(path) - len(end)])
    return None


def _choose(target: object, conditions: frozenset[str]) -> str | None:
    """Return the first target whose conditions hold."""
    if isinstance(target, str):
        return target
    if isinstance(target, list):
        return next((found for each in target if (found := _choose(each, conditions)) is not None), None)
    for condition, each in _mapping(target).items():
        if condition in conditions and (found := _choose(each, conditions)) is not None:
            return found
    return None
