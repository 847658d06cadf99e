"""The engines that run cells in JavaScript, and a shell of IPython that runs cells."""

from __future__ import annotations

import atexit
import gc
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from tests.webnn.javascript.node_support import require_node
from webnn.javascript.node import InstalledNode, NodeMissingError
from webnn.notebook import cell

__all__ = ["choose", "make_shell"]


def choose(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have cells run in Node or in quickjs-ng."""
    if engine == "node":
        require_node()
        return
    if importlib.util.find_spec("quickjs") is None:
        pytest.skip("the JavaScript engine quickjs-ng is not installed")

    def find(_: Path | None = None) -> InstalledNode:
        raise NodeMissingError("Node 22.15 or newer is needed, but there is none")

    monkeypatch.setattr(cell, "find_node", find)


def make_shell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """Make a shell that leaves nothing behind."""
    monkeypatch.setenv("IPYTHONDIR", str(folder))
    # The shell puts a module of its own there, from which no process can be started.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    yield shell
    atexit.unregister(shell.atexit_operations)
    # The shell collects garbage several times. Objects of earlier tests are left out.
    gc.freeze()
    shell.atexit_operations()
    gc.unfreeze()
