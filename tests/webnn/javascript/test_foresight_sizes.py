"""Operations with new sizes, and calls with new tensors, in Node: those that do not wait do what Python says when they wait."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

import webnn
from tests.support import CURRENT
from tests.webnn.javascript.node_support import run
from webnn.javascript import node
from webnn.javascript.dispatch import Dispatcher
from webnn.javascript.realm import load_script
from webnn.serve.options import facts_of

pytestmark = pytest.mark.processes

SOURCES = {name: (Path(__file__).parent / f"random_{name}.mjs").read_text() for name in ("sizes", "tensors")}


@pytest.mark.parametrize(("name", "profile", "least"), [("sizes", None, 1000), ("sizes", "coreml", 1000), ("tensors", None, 150)])
def test_random_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, profile: str | None, least: int) -> None:
    # As the sessions of pages do.
    monkeypatch.setattr(node, "Dispatcher", partial(Dispatcher, facts_of=facts_of))
    counts: Counter[str] = Counter()
    tell = Dispatcher.tell
    monkeypatch.setattr(Dispatcher, "tell", lambda self, text, buffers: (counts.update(["told"]), tell(self, text, buffers))[1])
    with webnn.emulate(profile=profile):
        told = run(tmp_path, SOURCES[name], revision=CURRENT)
    # A call that Python refuses although it was told would be a fault of the emulator: the code would be 70.
    assert (told.code, told.stderr) == (0, "")
    assert counts["told"] > least

    def without(script: str) -> str:
        text = load_script(script)
        return text.replace("keyOf, foresee, learn,", "keyOf: () => undefined,") if script == "foresight.js" else text

    monkeypatch.setattr(node, "load_script", without)
    counts.clear()
    with webnn.emulate(profile=profile):
        waited = run(tmp_path, SOURCES[name], revision=CURRENT)
    assert counts["told"] == 0
    assert told.stdout.splitlines() == waited.stdout.splitlines()
    assert sum("must" in line for line in waited.stdout.splitlines()) > 100
