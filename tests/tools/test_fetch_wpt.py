"""Getting web-platform-tests, from a small repository that has the same folders."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tools import fetch_wpt
from webnn.wpt_runner.expectations import load_expectations
from webnn.wpt_runner.levels import LEVELS

pytestmark = [pytest.mark.skipif(shutil.which("git") is None, reason="there is no git"), pytest.mark.processes]

FILES = {
    "webnn/conformance_tests/relu.https.any.js": "// a test\r\n",
    "resources/testharness.js": "// the harness",
    "common/helper.js": "",
    "interfaces/webnn.idl": "interface MLContext {};",
    "css/large.html": "never needed",
    "README.md": "at the top",
}


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.autocrlf=false", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, files: dict[str, str]) -> str:
    """Commit files, and return the commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "some")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def origin(tmp_path: Path) -> tuple[str, str]:
    """Return the address of a repository, and a commit that is not its newest."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for name in ("allowFilter", "allowReachableSHA1InWant"):
        git(folder, "config", f"uploadpack.{name}", "true")
    pinned = commit(folder, FILES)
    commit(folder, {"webnn/new.https.any.js": "", "resources/testharness.js": "// a newer one"})
    return folder.as_uri(), pinned


@pytest.fixture
def run(origin: tuple[str, str], tmp_path: Path) -> Callable[..., int]:
    """Run the command for the folder `wpt`."""

    def call(*arguments: str, url: str = origin[0], pinned: str = origin[1], destination: Path = tmp_path / "wpt") -> int:
        return fetch_wpt.main(["--url", url, "--commit", pinned, "--destination", str(destination), *arguments])

    return call


def present(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)


def check_complete(folder: Path, pinned: str) -> None:
    assert present(folder) == sorted(name for name in FILES if name != "css/large.html")
    for name in present(folder):
        assert (folder / name).read_bytes() == FILES[name].encode()
    assert git(folder, "rev-parse", "HEAD") == pinned
    assert git(folder, "status", "--porcelain") == ""
    assert not folder.with_name(f"{folder.name}.part").exists()
    assert not (folder / ".git" / "fetch-wpt").exists()


def test_it_gets_a_part_of_one_commit(run: Any, origin: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    check_complete(tmp_path / "wpt", origin[1])
    assert "webnn wpt run --wpt " in capsys.readouterr().out
    # The content of the other folders, and the other commits, were not downloaded.
    assert git(tmp_path / "wpt", "rev-list", "HEAD") == origin[1]
    missing = git(tmp_path / "wpt", "rev-list", "--objects", "--missing=print", "HEAD").splitlines()
    blob = git(tmp_path / "origin", "rev-parse", f"{origin[1]}:css/large.html")
    assert [line for line in missing if line.startswith("?")] == [f"?{blob}"]


def test_it_does_nothing_twice(run: Any, origin: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    (tmp_path / "wpt" / "README.md").write_text("mine", encoding="utf-8")
    assert run(url="file:///nowhere") == 0
    assert f"wpt already has web-platform-tests at {origin[1][:10]}" in capsys.readouterr().out
    assert (tmp_path / "wpt" / "README.md").read_text(encoding="utf-8") == "mine"


def test_an_empty_folder_will_do(run: Any, origin: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "wpt").mkdir()
    assert run() == 0
    check_complete(tmp_path / "wpt", origin[1])


INTERRUPTS = [("init", True), ("sparse-checkout", False), ("fetch", True), ("fetch", False), ("checkout", True), ("checkout", False)]


@pytest.mark.parametrize(("step", "before"), INTERRUPTS)
def test_it_goes_on_after_an_interrupt(
    step: str, before: bool, run: Any, origin: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    original = subprocess.run

    def interrupted(command: Sequence[str], **options: Any) -> Any:
        if step in command and before:
            raise KeyboardInterrupt
        done = original(command, **options)
        if step in command:
            raise KeyboardInterrupt
        return done

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", interrupted)
        assert run() == 130
    assert capsys.readouterr().err.endswith("\nfetch_wpt: interrupted; the same command goes on from here\n")
    assert not (tmp_path / "wpt").exists()
    # As if git had been killed.
    (tmp_path / "wpt.part" / ".git" / "index.lock").touch()
    assert run() == 0
    check_complete(tmp_path / "wpt", origin[1])


def test_it_goes_on_when_the_repository_can_be_reached(run: Any, origin: tuple[str, str], tmp_path: Path, capfd: Any) -> None:
    assert run(url=(tmp_path / "nowhere").as_uri()) == 1
    errors = capfd.readouterr().err
    # git says what is wrong, the command what to do.
    assert "fatal: " in errors
    assert "fetch_wpt: `git fetch --depth=1 " in errors
    assert errors.endswith(f"\nThe same command goes on from here; to start anew, delete {tmp_path / 'wpt.part'}\n")
    assert run() == 0
    check_complete(tmp_path / "wpt", origin[1])


def remove(tmp_path: Path, pinned: str, name: str) -> None:
    """Remove the content of a file from the repository, as in a partial copy of it that cannot send parts of what it has."""
    for each in ("allowFilter", "allowReachableSHA1InWant"):
        git(tmp_path / "origin", "config", "--unset", f"uploadpack.{each}")
    blob = git(tmp_path / "origin", "rev-parse", f"{pinned}:{name}")
    (tmp_path / "origin" / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def test_a_partial_copy_that_has_the_tests(run: Any, origin: tuple[str, str], tmp_path: Path) -> None:
    remove(tmp_path, origin[1], "css/large.html")
    assert run() == 0
    check_complete(tmp_path / "wpt", origin[1])


def test_a_partial_copy_that_lacks_a_test(run: Any, origin: tuple[str, str], tmp_path: Path, capfd: Any) -> None:
    remove(tmp_path, origin[1], "webnn/conformance_tests/relu.https.any.js")
    assert run() == 1
    lack = (
        "is a partial copy and lacks the content of 1 files, such as webnn/conformance_tests/relu.https.any.js: another --url may have it."
    )
    assert f"\n{tmp_path / 'origin'} {lack}\n" in capfd.readouterr().err


def test_a_path_of_the_repository(run: Any, origin: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As seen from where the command runs."""
    monkeypatch.chdir(tmp_path)
    assert run(url="origin", destination=Path("wpt")) == 0
    check_complete(tmp_path / "wpt", origin[1])


