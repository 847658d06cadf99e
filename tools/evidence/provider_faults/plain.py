"""Runs a model on a provider's plug-in and on the CPU provider, in plain ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import onnxruntime
from onnx import NodeProto, helper, numpy_helper

__all__ = ["Array", "Both", "compare", "node"]

Array = np.ndarray[Any, np.dtype[Any]]
#: The value of the provider, and that of the CPU provider.
Both = tuple[Array, Array]

node = helper.make_node


def _devices(provider: str) -> tuple[list[Any], dict[str, str]]:
    """Register a plug-in with its device in software; return the device and the options that choose it."""
    if provider == "WebGpuExecutionProvider":
        os.environ["ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER"] = "1"
        plugin = import_module("onnxruntime_ep_webgpu")
        options: dict[str, str] = {}
    else:
        plugin = import_module("onnxruntime_qnn")
        options = {"backend_path": str(plugin.get_qnn_htp_path())}
    listed = [device for device in onnxruntime.get_ep_devices() if device.ep_name == provider]
    if not listed:
        onnxruntime.register_execution_provider_library(provider, plugin.get_library_path())
        listed = [device for device in onnxruntime.get_ep_devices() if device.ep_name == provider]
    return listed[:1], options


def compare(provider: str, nodes: Sequence[NodeProto], inputs: Mapping[str, Array], constants: Mapping[str, Any]) -> Both:
    """Compute the value ``y`` of some nodes, all on the provider, and on the CPU provider."""
    values = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape) for name, each in inputs.items()]
    fixed = [numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items()]
    graph = helper.make_graph(list(nodes), "g", values, [helper.make_empty_tensor_value_info("y")], fixed)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    devices, settings = _devices(provider)
    expected = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(["y"], dict(inputs))[0]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices(devices, settings)
    return onnxruntime.InferenceSession(model, options).run(["y"], dict(inputs))[0], expected
