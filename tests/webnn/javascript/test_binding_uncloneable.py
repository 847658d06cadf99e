"""No object of WebNN can be cloned or sent, in any host: the draft serializes none of its interfaces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import webnn
from tests.webnn.javascript.engines import make_realm, needs_quickjs
from tests.webnn.javascript.node_support import run
from webnn.javascript.realm import load_script

_TEXT = Path(__file__).with_name("uncloneable.js").read_text(encoding="utf-8")
SCRIPT = _TEXT[_TEXT.index("async ways") :]
#: Objects, and cases of each: three places for a way, one for a list of what is transferred.
OBJECTS, PLACES = 7, 3


def check(outcome: Any, ways: int) -> None:
    """Compare an outcome: ``ways`` are those of the host beside structuredClone() and its list of what is transferred."""
    assert outcome["wrong"] == []
    assert outcome["count"] == OBJECTS * (PLACES * (1 + ways) + 1)


@needs_quickjs
@pytest.mark.parametrize(("scope", "ways"), [("window", ""), ("dedicatedworker", "'postMessage()': value => postMessage(value)"),
                                             ("sharedworker", ""), ("serviceworker", "")])  # fmt: skip
def test_in_a_realm(scope: Any, ways: str) -> None:
    written: list[str] = []
    realm = make_realm(lambda _, text: written.append(text), "2026-06", ml=webnn.ML(revision="2026-06"), memory=1 << 27, scope=scope)
    realm.evaluate(f"({SCRIPT})({{{ways}}}).then(outcome => console.log(JSON.stringify(outcome)), error => console.log(error.stack))")
    realm.run(lambda: bool(written), float("inf"))
    check(json.loads(written[0]), len(ways) > 0)
    assert not realm.faults


@pytest.mark.processes
@pytest.mark.parametrize("keeps", [True, False], ids=["marked", "as in older versions"])
def test_in_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool) -> None:
    if not keeps:  # the mark is newer than some versions of Node that the npm package supports

        def without(name: str) -> str:
            return load_script(name).replace("markAsUncloneable, warnings, evaluate) {", "_, warnings, evaluate, markAsUncloneable) {")

        monkeypatch.setattr("webnn.javascript.node.load_script", without)
    (tmp_path / "worker.js").write_text("")
    ways = """
        const {port1} = new MessageChannel(), worker = new Worker('worker.js');
        const ways = {
          'MessagePort': value => port1.postMessage(value), 'Worker': value => worker.postMessage(value),
        };
    """
    outcome = run(
        tmp_path, f"{ways} const outcome = await ({SCRIPT})(ways); console.log(JSON.stringify(outcome)); port1.close(); worker.terminate();"
    )
    assert (outcome.code, outcome.stderr) == (0, "")
    check(json.loads(outcome.stdout), 2)
