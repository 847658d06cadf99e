"""ONNX Runtime Web with its WebNN provider, in a page and in its own worker, beside ONNX Runtime itself."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from tools.evidence.ort_web.package import find_package
from tools.evidence.pages.serving import Reports, mount_folders, open_emulator
from webnn.browser.chromium import Read
from webnn.browser.launch import flags
from webnn.javascript.files import File
from webnn.serve.options import Options

__all__ = ["add_arguments", "run"]

Array = np.ndarray[Any, np.dtype[Any]]

_TOLERANCE = 1e-6
_SHAPE = (1, 3, 16, 16)
_PAGE = File(b"<!doctype html><meta charset=utf-8><title>ONNX Runtime Web</title>", "text/html")
_RUN = """
async ({module, proxy, shape, values}) => {
  const ort = await import(module);
  ort.env.wasm.proxy = proxy;
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create('/model.onnx', {executionProviders: [{name: 'webnn', deviceType: 'cpu'}]});
  const {y} = await session.run({x: new ort.Tensor('float32', Float32Array.from(values), shape)});
  return Array.from(y.data);
}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("package", type=Path, help="the folder of the npm package onnxruntime-web")


def run(options: argparse.Namespace) -> list[str]:
    """Compute a small network on all sides, print the differences, and return what is not as it should be."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - the extra `browser`

    model, values = _make_model(), np.random.default_rng(0).standard_normal(_SHAPE).astype(np.float32)
    expected = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": values})[0].ravel()
    package = find_package(options.package)
    reports, wrong = Reports(), []
    with (
        open_emulator(_with_model(package.folder, model), Options(dialect="browsers-2026"), reports) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=options.chromium, args=flags(native=False, sandboxed=False), chromium_sandbox=False
        )
        for proxy in (False, True):
            page = browser.new_page()
            page.goto(f"{server.url}/page.html")
            order = {"module": f"/package/{package.module}", "proxy": proxy, "shape": _SHAPE, "values": values.ravel().tolist()}
            found = np.array(page.evaluate(_RUN, order), np.float32)
            difference = float(np.abs(found - expected).max())
            calls = sum(session.counts.calls for session in server.sessions.living.values() if session.counts.calls)
            where = "its worker" if proxy else "the page"
            kinds = {session.visitor.kind for session in server.sessions.living.values() if session.counts.calls}
            print(f"ONNX Runtime Web {package.version} in {where}: largest difference {difference:.1e}, {calls} calls from {kinds}")
            if not difference <= _TOLERANCE:
                wrong.append(f"in {where} the largest difference is {difference:.1e}, at most {_TOLERANCE:g}")
            if kinds != {"worker" if proxy else "window"}:
                wrong.append(f"in {where} the calls come from {kinds}")
            page.close()
        browser.close()
    return [*wrong, *(f"a fault of the emulator: {fault.strip().splitlines()[-1]}" for fault in reports.faults)]


def _with_model(package: Path, model: bytes) -> Read:
    files = {"/page.html": _PAGE, "/model.onnx": File(model, "application/octet-stream")}
    read = mount_folders({"/package/": package})
    return lambda path: files.get(path) or read(path)


def _make_model() -> bytes:
    """Make a network of two convolutions, and return its ONNX model."""
    rng = np.random.default_rng(1)

    def weights(name: str, *shape: int) -> TensorProto:
        return numpy_helper.from_array((rng.standard_normal(shape) / 8).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"]),
        helper.make_node("GlobalAveragePool", ["c2"], ["g"]),
        helper.make_node("Softmax", ["g"], ["y"], axis=1),
    ]
    constants = [weights("w1", 8, 3, 3, 3), weights("b1", 8), weights("w2", 10, 8, 3, 3), weights("b2", 10)]
    ends = (
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, _SHAPE)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 10, 1, 1))],
    )
    model = helper.make_model(
        helper.make_graph(nodes, "network", *ends, constants), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    onnx.checker.check_model(model)
    return model.SerializeToString()
