"""Shows how far off the tangent of the WebGPU plug-in is, in ONNX Runtime alone.

    export $(.ci/drivers swiftshader)
    python -m tools.evidence.swiftshader_tan

WGSL allows sine and cosine an absolute error of 2^-11, and makes tangent of them. SwiftShader uses some of that, lavapipe does not.
"""

from __future__ import annotations

import math
import os
from importlib import import_module

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

__all__ = ["error"]

#: A number of web-platform-tests' cases, which allow an error of 2^-10.
_ANGLE = 45.595207


def error() -> float:
    """Return the absolute error of the tangent of a number, whose exact one is about -23.7."""
    os.environ["ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER"] = "1"
    name = "WebGpuExecutionProvider"
    onnxruntime.register_execution_provider_library(name, import_module("onnxruntime_ep_webgpu").get_library_path())
    x, y = (helper.make_tensor_value_info(each, TensorProto.FLOAT, [1]) for each in "xy")
    model = helper.make_model(
        helper.make_graph([helper.make_node("Tan", ["x"], ["y"])], "tan", [x], [y]),
        opset_imports=[helper.make_opsetid("", 21)],
        ir_version=10,
    )
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices([each for each in onnxruntime.get_ep_devices() if each.ep_name == name][:1], {})
    angle = np.array([_ANGLE], np.float32)
    found = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": angle})[0]
    return abs(float(found[0]) - math.tan(float(angle[0])))


if __name__ == "__main__":
    print(f"the tangent is off by {error():.3g}, web-platform-tests allow {2**-10:.3g}")
