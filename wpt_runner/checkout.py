"""A checkout of web-platform-tests: its test files, their metadata, and the files that its server would send."""

from __future__ import annotations

import fnmatch
import io
import posixpath
import re
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from webnn.wpt_runner.flavours import Flavour, flavours_of
from webnn.wpt_runner.pages.text import find_metadata

__all__ = ["PAGE", "Checkout", "CheckoutError", "Test", "TestFile", "wants"]

_META = re.compile(r"//\s*META:\s*(\w*)=(.*)$")
#: Paths for which the server sends another file.
_ALIASES = {"/resources/WebIDLParser.js": "/resources/webidl2/lib/webidl2.js"}
_NEEDED = ("webnn", "resources/testharness.js")
_SUFFIXES = (".any.js", ".window.js")
#: The suffix of a page, which is a test if it loads testharness.js; those in these folders are parts of tests.
PAGE, _PARTS = ".html", {"resources", "support", "tools"}
_DEFAULT_GLOBALS = "window,dedicatedworker"


class CheckoutError(ValueError):
    """A folder is not a usable checkout, or a pattern matches nothing in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFile:
    """A test file and its ``META`` lines.

    Attributes:
        path: Its path in the checkout, with ``/``.
        scripts: The paths on the server of the scripts that it needs, in order.
        variants: Its variants, for example ``("?cpu", "?gpu")``; ``("",)`` if it names none.
        flavours: The flavours that it names, or windows and dedicated workers.
    """

    __test__ = False  # for pytest: this is not a test class

    path: str
    title: str
    scripts: tuple[str, ...]
    variants: tuple[str, ...]
    long: bool
    flavours: tuple[Flavour, ...]

    @property
    def is_page(self) -> bool:
        """It is a page, not a script."""
        return self.path.endswith(PAGE)

    @property
    def sources(self) -> tuple[str, ...]:
        """The paths on the server of all scripts that run after the harness, in order: the file itself is the last one."""
        return (*self.scripts, f"/{self.path}")

    def tests(self, variants: Sequence[str], flavours: Sequence[Flavour]) -> list[Test]:
        """Return the file in each variant (`wants`) and flavour that is wanted; in all if none is named."""
        chosen = [flavour for flavour in self.flavours if not flavours or flavour in flavours]
        return [Test(self, variant, flavour) for variant in self.variants if wants(variants, variant) for flavour in chosen]


@dataclass(frozen=True, slots=True)
class Test:
    """A test: a file in one of its variants and flavours."""

    __test__ = False

    file: TestFile
    variant: str
    flavour: Flavour = Flavour.WINDOW

    @property
    def address(self) -> str:
        """The path on the server of the page, or of the worker's script."""
        if self.file.is_page:
            return f"/{self.file.path}"
        stem = "/" + self.file.path.removesuffix(".js")
        return f"{stem}.html" if self.flavour is Flavour.WINDOW else f"{stem}{self.flavour.suffix}.js"

    @property
    def name(self) -> str:
        """The file's path with the flavour, and the variant."""
        if self.file.is_page:
            return f"{self.file.path}{self.variant}"
        return f"{self.file.path.removesuffix('.js')}{self.flavour.suffix}.js{self.variant}"


