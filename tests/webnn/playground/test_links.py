"""Programs as links: they come back as they were, and a hostile link is refused."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.webnn.javascript.node_support import require_node
from webnn.playground.assets import load

pytestmark = pytest.mark.processes

START = """
import {readFileSync} from 'node:fs';
import {read, write} from './links.mjs';
const answers = [];
for (const [what, value] of JSON.parse(readFileSync('questions.json'))) {
  try {
    answers.push(await (what === 'write' ? write(value) : read(value)));
  } catch (error) {
    answers.push({error: error.message});
  }
}
console.log(JSON.stringify(answers));
"""


def ask(folder: Path, *questions: tuple[str, object]) -> list[Any]:
    node = require_node()
    (folder / "links.mjs").write_text(load("links.js"), encoding="utf-8")
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    (folder / "start.mjs").write_text(START, encoding="utf-8")
    done = subprocess.run([node.path, "start.mjs"], cwd=folder, capture_output=True, text=True, check=True, encoding="utf-8")
    answers: list[Any] = json.loads(done.stdout)
    return answers


def pack(text: bytes) -> str:
    compress = zlib.compressobj(9, wbits=-15)
    return "1." + base64.urlsafe_b64encode(compress.compress(text) + compress.flush()).decode().rstrip("=")


def test_programs_come_back(tmp_path: Path) -> None:
    program = {
        "language": "python",
        "source": "print('ä€😀')\n" * 30,
        "profile": "coreml",
        "revision": "",
        "faults": "delay=1",
        "numerics": "",
    }
    [fragment] = ask(tmp_path, ("write", program))
    assert len(fragment) < 200
    assert fragment.isascii()
    assert set("#&?%/+= ").isdisjoint(fragment)
    [found, again] = ask(tmp_path, ("read", f"#{fragment}"), ("read", fragment))
    assert found == again == program


def test_a_program_that_is_too_long(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(100_000).hex()
    [found] = ask(tmp_path, ("write", {"language": "javascript", "source": noise}))
    assert "the program is too long for a link" in found["error"]


def test_hostile_links(tmp_path: Path) -> None:
    cases = {
        "": "another version",
        "2.AAAA": "another version",
        "1.": "damaged",
        "1.%%%": "damaged",
        "1.AAAA": "damaged",
        pack(b"3"): "damaged",
        pack(b"null"): "damaged",
        pack(b"[]"): "damaged",
        pack(b'{"source": 3}'): "its source is not a text",
        pack(b'{"source": {"toString": 1}}'): "its source is not a text",
        pack(b"\xff\xfe"): "damaged",
        pack(b'"' + b"x" * 50_000_000 + b'"'): "too long",
        "1." + "A" * 200_000: "too long",
    }
    answers = ask(tmp_path, *(("read", each) for each in cases))
    assert [
        (expected, answer.get("error"))
        for expected, answer in zip(cases.values(), answers, strict=True)
        if expected not in answer.get("error", "")
    ] == []


def test_unknown_members_are_left_out(tmp_path: Path) -> None:
    [found] = ask(tmp_path, ("read", pack(b'{"language": "javascript", "source": "1", "__proto__": {"run": "now"}, "run": "now"}')))
    assert found == {"language": "javascript", "source": "1", "profile": "", "revision": "", "faults": "", "numerics": ""}
