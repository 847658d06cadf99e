"""Gets the part of web-platform-tests that `webnn wpt run` and `pytest --wpt` need, at the commit that the expectations are for.

    python tools/fetch_wpt.py                     the tests of June 2024, in the new folder wpt-2024-06
    python tools/fetch_wpt.py --level 2025-03     those of March 2025, in wpt-2025-03

It needs git, and downloads one commit: the names of all files, and the content of the folders in `FOLDERS` only. It works in a folder
beside the destination, and gives it the destination's name when it is complete. After an interruption, the same command continues.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

try:
    from webnn.wpt_runner.checkout import Checkout, CheckoutError
    from webnn.wpt_runner.expectations import load_expectations
    from webnn.wpt_runner.levels import LEVELS
except ModuleNotFoundError as missing:
    sys.exit(f"fetch_wpt: {missing}: install this project first, with python -m pip install -e '.[test]'")

__all__ = ["FOLDERS", "FetchError", "check_git", "fetch", "main"]

URL = "https://github.com/web-platform-tests/wpt"
#: The files that the runner reads: the tests, the harness, helpers that tests include, and the IDL that tells the level.
FOLDERS = ("webnn", "resources", "common", "interfaces", "permissions-policy")
#: The first git that has `sparse-checkout`.
OLDEST_GIT = (2, 25)
#: The command that sends parts of a repository on this machine, whatever its settings are.
_UPLOAD = "git -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true upload-pack"
_PART = ".part"
#: A file in the folder ``.git`` of a checkout that is not complete yet: nothing is ever written into a folder without it.
_MARK = "fetch-wpt"
_COMMIT = re.compile(r"[0-9a-f]{40}")
#: Variables that would lead git to files of another repository; git sets them for its hooks.
_FOREIGN = ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY")
_INTERRUPTED = 130


class FetchError(Exception):
    """The checkout cannot be made; the message says why and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status: 0, 1 if the checkout cannot be made, 2 for wrong arguments, 130 if interrupted."""
    names = [level.name for level in LEVELS]
    parser = argparse.ArgumentParser(description="Get the web-platform-tests of WebNN at the commit that the expectations are for.")
    parser.add_argument("--level", choices=names, default=names[0], help="the level of the tests (default: %(default)s)")
    parser.add_argument("--commit", metavar="ID", help="another commit, all 40 digits of it (default: that of the level's expectations)")
    parser.add_argument("--destination", type=Path, metavar="DIR", help="the new folder (default: wpt-LEVEL)")
    parser.add_argument("--url", default=URL, help="the repository (default: %(default)s)")
    given = parser.parse_args(arguments)
    commit = load_expectations(given.level).wpt if given.commit is None else given.commit
    if not _COMMIT.fullmatch(commit):
        parser.error(f"--commit must be 40 digits of 0-9 and a-f, got {commit!r}")
    destination: Path = given.destination or Path(f"wpt-{given.level}")
    try:
        check_git(_git(["--version"], capture=True))
        complete = _is_there(destination, commit)
        if not complete:
            fetch(given.url, commit, destination)
    except FetchError as error:
        print(f"fetch_wpt: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nfetch_wpt: interrupted; the same command goes on from here", file=sys.stderr)
        return _INTERRUPTED
    print(f"{destination} {'already has' if complete else 'has'} web-platform-tests at {commit[:10]}. Run them:")
    print(f"    pytest --wpt {destination}\n    webnn wpt run --wpt {destination}")
    return 0


def check_git(version: str) -> None:
    """Raise unless a git is new enough.

    Args:
        version: The output of ``git --version``.

    Raises:
        FetchError: It is too old, or prints something else.
    """
    numbers = re.search(r"\b(\d+)\.(\d+)", version)
    oldest = ".".join(map(str, OLDEST_GIT))
    if numbers is None:
        raise FetchError(f"git {oldest} or newer is needed; `git --version` prints {version.strip()!r}")
    if (int(numbers[1]), int(numbers[2])) < OLDEST_GIT:
        raise FetchError(f"git {oldest} or newer is needed for a sparse checkout, got {numbers[0]}: update git")


def fetch(url: str, commit: str, destination: Path) -> None:
    """Make a checkout, or continue one that was interrupted.

    Args:
        url: The repository.
        commit: The commit.
        destination: A folder that does not exist or is empty.

    Raises:
        FetchError: git cannot do it, or what it got has no tests of WebNN.
    """
    part = destination.with_name(destination.name + _PART)
    # git runs in another folder than this process.
    mirror = _local(url)
    origin = str(mirror) if mirror is not None and mirror == Path(url).resolve() else url
    try:
        _prepare(part)
        _check_out(origin, commit, part, mirror)
        Checkout(part)
        if destination.exists():
            destination.rmdir()
        part.rename(destination)
        (destination / ".git" / _MARK).unlink()
    except CheckoutError as error:
        raise FetchError(f"the commit {commit} of {url} has no tests of WebNN: {error}") from None
    except OSError as error:
        raise FetchError(f"cannot make {destination}: {error}") from None


def _local(url: str) -> Path | None:
    """Return the folder of a repository on this machine."""
    path = Path(url2pathname(urlsplit(url).path) if url.startswith("file:") else url)
    return path.resolve() if path.is_dir() else None


def _check_out(origin: str, commit: str, part: Path, mirror: Path | None) -> None:
    """Check out a commit with the commands of git; each can be repeated.

    Raises:
        FetchError: One fails.
    """
    try:
        _git(["init", "--quiet"], part)
        # The bytes of the repository on Windows, too.
        _git(["config", "core.autocrlf", "false"], part)
        _git(["config", "remote.origin.url", origin], part)
        if mirror is not None:
            # A mirror may lack the content of other files, and need not be set up to send a part of what it has.
            _git(["config", "remote.origin.uploadpack", _UPLOAD], part)
        _git(["sparse-checkout", "init", "--cone"], part)
        _git(["sparse-checkout", "set", *FOLDERS], part)
        _git(["fetch", "--depth=1", "--filter=blob:none", "--no-tags", "origin", commit], part)
        # This downloads the files.
        _git(["-c", "advice.detachedHead=false", "checkout", "--force", "--detach", commit], part)
    except FetchError as error:
        lack = "" if mirror is None else _find_lack(mirror, commit)
        raise FetchError(f"{error}\n{lack}The same command goes on from here; to start anew, delete {part}") from None


def _find_lack(mirror: Path, commit: str) -> str:
    """Say what a repository on this machine lacks of a commit; empty if nothing, or if git cannot read it."""
    place = ["-C", str(mirror)]
    try:
        if _git([*place, "cat-file", "--batch-check"], given=f"{commit}\n").endswith(" missing\n"):
            return f"{mirror} does not have this commit: another --url may.\n"
        lines = _git([*place, "ls-tree", "-r", commit, "--", *FOLDERS], capture=True).splitlines()
        names = {line.split()[2]: line.partition("\t")[2] for line in lines}
        found = _git([*place, "cat-file", "--batch-check"], given="".join(f"{each}\n" for each in names)).splitlines()
    except FetchError:
        return ""
    gone = [names[line.split()[0]] for line in found if line.endswith(" missing")]
    if not gone:
        return ""
    return f"{mirror} is a partial copy and lacks the content of {len(gone)} files, such as {gone[0]}: another --url may have it.\n"


def _prepare(part: Path) -> None:
    """Make the folder to work in, or check that it is one.

    Raises:
        FetchError: It is something else.
        OSError: It cannot be made.
    """
    mark = part / ".git" / _MARK
    if not mark.is_file():
        if part.exists() and (not part.is_dir() or any(part.iterdir())):
            raise FetchError(f"{part} must be the remainder of an interrupted run, and is something else")
        mark.parent.mkdir(parents=True)
        mark.touch()
    # A git process that was killed leaves its locks.
    for lock in mark.parent.rglob("*.lock"):
        lock.unlink()


def _is_there(destination: Path, commit: str) -> bool:
    """Tell whether a destination has the commit already.

    Raises:
        FetchError: It is something else.
    """
    if not destination.exists() or (destination.is_dir() and not any(destination.iterdir())):
        return False
    if not destination.is_dir():
        raise FetchError(f"--destination must be a new folder, and {destination} is a file")
    try:
        found = Checkout(destination).revision()
    except CheckoutError as error:
        raise FetchError(f"--destination must be a new folder, but {error}") from None
    if found != commit:
        here = f"is a checkout of {found}" if found else "is not a work tree of git"
        raise FetchError(f"--destination must be a new folder or a checkout of {commit}, but {destination} {here}")
    return True


def _git(arguments: Sequence[str], folder: Path | None = None, *, capture: bool = False, given: str | None = None) -> str:
    """Run git, which prints its progress and its errors itself; return its standard output if that is captured.

    Args:
        arguments: The arguments.
        folder: The work tree, with the repository in its folder ``.git``; ``None`` for a command that needs none.
        capture: Do not print the standard output.
        given: Its standard input; then it prints nothing.

    Raises:
        FetchError: There is no git, or it fails.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    # No question for a password: the repository is public, and GitHub asks for one where there is no repository.
    environment["GIT_TERMINAL_PROMPT"] = "0"
    # Name the repository: otherwise, if it is broken, git uses one in a folder above.
    place = [] if folder is None else ["--git-dir=.git", "--work-tree=."]
    try:
        done = subprocess.run(
            ["git", *place, *arguments],
            cwd=folder,
            env=environment,
            check=True,
            stdout=None if given is None and not capture else subprocess.PIPE,
            input=given,
            text=True,
        )
    except FileNotFoundError:
        raise FetchError("git is needed and is not on the PATH: install it, https://git-scm.com") from None
    except subprocess.CalledProcessError as error:
        raise FetchError(f"`git {' '.join(arguments)}` failed with the exit status {error.returncode}, see above") from None
    return done.stdout or ""


if __name__ == "__main__":
    sys.exit(main())
