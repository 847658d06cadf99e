"""Namespaces, each behind no other wall; and the tree of files that a process makes for itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.webnn.processes.walls.trying import done, ends, possible
from webnn.processes.walls import namespaces

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")

REFUSED = {
    ("namespace",): {"TCP", "abstract socket", "shared memory", "environment in procfs"},
    ("namespace", "processes"): {"kill", "prlimit", "setpriority", "sched_setparam", "getpgid", "F_SETOWN", "wide kill"},
    ("namespace", "tree"): {
        *("stat", "stat of the folder", "stat through /proc/self/root", "access", "statfs", "inotify", "read", "list", "write"),
        *("stat in procfs", "environment in procfs", "memory in procfs", "command in procfs"),
    },
}


@pytest.mark.processes
@pytest.mark.parametrize("walls", REFUSED, ids=", ".join)
def test_one_wall(walls: tuple[str, ...]) -> None:
    assert done(*walls) & REFUSED[walls] == set()
    assert possible() >= REFUSED[walls] - {"memory in procfs"}


#: Prints what is in a tree, by folder, and what writing to it ends with.
TREE = """
import json, os, sys
sys.path.append(sys.argv[1])
from webnn.processes.walls import namespaces
folder = sys.argv[2]
os.chdir(folder)
namespaces.leave_system()
namespaces.bind_tree(["/proc/self", f"{folder}/link", f"{folder}/there", f"{folder}/missing"], [f"{folder}/kept"])
def write(path):
    try:
        open(path, "w").close()
        return "written"
    except OSError as error:
        return type(error).__name__
print(json.dumps({
    "top": sorted(os.listdir("/")), "folder": sorted(os.listdir(folder)), "here": os.getcwd() == folder,
    "read": open(f"{folder}/link/file").read(), "status": os.path.exists("/proc/self/status"), "processes": len(os.listdir("/proc")),
    "write": [write(f"{folder}/{each}/new") for each in ("there", "link", "kept", ".")],
}))
"""


@pytest.mark.processes
def test_a_tree(tmp_path: Path) -> None:
    ends("namespace", "tree")  # skips the test where the system has none
    folder = tmp_path.resolve() / "a"
    for name in ("target", "there", "kept", "other"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text(name, encoding="utf-8")
    (folder / "link").symlink_to("target")
    root = str(Path(__file__).resolve().parents[4])
    made = subprocess.run([sys.executable, "-c", TREE, root, str(folder)], capture_output=True, text=True, check=False, timeout=60)
    assert made.returncode == 0, made.stderr
    told = json.loads(made.stdout)
    assert told["top"] == sorted({"proc", folder.parts[1]})
    assert told["folder"] == ["kept", "link", "target", "there"]
    assert (told["here"], told["read"], told["status"]) == (True, "target", True)
    # The process itself, and the link to it.
    assert told["processes"] == 2
    assert told["write"] == ["OSError", "OSError", "written", "OSError"]
    assert sorted(path.name for path in (folder / "kept").iterdir()) == ["file", "new"]


@pytest.mark.parametrize(
    ("path", "place", "links"),
    [
        ("target/file", "target/file", {}),
        ("link/file", "target/file", {"link": "target"}),
        ("link/../link", "target", {"link": "target"}),
        ("far", "target/file", {"far": "{folder}/link/file", "link": "target"}),
        ("up/file", "target/file", {"target/up": "..", "link": "target"}),
        ("missing/file", "missing/file", {}),
        ("loop", None, {"loop": "loop"}),
    ],
)
def test_resolving(tmp_path: Path, path: str, place: str | None, links: dict[str, str]) -> None:
    folder = tmp_path.resolve()
    (folder / "target").mkdir()
    (folder / "target" / "file").write_text("", encoding="utf-8")
    (folder / "link").symlink_to("target")
    (folder / "far").symlink_to(folder / "link" / "file")
    (folder / "loop").symlink_to("loop")
    (folder / "target" / "up").symlink_to("..")
    given = "target/up/link/file" if path == "up/file" else path
    found: dict[str, str] = {}
    resolved = namespaces._resolve(f"{folder}/{given}", found)
    assert resolved == f"{folder}/{place or path}"
    below = {os.path.relpath(link, folder): target for link, target in found.items() if link.startswith(f"{folder}/")}
    assert below == {link: target.replace("{folder}", str(folder)) for link, target in links.items()}
