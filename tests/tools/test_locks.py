"""The locks of .ci/locks: they have what pyproject.toml declares, in versions that it allows, each with the hashes of its files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.minimums import requirements

ROOT = Path(__file__).parents[2]
LOCKS = ROOT / ".ci" / "locks"
ENTRY = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[\w.!+]+)(?: ; [^\\]+)?(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")


def entries(lock: str) -> dict[str, str]:
    """Return the versions of a lock by their names. All of its text is entries with hashes: it names no place."""
    text = (LOCKS / lock).read_text(encoding="utf-8")
    assert ENTRY.sub("", text) == ""
    return {canonicalize_name(each["name"]): each["version"] for each in ENTRY.finditer(text)}


def wanted(lock: str) -> list[Requirement]:
    build = [line for line in (LOCKS / "build.in").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    if lock == "test.txt":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return [*map(Requirement, build), *requirements(project, ["test"])]
    lines = (LOCKS / "release.in").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in [*build, *lines] if not line.startswith(("#", "-r"))]


@pytest.mark.parametrize("lock", ["release.txt", "test.txt"])
def test_a_lock_has_what_is_declared(lock: str) -> None:
    locked = entries(lock)
    for each in wanted(lock):
        assert each.specifier.contains(locked[canonicalize_name(each.name)]), each


def test_the_locked_build_is_that_of_the_package() -> None:
    system = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert [line for line in (LOCKS / "build.in").read_text(encoding="utf-8").splitlines() if not line.startswith("#")] == system


def test_each_license_file_is_named() -> None:
    """The wheel has each text of licenses, and NOTICE.txt says for what."""
    notice = (ROOT / "licenses" / "NOTICE.txt").read_text(encoding="utf-8")
    assert [each.name for each in (ROOT / "licenses").iterdir() if each.name not in notice and each.name != "NOTICE.txt"] == []
    assert (ROOT / "js" / "LICENSE-W3C-2023.txt").read_bytes() == (ROOT / "licenses" / "W3C-2023.txt").read_bytes()
    paths = re.findall(r"^(?:and )?(?:webnn/)?([\w/.*-]+/[\w.*-]+\.\w+)", notice, re.MULTILINE)
    assert len(paths) >= 5
    assert [path for path in paths if not list(ROOT.glob(path)) and not list((ROOT / "webnn").glob(path))] == []
