"""The files of the page: for the server, and for a site without one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import webnn
from webnn.context.profiles import PROFILES
from webnn.display.pages import read
from webnn.playground.order import LONGEST
from webnn.validation.drafts import DRAFTS, NEWEST
from webnn.viewer import script

__all__ = ["PACKAGES", "TYPES", "describe", "load", "write_site"]

#: The files beside the page, with their types.
TYPES: Mapping[str, str] = MappingProxyType(
    {
        "native.html": "text/html",
        "playground.css": "text/css",
        "playground.js": "text/javascript",
        "editor.js": "text/javascript",
        "links.js": "text/javascript",
        "native.js": "text/javascript",
        "codemirror.js": "text/javascript",
        "reads.js": "text/javascript",
        "viewer.js": "text/javascript",
    }
)
#: The packages of Pyodide's distribution that a site needs; those that they need come with them.
PACKAGES: Sequence[str] = ("numpy", "pydantic", "jinja2", "rich", "click")
_SITE = ("python.js", "python_worker.js")
_CORE = ("pyodide.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
#: The script of the interpreter; its name depends on the version of Pyodide: until 0.29, and since 314.
_SCRIPTS = ("pyodide.asm.js", "pyodide.asm.mjs")
#: The page of a site says by itself what it may load: from its own folder only.
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "frame-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)


def load(name: str) -> str:
    """Return the text of a file of the page."""
    if name == "viewer.js":
        return script()
    parts = ["webnn.display/page.css"] if name == "playground.css" else []
    return "".join(map(read, [*parts, f"webnn.playground/{name}"]))


def describe(languages: Sequence[str], start: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what the page shows before a program runs: the choices, and the examples in the languages that may run, as JSON."""
    examples = json.loads(read("webnn.playground/examples.json"))
    return {
        "version": webnn.__version__,
        "newest": NEWEST,
        "languages": [*languages],
        "profiles": [*PROFILES],
        "revisions": [*DRAFTS],
        "longest": LONGEST,
        "start": start,
        "examples": [each for each in examples if each["language"] in languages],
    }


def write_site(folder: Path, pyodide: Path, wheels: Sequence[Path], packages: Sequence[str] = PACKAGES) -> None:
    """Write the page without a server: programs in Python run in the visitor's browser. It loads nothing from elsewhere.

    Args:
        folder: The folder to write; its ``index.html`` is the page.
        pyodide: The folder of Pyodide's distribution, with the wheels of ``packages`` and of those that they need.
        wheels: The wheels of webnn, and of what it needs and Pyodide does not have: typer, shellingham, markdown-it-py and mdurl.
        packages: The packages of Pyodide's distribution that are loaded.

    Raises:
        FileNotFoundError: The distribution lacks files; the message names them.
    """
    interpreter = next((name for name in _SCRIPTS if (pyodide / name).is_file()), _SCRIPTS[-1])
    files = [*_CORE, interpreter, *_files_of(json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"], packages)]
    if missing := [name for name in files if not (pyodide / name).is_file()]:
        raise FileNotFoundError(f"{pyodide} lacks {', '.join(missing)}")
    for name in ("pyodide", "wheels"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in files:
        shutil.copyfile(pyodide / name, folder / "pyodide" / name)
    for wheel in wheels:
        shutil.copyfile(wheel, folder / "wheels" / wheel.name)
    page = load("index.html").replace('<html lang="en">', '<html lang="en" data-python>')
    page = page.replace("<meta name=", f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<meta name=', 1)
    texts = {
        "index.html": page,
        "state.json": json.dumps(describe(["python"])),
        "python.json": json.dumps({"packages": [*packages], "wheels": [f"wheels/{each.name}" for each in wheels]}),
        **{name: load(name) for name in (*TYPES, *_SITE)},
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _files_of(known: Mapping[str, Any], packages: Sequence[str]) -> Iterator[str]:
    """Yield the files of packages and of those that they need, each once."""
    waiting, seen = [*packages], set[str]()
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name not in seen:
            seen.add(name)
            if name not in known:
                raise FileNotFoundError(f"Pyodide has no package {name}")
            yield known[name]["file_name"]
            waiting += known[name]["depends"]
