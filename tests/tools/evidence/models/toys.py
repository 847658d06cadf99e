"""Small models for the tests of the catalogue of models."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from tools.evidence.models.catalog import Archived, Input, Model

__all__ = ["RELU", "TOY", "write_catalog", "write_relu"]

TOY = Archived(package="toy", version="1.0", file="toy/model.onnx", sha256=hashlib.sha256(b"model").hexdigest())
RELU = Model(name="relu", what="a small one", inputs={"x": Input(shape=[2, 3], values="normal")})


def write_relu(path: Path, operator: str = "Relu", sizes: tuple[int | str, int] = (2, 3)) -> Path:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "relu", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def write_catalog(path: Path, script: Path, body: str) -> Path:
    script.write_text(body)
    path.write_text(
        f"[[made]]\nname = 'm'\nwhat = 'a model'\nscript = {json.dumps(str(script))}\ninputs.x = {{ shape = [2, 3], values = 'normal' }}\n"
    )
    return path
