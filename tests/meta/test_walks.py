"""How many files of the package a call crosses: those whose functions run. docs/architecture.md lists them in *Five walks*."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pytest
from onnx import TensorProto, helper

import webnn
from tests.meta.specification import LAYERS, ROOT
from webnn import MLGraphBuilder, MLOperand

FOLDERS = tuple(f"{folder.name}/" for folder in LAYERS.values())


def trace(call: Callable[[], object]) -> list[str]:
    """Return the files of the package whose functions a call runs, in the order in which they are first entered."""
    entered: dict[str, None] = {}

    def enter(frame: FrameType, event: str, _: object) -> None:
        # The code of a module runs when it is imported.
        if event == "call" and frame.f_code.co_name != "<module>":
            entered[frame.f_code.co_filename] = None

    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(before)
    # A function that was compiled at run time has no file.
    files = [Path(file).resolve() for file in entered if not file.startswith("<")]
    paths = [file.relative_to(ROOT).as_posix() for file in files if file.is_relative_to(ROOT)]
    return [path for path in paths if path.startswith(FOLDERS)]


@functools.cache
def operands() -> tuple[MLGraphBuilder, MLOperand, MLOperand]:
    builder = MLGraphBuilder(webnn.ML().createContextSync())
    filter = builder.constant({"dataType": "float32", "shape": [2, 3, 3, 3]}, np.ones((2, 3, 3, 3), np.float32))
    return builder, builder.input("x", dataType="float32", shape=[1, 3, 8, 8]), filter


def create_context() -> object:
    return webnn.navigator.ml.createContextSync(deviceType="cpu")


def conv2d() -> object:
    builder, x, filter = operands()
    return builder.conv2d(x, filter, padding=[1, 1, 1, 1], label="first")


def clamp() -> object:
    builder, x, _ = operands()
    return builder.clamp(x, minValue=0, maxValue=6)


def concat() -> object:
    builder, x, _ = operands()
    return builder.concat([x, x], 0)


def import_relu() -> object:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    return webnn.onnx.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))


#: A walk, the function that takes it, and the most files that it may cross.
WALKS: list[tuple[str, Callable[[], object], int]] = [
    ("deviceType to a provider", create_context, 15),
    ("conv2d", conv2d, 9),
    ("clamp", clamp, 9),
    ("concat", concat, 9),
    ("an ONNX Relu", import_relu, 20),
]


@pytest.mark.parametrize(("call", "most"), [row[1:] for row in WALKS], ids=[row[0] for row in WALKS])
def test_a_walk_crosses_few_files(call: Callable[[], object], most: int) -> None:
    # The first call loads packages and fills caches.
    call()
    files = trace(call)
    assert len(files) > most // 2, files
    assert len(files) <= most, files


@pytest.mark.parametrize(("row", "call"), [("`deviceType` | a provider", create_context), ("an ONNX `Relu` | a description", import_relu)])
def test_the_page_lists_the_files(row: str, call: Callable[[], object]) -> None:
    call()
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if line.startswith(f"| {row} |"))
    files = trace(call)
    names = [f"`{file.removesuffix('.py')}`" for file in files]
    assert line.split("|")[3].strip() == f"{len(files)}: {', '.join(names)}"
