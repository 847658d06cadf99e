"""The data is what the draft says, and the extractor knows the IDL that later drafts use."""

from __future__ import annotations

import json

import pytest

from tests.meta.specification import FORMER, LATEST, Draft
from tests.shared import SHARED
from webnn.validation.drafts import DRAFTS, find_revision

extract_idl = pytest.importorskip("tools.extract_idl", reason="widlparser is not installed")

DRAFT = SHARED / "spec" / "webnn-2024-06.bs"


@pytest.mark.shared
def test_the_file_is_what_the_draft_gives(capsys: pytest.CaptureFixture[str]) -> None:
    status = extract_idl.main([str(DRAFT), "2024-06", "--check"])
    assert status == 0, capsys.readouterr().err


def test_a_difference_is_shown(tmp_path: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_idl, "FOLDER", tmp_path)
    draft = _draft("interface A { undefined f(); };")
    source = extract_idl.FOLDER / "draft.bs"
    source.write_text(draft, encoding="utf-8")
    assert extract_idl.main([str(source), "2030-01", "--check"]) == 1
    assert '{"A": {"operations"' in capsys.readouterr().err
    assert extract_idl.main([str(source), "2030-01"]) == 0
    assert extract_idl.main([str(source), "2030-01", "--check"]) == 0


@pytest.mark.parametrize("revision", DRAFTS)
def test_every_revision_has_its_file(revision: str) -> None:
    assert find_revision(revision).idl()["source"]["revision"] == revision


@pytest.mark.parametrize(
    ("draft", "methods", "interfaces", "dictionaries", "enumerations", "members"),
    [(FORMER, 81, 6, 27, 12, 97), (LATEST, 98, 6, 54, 12, 290)],
    ids=str,
)
def test_the_amount(draft: Draft, methods: int, interfaces: int, dictionaries: int, enumerations: int, members: int) -> None:
    """A suite that is green because the data is empty is the worst outcome."""
    idl = draft.idl
    assert len(draft.overloads("MLGraphBuilder")) >= methods
    assert len(idl["interfaces"]) >= interfaces
    assert len(idl["dictionaries"]) >= dictionaries
    assert len(idl["enumerations"]) >= enumerations
    assert sum(len(dictionary["members"]) for dictionary in idl["dictionaries"].values()) >= members
    assert len(idl["anchors"]) > 200


def _draft(idl: str) -> str:
    return f"<pre class='metadata'>\nTitle: T\nURL: https://example.org/\n</pre>\n<script type=idl>{idl}</script>"


GRAMMAR = [
    # IDL, where in the data, what is there
    ('enum E { "a", "b" /* of "c" */, };', ["enumerations", "E"], ["a", "b"]),
    ("typedef (bigint or unrestricted double) N;", ["typedefs", "N"], {"union": ["bigint", "unrestricted double"]}),
    ("typedef [AllowShared] BufferSource B;", ["typedefs", "B"], {"extendedAttributes": {"AllowShared": True}, "type": "BufferSource"}),
    ("typedef sequence<unsigned long?>? S;", ["typedefs", "S"], {"nullable": {"sequence": {"nullable": "unsigned long"}}}),
    ("typedef record<USVString, MLTensor> R;", ["typedefs", "R"], {"record": ["USVString", "MLTensor"]}),
    (
        "dictionary D : B { required [EnforceRange] unsigned long a; [Clamp] octet b = 0xff; };".replace("0xff", "255"),
        ["dictionaries", "D"],
        {
            "inherits": "B",
            "members": [
                {"name": "a", "type": {"extendedAttributes": {"EnforceRange": True}, "type": "unsigned long"}, "required": True},
                {"name": "b", "type": {"extendedAttributes": {"Clamp": True}, "type": "octet"}, "default": 255},
            ],
        },
    ),
    (
        'dictionary D { DOMString a = ""; }; partial dictionary D { float b = 1e-5; };',
        ["dictionaries", "D", "members"],
        [{"name": "a", "type": "DOMString", "default": ""}, {"name": "b", "type": "float", "default": 1e-5}],
    ),
    (
        "[Exposed=(Window, Worker), SecureContext] interface I { readonly attribute FrozenArray<long> a; };",
        ["interfaces", "I"],
        {
            "extendedAttributes": {"Exposed": ["Window", "Worker"], "SecureContext": True},
            "attributes": [{"name": "a", "type": {"FrozenArray": "long"}, "readonly": True}],
        },
    ),
    (
        "interface I {}; partial interface I { Promise<undefined> f(optional long a = -1, DOMString... b); // f(c)\n };",
        ["interfaces", "I", "operations"],
        [
            {
                "name": "f",
                "returns": {"promise": "undefined"},
                "arguments": [
                    {"name": "a", "type": "long", "optional": True, "default": -1},
                    {"name": "b", "type": "DOMString", "variadic": True},
                ],
            }
        ],
    ),
    ("interface I { constructor(J j); };", ["interfaces", "I", "constructors"], [[{"name": "j", "type": "J"}]]),
    ("interface mixin M { [SameObject] attribute N n; };", ["mixins", "M", "attributes", 0, "extendedAttributes"], {"SameObject": True}),
    ("A includes B; A includes C;", ["includes"], {"A": ["B", "C"]}),
]


@pytest.mark.parametrize(("idl", "path", "expected"), GRAMMAR)
def test_grammar(idl: str, path: list[str | int], expected: object) -> None:
    data = extract_idl.extract(_draft(idl), "2030-01")
    assert json.loads(extract_idl.render(data)) == data
    for key in path:
        data = data[key]
    assert data == expected


@pytest.mark.parametrize(
    ("idl", "message"),
    [
        ("", "the source has no IDL"),
        ("interface A {", "not valid"),
        ("interface A { long; };", "not valid"),
        ("interface A { stringifier; };", "member of this kind is not known"),
        ("callback C = undefined ();", "this kind is not known"),
        ("dictionary D { [Unheard] long a; };", r"not known: \['Unheard'\]"),
    ],
)
def test_what_is_not_known_is_refused(idl: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extract_idl.extract(_draft(idl), "2030-01")


def test_anchors() -> None:
    draft = _draft('enum E { "a" };') + (
        "# Heading # {#a-heading}\n"
        "<dfn>Make a graph</dfn> <dfn for=MLGraph lt='cut|cuts'>to cut</dfn> <dfn method for=A>f()</dfn>\n"
        "<dfn method id=f-all>f(all)</dfn>\n"
        "<dl dfn-type=dict-member dfn-for=D><dfn>member</dfn></dl> <dl dfn-for=kind><dfn>odd (or even)</dfn></dl> <dfn>after</dfn>"
    )
    assert extract_idl.extract(draft, "2030-01")["anchors"] == [
        *("a-heading", "after", "enumdef-e", "f-all", "kind-odd-or-even", "make-a-graph", "mlgraph-cut"),
    ]
