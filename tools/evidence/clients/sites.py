"""The folders that clients run in: packages as npm installs them, models, programs, and bundles for pages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tools.evidence.clients.catalog import Client
from tools.evidence.clients.picture import make_picture
from tools.evidence.models.catalog import load_catalog
from tools.evidence.models.files import FileError, provide
from webnn.javascript.files import ORIGIN, Files
from webnn.javascript.packages import Packages

__all__ = ["Maker", "Site", "SiteError"]

_HERE = Path(__file__).resolve().parent
_PROGRAMS = _HERE / "programs"
#: The bundler of clients for pages.
_BUNDLER = "esbuild@0.28.2"


class SiteError(Exception):
    """A folder cannot be filled; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A folder with one version of a client.

    Attributes:
        folder: The folder.
        client: The client.
        version: The version that is installed.
        wasm: The path of the folder with the WebAssembly of ONNX Runtime Web; empty if the client has none.
    """

    folder: Path
    client: Client
    version: str
    wasm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes sites.

    Attributes:
        node: The programs of Node and npm.
        work: The folder of the sites; installed packages are kept there.
        models: The folder of the models.
        samples: A checkout of webnn-samples.
    """

    node: Path
    npm: Sequence[str]
    work: Path
    models: Path
    samples: Path | None

    def make(self, client: Client, version: str) -> Site:
        """Fill the folder of a version.

        Raises:
            SiteError: A package cannot be installed or bundled, a model cannot be had, or there are no samples.
        """
        folder = self.work / f"{client.name}-{version}"
        folder.mkdir(parents=True, exist_ok=True)
        named = [f"{client.package}@{version}"] if client.package else []
        self._install(folder, [*named, *client.companions])
        if client.samples:
            if self.samples is None:
                raise SiteError(f"{client.title} is a part of webnn-samples: name a checkout (--samples DIR)")
            shutil.copytree(self.samples / client.samples, folder / client.samples, dirs_exist_ok=True)
        shutil.copytree(_PROGRAMS, folder / "programs", dirs_exist_ok=True)
        if client.page != "programs/":
            (folder / client.page / "main.mjs").write_text("import '/programs/main.mjs';\n", encoding="utf-8")
        self._add_models(folder, client)
        self._run([self.node, _HERE / "bundle.mjs", self._bundler(), folder, client.name])
        return Site(folder=folder, client=client, version=self._version(folder, client, version), wasm=_find_wasm(folder, client))

    def _install(self, folder: Path, packages: Sequence[str]) -> None:
        """Install packages, without running what they bring; nothing is done if they are there."""
        note = folder / "packages.json"
        if note.exists() and json.loads(note.read_text(encoding="utf-8")) == [*packages]:
            return
        (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
        self._run([*self.npm, "install", "--prefix", folder, "--silent", "--ignore-scripts", "--no-audit", "--no-fund", *packages])
        note.write_text(json.dumps([*packages]), encoding="utf-8")

    def _bundler(self) -> Path:
        folder = self.work / "bundler"
        folder.mkdir(parents=True, exist_ok=True)
        self._install(folder, [_BUNDLER])
        return folder

    def _add_models(self, folder: Path, client: Client) -> None:
        catalog = load_catalog()
        for case in client.cases:
            if case.picture:
                (folder / "picture.png").write_bytes(make_picture())
            if not case.model:
                continue
            try:
                file = provide(catalog, case.model, self.models)
            except FileError as error:
                raise SiteError(str(error)) from None
            place = folder / (case.place or f"models/{case.model}{file.suffix}")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            # A link would lead out of the folder that a program may read.
            try:
                os.link(file, place)
            except OSError:
                shutil.copyfile(file, place)
            if case.config:
                (place.parents[1] / "config.json").write_text(json.dumps(dict(case.config)), encoding="utf-8")

    @staticmethod
    def _version(folder: Path, client: Client, version: str) -> str:
        with suppress(OSError, ValueError):
            return str(json.loads((folder / "node_modules" / client.package / "package.json").read_text(encoding="utf-8"))["version"])
        return version

    @staticmethod
    def _run(command: Sequence[str | Path]) -> None:
        done = subprocess.run([*map(str, command)], check=False, capture_output=True, text=True)
        if done.returncode:
            raise SiteError(f"{' '.join(map(str, command))} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-2000:]}")


def _find_wasm(folder: Path, client: Client) -> str:
    """Return the path of the folder of ONNX Runtime Web that the client uses: it may have a copy of its own."""
    if not client.runtime:
        return ""
    files = Files(folder, folder)
    base = f"{ORIGIN}/node_modules/{client.package}/package.json"
    return Packages(files).resolve(client.runtime, None, base, "import").url.removeprefix(ORIGIN).rpartition("/")[0] + "/"
