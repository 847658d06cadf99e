"""Content Security Policies let the emulator's script run, and loosen nothing else."""

from __future__ import annotations

import pytest

from webnn.serve.policies import Addresses, amend, choose_nonce, isolation, needs_trusted_types, split

BASE = "http://127.0.0.1:8000/__webnn__/TOKEN/"
ADDRESSES = Addresses(BASE)
SCRIPT = f"{BASE}webnn.js"
SOCKET = "ws://127.0.0.1:8000/__webnn__/TOKEN/"

NONCE = "abc+/-_1=="


@pytest.mark.parametrize(
    ("policy", "amended"),
    [
        # Nothing that concerns the emulator.
        ("", ""),
        (" ; ", " ; "),
        ("img-src 'none'; upgrade-insecure-requests", "img-src 'none'; upgrade-insecure-requests"),
        ("sandbox allow-scripts; frame-ancestors 'none'", "sandbox allow-scripts; frame-ancestors 'none'"),
        ("script-src-attr 'none'", "script-src-attr 'none'"),
        ("style-src 'self'; object-src 'none'; base-uri 'none'", "style-src 'self'; object-src 'none'; base-uri 'none'"),
        # Scripts: in a copy for elements, so that handlers in attributes keep their sources.
        ("script-src 'self'", f"script-src 'self'; script-src-elem 'self' {SCRIPT}; worker-src 'self' {BASE}"),
        ("script-src-elem 'self'", f"script-src-elem 'self' {SCRIPT}"),
        ("SCRIPT-SRC-ELEM 'self'", f"script-src-elem 'self' {SCRIPT}"),
        (
            "script-src-elem 'self'; script-src 'none'",
            f"script-src-elem 'self' {SCRIPT}; script-src 'none'; worker-src {BASE}",
        ),
        ("script-src 'none'", f"script-src 'none'; script-src-elem {SCRIPT}; worker-src {BASE}"),
        ("script-src", f"script-src; script-src-elem {SCRIPT}; worker-src {BASE}"),
        ("script-src 'NONE'", f"script-src 'NONE'; script-src-elem {SCRIPT}; worker-src {BASE}"),
        # No nonce beside 'unsafe-inline': it would switch that off.
        (
            "script-src 'unsafe-inline'",
            f"script-src 'unsafe-inline'; script-src-elem 'unsafe-inline' {SCRIPT}; worker-src 'unsafe-inline' {BASE}",
        ),
        # Addresses do not count beside 'strict-dynamic'.
        (
            "script-src-elem 'strict-dynamic' 'sha256-x'",
            f"script-src-elem 'strict-dynamic' 'sha256-x' 'nonce-{NONCE}'",
        ),
        ("script-src-elem 'Strict-Dynamic'", f"script-src-elem 'Strict-Dynamic' 'nonce-{NONCE}'"),
        (f"script-src-elem 'strict-dynamic' 'nonce-{NONCE}'", f"script-src-elem 'strict-dynamic' 'nonce-{NONCE}'"),
        ("script-src-elem 'sha256-x'", f"script-src-elem 'sha256-x' {SCRIPT}"),
        # Connections.
        ("connect-src 'self'", f"connect-src 'self' {BASE} {SOCKET} blob:"),
        ("connect-src 'none'", f"connect-src {BASE} {SOCKET} blob:"),
        # `default-src` itself stays what it is: images, styles, frames.
        (
            "default-src 'none'",
            f"default-src 'none'; script-src-elem {SCRIPT}; worker-src {BASE}; connect-src {BASE} {SOCKET}",
        ),
        # Workers: in the order in which browsers look.
        ("worker-src blob:", f"worker-src blob: {BASE}"),
        ("worker-src blob:; connect-src a", f"worker-src blob: {BASE}; connect-src a {BASE} {SOCKET} blob:"),
        ("worker-src 'self'; connect-src a", f"worker-src 'self' {BASE}; connect-src a {BASE} {SOCKET}"),
        ("child-src blob:", f"child-src blob:; worker-src blob: {BASE}"),
        # The first directive of a name counts.
        ("connect-src a; connect-src b", f"connect-src a {BASE} {SOCKET} blob:"),
        (f"connect-src {BASE} {SOCKET} blob:", f"connect-src {BASE} {SOCKET} blob:"),
        # Trusted Types.
        ("trusted-types", "trusted-types webnn-emulator"),
        ("trusted-types 'none'", "trusted-types webnn-emulator"),
        ("require-trusted-types-for 'script'", "require-trusted-types-for 'script'"),
        ("connect-src\f'self'\t\n", f"connect-src 'self' {BASE} {SOCKET} blob:"),
    ],
)
def test_a_policy_is_amended(policy: str, amended: str) -> None:
    assert amend(policy, ADDRESSES, NONCE) == amended
    # Once more changes nothing.
    assert amend(amended, ADDRESSES, NONCE) == amended


@pytest.mark.parametrize(
    ("headers", "policies"),
    [
        ([], []),
        (["a, b", "c"], ["a", "b", "c"]),
        ([" , a,,"], ["a"]),
    ],
)
def test_headers_are_lists(headers: list[str], policies: list[str]) -> None:
    assert split(headers) == policies


@pytest.mark.parametrize(
    ("policies", "nonce"),
    [
        ([], None),
        (["script-src 'self'"], None),
        (["script-src 'nonce-aB+/=='"], "aB+/=="),
        (["script-src 'NONCE-aB'"], "aB"),
        (["default-src 'nonce-aB'"], "aB"),
        # It is about styles, or does not count.
        (["style-src 'nonce-aB'"], None),
        (["script-src 'self'; default-src 'nonce-aB'"], None),
        (["script-src 'self'", "script-src-elem 'nonce-aB'"], "aB"),
        # No text that could leave the attribute.
        (["script-src 'nonce-\"><script>'"], None),
    ],
)
def test_a_nonce_that_is_there_is_used(policies: list[str], nonce: str | None) -> None:
    assert choose_nonce(policies) == nonce


def test_strict_dynamic_needs_a_nonce_of_its_own() -> None:
    first, second = (choose_nonce(["script-src 'strict-dynamic' 'sha256-x'"]) for _ in range(2))
    assert first
    assert second
    assert first != second


def test_trusted_types() -> None:
    assert needs_trusted_types(["img-src a", "Require-Trusted-Types-For 'script'"])
    assert not needs_trusted_types(["trusted-types a"])


def test_isolation() -> None:
    assert sorted(isolation("document")) == [
        "Cross-Origin-Embedder-Policy",
        "Cross-Origin-Opener-Policy",
        "Cross-Origin-Resource-Policy",
    ]
    assert sorted(isolation("worker")) == ["Cross-Origin-Embedder-Policy", "Cross-Origin-Resource-Policy"]
    assert sorted(isolation(None)) == ["Cross-Origin-Resource-Policy"]
