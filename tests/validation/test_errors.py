"""The texts of errors: whatever a program's labels and names are, they can be printed, and forge no other message."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from typing import Any

import pytest

from webnn.validation.errors import InvalidStateError, OperationError, WebNNTypeError, label_prefix

LABELS = [
    ("", ""),
    ("stem", "[stem] "),
    ("Straße 漢", "[Straße 漢] "),
    ("\u202eevil\u2066\u2069", r"[\u202eevil\u2066\u2069] "),
    ("a\nb\r\tc", r"[a\nb\r\tc] "),
    ("\x1b[31m\x07\x7f\x9b", r"[\x1b[31m\x07\x7f\x9b] "),
    ("\ud800", r"[\ud800] "),
    ("\u2028\u200b\ufeff", r"[\u2028\u200b\ufeff] "),
    ("x" * 80, f"[{'x' * 80}] "),
    ("x" * 10**7, f"[{'x' * 77}...] "),
]


@pytest.mark.parametrize(("label", "shown"), LABELS, ids=ascii)
def test_labels(label: str, shown: str) -> None:
    assert label_prefix(label) == shown


@pytest.mark.parametrize("error", [WebNNTypeError, OperationError])
def test_messages(error: Any) -> None:
    made = error("a\nb\t\x1b[31m \u202e \ud800 漢", operation="add", label="\ud800")
    assert str(made) == "a\nb\t\\x1b[31m \\u202e \\ud800 漢"
    assert (made.operation, made.label) == ("add", "\ud800")


def test_the_attribute_of_a_dom_exception_is_the_text() -> None:
    made = InvalidStateError("a\x00b")
    assert made.message == str(made) == r"a\x00b"


def test_a_message_is_not_endless() -> None:
    text = str(WebNNTypeError("begin" + "x" * 10**7 + "end"))
    assert len(text) < 11_000
    assert text.startswith("begin")
    assert text.endswith("end")
    assert "(9990008 characters left out)" in text


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("ascii", r"\xe9 \u6f22"),
        ("latin-1", r"é \u6f22"),
        ("utf-8", "é 漢"),
        ("no such encoding", r"\xe9 \u6f22"),
        (None, "é 漢"),
        (3, "é 漢"),
    ],
)
def test_what_standard_output_cannot_encode(monkeypatch: pytest.MonkeyPatch, encoding: Any, shown: str) -> None:
    class Terminal(io.StringIO):
        pass

    Terminal.encoding = encoding  # type: ignore[misc]
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert str(WebNNTypeError("é 漢")) == shown


def test_without_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert str(WebNNTypeError("é 漢")) == "é 漢"


PROGRAM = r"""
import webnn
builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
x, y = (builder.input(name, dataType="float32", shape=[size]) for name, size in (("é", 2), ("漢", 3)))
for call in (
    lambda: builder.add(x, y, label="é漢\ud800\u202e"),
    lambda: builder.input("漢", dataType="float32", shape=[1]),
    lambda: builder.relu("漢"),
    lambda: builder.buildSync({"漢": x}),
):
    try:
        call()
    except webnn.WebNNTypeError as error:
        print(error)
"""


@pytest.mark.processes
def test_a_terminal_of_ascii() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True, timeout=300)
    assert len(done.stdout.decode("ascii").splitlines()) == 4


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_a_terminal_of_another_encoding(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    output = io.BytesIO()
    terminal = io.TextIOWrapper(output, encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    exec(PROGRAM, {})
    terminal.flush()
    assert len(output.getvalue().decode(encoding).splitlines()) == 4
