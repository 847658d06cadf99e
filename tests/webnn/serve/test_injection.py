"""Documents and scripts of workers get the emulator's script in the right place."""

from __future__ import annotations

import codecs
import re

import pytest

from tests.support import each_row
from webnn.serve.injection import Kind, inject_into_document, inject_into_worker
from webnn.serve.policies import Addresses

BASE = "http://127.0.0.1:8000/__webnn__/TOKEN/"
ADDRESSES = Addresses(BASE)
TAG = f'<script src="{BASE}webnn.js"></script>'
XML_TAG = f'<script xmlns="http://www.w3.org/1999/xhtml" src="{BASE}webnn.js"></script>'
SOCKET = "ws://127.0.0.1:8000/__webnn__/TOKEN/"

#: Documents; `|` stands where the tag must be.
PLACES = [
    "|",
    "<head>|",
    "<!doctype html><html><head>|<title>a</title></head>",
    "<!DOCTYPE HTML><HTML><HEAD>|<TITLE>a</TITLE></HEAD>",
    "<!doctype html>\n<html lang=en>\n  <head profile='>'>|\n",
    '<html data-a="<head>"><head data-b=">" c>|<base href="https://a.test/">',
    "<html a='\"' b=\"'\"><head>|",
    "<html a = '>'><head/>|",
    "<html/><head a=b/>|",
    # No head: the parser makes one.
    "<!doctype html><html>|<body><head>",
    "<!doctype html><html>|<title>a</title><head>",
    "<!doctype html>|<title>a</title>",
    "<!doctype html>|<header>a</header><head>",
    "<!doctype html>|text<html><head>",
    "<!doctype html PUBLIC 'a' 'b'>\n<html>|<p>",
    "<!doctype html>|",
    "<!doctype",
    "|text",
    "|<p>a<head>",
    "|<header></header>",
    "|<headline><head>",
    "<html>|</html>",
    # Comments, and what browsers take for them.
    "<!-- <head> --><!doctype html><!-- <html> --><html><!-- <head> --><head>|",
    "<!--><head>|",
    "<!---><head>|",
    "<!-- a --!><head>|",
    "<!-- a -- > <head> --><head>|",
    "|<!-- <head>",
    "<?xml version='1.0'?><!doctype html><html><head>|",
    "<![CDATA[<html]]><head>|",
    "</p><head>|",
    # Text of elements is not markup.
    "|<script>'<head>'</script><head>",
    "|<title><head></title><head>",
    "<!doctype html><html>|<style><head></style>",
    "|<plaintext><head>",
    "|<script><head>",
    "|<",
    "|<a href='",
    "<html>|<",
    '<html>|<a b="',
]
XML_PLACES = [
    "<html><head>|<title/></head></html>",
    "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY a '<head>]>'> <!-- ' ]> -->]><html xmlns='http://www.w3.org/1999/xhtml'><head>|</head></html>",
    "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'a>b'><html><head>|</head></html>",
    "<h:html xmlns:h='http://www.w3.org/1999/xhtml'><h:head>|</h:head></h:html>",
    "<html>|<body/></html>",
    "<html><!-- <head> -- a --><head>|</head></html>",
    "<html><?a <head>?><head>|</head></html>",
    "<html>text<head>|</head></html>",
    "<html>|<HEAD/></html>",
]
#: The documents that stay as they are.
XML_UNCHANGED = ["", "text", "<html/>", "<svg xmlns='http://www.w3.org/2000/svg'><g/></svg>", "<", "<!DOCTYPE html [", "<?xml"]


def expected(text: str) -> str:
    return text.replace("|", TAG) if "|" in text else f"{TAG}{text}" if not text.startswith("<!doctype") else f"{text}{TAG}"


@each_row("text", PLACES)
def test_the_place_of_the_tag(text: str) -> None:
    body = text.replace("|", "").encode()
    assert inject_into_document(body, ADDRESSES).body.decode() == expected(text)


