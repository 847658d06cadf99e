"""How browsers are started: the command lines on each system, the names, and with WEBNN_BROWSER a page in the browser's own profile."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import each_row
from webnn.browser import launch
from webnn.browser.chromium import BrowserError, Chromium, find_browser, serve

#: The system, the features that are turned on, whether the browser draws in software, and whether the page is in its own profile.
SYSTEMS = [
    ("linux", "WebMachineLearningNeuralNetwork", True, False),
    ("freebsd14", "WebMachineLearningNeuralNetwork", True, False),
    ("win32", "WebMachineLearningNeuralNetwork,WebNNOnnxRuntime", False, False),
    ("darwin", "WebMachineLearningNeuralNetwork,WebNNCoreML", False, True),
]


@each_row(("system", "features", "software", "profile"), SYSTEMS)
def test_the_flags_of_a_system(system: str, features: str, software: bool, profile: bool) -> None:
    found = launch.flags(native=True, sandboxed=True, system=system)
    assert f"--enable-features={features}" in found
    assert ("--in-process-gpu" in found, "--no-sandbox" in found) == (software, False)
    assert launch.needs_profile(system) == profile
    without = launch.flags(native=False, sandboxed=False, system=system)
    assert not [flag for flag in without if "NeuralNetwork" in flag or "WebNN" in flag]
    assert "--no-sandbox" in without
    assert "--disable-background-networking" in found


def test_names_are_browsers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for name, title in launch.NAMES.items():
        assert find_browser(Path(name)) == Path(name)
        assert Chromium(Path(name)).title == title
    with pytest.raises(BrowserError, match="chrome-nightly is not a program that can be run, nor one of chrome, chrome-beta, "):
        find_browser(Path("chrome-nightly"))


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="it may be installed")
def test_a_named_browser_that_is_missing() -> None:
    pytest.importorskip("playwright")
    with pytest.raises(BrowserError, match="msedge-canary does not start: Chromium distribution 'msedge-canary' is not "):
        Chromium(Path("msedge-canary")).__enter__()


@pytest.mark.processes
def test_the_own_profile_of_a_browser(browser_program: Path) -> None:
    pages: list[Any] = []
    with serve({}) as address, Chromium(browser_program, timeout=60, profile=True) as browser:
        assert browser.version
        for _ in range(2):
            browser.open(address, before="globalThis.early = 5;")
            pages.append(browser.evaluate("() => [early, localStorage.getItem('kept'), typeof navigator.ml]"))
            browser.evaluate("() => localStorage.setItem('kept', 'by a page')")
    assert pages == [[5, None, "object"]] * 2
