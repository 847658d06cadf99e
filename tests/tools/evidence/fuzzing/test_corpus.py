"""The kept inputs of the harnesses: each is accepted, or refused with a clear error, in bounded memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT
from tests.support import each_row
from tools.evidence.fuzzing import __main__ as command
from tools.evidence.fuzzing import harness
from tools.evidence.fuzzing.corpus import CORPUS, DICTIONARIES, HARNESSES, inputs, load

#: The most bytes that reading a kept input may take, and the most that all of them may have.
MEMORY, SIZE = 1 << 28, 300_000
#: Packages that some harnesses need.
NEEDED = {"onnx": "onnx", "tflite": "tflite"}


@pytest.mark.processes  # the inference of ONNX has one of its own
@pytest.mark.parametrize("name", HARNESSES)
def test_replay(name: str) -> None:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    test, files = load(name).TestOneInput, list(inputs([CORPUS / name]))
    assert files
    tracemalloc.start()
    try:
        for file in files:
            test(file.read_bytes())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MEMORY


def test_the_corpus_stays_small() -> None:
    assert {each.name for each in CORPUS.iterdir()} == set(HARNESSES)
    assert {each.stem for each in DICTIONARIES.iterdir()} == set(HARNESSES)
    assert sum(each.stat().st_size for each in inputs(CORPUS / name for name in HARNESSES)) <= SIZE


@each_row(("name", "reader"), [("channel", "Channel.receive"), ("serve_messages", "unpack"), ("profile", "load_profile")])
def test_a_fault_is_found(name: str, reader: str) -> None:
    """Any other error than the documented one comes out, and so does a long message."""
    tested = load(name)
    owner: Any = tested
    *path, last = reader.split(".")
    for each in path:
        owner = getattr(owner, each)

    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, last, fail)
        with pytest.raises(ZeroDivisionError):
            tested.TestOneInput(b"")


def test_long_messages_are_findings() -> None:
    with harness.refusing(ValueError):
        raise ValueError("short")
    with pytest.raises(harness.Finding), harness.refusing(ValueError):
        raise ValueError("x" * (harness.LONGEST_MESSAGE + 1))


@pytest.mark.processes
def test_coverage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The kept inputs alone reach nearly all lines of a parser."""
    assert command.main(["--coverage", "--folder", str(tmp_path), "serve_messages"]) == 0
    assert "0 findings" in capsys.readouterr().out


def test_the_bar(capsys: pytest.CaptureFixture[str]) -> None:
    result = command.Result(name="channel", executed=7, lines={"a.py": (10, [3])})
    assert (result.covered, command._show(result, 90), command._show(result, 91)) == (90, True, False)
    assert not command._show(command.Result(name="channel", findings=[Path("a")]), 0)
    assert "not reached: 3" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.processes
def test_fuzzing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("atheris")
    assert command.main(["--seconds", "2", "--folder", str(tmp_path), "serve_messages"]) == 0
    assert int(capsys.readouterr().out.split()[1]) > 0


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("zip"), reason="OSS-Fuzz has Linux, and zip")
@pytest.mark.processes
def test_the_build_for_oss_fuzz(tmp_path: Path) -> None:
    programs, out = tmp_path / "programs", tmp_path / "out"
    for folder in (programs, out):
        folder.mkdir()
    for name, text in (("pip3", "exit 0"), ("compile_python_fuzzer", 'touch "$OUT/$(basename -s .py "$1")"')):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    environment = {**os.environ, "OUT": str(out), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([ROOT / "tools/evidence/fuzzing/build.sh"], env=environment, check=True)
    assert {each.name for each in out.iterdir()} == {f"fuzz_{name}{end}" for name in HARNESSES for end in ("", ".dict", "_seed_corpus.zip")}


def test_unknown_harnesses_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.arguments(["nothing"])
    assert "there is no harness nothing" in capsys.readouterr().err
