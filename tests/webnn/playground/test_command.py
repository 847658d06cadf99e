"""``webnn playground`` as a user runs it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support import PATIENCE
from webnn.commands.main import app


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["program.txt"], "a program is a file .mjs, .js or .py, or a link, got program.txt"),
        (["missing.mjs"], "No such file or directory: 'missing.mjs'"),
        (["program.py"], "programs in Python run with --python only, because they can do what you can"),
        (["long.mjs"], "long.mjs must have at most 50,000 characters, got 60,000"),
        (["http://127.0.0.1:8000/playground"], "the link must have a program behind its #"),
        (["https://pages.test/#<script>"], "the link is damaged"),
        (["#1.a b"], "the link is damaged"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text("1")
    Path("long.mjs").write_text("1" * 60_000)
    result = CliRunner().invoke(app, ["playground", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        result = CliRunner().invoke(app, ["playground", "--port", port])
    assert result.exit_code == 1
    assert f"the port {port} cannot be used" in result.stderr


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C there")
def test_it_serves_until_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "own.mjs").write_text("console.log('mine')", encoding="utf-8")
    command = [sys.executable, "-m", "webnn", "playground", "own.mjs"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().removeprefix("the playground: ").strip()
            with urllib.request.urlopen(f"{address}state.json", timeout=PATIENCE) as answer:
                assert b"console.log('mine')" in answer.read()
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
        finally:
            process.kill()