@each_row("text", XML_PLACES)
def test_the_place_in_xhtml(text: str) -> None:
    body = text.replace("|", "").encode()
    assert inject_into_document(body, ADDRESSES, xml=True).body.decode() == text.replace("|", XML_TAG)


def test_an_empty_head_of_xhtml_is_opened() -> None:
    assert inject_into_document(b"<html><head a='b' /></html>", ADDRESSES, xml=True).body.decode() == (
        f"<html><head a='b' >{XML_TAG}</head></html>"
    )


@each_row("text", XML_UNCHANGED)
def test_xml_without_a_place_stays(text: str) -> None:
    document = inject_into_document(text.encode(), ADDRESSES, ["script-src 'none'"], xml=True)
    assert document.body == text.encode()
    assert document.policies == ["script-src 'none'"]


@pytest.mark.parametrize(
    ("mark", "encoding", "charset"),
    [
        (b"", "utf-8", None),
        (codecs.BOM_UTF8, "utf-8", None),
        (codecs.BOM_UTF16_LE, "utf-16-le", None),
        (codecs.BOM_UTF16_BE, "utf-16-be", None),
        # A mark counts more than a header.
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-8"),
        (b"", "utf-16-le", "UTF-16"),
        (b"", "utf-16-le", "utf-16le"),
        (b"", "utf-16-be", "utf-16be"),
        (b"", "shift_jis", "shift_jis"),
        (b"", "windows-1252", "windows-1252"),
        (b"", "euc_kr", None),
    ],
)
def test_encodings(mark: bytes, encoding: str, charset: str | None) -> None:
    word = {"shift_jis": "表ソ", "windows-1252": "é€", "euc_kr": "한국"}.get(encoding, "\u00e9\U0001f600")
    text = f"<!doctype html><html><head>|<title>{word}</title>"
    body = mark + text.replace("|", "").encode(encoding)
    assert inject_into_document(body, ADDRESSES, charset=charset).body == mark + text.replace("|", TAG).encode(encoding)


def test_bytes_that_are_no_text_stay() -> None:
    noise = bytes(range(128, 256))
    assert inject_into_document(b"<head>" + noise, ADDRESSES).body == b"<head>" + TAG.encode() + noise
    # A lone surrogate, and half a code unit.
    wide = codecs.BOM_UTF16_LE + "<head>".encode("utf-16-le") + b"\x00\xd8<"
    assert inject_into_document(wide, ADDRESSES).body == (codecs.BOM_UTF16_LE + f"<head>{TAG}".encode("utf-16-le") + b"\x00\xd8<")


def test_the_tag_is_short() -> None:
    """The encoding must be stated in the first 1024 bytes of a document."""
    assert len(TAG) < 200


