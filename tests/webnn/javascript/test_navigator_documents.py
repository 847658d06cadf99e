"""Programs in a frame, with a permissions policy, and in contexts that are not secure; in both hosts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import webnn
from tests.webnn.javascript.engines import make_realm, needs_quickjs
from tests.webnn.javascript.node_support import run
from webnn.javascript.idl import load_dialects, load_idl
from webnn.validation.drafts import DRAFTS

#: Outcomes: the members that a program finds, and its context.
PROGRAM = """
const found = () => [isSecureContext, crossOriginIsolated, 'ml' in navigator, typeof GPUDevice !== 'undefined',
  Object.getOwnPropertyNames(globalThis).filter(name => /^ML/.test(name)).length > 0];
const first = async () => {
  if (!('ml' in navigator)) return [];
  const refused = [];
  for (const options of [{}, new GPUDevice()]) {
    await navigator.ml.createContext(options).then(() => refused.push('a context'), error => refused.push(
      `${error.name} ${error instanceof DOMException} ${error.message.split(': ').at(-1)}`));
  }
  return refused;
};
first().then(outcome => console.log(JSON.stringify([found(), outcome])));
"""
APP, PAGE = "https://app.test", webnn.Document(origin="https://page.test")
#: Documents, whether they are secure contexts, and the reason of a refusal.
DOCUMENTS: dict[str, tuple[webnn.Document, bool, str]] = {
    "a page": (webnn.Document(), True, ""),
    "a page with a header": (
        webnn.Document("webnn=()"),
        True,
        "the policy of the document https://app.test itself does not list its origin",
    ),
    "a frame": (
        webnn.Document(origin=APP, parent=PAGE),
        True,
        "the frame, https://app.test, is of another origin than the page, https://page.test, and its attribute allow does not name it",
    ),
    "a frame that is allowed to": (webnn.Document(origin=APP, parent=PAGE, allow="webnn"), True, ""),
    "a page without HTTPS": (webnn.Document(origin="http://app.test"), False, ""),
    "a frame in a page without HTTPS": (webnn.Document(origin=APP, parent=webnn.Document(origin="http://page.test")), False, ""),
}
CASES = pytest.mark.parametrize("name", DOCUMENTS)


def expected(name: str) -> list[list[object]]:
    _, secure, reason = DOCUMENTS[name]
    return [[secure] * 5, [f"SecurityError true {reason}" if reason else "a context"] * 2 if secure else []]


@needs_quickjs
@CASES
@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("scope", ["window", "dedicatedworker"])
def test_in_a_realm(name: str, draft: str, scope: Any) -> None:
    document, secure, _ = DOCUMENTS[name]
    written: list[str] = []
    realm = make_realm(
        lambda _, text: written.append(text),
        draft,
        ml=webnn.ML(revision=draft, document=document) if secure else None,
        memory=1 << 27,
        scope=scope,
    )
    realm.evaluate(PROGRAM)
    realm.run(lambda: bool(written), float("inf"))
    assert [json.loads(text) for text in written] == [expected(name)]
    assert not realm.faults


@pytest.mark.processes
@CASES
def test_in_node(name: str, tmp_path: Path) -> None:
    outcome = run(tmp_path, PROGRAM, document=DOCUMENTS[name][0])
    assert (outcome.code, outcome.stderr) == (0, "")
    assert json.loads(outcome.stdout) == expected(name)


@needs_quickjs
def test_a_builder_is_refused_when_the_document_was_left() -> None:
    document = webnn.Document()
    written: list[str] = []
    realm = make_realm(lambda _, text: written.append(text), ml=webnn.ML(revision="2024-06", document=document), memory=1 << 27)
    realm.evaluate("let context; navigator.ml.createContext().then(each => { context = each; console.log('made'); })")
    realm.run(lambda: bool(written), float("inf"))
    document.active = False
    realm.evaluate("try { new MLGraphBuilder(context); } catch (error) { console.log(error.name, error.message); }")
    reason = 'the permissions policy of the document does not allow the feature "webnn": the document is not fully active'
    assert written == ["made", f"SecurityError MLGraphBuilder: {reason}"]


@pytest.mark.parametrize(
    ("revision", "dialect"),
    [*((draft, None) for draft in DRAFTS), *((content["revision"], name) for name, content in load_dialects().items())],
)
def test_every_interface_needs_a_secure_context(revision: str, dialect: str | None) -> None:
    """So a context that is not secure has none of them: the binding is left out as a whole."""
    idl = json.loads(load_idl(revision, dialect).text)
    interfaces = idl["interfaces"].values()
    attributes = idl["mixins"]["NavigatorML"]["attributes"]
    assert len(interfaces) >= 6
    assert all(each["extendedAttributes"]["SecureContext"] for each in [*interfaces, *attributes])
