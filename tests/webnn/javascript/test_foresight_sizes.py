"""Operations whose sizes are new, in Node: those that do not wait have the results, and the errors, that Python gives when they wait."""

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

SOURCE = (Path(__file__).parent / "random_sizes.mjs").read_text()


@pytest.mark.parametrize("profile", [None, "coreml"])
def test_random_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str | None) -> None:
    # As the sessions of pages do.
    monkeypatch.setattr(node, "Dispatcher", partial(Dispatcher, facts_of=facts_of))
    counts: Counter[str] = Counter()
    tell = Dispatcher.tell
    monkeypatch.setattr(Dispatcher, "tell", lambda self, text, buffers: (counts.update(["told"]), tell(self, text, buffers))[1])
    with webnn.emulate(profile=profile):
        told = run(tmp_path, SOURCE, revision=CURRENT)
    # A call that Python refuses although it was told would be a fault of the emulator: the code would be 70.
    assert (told.code, told.stderr) == (0, "")
    assert counts["told"] > 1000

    def without(name: str) -> str:
        text = load_script(name)
        return text.replace("keyOf, foresee, learn,", "keyOf: () => undefined,") if name == "foresight.js" else text

    monkeypatch.setattr(node, "load_script", without)
    counts.clear()
    with webnn.emulate(profile=profile):
        waited = run(tmp_path, SOURCE, revision=CURRENT)
    assert counts["told"] == 0
    assert told.stdout.splitlines() == waited.stdout.splitlines()
    assert sum("must" in line for line in waited.stdout.splitlines()) > 100
