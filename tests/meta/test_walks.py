"""The number of files that a reader goes through to follow a call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

import pytest
from onnx import TensorProto, helper

import webnn.onnx

ROOT = Path(__file__).parents[2]
PACKAGES = ("builder", "context", "validation", "webnn", "wpt_runner")


def import_relu() -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    webnn.onnx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))


#: A call, a file that it must go through, and the most files.
WALKS: Mapping[str, tuple[Callable[[], object], str, int]] = {
    "an ONNX Relu through webnn.onnx.load": (import_relu, "webnn/onnx/importer.py", 26),
}


def trace(walk: Callable[[], object]) -> list[str]:
    """Return our files whose functions run during a call, in the order in which they are first entered."""
    files: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            files[frame.f_code.co_filename] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(before)
    paths = [Path(file).resolve() for file in files if not file.startswith("<")]
    found = [path.relative_to(ROOT).as_posix() for path in paths if path.is_relative_to(ROOT)]
    return [*dict.fromkeys(path for path in found if path.split("/")[0] in PACKAGES)]


@pytest.mark.parametrize("name", WALKS)
def test_files_of_a_walk(name: str) -> None:
    walk, file, most = WALKS[name]
    # The first call imports modules and fills caches.
    walk()
    files = trace(walk)
    assert file in files
    assert len(files) <= most, "\n".join(files)
