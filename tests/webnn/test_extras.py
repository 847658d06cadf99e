"""The commands of hints, for each way in which the package can be installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from tests.meta.specification import LAYERS, ROOT
from webnn import _extras
from webnn._extras import install_command, pip_command

WINDOWS = os.name == "nt"
QUOTE = '"' if WINDOWS else "'"


class Distribution:
    """The metadata of an installed package."""

    def __init__(self, origin: dict[str, Any] | None) -> None:
        self.origin = origin
        self.requires = [
            "numpy>=2",
            'aiohttp>=3.14.5; extra == "serve"',
            "websockets>=11.0; (python_version >= '3.11') and extra == 'serve'",
            'served; extra == "serve2"',
        ]

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment that is active, with pip."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: str(Path(sys.executable).with_name(name)))
    monkeypatch.setattr(_extras, "find_spec", lambda _: True)
    return monkeypatch


def installed(plain: pytest.MonkeyPatch, tmp_path: Path, origin: dict[str, Any] | None) -> str:
    plain.setattr(_extras, "_ROOT", str(tmp_path))
    plain.setattr(metadata, "distribution", lambda _: Distribution(origin))
    return install_command("serve")


def test_a_checkout(plain: pytest.MonkeyPatch) -> None:
    assert install_command("serve") == f"python -m pip install -e {QUOTE}{ROOT}[serve]{QUOTE}"
    plain.chdir(ROOT)
    assert install_command("serve") == f"python -m pip install -e {QUOTE}.[serve]{QUOTE}"


ORIGINS = {
    "an index": (None, "webnn[serve]"),
    "an address": ({"url": "https://a.test/webnn-0.1.0-py3-none-any.whl"}, "webnn[serve] @ https://a.test/webnn-0.1.0-py3-none-any.whl"),
    "a repository": (
        {"url": "https://a.test/webnn.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
        "webnn[serve] @ git+https://a.test/webnn.git@c0ffee",
    ),
}


@pytest.mark.parametrize(("origin", "argument"), ORIGINS.values(), ids=ORIGINS)
def test_an_installation_from(plain: pytest.MonkeyPatch, tmp_path: Path, origin: dict[str, Any] | None, argument: str) -> None:
    assert installed(plain, tmp_path, origin) == f"python -m pip install {QUOTE}{argument}{QUOTE}"


def test_an_installation_from_a_file(plain: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = tmp_path / "a folder" / "webnn-0.1.0-py3-none-any.whl"
    origin = {"url": wheel.as_uri()}
    # It is gone: an archive that pip unpacked in a temporary folder, or a share that is not there any more.
    requirements = " ".join(f"{QUOTE}{each}{QUOTE}" for each in ("aiohttp>=3.14.5", "websockets>=11.0"))
    assert installed(plain, tmp_path, origin) == f"python -m pip install {requirements}"
    wheel.parent.mkdir()
    wheel.touch()
    assert installed(plain, tmp_path, origin) == f"python -m pip install {QUOTE}{wheel}[serve]{QUOTE}"


def test_another_python_is_first(plain: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for found in (None, str(tmp_path / "python")):
        plain.setattr(shutil, "which", lambda _, found=found: found)
        assert pip_command("graphlay").endswith("-m pip install graphlay")
        assert sys.executable in pip_command("graphlay")


def test_without_pip(plain: pytest.MonkeyPatch) -> None:
    plain.setattr(_extras, "find_spec", lambda _: None)
    assert pip_command("graphlay") == "uv pip install graphlay"
    plain.setattr(shutil, "which", lambda _: None)
    assert pip_command("graphlay").startswith("uv pip install --python ")


@pytest.mark.parametrize(("system", "quoted"), [("nt", '".[serve]"'), ("posix", "'.[serve]'")])
def test_the_quotes_of_the_shell(plain: pytest.MonkeyPatch, system: str, quoted: str) -> None:
    """cmd takes single quotes for a part of the word."""
    plain.setattr(os, "name", system)
    assert _extras._quote(".[serve]") == quoted
    assert _extras._quote("graphlay") == "graphlay"


def test_hints_name_extras_that_exist() -> None:
    called = re.compile(r"install_command\(['\"](\w+)['\"]\)")
    files = [file for folder in LAYERS.values() for file in folder.rglob("*.py")]
    found = {name for file in files for name in called.findall(file.read_text(encoding="utf-8"))}
    extras = set(metadata.metadata("webnn").get_all("Provides-Extra") or ())
    assert {"serve", "js", "wpt"} <= found <= extras


def test_no_hint_leaves_the_command_to_the_reader() -> None:
    files = [file for folder in LAYERS.values() for file in folder.rglob("*.py")]
    assert [file for file in files if re.search(r"install the extra \w+ of webnn", file.read_text(encoding="utf-8"))] == []
