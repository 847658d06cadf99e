"""All walls together: no attempt succeeds."""

from __future__ import annotations

import sys
import threading

import pytest

from tests.webnn.processes.walls.trying import possible, tried
from webnn.processes.walls import table

#: The attempts that succeed where one wall is missing.
WITHOUT = {
    "tree": {"stat", "stat of the folder", "stat through /proc/self/root", "access", "statfs", "stat in procfs"},
    "namespace": set[str](),
}


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")
@pytest.mark.parametrize("walls", [("all",), ("old kernel", "all")], ids=", ".join)
def test_no_attempt_succeeds(walls: tuple[str, ...]) -> None:
    assert len(possible()) > 50
    answer = tried(*walls)
    done = {name for name, end in answer["ends"].items() if end == "done"}
    assert done <= {name for wall, names in WITHOUT.items() if wall in answer["missing"] for name in names}


def test_describing() -> None:
    lines = table.describe({"files": "it is old"})
    assert [line.split(": ")[1] for line in lines] == list(table.WALLS)
    assert [line for line in lines if "absent" in line] == ["wall: files: absent: it is old"]


def test_a_process_with_threads() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    missing = table.put_up_in_place([], [])
    done.set()
    thread.join()
    assert list(missing) == list(table.IN_PLACE)


def test_a_wall_that_needs_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"namespace": "not permitted"}
    assert not table._attempt_in_namespace("tree", lambda: pytest.fail("it is tried"), missing)
    assert missing["tree"] == "it needs the wall namespace"
