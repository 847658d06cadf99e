"""``webnn attach``: js/test has the tests of the whole, these are those of its messages."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from typing import Any, cast

import pytest

import webnn
from tests.webnn.serve.pages import MADE_CONTEXT
from webnn.javascript.channel import Channel, Limit
from webnn.javascript.realm import load_script
from webnn.serve.attach import read_settings
from webnn.serve.options import Options

pytestmark = pytest.mark.processes

ANSWERS = {"A": Limit(text=1 << 26, buffer=1 << 26, buffers=16, total=1 << 26)}
HELLO: dict[str, Any] = {"protocol": 1, "options": {}}


class Peer:
    """The other end of the pipes."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        reader = cast("FileIO", child.stdout)
        (size,) = struct.unpack("<I", reader.read(4))
        self.script = reader.read(size).decode()
        self._channel = Channel(reader, cast("FileIO", child.stdin), ANSWERS)

    def send(self, kind: str, text: object, *parts: bytes) -> None:
        self._channel.send(kind, [(text if isinstance(text, str) else json.dumps(text)).encode(), *parts])

    def ask(self, kind: str, text: object, *parts: bytes) -> list[Any]:
        self.send(kind, text, *parts)
        answer = self._channel.receive()
        assert answer is not None
        return [json.loads(bytes(answer.parts[0])), *map(bytes, answer.parts[1:])]


@contextmanager
def attached() -> Iterator[tuple[Peer, subprocess.Popen[bytes]]]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "webnn", "attach"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as child:
        try:
            yield Peer(child), child
        finally:
            child.kill()


def call(interface: str, member: str, handle: int | None, *arguments: object) -> list[object]:
    return [interface, member, handle, list(arguments), [], []]


def test_a_program() -> None:
    with attached() as (peer, child):
        assert peer.script == load_script("node_channel.js")
        about, idl, *scripts = peer.ask("H", HELLO)
        assert about == {"version": webnn.__version__, "revision": "2026-06"}
        assert "MLGraphBuilder" in json.loads(idl)["interfaces"]
        assert [text.decode() for text in scripts] == [
            load_script(f"{name}.js") for name in ("conversion", "binding", "foresight", "navigator", "webgpu")
        ]
        (answer,) = peer.ask("C", call("ML", "createContext", 0, {}))
        assert answer["value"] == MADE_CONTEXT
        (ignored,) = peer.ask("I", ["reduceSum: options", ["keepdims"], ["axes", "keepDimensions"]])
        assert "keepDimensions" in ignored[0]
        (counts,) = peer.ask("Q", {"do": "counts"})
        assert counts == {"calls": {"ML.createContext": 1}, "contexts": 1, "builds": 0, "computes": 0, "refused": 0}
        (log,) = peer.ask("Q", {"do": "log"})
        assert [(each["member"], each["refused"]) for each in log] == [("ML.createContext", False)]
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(timeout=60) == 0


def test_settings_of_a_program() -> None:
    with attached() as (peer, _):
        peer.ask("H", HELLO)
        assert peer.ask("Q", {"do": "set", "options": {"profile": "coreml", "faults": {"refuse": ["gpu", "npu", "cpu"]}}}) == [{}]
        (answer,) = peer.ask("C", call("ML", "createContext", 0, {}))
        assert answer["error"][0] == "NotSupportedError"
        (refusal,) = peer.ask("Q", {"do": "set", "options": {"revision": "2024-06"}})
        assert "revision cannot be changed" in refusal["error"]
        # A later greeting begins anew.
        peer.ask("H", HELLO)
        (answer,) = peer.ask("C", call("ML", "createContext", 0, {}))
        assert answer["value"] == MADE_CONTEXT


@pytest.mark.parametrize(
    ("hello", "text"),
    [
        ({**HELLO, "protocol": 2}, "update webnn"),
        ({**HELLO, "protocol": 0}, "update webnn-emulator"),
        ({**HELLO, "options": {"profile": "nokia"}}, "nokia"),
        ({**HELLO, "options": []}, "must be an object"),
    ],
)
def test_greetings_that_are_refused(hello: object, text: str) -> None:
    with attached() as (peer, _):
        (answer,) = peer.ask("H", hello)
        assert text in answer["error"]


@pytest.mark.parametrize(("kind", "text"), [("C", "[]"), ("H", "{"), ("X", "{}")])
def test_messages_that_end_it(kind: str, text: str) -> None:
    with attached() as (peer, child):
        peer.send(kind, text)
        assert child.wait(timeout=60) == 2
        assert child.stderr is not None
        assert child.stderr.read().startswith(b"webnn: ")


def test_pages() -> None:
    with attached() as (peer, _):
        about, *rest = peer.ask("H", {**HELLO, "pages": True})
        assert rest == []
        assert about["endpoint"].startswith("http://127.0.0.1:")
        assert about["endpoint"] in about["script"]
        headers = [["Content-Type", "text/javascript"], ["Content-Length", "5"]]
        kept, body = peer.ask("Q", {"do": "inject", "type": "module", "headers": headers}, b"a = 1")
        assert kept == {"content-type": "text/javascript"}
        assert body.startswith(b"import ")
        assert body.endswith(b"a = 1")
        peer.ask("Q", {"do": "note", "fault": "as meant"})
        assert peer.ask("Q", {"do": "faults"}) == [["as meant"]]
        assert peer.ask("Q", {"do": "set", "options": {"profile": "coreml"}}) == [{}]


def test_settings() -> None:
    faults = webnn.Faults(failBuild=1, delay=0.5)
    options = read_settings({"profile": "coreml", "faults": {"failCompute": [1, 3]}}, Options(), faults)
    assert options.profile == "coreml"
    assert (faults.failBuild, faults.failCompute, faults.delay) == (None, frozenset({1, 3}), None)
    assert read_settings({"profile": None}, options, faults).profile is None
    assert faults.failCompute == frozenset({1, 3})


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        (3, TypeError, "must be an object"),
        ({"profil": "coreml"}, ValueError, "there is no option 'profil'"),
        ({"revision": 3}, TypeError, "revision must be a string"),
        ({"revision": "1999-01"}, ValueError, "1999-01"),
        ({"fallback": "maybe"}, ValueError, "fallback"),
        ({"faults": 3}, TypeError, "faults must be an object"),
        ({"faults": {"failBild": 1}}, ValueError, "there is no fault 'failBild'"),
        ({"faults": {"delay": "long"}}, TypeError, "delay"),
    ],
)
def test_settings_that_are_refused(values: object, error: type[Exception], text: str) -> None:
    faults = webnn.Faults(failBuild=1)
    with pytest.raises(error, match=text):
        read_settings(values, Options(), faults)
    assert faults.failBuild is not None