class Checkout:
    """A folder with web-platform-tests, or the part of it that tests of WebNN need: ``webnn``, ``resources``, ``common``, ``interfaces``.

    Raises `CheckoutError` if the folder does not exist, or is not a checkout.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise CheckoutError(f"there is no folder {root}")
        missing = [name for name in _NEEDED if not (root / name).exists()]
        if missing:
            raise CheckoutError(f"{root} is not a checkout of web-platform-tests: it has no {' and no '.join(missing)}")
        self.root = root.resolve()

    def read(self, path: str) -> str | None:
        """Return the text of a file by its path on the server, ``None`` if there is none below the root."""
        content = self.read_bytes(path)
        return None if content is None else io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", errors="replace").read()

    def read_bytes(self, path: str) -> bytes | None:
        """Return the content of a file by its path on the server, ``None`` if there is none below the root."""
        path = _ALIASES.get(path, path)
        try:
            file = (self.root / path.lstrip("/")).resolve()
            if not file.is_relative_to(self.root) or not file.is_file():
                return None
            return file.read_bytes()
        except (OSError, ValueError, RuntimeError):  # a name that the file system cannot have; links that lead nowhere but to each other
            return None

    def files(self) -> list[str]:
        """Return the paths of all test files of WebNN, scripts and pages, sorted."""
        folder = self.root / "webnn"
        return sorted(filter(None, map(self.find, (*folder.rglob("*.js"), *folder.rglob(f"*{PAGE}")))))

    def find(self, file: Path) -> str | None:
        """Return the path of a test file in the checkout, ``None`` for other files."""
        if not file.is_file() or not file.is_relative_to(self.root):
            return None
        path = file.relative_to(self.root)
        if file.name.endswith(_SUFFIXES):
            return path.as_posix()
        if not file.name.endswith(PAGE) or _PARTS.intersection(path.parent.parts):
            return None
        return path.as_posix() if find_metadata(self.read(path.as_posix()) or "").test else None

    def load(self, path: str) -> TestFile:
        """Read the ``META`` lines at the top of a test file, or the head of a page. Raises `CheckoutError` if there is no such file."""
        text = self.read(path)
        if text is None:
            raise CheckoutError(f"there is no test file {path} in {self.root}")
        if path.endswith(PAGE):
            page = find_metadata(text)
            return TestFile(path=path, title=page.title, scripts=(), variants=page.variants, long=page.long, flavours=(Flavour.WINDOW,))
        meta: dict[str, list[str]] = defaultdict(list)
        for line in text.splitlines():
            match = _META.match(line)
            if match is None:
                break
            meta[match[1]].append(match[2].strip())
        return TestFile(
            path=path,
            title=(meta["title"] or [""])[-1],
            scripts=tuple(posixpath.normpath(posixpath.join("/", posixpath.dirname(path), each)) for each in meta["script"]),
            variants=tuple(meta["variant"]) or ("",),
            long=meta["timeout"][-1:] == ["long"],
            flavours=flavours_of("window" if path.endswith(".window.js") else (meta["global"] or [_DEFAULT_GLOBALS])[-1]),
        )

    def tests(self, patterns: Sequence[str] = (), variants: Sequence[str] = (), flavours: Sequence[Flavour] = ()) -> list[Test]:
        """Choose tests: files by parts of their paths or shell patterns for whole paths, in the variants that are wanted (`wants`).

        All flavours are chosen if none is named. Raises `CheckoutError` if a pattern matches no file, or a variant is in no file.
        """
        paths = self.files()
        chosen = [path for path in paths if not patterns or any(_matches(pattern, path) for pattern in patterns)]
        for pattern in patterns:
            if not any(_matches(pattern, path) for path in paths):
                raise CheckoutError(f"no test file of {self.root} matches {pattern!r}")
        if not chosen:
            raise CheckoutError(f"{self.root} has no test files of WebNN")
        files = {path: self.load(path) for path in paths}
        known = {variant for file in files.values() for variant in file.variants if variant}
        unknown = ["?" + each.removeprefix("?") for each in variants if not any(wants([each], variant) for variant in known)]
        if unknown:
            raise CheckoutError(f"no test file of {self.root} has the variant {', '.join(sorted(unknown))}")
        return [test for path in chosen for test in files[path].tests(variants, flavours)]

    def revision(self) -> str:
        """Return the commit that is checked out, or an empty string without git or without a git work tree."""
        if not (self.root / ".git").exists():
            return ""
        try:
            command = ["git", "-C", str(self.root), "rev-parse", "HEAD"]
            return subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return ""


def wants(wanted: Sequence[str], variant: str) -> bool:
    """Tell whether a variant is wanted; all are if none is named, and the empty variant always is.

    Variants are named with or without the question mark, or by a parameter's value: ``"cpu"`` fits ``"?cpu"`` and ``"?op=add&device=cpu"``.
    """
    query = variant.removeprefix("?")
    names = {query, *(each.rpartition("=")[2] for each in query.split("&"))}
    return not wanted or not variant or any(each.removeprefix("?") in names for each in wanted)


def _matches(pattern: str, path: str) -> bool:
    return pattern in path or fnmatch.fnmatchcase(path, pattern)
