"""`Document`: the permissions policy, frames, and secure contexts, sentence by sentence.

The draft's section `#permissions-policy-integration` has two sentences, which refer to the Permissions Policy and HTML specifications.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webnn import ML, Document, MissingMemberError, MLGraphBuilder, Navigator, SecurityError, WebNNTypeError, WebNNWarning
from webnn.validation.drafts import DRAFTS, find_revision

A, B, C = "https://a.test", "https://b.test", "https://c.test"


def frame(origin: str | None, *above: Any, **own: Any) -> Document:
    """Make a document in frames: each of `above` is the parameters of a page around it, the outermost first."""
    parent = None
    for each in above:
        parent = Document(**({"origin": each} if isinstance(each, str) else each), parent=parent)
    return Document(origin=origin, parent=parent, **own)


#: The sentence in short, a document, and whether it may use the feature.
SENTENCES: list[tuple[str, Document, bool]] = [
    # webnn, #permissions-policy-integration
    ("the feature is named webnn", Document({"webnn": False}), False),
    ("another name is another feature", Document({"WebNN": False, "camera": False}), True),
    ("the default allowlist is self: a page of its own may", Document(), True),
    ("the default allowlist is self: a frame of the same origin may", frame(A, A), True),
    ("the default allowlist is self: a frame of another origin may not", frame(B, A), False),
    # html, #allowed-to-use and #origin
    ("origins differ by their schemes", frame("https://a.test", "http://a.test"), False),
    ("origins differ by their hosts", frame("https://www.a.test", A), False),
    ("origins differ by their ports", frame("https://a.test:8443", A), False),
    ("the default port is left out", frame("https://a.test:443", A), True),
    ("hosts are compared in small letters", frame("https://A.TEST", A), True),
    ("an opaque origin is the same as itself only", frame("null", "null"), False),
    ("a frame without an address has the origin of its page", frame(None, B), True),
    ("a frame without an address has an opaque origin of its page", frame(None, "null"), True),
    # permissions-policy, #algo-define-inherited-policy-in-container
    ("1: a page of its own inherits every feature", Document(origin=B), True),
    ("2: a page that may not use it itself cannot give it", frame(A, {"origin": A, "permissionsPolicy": {"webnn": False}}), False),
    ("2: the same, with the attribute", frame(B, {"origin": A, "permissionsPolicy": "webnn=()"}, allow="webnn *"), False),
    ("2: a page that did not inherit it cannot give it", frame(B, A, B), False),
    ("2: the same, with the attribute", frame(C, A, B, allow="webnn *"), False),
    ("2: the same, for the first page's own origin", frame(A, A, B, allow="webnn"), False),
    ("3: the page's header must list the frame's origin", frame(B, {"origin": A, "permissionsPolicy": "webnn=self"}, allow="webnn"), False),
    ("3: the same, listed", frame(B, {"origin": A, "permissionsPolicy": f'webnn=(self "{B}")'}, allow="webnn"), True),
    ("3: the header alone does not give it", frame(B, {"origin": A, "permissionsPolicy": "webnn=*"}), False),
    ("5.1: the attribute lists the frame's origin", frame(B, A, allow="webnn"), True),
    ("5.2: the attribute lists another origin", frame(B, A, allow=f"webnn {C}"), False),
    ("5.2: the attribute takes it from a frame of the same origin", frame(A, A, allow="webnn 'none'"), False),
    ("7: self, if the attribute names only other features", frame(A, A, allow="camera 'none'"), True),
    ("8: disabled otherwise", frame(B, A, allow="camera *"), False),
    ("each page in between must give it", frame(C, A, {"origin": B, "allow": "webnn"}, allow="webnn"), True),
    ("the page's page need not list a frame's frame", frame(B, {"origin": A, "permissionsPolicy": "webnn=self"}, A, allow="webnn"), True),
    # permissions-policy, #algo-check-permissions-policy and #algo-create-from-response
    ("1: the header cannot give what is not inherited", frame(B, A, permissionsPolicy="webnn=*"), False),
    ("2.1: the header lists the document's origin", Document("webnn=self"), True),
    ("2.1: as an expression", Document(f'webnn="{A}"', origin=A), True),
    ("2.2: the header does not list the document's origin", Document(f'webnn="{B}"', origin=A), False),
    ("2.2: the header lists nothing", Document("webnn=()"), False),
    ("2: the header of a frame", frame(B, A, allow="webnn", permissionsPolicy="webnn=()"), False),
    ("3: the header names other features", Document("camera=()"), True),
    # permissions-policy, #algo-construct-policy
    ("3: the last member counts", Document("webnn=(), webnn=*"), True),
    ("3.5: the token *", Document("webnn=*"), True),
    ("3.5: a list with the token *", Document(f'webnn=(* "{B}")'), True),
    ("spaces around a header", Document("  webnn=()  "), False),
    ("3.6: self and origins", Document(f'webnn=("{B}" self)'), True),
    ("3.6: a string is not a token", Document('webnn=("self")'), False),
    ("3.6: anything but an expression is ignored", Document("webnn=(self 7 ?1 src none)"), True),
    ("3.6: the keywords of the attribute are not expressions", Document("webnn=(\"'self'\")"), False),
    ("parameters are ignored", Document('webnn=(self;x=1 "https://b.test");report-to="y", camera=()'), True),
    ("a value of another form is ignored", Document("webnn=?0"), True),
    ("a member without a value is ignored", Document("webnn"), True),
    # permissions-policy, #algo-parse-policy-directive
    ("2.1: parts stand between white space", frame(B, A, allow="\t webnn\n\t'src'  "), True),
    ("2.2: empty parts are ignored", frame(B, A, allow=";; webnn ;"), True),
    ("2.3: names are compared as they are", frame(B, A, allow="WEBNN"), False),
    ("2.8: an asterisk is every origin", frame(B, A, allow="webnn 'none' *"), True),
    ("2.8: an opaque one as well", frame("null", A, allow="webnn *"), True),
    ("2.9.1: nothing is the origin of the attribute src", frame(B, A, allow="webnn", src=f"{B}/page.html"), True),
    ("2.9.1: which the frame may have left", frame(B, A, allow="webnn", src=f"{C}/page.html"), False),
    ("2.9.2.1: 'self' is the page's origin", frame(A, A, allow="webnn 'self'"), True),
    ("2.9.2.1: 'self' is not the frame's origin", frame(B, A, allow="webnn 'SELF'"), False),
    ("2.9.2.2: 'src' is the origin of the attribute src", frame(B, A, allow="webnn 'Src'"), True),
    ("2.9.2.3: anything but a URL is ignored", frame(B, A, allow="webnn b.test 'none' self src"), False),
    ("2.9.2.4: the origin of a URL", frame(B, A, allow=f"webnn {C} {B}/some/where?x#y"), True),
    ("2.9.2.4: an asterisk in the host of a URL is not a pattern", frame("https://x.b.test", A, allow="webnn https://*.b.test"), False),
    ("2.9.2.4: nor is one alone", frame(B, A, allow="webnn https://*"), False),
    ("2.9.2.4: a URL with an opaque origin is ignored", frame("null", A, allow="webnn data:text/html,x about:blank null"), False),
    ("2.10: the last one of a name counts", frame(B, A, allow="webnn; webnn 'none'"), False),
    # permissions-policy, declared origin
    ("1.-2.: that of a sandboxed frame is another opaque one", frame("null", A, allow="webnn"), False),
    ("3.: that of srcdoc is the page's", frame(None, A, allow="webnn"), True),
    ("5.: that of a frame without an address is the page's, an opaque one as well", frame(None, "null", allow="webnn"), True),
    ("4.: an address is relative to the page", frame(B, A, allow="webnn", src="page.html"), False),
    ("4.: the same, not left", frame(A, A, allow="webnn", src="page.html"), True),
    ("4.: that of a data URL is opaque", frame("null", A, allow="webnn", src="data:text/html,x"), False),
    # permissions-policy, #algo-matches, and csp, #match-url-to-source-expression
    ("1.: an asterisk alone", Document('webnn="*"'), True),
    ("1.: which is not only domains", Document('webnn="*"', origin="http://127.0.0.1"), True),
    ("4.: no expression covers an opaque origin", Document('webnn="*"', origin="null"), False),
    ("2.1: the scheme", Document('webnn="http://a.test"', origin=A), True),
    ("2.1: the scheme of sockets", Document('webnn="ws://a.test"', origin="http://a.test"), True),
    ("2.1: the scheme of secure sockets", Document('webnn="wss://a.test"', origin=A), True),
    ("2.1: the scheme is never lowered", Document(f'webnn="{A}"', origin="http://a.test"), False),
    ("2.2: the scheme alone", Document('webnn="https:"', origin=A), True),
    ("2.2: another scheme alone", Document('webnn="wss:"', origin="ws://a.test"), False),
    ("3.2: no scheme is the document's own", Document('webnn="a.test"', origin="http://a.test"), True),
    ("3.3: capital letters", Document('webnn="HTTPS://A.test"', origin=A), True),
    ("3.3: an asterisk for the host", Document('webnn="https://*"', origin=A), True),
    ("3.3: an asterisk for a part of the host", Document('webnn="https://*.b.test"', origin="https://x.y.b.test"), True),
    ("3.3: which is not the host itself", Document('webnn="https://*.b.test"', origin=B), False),
    ("3.3: nor a longer part", Document('webnn="https://*.b.test"', origin="https://xb.test"), False),
    ("3.3: an address of a machine is not a domain", frame("http://127.0.0.1:8000", A, allow="webnn http://127.0.0.1:8000"), False),
    ("3.3: an address in brackets is none, either", frame("https://[::1]", A, allow="webnn https://[::1]"), False),
    ("3.5: the port", Document('webnn="https://a.test:8443"', origin="https://a.test:8443"), True),
    ("3.5: another port", Document('webnn="https://a.test:8443"', origin=A), False),
    ("3.5: no port is the default port", Document('webnn="https://a.test"', origin="https://a.test:8443"), False),
    ("3.5: the default port", Document('webnn="https://a.test:443"', origin=A), True),
    ("3.5: every port", Document('webnn="a.test:*"', origin="https://a.test:8443"), True),
    ("3.6: the path of all addresses", Document(f'webnn="{A}/"', origin=A), True),
    ("3.6: another path", Document(f'webnn="{A}/x"', origin=A), False),
]  # fmt: skip


@pytest.mark.parametrize(("document", "allowed"), [row[1:] for row in SENTENCES], ids=[row[0] for row in SENTENCES])
def test_each_sentence(document: Document, allowed: bool) -> None:
    assert document.allowedToUse("webnn") is allowed


@pytest.mark.parametrize("draft", DRAFTS)
async def test_create_context_is_rejected(draft: str) -> None:
    future = ML(revision=draft, document=frame(B, A)).createContext()
    with pytest.raises(SecurityError, match=r"the frame, https://b\.test, is of another origin than the page") as caught:
        await future
    assert caught.value.step == {"2024-06": "2", "2026-06": "3"}[find_revision(draft).graph_draft]


#: Documents that may not use the feature, and the reason in the message.
REASONS = [
    (Document("webnn=()"), r"the policy of the document https://app\.test itself does not list its origin$"),
    (frame(A, {"origin": B, "permissionsPolicy": "webnn=()"}), "the policy of the page https://b.test does not list the origin of its"),
    (frame(B, {"origin": A, "permissionsPolicy": f'webnn="{B}"'}, allow="webnn"), "the policy of the document https://a.test itself"),
    (frame(C, A, allow="webnn 'none'"), "the attribute allow of the frame does not list the frame's origin, https://c.test"),
    (frame(C, A, B, allow="webnn"), "the frame, https://b.test, is of another origin than the page, https://a.test, and its attribute"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "reason"), REASONS, ids=range(len(REASONS)))
def test_the_message_has_the_reason(document: Document, reason: str) -> None:
    with pytest.raises(SecurityError, match=rf'^createContext: the permissions .* does not allow the feature "webnn": .*{reason}'):
        ML(revision="2024-06", document=document).createContextSync()


# ---- Documents that are not fully active


def test_a_document_that_is_not_fully_active() -> None:
    page = Document(origin=A)
    inner = Document(parent=Document(parent=page))
    context = ML(revision="2024-06", document=inner).createContextSync()
    page.active = False
    assert not inner.fullyActive
    assert inner.active
    for attempt in (ML(revision="2024-06", document=inner).createContextSync, lambda: MLGraphBuilder(context)):
        with pytest.raises(SecurityError, match="the document is not fully active"):
            attempt()
    page.active = True
    assert ML(revision="2024-06", document=inner).createContextSync()


@pytest.mark.parametrize("draft", ["2024-06", "2026-06"])
def test_a_builder_of_the_interface_of_a_frame(draft: str) -> None:
    page = Document()
    context = ML(revision=draft, document=page).createContextSync()
    inner = Document(parent=page)
    assert MLGraphBuilder(context, document=inner)
    inner.active = False
    with pytest.raises(SecurityError, match=r"^MLGraphBuilder: .* the document is not fully active$"):
        MLGraphBuilder(context, document=inner)
    with pytest.raises(SecurityError, match=r"^MLGraphBuilder: .* the attribute allow of the frame"):
        MLGraphBuilder(context, document=Document(parent=page, allow="webnn 'none'"))
    with pytest.raises(WebNNTypeError, match=r"^MLGraphBuilder: document must be a Document, got 'https://a\.test'") as caught:
        MLGraphBuilder(context, document="https://a.test")  # type: ignore[arg-type]
    assert caught.value.argument == "document"
    assert MLGraphBuilder(context)


def test_a_frame_that_was_removed() -> None:
    page = Document()
    inner = Document(parent=page)
    inner.active = False
    assert not inner.allowedToUse("webnn")
    assert page.allowedToUse("webnn")


def test_a_later_policy_changes_no_frame_and_no_context() -> None:
    page = Document(origin=A)
    before = Document(parent=page)
    context = ML(revision="2026-06", document=page).createContextSync()
    page.setPermissionsPolicy("webnn=()")
    after = Document(parent=page)
    assert context.opSupportLimits()
    assert [each.allowedToUse("webnn") for each in (page, before, after)] == [False, True, False]
    page.setPermissionsPolicy({"webnn": True})
    assert page.allowedToUse("webnn")
    assert not after.allowedToUse("webnn")


def test_a_later_policy_of_a_frame() -> None:
    """Only the header changes: the page and the attribute of the frame stay."""
    given, refused = frame(B, A, allow="webnn"), frame(B, A)
    for document in (given, refused):
        document.setPermissionsPolicy("webnn=*")
    assert (given.allowedToUse("webnn"), refused.allowedToUse("webnn")) == (True, False)
    given.setPermissionsPolicy("webnn=()")
    assert not given.allowedToUse("webnn")


def test_deep_frames() -> None:
    document = Document()
    for _ in range(5000):
        document = Document(parent=document)
    assert document.allowedToUse("webnn")
    assert document.fullyActive


# ---- Secure contexts

#: A document, and whether it is a secure context.
SECURE = [
    (Document(), True),
    (Document(origin="http://a.test"), False),
    (Document(origin="wss://a.test"), True),
    (Document(origin="ws://a.test"), False),
    *((Document(origin=f"http://{each}"), True) for each in ("localhost", "x.localhost:80", "localhost.", "127.1.2.3", "[::1]")),
    *((Document(origin=f"http://{each}"), False) for each in ("xlocalhost", "localhost.test", "128.0.0.1", "127.0.0.1.test", "[::2]")),
    (Document(origin="null"), False),
    (Document(origin="null", secure=True), True),
    (Document(origin="http://a.test", secure=True), True),
    (Document(origin=A, secure=False), False),
    (frame(B, A), True),
    (frame(B, "http://a.test"), False),
    (frame("http://a.test", A), False),
    (frame("null", A), True),
    (frame("null", "http://a.test"), False),
    (frame(A, A, "http://b.test"), False),
]  # fmt: skip


@pytest.mark.parametrize(("document", "secure"), SECURE, ids=range(len(SECURE)))
def test_secure_contexts(document: Document, secure: bool) -> None:
    assert document.secure is secure
    navigator = Navigator(document=document)
    assert hasattr(navigator, "ml") is secure


def test_an_insecure_context_has_no_ml() -> None:
    document = Document(origin="http://a.test")
    with pytest.raises(MissingMemberError, match=r"ml: navigator has it in secure contexts only, .* http://a\.test is none"):
        _ = Navigator(document=document).ml
    with pytest.raises(ValueError, match=r"document must be a secure context, got one of http://a\.test, which has no navigator.ml"):
        ML(revision="2024-06", document=document)
    # The policy is another matter.
    assert document.allowedToUse("webnn")


# ---- Bad input

#: Parameters, the error, and a part of its message.
REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"origin": 7}, TypeError, "origin must be a str, got int"),
    ({"parent": "https://a.test"}, TypeError, "parent must be a Document, got str"),
    ({"allow": ["webnn"]}, TypeError, "allow must be a str, got list"),
    ({"src": 1}, TypeError, "src must be a str, got int"),
    ({"secure": "yes"}, TypeError, "secure must be a bool, got str"),
    ({"permissionsPolicy": {"webnn": "self"}}, TypeError, "must be a header, or map features to booleans"),
    ({"permissionsPolicy": ["webnn"]}, TypeError, "must be a header, or map features to booleans"),
    ({"allow": "webnn"}, ValueError, "allow is an attribute of a frame: it can only be given with a parent"),
    ({"src": "x"}, ValueError, "src is an attribute of a frame: it can only be given with a parent"),
    ({"parent": Document(secure=False), "secure": True}, ValueError, "secure must not be True: the parent is not a secure context"),
    *(({"origin": each}, ValueError, 'origin must be "null", or a scheme, a host and a port')
      for each in ("", "a.test", "https://", "https://a.test/", "https://a.test?x", "https://a:b@c.test", "https://a.test:65536", "data:x",
                   "about:blank", "file:///x", "https://a b", "https://a.test:x", "https://\n")),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_bad_parameters(parameters: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        Document(**parameters)
    assert message in str(caught.value)


#: Headers with a fault.
BROKEN = ["webnn=(", "webnn 'none'", "webnn=(),", "=x", "webnn=(self", "webnn='self'", "webnn=()x", "webnn=\u2603"]


@pytest.mark.parametrize("header", BROKEN)
def test_a_header_that_cannot_be_read_is_ignored(header: str) -> None:
    with pytest.warns(WebNNWarning, match="the header Permissions-Policy is ignored.* must stand at character") as caught:
        document = Document(header)
    assert caught[0].filename == __file__
    assert document.allowedToUse("webnn")


_TEXTS = st.text(st.sampled_from("webn=()*,;:/ \"\\'selfrc.-0?\t\n\u2603") | st.characters(), max_size=60)


@given(header=_TEXTS, allow=_TEXTS, src=_TEXTS)
def test_any_text_is_read(header: str, allow: str, src: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WebNNWarning)
        page = Document(f"webnn=({header})", origin=A)
        Document(header, origin=B, parent=page, allow=f"webnn {allow}", src=src).allowedToUse("webnn")


@pytest.mark.parametrize("unit", ['"a', "(", "a ", '\\"', ";a", "a=(a;a ", "*,"])
def test_long_texts_take_no_long_time(unit: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WebNNWarning)
        page = Document("webnn=(" + unit * 20_000, origin=A)
        Document(origin=B, parent=page, allow="webnn " + unit * 20_000, src=unit * 20_000).allowedToUse("webnn")
