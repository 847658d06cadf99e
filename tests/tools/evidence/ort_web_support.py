"""Tests of ONNX that are made up, for the tests of the suite itself."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tools.evidence.ort_web.cases import Test

__all__ = ["F32", "make_package", "make_test", "model_of", "output"]

F32 = np.arange(6, dtype=np.float32).reshape(2, 3)


def model_of(op: str = "Relu", *, opset: int = 21, ir_version: int = 10, initializers: Sequence[TensorProto] = ()) -> onnx.ModelProto:
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("x", "y")]
    weights = [helper.make_tensor_value_info(each.name, each.data_type, each.dims) for each in initializers]
    names = ["x", *(each.name for each in initializers)]
    graph = helper.make_graph([helper.make_node(op, names, ["y"])], "g", [sides[0], *weights], [sides[1]], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)


def make_test(name: str = "test_relu", inputs: Sequence[Any] = (F32,), outputs: Sequence[Any] = (F32,), **options: Any) -> Test:
    model = options.pop("model", None) or model_of()
    return Test(name=name, model=model, inputs=list(inputs), outputs=list(outputs), rtol=1e-3, atol=1e-7, **options)


def output(array: Any, name: str = "y") -> dict[str, Any]:
    return {"name": name, "type": array.dtype.name, "dims": list(array.shape), "data": base64.b64encode(array.tobytes()).decode()}


def make_package(folder: Path, files: Mapping[str, str], **manifest: Any) -> Path:
    """Make a package of npm, version 1.2.3, below a folder; return its folder."""
    package = folder / "package"
    for name, text in {**files, "package.json": json.dumps({"version": "1.2.3", **manifest})}.items():
        place = package / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return package