def test_a_folder_that_cannot_be_made(run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert run(destination=tmp_path / "file" / "wpt") == 1
    assert f"fetch_wpt: cannot make {tmp_path / 'file' / 'wpt'}: " in capsys.readouterr().err


def test_a_commit_that_is_not_there(run: Any, capfd: Any) -> None:
    assert run(pinned="1" * 40) == 1
    assert "fetch_wpt: `git fetch " in (errors := capfd.readouterr().err)
    assert "origin does not have this commit: another --url may.\n" in errors


def test_a_commit_without_tests_of_webnn(run: Any, tmp_path: Path, capfd: Any) -> None:
    git(tmp_path / "origin", "rm", "-r", "--quiet", "webnn")
    gone = commit(tmp_path / "origin", {})
    assert run(pinned=gone) == 1
    assert f"fetch_wpt: the commit {gone} of " in (errors := capfd.readouterr().err)
    assert "has no tests of WebNN: " in errors
    assert not (tmp_path / "wpt").exists()


def make_file(folder: Path) -> None:
    (folder / "wpt").write_text("mine", encoding="utf-8")


def make_folder(folder: Path) -> None:
    (folder / "wpt").mkdir()
    (folder / "wpt" / "mine").touch()


def make_tests(folder: Path) -> None:
    (folder / "wpt" / "webnn").mkdir(parents=True)
    (folder / "wpt" / "resources").mkdir()
    (folder / "wpt" / "resources" / "testharness.js").touch()


def make_clone(folder: Path) -> None:
    git(folder, "clone", "--quiet", "origin", "wpt")


def make_other_part(folder: Path) -> None:
    (folder / "wpt.part").mkdir()
    (folder / "wpt.part" / "webnn").write_text("mine", encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (make_file, "--destination must be a new folder, and {wpt} is a file"),
        (make_folder, "--destination must be a new folder, but {wpt} is not a checkout of web-platform-tests: it has no webnn and no "),
        (make_tests, "--destination must be a new folder or a checkout of {pinned}, but {wpt} is not a work tree of git"),
        (make_clone, "--destination must be a new folder or a checkout of {pinned}, but {wpt} is a checkout of {newest}"),
        (make_other_part, "{wpt}.part must be the remainder of an interrupted run, and is something else"),
    ],
)
def test_something_else_is_there(
    make: Callable[[Path], None], message: str, run: Any, origin: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path)
    before = {path: path.read_bytes() if path.is_file() else b"" for path in tmp_path.rglob("*")}
    assert run() == 1
    newest = git(tmp_path / "origin", "rev-parse", "HEAD")
    errors = capsys.readouterr().err
    assert message.format(wpt=tmp_path / "wpt", pinned=origin[1], newest=newest) in errors
    # The message does not tell users to delete files of their own.
    assert "delete" not in errors
    assert {path: path.read_bytes() if path.is_file() else b"" for path in tmp_path.rglob("*")} == before


