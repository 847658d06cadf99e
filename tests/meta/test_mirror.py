"""Tests mirror the code: the tests of ``DIR/STEM.py`` are in ``tests/DIR/test_STEM.py``, or ``test_STEM_MORE.py`` if they are many files.

A package ``DIR/STEM/`` has them there, too, and ``tests/DIR/STEM/test_STEM.py`` has those of a package as a whole.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
CODE = ("webnn", "context", "builder", "validation", "wpt_runner", "tools", "benchmarks", "examples")

#: Folders and files of tests that mirror no code, with the reason.
ELSEWHERE = {
    "tests/builder/onnx/devices": "the rows of all providers",
    "tests/meta": "rules of the repository as a whole",
    "tests/property": "random programs, through all layers",
    "tests/docs": "the code blocks of the documentation",
    "tests/examples": "the examples as programs, and how the gallery shows them",
    "tests/tools/test_adding.py": "how many files the addition of an operation, a profile and a rule touches, in a copy",
    "tests/tools/test_locks.py": "the locks in .ci, and the license texts",
    "tests/tools/test_workflows.py": "the workflows in .github",
}
#: Code files without a test file of their stem: other files test them. The list only becomes shorter.
WITHOUT = Path(__file__).with_name("without_test.txt")


def find_files() -> list[PurePosixPath]:
    """Return the files below the folders of code and tests; links to the packages at the top are left out."""
    found = []
    for top in (*CODE, "tests"):
        for folder, folders, names in os.walk(ROOT / top):
            folders[:] = [each for each in folders if each != "__pycache__"]
            found += [PurePosixPath((Path(folder) / name).relative_to(ROOT).as_posix()) for name in names]
    return found


FILES = find_files()
TESTS = [file for file in FILES if file.parts[0] == "tests" and file.name.startswith("test_") and file.suffix == ".py"]


def code_names() -> dict[PurePosixPath, set[str]]:
    """Return the stems of the code files, and the names of the packages, in each folder."""
    names: dict[PurePosixPath, set[str]] = defaultdict(set)
    for file in FILES:
        if file.parts[0] in CODE:
            if file.suffix in (".py", ".js", ".mjs"):
                names[file.parent].add(file.stem.strip("_"))
            for folder in file.parents:
                names[folder.parent].add(folder.name)
                names[folder].add(folder.name)
    return names


def subjects(test: PurePosixPath) -> Iterator[str]:
    """Yield the stems that a test file may mirror, the longest first."""
    words = test.stem.removeprefix("test_").split("_")
    for count in range(len(words), 0, -1):
        yield "_".join(words[:count])


def folder_of(test: PurePosixPath) -> PurePosixPath:
    """Return the folder of the code that a test file mirrors."""
    return test.parent.relative_to("tests")


def reason(test: PurePosixPath) -> str:
    """Return why a test file mirrors no code; empty if it must."""
    return next((ELSEWHERE[str(path)] for path in (test, *test.parents) if str(path) in ELSEWHERE), "")


def test_each_test_file_is_where_its_code_is() -> None:
    names = code_names()
    wrong = [str(test) for test in TESTS if not reason(test) and not names[folder_of(test)].intersection(subjects(test))]
    assert wrong == [], "move or rename these files as the first line of this one says, or give a reason in ELSEWHERE"


def test_most_test_files_mirror_code() -> None:
    assert len([test for test in TESTS if not reason(test)]) >= 0.9 * len(TESTS)


def test_each_reason_is_needed() -> None:
    names = code_names()
    for path in ELSEWHERE:
        tests = [test for test in TESTS if PurePosixPath(path) in (test, *test.parents)]
        assert any(not names[folder_of(test)].intersection(subjects(test)) for test in tests), path


def test_code_files_without_a_test_file() -> None:
    tested = {(folder_of(test), stem) for test in TESTS for stem in subjects(test)}
    modules = [file for file in FILES if file.parts[0] in CODE and file.suffix == ".py" and not file.stem.startswith("__")]
    without = sorted(str(file) for file in modules if (file.parent, file.stem.strip("_")) not in tested)
    listed = WITHOUT.read_text(encoding="utf-8").splitlines()
    assert [file for file in without if file not in listed] == [], f"name a test file after each of these, or list it in {WITHOUT.name}"
    assert [file for file in listed if file not in without] == [], f"remove these from {WITHOUT.name}: they have a test file, or are gone"
    assert listed == sorted(set(listed))
