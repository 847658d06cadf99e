"""The trained model in pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.evidence.language_models import browser
from webnn.browser.chromium import VARIABLE


def test_a_browser_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert browser.find_browser() is None
    monkeypatch.setenv(VARIABLE, "chromium")
    assert browser.find_browser() == Path("chromium")


@pytest.mark.processes
def test_both_say_the_same(browser_program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for constant, value in (("LENGTHS", (64,)), ("TOKENS", 5), ("ROUNDS", 1)):
        monkeypatch.setattr(browser, constant, value)
    native, emulated = browser.measure_pages(browser_program)
    assert (native.native, emulated.native) == (True, False)
    assert native.tokens == emulated.tokens
    assert len(native.tokens) == 5
    assert native.token > 0
