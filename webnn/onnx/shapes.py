"""ONNX's own inference: the shapes of values that could not be imported, and why a node is not valid.

The inference runs in a separate process, because some models that are not valid end or hang it, or take all memory: it propagates the
elements of shapes without a bound.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from onnx import ModelProto, NodeProto, ValueInfoProto, helper

from webnn.importing.values import Refused, Value
from webnn.onnx.functions import find_schema
from webnn.onnx.model import ONNX_DOMAINS, Model, element_type

__all__ = ["Shapes"]

#: The data of larger initializers is not given to the inference; no shape depends on it.
_MOST_ELEMENTS = 1024
#: How long an inference may take, in seconds.
_LONGEST = 30.0
#: How much memory the inference may take, in bytes, where the system can limit it.
_MOST_MEMORY = 1 << 30
#: The program of the process: it reads a model, and writes it with the shapes, or the reason why there are none.
_PROGRAM = """
import sys
from onnx import ModelProto, shape_inference
try:
    import resource
    with open("/proc/self/statm") as status:
        size = int(status.read().split()[0]) * resource.getpagesize() + int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
except (ImportError, OSError):  # the system has neither
    pass
try:
    model = ModelProto.FromString(sys.stdin.buffer.read())
    inferred = shape_inference.infer_shapes(model, strict_mode=sys.argv[1] == "strict", data_prop=True)
    sys.stdout.buffer.write(inferred.SerializeToString())
except Exception as error:
    print(str(error).strip().partition("\\n")[0], file=sys.stderr)
    sys.exit(3)
"""
_REFUSED = 3


class Shapes:
    """The types and shapes of the values of a model's graph. They are inferred when the first one is needed."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._found: dict[str, ValueInfoProto] | None = None

    def find(self, name: str, inputs: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
        """Return the element type and the shape of a value, if both are known, for those of the graph's inputs."""
        if self._found is None:
            inferred, _ = _infer(self._lighten(inputs), strict=False)
            graph = inferred.graph
            self._found = {info.name: info for info in (*graph.value_info, *graph.output)}
        info = self._found.get(name)
        if info is None or not info.type.tensor_type.HasField("shape"):
            return None
        shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        try:
            dtype = element_type(info.type.tensor_type.elem_type)
        except Refused:
            return None
        return (dtype, tuple(shape)) if all(size > 0 for size in shape) else None

    def _lighten(self, inputs: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]) -> ModelProto:
        """Return the model without large weights, with the types and shapes of its inputs."""
        source = self._model.proto
        light = ModelProto(ir_version=source.ir_version, opset_import=source.opset_import, functions=source.functions)
        graph = light.graph
        graph.name = source.graph.name or "graph"
        graph.node.extend(source.graph.node)
        graph.output.extend(source.graph.output)
        graph.value_info.extend(source.graph.value_info)
        weights = {each.name for each in source.graph.initializer}
        for each in source.graph.initializer:
            if np.prod(each.dims, dtype=object) <= _MOST_ELEMENTS:
                graph.initializer.append(each)
            else:
                graph.input.append(helper.make_tensor_value_info(each.name, each.data_type, list(each.dims)))
        for info in source.graph.input:
            if info.name in inputs:
                dtype, shape = inputs[info.name]
                graph.input.append(helper.make_tensor_value_info(info.name, helper.np_dtype_to_tensor_dtype(dtype), list(shape)))
            elif info.name not in weights:
                graph.input.append(info)
        return light

    def explain(self, proto: NodeProto, opsets: Mapping[str, int], inputs: Sequence[Value | None]) -> str:
        """Return why ONNX's inference refuses a node with these inputs; empty if it does not."""
        domain = "" if proto.domain in ONNX_DOMAINS else proto.domain
        if find_schema(proto.op_type, opsets.get(domain, 1), domain) is None:
            return ""
        model = ModelProto(ir_version=10)
        model.opset_import.extend([helper.make_opsetid(key, version) for key, version in opsets.items()])
        graph = model.graph
        graph.name = "node"
        graph.node.append(proto)
        graph.output.extend([helper.make_empty_tensor_value_info(name) for name in proto.output if name])
        for name, value in dict(zip(proto.input, inputs, strict=True)).items():
            if value is not None:
                dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
                graph.input.append(helper.make_tensor_value_info(name, dtype, list(value.shape)))
                if value.array is not None and value.size <= _MOST_ELEMENTS:
                    graph.initializer.append(helper.make_tensor(name, dtype, value.shape, value.array.tobytes(), raw=True))
        return _infer(model, strict=True)[1]


def _infer(model: ModelProto, *, strict: bool) -> tuple[ModelProto, str]:
    """Return a model with shapes, or an empty one and the reason, which is empty if there is none to tell."""
    try:
        data = model.SerializeToString()
        ended = subprocess.run(
            [sys.executable, "-I", "-c", _PROGRAM, "strict" if strict else "all", str(_MOST_MEMORY)],
            input=data,
            capture_output=True,
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ModelProto(), f"ONNX's inference has not ended after {_LONGEST:g} s"
    except (OSError, ValueError):  # no process could be started, or the model is too large
        return ModelProto(), ""
    if ended.returncode == _REFUSED:
        return ModelProto(), ended.stderr.decode("utf-8", "replace").strip()
    if ended.returncode:
        return ModelProto(), "ONNX's inference does not survive it"
    try:
        return ModelProto.FromString(ended.stdout), ""
    except DecodeError:
        return ModelProto(), ""