@pytest.mark.parametrize(
    "text",
    [
        "<" * 300_000,
        "<a " * 100_000,
        "<a b=" * 60_000,
        "<a b='" * 50_000,
        "<!--" * 75_000,
        "<!doctype " * 30_000,
        "<!DOCTYPE [" * 30_000,
        "<!DOCTYPE [<!--" * 20_000,
        "<title>" * 40_000,
        "<title></title" * 20_000,
        "<meta http-equiv=content-security-policy content=" * 6_000,
        "<a " + "b=c " * 75_000,
        "<?" * 100_000,
        "<![CDATA[" * 30_000,
        "</" * 100_000,
        "<html>" * 50_000,
        " " * 300_000,
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.parametrize("xml", [False, True])
def test_hostile_documents_are_read_once(text: str, *, xml: bool) -> None:
    """A quadratic reader would not be done before the time limit of a test."""
    document = inject_into_document(text.encode(), ADDRESSES, xml=xml)
    assert len(document.body) in {len(text), len(text) + len(XML_TAG if xml else TAG)}


# Policies


def test_the_headers_are_amended_and_their_nonce_is_used() -> None:
    document = inject_into_document(b"<head>", ADDRESSES, ["script-src 'nonce-ab'; img-src a, connect-src 'self'", "object-src b"])
    assert document.body.decode() == f'<head><script nonce="ab" src="{BASE}webnn.js"></script>'
    assert document.policies == [
        f"script-src 'nonce-ab'; img-src a; script-src-elem 'nonce-ab' {BASE}webnn.js; worker-src 'nonce-ab' {BASE}",
        f"connect-src 'self' {BASE} {SOCKET} blob:",
        "object-src b",
    ]


def test_one_nonce_satisfies_several_policies() -> None:
    document = inject_into_document(b"", ADDRESSES, ["script-src-elem 'strict-dynamic'", "script-src-elem 'strict-dynamic' 'nonce-b'"])
    found = re.search(r'nonce="([^"]+)"', document.body.decode())
    assert found
    assert found[1] == "b"
    assert document.policies == ["script-src-elem 'strict-dynamic' 'nonce-b'", "script-src-elem 'strict-dynamic' 'nonce-b'"]


ALLOWED = f"{BASE} {SOCKET} blob:"
SELF = f"connect-src &#x27;self&#x27; {ALLOWED}"


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        (
            """<meta http-equiv="Content-Security-Policy" content="connect-src 'self'">""",
            f'<meta http-equiv="Content-Security-Policy" content="{SELF}">',
        ),
        (
            """<META CONTENT="connect-src 'self'" HTTP-EQUIV=content-security-policy>""",
            f'<META CONTENT="{SELF}" HTTP-EQUIV=content-security-policy>',
        ),
        (
            "<meta http-equiv='content-security-policy' content='connect-src &apos;self&apos;'/>",
            f"<meta http-equiv='content-security-policy' content='{SELF}'/>",
        ),
        (
            "<meta http-equiv=content-security-policy content=connect-src>",
            f'<meta http-equiv=content-security-policy content="connect-src {ALLOWED}">',
        ),
        # Everything that does not concern the emulator stays, byte for byte.
        *(
            (text, text)
            for text in (
                "<meta http-equiv=content-security-policy content='img-src  a'>",
                "<meta http-equiv=content-security-policy>",
                "<meta http-equiv=content-security-policy-report-only content=connect-src>",
                "<meta http-equiv=refresh content=connect-src>",
                "<!-- <meta http-equiv=content-security-policy content=connect-src> -->",
                "<title><meta http-equiv=content-security-policy content=connect-src></title>",
                "<body><meta http-equiv=content-security-policy content=connect-src>",
            )
        ),
    ],
)
def test_policies_of_elements_are_amended(given: str, changed: str) -> None:
    for head in ("<head>", "<!doctype html><html><head>"):
        assert inject_into_document((head + given).encode(), ADDRESSES).body.decode() == head + TAG + changed


def test_a_policy_of_an_element_without_a_head() -> None:
    given = "<!doctype html><meta http-equiv=content-security-policy content=connect-src>"
    assert inject_into_document(given.encode(), ADDRESSES).body.decode() == (
        f'<!doctype html>{TAG}<meta http-equiv=content-security-policy content="connect-src {BASE} {SOCKET} blob:">'
    )


# Workers

CLASSIC = f'importScripts("{BASE}webnn.js");'
MODULE = f'import "{BASE}webnn.js";'
UNKNOWN = f'try{{importScripts("{BASE}webnn.js")}}catch(e){{if(!(e instanceof TypeError))throw e}};'
STRICT = '"use strict";'


