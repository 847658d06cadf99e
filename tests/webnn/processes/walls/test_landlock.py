"""Rights to files, behind this wall alone; also on kernels before 6.12."""

from __future__ import annotations

import sys

import pytest

from tests.webnn.processes.walls.trying import done, possible

pytestmark = [pytest.mark.processes, pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")]

REFUSED = {"read", "list", "write", "folder", "rename", "environment in procfs", "memory in procfs", "command in procfs"}


@pytest.mark.parametrize("walls", [("files",), ("old kernel", "files")], ids=", ".join)
def test_this_wall_alone(walls: tuple[str, ...]) -> None:
    reached = done(*walls)
    assert possible() >= REFUSED - {"memory in procfs"}
    assert reached & REFUSED == set()
    # It cannot refuse these, so a second wall must.
    assert reached >= {"stat", "inotify", "setpriority"} & possible()
