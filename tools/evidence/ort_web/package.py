"""The npm package onnxruntime-web: the module that a page imports, and the files that it loads.

The package holds several builds, and their names change from version to version: ``jsep`` is to go, ``asyncify`` and ``jspi`` came. So this
module names only the package's entries, and reads the rest from its files.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Package", "PackageError", "find_package"]

NAME = "onnxruntime-web"
#: The entries that may have the provider "webnn", the preferred one first.
ENTRIES = ("./all", ".", "./webgpu", "./jspi")
#: The conditions that a page's import has, the preferred one first. The first one is for a module that fetches its WebAssembly as files.
CONDITIONS = ("onnxruntime-web-use-extern-wasm", "import", "default")
#: The name, in a module's text, of a WebAssembly file or of a module that loads one.
_LOADED = re.compile(r"\bort-wasm[\w.-]*?\.(?:mjs|wasm)\b")


class PackageError(ValueError):
    """A folder is not a usable package; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """An unpacked package.

    Attributes:
        folder: The folder.
        version: Its version.
        module: The module to import, by its path in the folder.
        files: The paths that a page needs: the module, the files that it loads, and ``package.json``.
    """

    folder: Path
    version: str
    module: str
    files: tuple[str, ...]

    @property
    def address(self) -> str:
        """The address of the module on a content delivery network."""
        return f"https://cdn.jsdelivr.net/npm/{NAME}@{self.version}/{self.module}"

    def install(self, site: Path) -> None:
        """Copy what is needed below a site: an import of `address` finds it there."""
        for name in self.files:
            place = site / "node_modules" / NAME / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.folder / name, place)


def find_package(folder: Path) -> Package:
    """Look for the module with the provider "webnn" in an unpacked package.

    Raises:
        PackageError: The folder is not such a package, or none of its entries can be used.
    """
    try:
        manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        version, exports = manifest["version"], manifest["exports"]
    except FileNotFoundError:
        raise PackageError(f"{folder} has no package.json") from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise PackageError(f"{folder / 'package.json'} is not that of {NAME}: {type(error).__name__}: {error}") from None
    problems = []
    for entry in ENTRIES:
        try:
            module = _module_of(exports, entry)
            return Package(folder=folder, version=str(version), module=module, files=("package.json", *_files_of(folder, module)))
        except PackageError as error:
            problems.append(f"{entry}: {error}")
    raise PackageError(f"{folder} has no entry that can be used: {'; '.join(problems)}")


def _module_of(exports: object, entry: str) -> str:
    """Return the path of an entry's module, as a page's import finds it."""
    target = exports.get(entry) if isinstance(exports, Mapping) else None
    while isinstance(target, Mapping):
        target = next((target[condition] for condition in CONDITIONS if condition in target), None)
    if not isinstance(target, str):
        raise PackageError("package.json has no such export for a page")
    return target.removeprefix("./")


def _files_of(folder: Path, module: str) -> list[str]:
    """Return a module and the files that it loads, which may load others.

    Raises:
        PackageError: One is missing, or none has the provider.
    """
    files, unread = [module], [module]
    while unread:
        name = unread.pop()
        for each in _loaded_by(folder, name):
            if not (folder / each).is_file():
                raise PackageError(f"{name} loads {each}, which is not there")
            if each not in files:
                files.append(each)
                unread.append(each)
    if not any(name.endswith(".wasm") for name in files):
        raise PackageError(f"{module} loads no WebAssembly")
    # The module itself contains the name of every provider, whatever WebAssembly it loads.
    if not any("webnn" in _read(folder, name) for name in files[1:] if name.endswith(".mjs")):
        raise PackageError(f"{module} loads WebAssembly without the provider webnn")
    return files


def _loaded_by(folder: Path, name: str) -> Iterator[str]:
    if name.endswith(".mjs"):
        yield from (f"{name.rpartition('/')[0]}/{each}" for each in sorted(set(_LOADED.findall(_read(folder, name)))))


def _read(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PackageError(f"{name} cannot be read: {error}") from None
