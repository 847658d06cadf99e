"""The commands that install what is missing, as hints of errors: to be pasted into the user's own shell, for this very installation."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

__all__ = ["install_command", "pip_command"]

_NAME = __name__.partition(".")[0]
#: The folder above the package: the checkout, unless that was installed.
_ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation.

    A checkout adds it to itself. Otherwise it comes from where the package came from; if that is gone, the command names the extra's
    packages.
    """
    if os.path.isfile(os.path.join(_ROOT, "pyproject.toml")):
        return pip_command("-e", f"{_shortened(_ROOT)}[{extra}]")
    # Imported lazily: few programs lack an extra.
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415

    try:
        found = distribution(_NAME)
        origin = json.loads(found.read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return pip_command(f"{_NAME}[{extra}]")
    url: str = origin.get("url", "")
    if not url:
        return pip_command(f"{_NAME}[{extra}]")
    if "vcs_info" in origin:
        version = origin["vcs_info"]
        return pip_command(f"{_NAME}[{extra}] @ {version['vcs']}+{url}@{version['commit_id']}")
    parts = urlsplit(url)
    if parts.scheme != "file":
        return pip_command(f"{_NAME}[{extra}] @ {url}")
    path = url2pathname(parts.path) if os.name == "nt" else unquote(parts.path)
    if os.path.exists(path):
        return pip_command(f"{_shortened(path)}[{extra}]")
    return pip_command(*_requirements(found.requires or (), extra))


def pip_command(*arguments: str) -> str:
    """Return a command of pip that installs into this environment, or of uv where there is no pip."""
    python = shutil.which("python")
    isFirst = python is not None and _folder(python) == _folder(sys.executable)
    if find_spec("pip") is None:
        words = ["uv", "pip", "install", *([] if isFirst else ["--python", sys.executable])]
    else:
        words = ["python" if isFirst else sys.executable, "-m", "pip", "install"]
    return " ".join(map(_quote, (*words, *arguments)))


def _folder(program: str) -> str:
    # Not the real path: that of an environment's Python is outside the environment.
    return os.path.normcase(os.path.dirname(os.path.abspath(program)))


def _shortened(path: str) -> str:
    """Return a path; ``.`` for the current folder."""
    return "." if os.path.realpath(path) == os.path.realpath(os.curdir) else path


def _quote(word: str) -> str:
    """Quote a word for the shells of this system. On Windows, cmd and PowerShell share double quotes only."""
    if os.name != "nt":
        return shlex.quote(word)
    return word if not set(word) & set(" []<>=;'&^()@,") else f'"{word}"'


def _requirements(every: Iterable[str], extra: str) -> list[str]:
    """Return the requirements of an extra, without their markers."""
    found = []
    for each in every:
        requirement, _, marker = each.partition(";")
        if marker.replace('"', "'").replace(" ", "").endswith(f"extra=='{extra}'"):
            found.append(requirement.strip())
    return found
