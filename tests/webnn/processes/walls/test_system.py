"""Calls of the C library."""

from __future__ import annotations

import sys

import pytest

from webnn.processes.walls import system


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has them")
def test_a_call_that_fails() -> None:
    assert system.call("umask", system.call("umask", 0o22)) == 0o22
    with pytest.raises(system.MissingError, match="chdir: No such file or directory"):
        system.call("chdir", b"/missing")


def test_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "_library", None)
    with pytest.raises(system.MissingError, match="only Linux"):
        system.prctl(1, 9)