def test_a_broken_repository_is_not_the_one_around_it(run: Any, tmp_path: Path, capfd: Any) -> None:
    """Without a repository of its own, git would take the next one above."""
    git(tmp_path, "init", "--quiet")
    config = (tmp_path / ".git" / "config").read_bytes()
    assert run(url="file:///nowhere") == 1
    (tmp_path / "wpt.part" / ".git" / "config").write_text("[broken", encoding="utf-8")
    assert run() == 1
    assert "to start anew, delete " in capfd.readouterr().err
    assert (tmp_path / ".git" / "config").read_bytes() == config


def test_variables_of_another_repository(run: Any, origin: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a hook of git."""
    with monkeypatch.context() as patch:
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
            patch.setenv(name, str(tmp_path / "elsewhere"))
        assert run() == 0
    check_complete(tmp_path / "wpt", origin[1])
    assert not (tmp_path / "elsewhere").exists()


def test_there_is_no_git(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run() == 1
    assert capsys.readouterr().err == "fetch_wpt: git is needed and is not on the PATH: install it, https://git-scm.com\n"


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("git version 2.25.0\n", ""),
        ("git version 2.39.5 (Apple Git-154)\n", ""),
        ("git version 2.45.1.windows.1\n", ""),
        ("git version 3.0\n", ""),
        ("git version 2.24.9\n", "git 2.25 or newer is needed for a sparse checkout, got 2.24: update git"),
        ("git version 1.8.3.1\n", "git 2.25 or newer is needed for a sparse checkout, got 1.8: update git"),
        ("?\n", "git 2.25 or newer is needed; `git --version` prints '?'"),
    ],
)
def test_the_version_of_git(version: str, message: str) -> None:
    if not message:
        fetch_wpt.check_git(version)
        return
    with pytest.raises(fetch_wpt.FetchError) as caught:
        fetch_wpt.check_git(version)
    assert str(caught.value) == message


@pytest.mark.parametrize("wrong", ["main", "f776985725", "F" * 40, "1" * 41, ""])
def test_a_commit_needs_all_digits(wrong: str, run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(pinned=wrong)
    assert caught.value.code == 2
    assert "--commit must be 40 digits of 0-9 and a-f" in capsys.readouterr().err


@pytest.mark.parametrize("level", [level.name for level in LEVELS])
def test_each_level_has_a_commit(level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, str, Path]] = []
    monkeypatch.setattr(fetch_wpt, "fetch", lambda *arguments: calls.append(arguments))
    monkeypatch.chdir(tmp_path)
    assert fetch_wpt.main(["--level", level]) == 0
    assert calls == [(fetch_wpt.URL, load_expectations(level).wpt, Path(f"wpt-{level}"))]
    calls.clear()
    assert fetch_wpt.main([]) == 0
    assert calls == [(fetch_wpt.URL, load_expectations(LEVELS[0].name).wpt, Path(f"wpt-{LEVELS[0].name}"))]


def test_it_runs_as_a_file(origin: tuple[str, str], tmp_path: Path) -> None:
    """From anywhere, as the documentation has it."""
    script = Path(fetch_wpt.__file__)
    command = [sys.executable, str(script), "--url", origin[0], "--commit", origin[1]]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    check_complete(tmp_path / "wpt-2024-06", origin[1])


def test_the_project_is_not_installed(tmp_path: Path) -> None:
    """An interpreter without its packages."""
    done = subprocess.run([sys.executable, "-I", "-S", fetch_wpt.__file__], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("fetch_wpt: No module named 'webnn': install this project first, with ")
