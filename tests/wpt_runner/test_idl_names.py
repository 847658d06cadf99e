"""The names of IDL in texts, as the IDL of a checkout, and in data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wpt_runner.idl_texts import write_idl
from webnn.javascript.idl import load_dialects, load_idl
from webnn.validation.drafts import DRAFTS
from webnn.wpt_runner.idl_names import find_uses, names_in, names_of


def load(revision: str, dialect: str | None = None) -> dict[str, Any]:
    idl: dict[str, Any] = json.loads(load_idl(revision, dialect).text)
    return idl


ALL = [*((draft, None) for draft in DRAFTS), *((content["revision"], name) for name, content in sorted(load_dialects().items()))]


@pytest.mark.parametrize(("revision", "dialect"), ALL)
def test_the_text_of_an_idl_has_its_names(revision: str, dialect: str | None) -> None:
    idl = load(revision, dialect)
    names = names_of(idl)
    assert names_in(write_idl(idl)) == names
    assert len(names) > 350


#: Texts, and the names in them.
TEXTS = [
    ("", ""),
    ("typedef record<USVString, MLTensor> MLNamedTensors;", ""),
    ("A includes B;", ""),
    ("interface A {};", "A"),
    ("interface A : B { };", "A"),
    ("interface mixin A { attribute long b; };", "A A.b"),
    ("[Exposed=(A, B), C]\npartial\n interface A\n{\n readonly\n attribute FrozenArray<unsigned long> b; };", "A A.b"),
    ("interface A { constructor(B c); static undefined d(); };", "A A.constructor A.constructor(1) A.d A.d(0)"),
    ("interface A { B c(optional D d = {}, [E] sequence<(long or record<F, G>)> e = [], H... f); };", "A A.c A.c(3)"),
    ("interface A { B c(D d); B c(D d, E e); };", "A A.c A.c(1) A.c(2)"),
    ("interface A { (long or B) c((D or E) d); };", "A A.c A.c(1)"),
    ("interface A { stringifier; const long B = 1; undefined _c(); };", "A A.stringifier A.B A._c A._c(0)"),
    ("interface A { ; (); long <b>(c); };", "A"),
    ("dictionary A : B { required C d; [E] sequence<[F] unsigned long> g = []; H i = \"j;}\"; double k = 1e-5; };", "A A.d A.g A.i A.k"),
    ('enum A { "b-c", "d", // "e"\n "f" /* "g" */ };', "A A.b-c A.d A.f"),
    ('enum A { "//", "/*" }; enum B { "c" };', "A A.// A./* B B.c"),
    ("namespace A { const unsigned long B = 0x0001; };", "A A.B"),
    ("// interface A {};\n/* interface B {};\n*/ interface C {};", "C"),
    ("interface A { B c(", "A"),
    ("interface A { attribute B c; interface D { attribute B e; };", "A A.c"),
    ('enum A { "b', "A"),
    ("}}}}); interface A ]]] {]]};", "A"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names"), TEXTS, ids=range(len(TEXTS)))
def test_names_in_a_text(text: str, names: str) -> None:
    assert sorted(names_in(text)) == sorted(names.split())


@given(st.text(st.sampled_from('interface dictionary enum {};()[]<>,="/*\nab.- ') | st.characters(), max_size=80), st.data())
def test_any_text_can_be_read(text: str, data: st.DataObject) -> None:
    names_in(text)
    cut = data.draw(st.integers(0, len(text)))
    names_in(f"interface A {{ {text[:cut]} }}; enum B {{ {text[cut:]} }};")


@pytest.mark.parametrize("unit", ["interface A {", "interface A ", "enum A {", '"', "/*", "(", "interface A { b("])
def test_long_texts_take_no_long_time(unit: str) -> None:
    names_in(unit * 20_000)


#: Programs, and the names that they use of those that a dialect adds.
USES = [
    ("createContext({deviceType: 'gpu'})", "MLContextOptions.deviceType MLDeviceType.gpu"),
    ("const deviceType = 1; f('deviceType')", ""),
    ("graph.devices.length", "MLGraph.devices"),
    ("graph.devicesOf() + devices", ""),
    ('{"dataType": "int4"}', "MLOperandDataType.int4"),
    ("'int48'", ""),
]


@pytest.mark.parametrize(("text", "names"), USES, ids=range(len(USES)))
def test_uses(text: str, names: str) -> None:
    idl = load("2026-06", "browsers-2026")
    assert sorted(find_uses(text, idl, names_of(idl) - names_of(load("2026-06")))) == names.split()
