"""Expressions that the server replaces."""

from __future__ import annotations

import re

import pytest

from webnn.wpt_runner.substitution import Hosts, SubstitutionError, substitute

URL = "https://web-platform.test:8443/webnn/a.sub.html?x=1&y=%3Cb%3E"
VALUES = {
    "{{host}}": "web-platform.test",
    "{{ host }}:{{ports[https][0]}}": "web-platform.test:8443",
    "{{ports[https][1]}} {{ports[http][0]}} {{ports[http][1]}}": "8444 8000 8001",
    "{{domains[www1]}}": "www1.web-platform.test",
    "{{domains[]}}": "web-platform.test",
    "{{hosts[][www]}}": "www.web-platform.test",
    "{{hosts[alt][]}}": "not-web-platform.test",
    "{{hosts[alt][www2.www1]}}": "www2.www1.not-web-platform.test",
    "{{GET[x]}}{{GET[y]}}": "1<b>",
    "{{location[server]}}": "https://web-platform.test:8443",
    "{{location[scheme]}}|{{location[host]}}": "https|web-platform.test:8443",
    "{{location[hostname]}}|{{location[port]}}": "web-platform.test|8443",
    "{{location[path]}}": "/webnn/a.sub.html?x=1&y=%3Cb%3E",
    "{{location[pathname]}}{{location[query]}}": "/webnn/a.sub.html?x=1&y=%3Cb%3E",
    "{{url_base}}": "/",
    "{ {host} } {{": "{ {host} } {{",
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_values(text: str, value: str) -> None:
    assert substitute(text, URL, Hosts(), markup=False) == value


def test_markup_is_escaped() -> None:
    assert substitute("{{GET[y]}}", URL, Hosts(), markup=True) == "&lt;b&gt;"


def test_unique_numbers() -> None:
    one, other, again = substitute("{{$a:uuid()}} {{uuid()}} {{$a}}", URL, Hosts(), markup=False).split()
    assert one == again != other
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", one)


@pytest.mark.parametrize(
    "expression",
    ["", "a", "host[1]", "ports", "ports[ftp][0]", "ports[https][9]", "ports[https][-1]", "domains[other]", "hosts[x][]", "GET[z]",
     "location[hash]", "file_hash(md5, a)", "$b", "host()", "uuid"],
)  # fmt: skip
def test_unknown_expressions(expression: str) -> None:
    with pytest.raises(SubstitutionError, match=re.escape(f"does not know the expression {{{{{expression}}}}} of /webnn/a.sub.html")):
        substitute(f"{{{{{expression}}}}}", URL, Hosts(), markup=False)


ADDRESSES = {
    "https://web-platform.test:8443/a": True,
    "http://www1.web-platform.test:8001/": True,
    "https://not-web-platform.test:8444": True,
    "https://web-platform.test:8000/": False,
    "https://web-platform.test/": False,
    "https://other.web-platform.test:8443/": False,
    "https://web-platform.test:x/": False,
    "about:blank": False,
}


@pytest.mark.parametrize(("url", "known"), ADDRESSES.items())
def test_addresses(url: str, known: bool) -> None:
    assert Hosts().has(url) is known


def test_addresses_of_tests() -> None:
    assert Hosts().address("webnn/a b.https.sub.html", "?c") == "https://web-platform.test:8443/webnn/a%20b.https.sub.html?c"
    assert Hosts().address("webnn/https.html") == "http://web-platform.test:8000/webnn/https.html"
