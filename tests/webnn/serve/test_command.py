"""``webnn serve`` as a user runs it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support import PATIENCE
from tests.webnn.serve.support import Client
from webnn._extras import install_command
from webnn.commands.main import app
from webnn.serve.command import Warnings
from webnn.serve.options import Options
from webnn.serve.record import Record
from webnn.serve.server import Server


def write_page(folder: Path) -> Path:
    page = folder / "a b.html"
    page.write_text("<!doctype html><title>a</title>", encoding="utf-8")
    return page


@contextmanager
def serve(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """Start the command; yield the process, and the addresses that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "webnn", "serve", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        assert lines[2] == "Ctrl-C ends it.\n", process.communicate(timeout=PATIENCE)
        page, status = (line.split()[-1] for line in lines[:2])
        assert all(re.fullmatch(r"http://127\.0\.0\.1:\d+/\S*", address) for address in (page, status)), lines
        yield process, page, status
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def read(address: str) -> str:
    asked = urllib.request.Request(address, headers={"Sec-Fetch-Dest": "document"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
    with opener.open(asked, timeout=PATIENCE) as answer:
        text: str = answer.read().decode()
    return text


@pytest.mark.processes
def test_a_page_is_served_until_ctrl_c(tmp_path: Path) -> None:
    with serve(write_page(tmp_path), "--port", 0, "--profile", "coreml", "--faults", "failBuild=1") as (process, page, status):
        base, _, token = page.partition("a%20b.html?token=")
        assert re.search(rf'<script src="{base}__webnn__/[^/"]+/webnn\.js"></script><title>', read(page))
        assert re.fullmatch(r"[\w-]{32}", token)
        assert status.endswith("/status")
        assert status.split("/")[2] != page.split("/")[2]
        assert "webnn serve" in read(status)
        # On Windows, a process of its own group only could be sent Ctrl-C.
        if os.name == "posix":
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
            assert (process.returncode, errors) == (130, "")


@pytest.mark.processes
def test_another_server_is_served(tmp_path: Path) -> None:
    write_page(tmp_path)
    with serve(tmp_path, "--port", 0, "--no-token") as (_, first, _), serve("--proxy", f"{first}a%20b.html", "--port", 0) as (_, page, _):
        assert "/a%20b.html?token=" in page
        text = read(page)
        # The emulator of the other server is there, too; the first script wins.
        assert text.index(page.partition("a%20")[0]) < text.index(first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a page or a folder, or the address of a server with --proxy"),
        ([".", "--proxy", "http://a.test"], "give a page or a folder, or the address of a server with --proxy"),
        (["none"], "none is not there: give a page or a folder"),
        (["--proxy", "a.test"], "a proxy needs the address of a server, such as http://localhost:5173, got a.test"),
        ([".", "--revision", "1999"], "there is no revision '1999'"),
        ([".", "--dialect", "none"], "none"),
        ([".", "--profile", "none"], "none: must be a device profile"),
        ([".", "--faults", ""], "--faults takes NAME=VALUE, separated by commas, got ''"),
        ([".", "--faults", "failBuild"], "--faults takes NAME=VALUE, separated by commas, got 'failBuild'"),
        ([".", "--faults", "x=1"], "--faults: there is no 'x'; there are refuse, failBuild,"),
        ([".", "--faults", "delay=1,delay=2"], "--faults: delay is given twice"),
        ([".", "--faults", "delay=x"], "--faults: delay must be a number of seconds, got 'x'"),
        ([".", "--faults", "delay=-1"], "--faults: "),
        ([".", "--faults", "delay=nan"], "--faults: "),
        ([".", "--faults", "failBuild=one"], "--faults: failBuild must be a number, several such as 1+3, or all, got 'one'"),
        ([".", "--faults", "failBuild=0"], "--faults: "),
        ([".", "--faults", f"failBuild={'9' * 5000}"], "--faults: failBuild must be a number"),
        ([".", "--faults", "memoryLimit=all"], "--faults: memoryLimit must be a number, got 'all'"),
        ([".", "--faults", "refuse=tpu"], "--faults: "),
    ],
)
def test_a_wrong_call(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["serve", *arguments])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.stderr
    assert message in result.stderr


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = used.getsockname()[1]
        result = CliRunner().invoke(app, ["serve", str(tmp_path), "--port", str(port)])
    assert result.exit_code == 1
    assert re.fullmatch(rf"webnn: the port {port} cannot be used \(.+\): choose another with --port\n", result.stderr)


@pytest.mark.parametrize("missing", ["aiohttp", "websockets"])
def test_without_a_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    class Finder:
        def find_spec(self, name: str, *_: object) -> None:
            if name == missing:
                raise ModuleNotFoundError(name=name)

    for name in [each for each in sys.modules if each in {"webnn.serve.server", "webnn.serve.relay"} or each.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    result = CliRunner().invoke(app, ["serve", str(tmp_path)])
    assert (result.exit_code, result.stderr) == (2, f"webnn: {missing} is missing: {install_command('serve')}\n")


def test_warnings_of_pages_are_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    warnings = Warnings()
    with Server(None, Options(profile="dml-fl4_0"), make_record=lambda _: Record(on_warning=warnings.tell)) as server:
        for _ in range(2):
            client = Client(server)
            for _ in range(2):
                client.make("ML", "createContext", 0, {"deviceType": "npu"})
    out, errors = capsys.readouterr()
    assert re.fullmatch('webnn: warning: deviceType "npu" runs on the GPU here: .*\n', errors)
    assert out == ""


def test_warnings_are_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    warnings = Warnings()
    for number in range(1000):
        warnings.tell(f"{number}\x1b[31m\nnext")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 101
    assert lines[0] == "webnn: warning: 0\\x1b[31m"
    assert lines[-1] == "webnn: there are more warnings: the status page has them"
