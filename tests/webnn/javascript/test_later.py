"""Reads that wait for bytes which the program gives, in a host without an event loop."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import webnn
from webnn.javascript.dispatch import Dispatcher
from webnn.javascript.idl import load_idl

FLOATS = {"dataType": "float32", "shape": [2], "readable": True, "writable": True}


class Program:
    """A program with a tensor that is exported to a device of its own."""

    def __init__(self) -> None:
        idl = load_idl("2026-09")
        self.dispatcher = Dispatcher(webnn.ML(revision=idl.revision), idl)
        self.context = self.ask("ML", "createContext", 0)["value"]["$h"]
        device = self.ask("GPUBridge", "constructor", None)["value"]
        self.tensor = self.ask("MLContext", "createExportableTensor", self.context, FLOATS, {"$h": device["$h"]})["value"]["$h"]
        self.buffer = self.ask("MLContext", "exportToGPU", self.context, {"$h": self.tensor})["value"]["$h"]

    def send(self, text: object, *content: Any) -> tuple[dict[str, Any], Sequence[Any]]:
        answer, buffers = self.dispatcher.call(json.dumps(text, separators=(",", ":")), content)
        return json.loads(answer), buffers

    def ask(self, interface: str, member: str, handle: int | None, *arguments: Any) -> dict[str, Any]:
        return self.send([interface, member, handle, arguments, [], []])[0]

    def read(self) -> dict[str, Any]:
        return self.ask("MLContext", "readTensor", self.context, {"$h": self.tensor})

    def give(self, *numbers: float) -> dict[str, Any]:
        content = np.float32(numbers).tobytes()
        view = {"kind": "Uint8Array", "buffer": 0, "offset": 0, "length": len(content), "detached": False, "sent": True}
        return self.send(["GPUBridgeBuffer", "give", self.buffer, [{"$v": 0}], [view], []], bytearray(content))[0]


@pytest.fixture
def program() -> Iterator[Program]:
    made = Program()
    yield made
    made.dispatcher.clear()


def test_a_read_is_answered_later(program: Program) -> None:
    assert "error" in program.read()  # it is exported
    program.ask("GPUBridgeBuffer", "destroy", program.buffer)
    [first, second] = [program.read()["pending"] for _ in range(2)]
    assert program.send({"result": first}) == ({"pending": first}, [])
    assert program.give(3, 4) == {"value": None}
    for number in (second, first):
        answer, [content] = program.send({"result": number})
        assert answer == {"value": None}
        assert np.frombuffer(content, np.float32).tolist() == [3, 4]
    assert not program.dispatcher.faults


def test_a_read_that_fails(program: Program) -> None:
    program.ask("GPUBridgeBuffer", "destroy", program.buffer)
    number = program.read()["pending"]
    program.ask("GPUBridgeBuffer", "lose", program.buffer)
    assert program.send({"result": number})[0]["error"][0] == "InvalidStateError"


def test_a_read_that_is_refused_at_once(program: Program) -> None:
    program.ask("GPUBridgeBuffer", "destroy", program.buffer)
    program.ask("MLTensor", "destroy", program.tensor)
    answer = program.read()
    assert "pending" in answer
    assert program.give(1, 2) == {"value": None}
    assert program.send({"result": answer["pending"]})[0]["error"][0] == "InvalidStateError"


def test_a_program_ends_while_it_waits(program: Program) -> None:
    program.ask("GPUBridgeBuffer", "destroy", program.buffer)
    program.read()
    program.dispatcher.clear()  # the fixture does so again