@pytest.mark.parametrize(
    ("text", "kind", "changed"),
    [
        ("a()", "classic", f"{CLASSIC}a()"),
        ("a()", "module", f"{MODULE}a()"),
        ("a()", None, f"{UNKNOWN}a()"),
        ("", "classic", CLASSIC),
        ("\ufeffa()", "classic", f"\ufeff{CLASSIC}a()"),
        ("#!/usr/bin/env node\na()", "classic", f"#!/usr/bin/env node\n{CLASSIC}a()"),
        ("'use strict'; a()", "classic", f"{STRICT}{CLASSIC}'use strict'; a()"),
        ("'use strict'; a()", "module", f"{MODULE}'use strict'; a()"),
        ("'use strict'; a()", None, f"{STRICT}{UNKNOWN}'use strict'; a()"),
    ],
)
def test_a_worker_gets_a_first_statement(text: str, kind: Kind | None, changed: str) -> None:
    assert inject_into_worker(text.encode(), ADDRESSES, kind).body.decode() == changed


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("'use strict'", True),
        ('"use strict"\nlet a', True),
        ("// a\n/* b\n */ 'use strict' /* c */;", True),
        ("'use asm'; 'use strict';", True),
        ("'use asm'\n'use strict'\nfor (;;) {}", True),
        ("'use strict'\nimportant()", True),
        ("'use strict'\n++a", False),
        ("'use strict' + a", False),
        ("'use strict'\n.length", False),
        ("'use strict'\n(a)", False),
        ("'use strict'\n`a`", False),
        ("'use strict'\nin a", False),
        ("'use strict'\ninstanceof a", False),
        ("'use strict', a", False),
        ("'use\\x20strict';", False),
        ("('use strict');", False),
        ("a; 'use strict'", False),
        ("'use strict", False),
        ("/* 'use strict'", False),
        ("", False),
    ],
)
def test_a_strict_script_stays_strict(text: str, *, strict: bool) -> None:
    assert inject_into_worker(text.encode(), ADDRESSES, "classic").body.decode() == f"{STRICT * strict}{CLASSIC}{text}"


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("import a from 'a'", True),
        ("import{a}from'a'", True),
        ("import'a'", True),
        ("import * as a from 'a'", True),
        ("/* a */ let b; import /* c */ 'd'", True),
        ("function f() { return /}/ }\nexport {f}", True),
        ("export default 1", True),
        ("a = `${`import`} import`; export const b = 1", True),
        ("f(import.meta.url)", True),
        ("const a = b / c; const d = '/'; export {a}", True),
        ("import('a')", False),
        ("f(() => import('a'))", False),
        ("import ('a')", False),
        ("// import 'a'\n/* export {} */ '\\' import b'", False),
        ("`\nexport {}\n${a}\nimport 'b'`", False),
        ("`${'}'}\nexport {a}`", False),
        ("a.import; a.export = 1; module.exports = 2; $import; importScripts('a')", False),
        ("x = {import: 1, export: 2}", False),
        ("a = /[/'\"`]import 'a'/; b = 1", False),
        ("return /'/", False),
        ("'import a' + \"export\"", False),
        ("", False),
        ("`${", False),
        ("}})]", False),
    ],
)
def test_an_unknown_worker_is_known_by_its_syntax(text: str, *, module: bool) -> None:
    assert inject_into_worker(text.encode(), ADDRESSES).body.decode() == (MODULE if module else UNKNOWN) + text


@pytest.mark.parametrize(
    "text",
    ["/" * 300_000, "`${" * 100_000, "'\\" * 100_000, "/*" * 100_000, "import (" * 40_000, "'a'\n" * 60_000, "{" * 300_000, "/[" * 9_000],
)
def test_hostile_scripts_are_read_once(text: str) -> None:
    assert inject_into_worker(text.encode(), ADDRESSES).body == UNKNOWN.encode() + text.encode()


def test_the_policy_of_a_worker() -> None:
    document = inject_into_worker(b"", ADDRESSES, "classic", ["connect-src 'none'; trusted-types a; require-trusted-types-for 'script'"])
    assert document.policies == [f"connect-src {BASE} {SOCKET} blob:; trusted-types a webnn-emulator; require-trusted-types-for 'script'"]
    assert document.body.decode() == (
        f'importScripts(trustedTypes.createPolicy("webnn-emulator",{{createScriptURL:x=>x}}).createScriptURL("{BASE}webnn.js"));'
    )
