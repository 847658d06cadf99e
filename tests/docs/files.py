"""The files that the documentation takes for granted: what its reader has before a command."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
from onnx import parser

import webnn
from tests.shared import ROOT, SHARED
from tests.webnn.generate.decoders import save_decoder, save_tokenizer
from tests.webnn.tflite.models import Graph, Op, T, write
from tests.wpt_runner.recorded import META, conformance_checkout
from tests.wpt_runner.written import written_checkout

__all__ = ["FILES"]

_MODEL = """
    <ir_version: 9, opset_import: ["" : 20]>
    classify (float[batch, 4] image) => (float[batch, 3] scores)
    <float[4, 3] w = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}>
    { scores = MatMul(image, w) }
"""
_PAGE = "<script>navigator.ml.createContext()</script>\n"
_RELU = f"""// META: variant=?cpu
// META: variant=?gpu
{META}conform('relu', b => ({{y: b.relu(b.input('x', float32([2])))}}), {{x: new Float32Array([-1, 2])}}, {{y: new Float32Array(2)}},
  ({{y}}) => doAssert('relu', y, [0, 2], 0, 'float32', 'ULP'));
"""
_VALIDATION = """promise_test(async () => {
  const builder = new MLGraphBuilder(await navigator.ml.createContext());
  assert_throws_js(TypeError, () => builder.input('x', {dataType: 'float32', dimensions: [0]}));
}, 'zero');
"""


def _model(folder: Path) -> None:
    onnx.save(parser.parse_model(_MODEL), folder / "model.onnx")
    np.save(folder / "image.npy", np.ones((1, 4), np.float32))


def _tflite(folder: Path) -> None:
    tensors = [
        T(type="FLOAT32", shape=[1, 2, 2, 1], name="image"),
        T(np.ones((1, 3, 3, 1), np.float32), name="weights"),
        *(T(type="FLOAT32", shape=[1, 2, 2, 1], name=name) for name in ("conv", "scores")),
    ]
    options = {"StrideH": 1, "StrideW": 1, "FusedActivationFunction": 1}
    operators = [Op("CONV_2D", [0, 1], [2], ("Conv2DOptions", options)), Op("LOGISTIC", [2], [3])]
    (folder / "model.tflite").write_bytes(write(Graph(tensors, operators, [0], [3])))


def _program(folder: Path) -> None:
    shutil.copy(ROOT / "examples" / "add_and_multiply.py", folder / "program.py")


def _checkout(folder: Path) -> None:
    """A checkout of web-platform-tests, with two tests."""
    checkout = conformance_checkout(folder / "wpt-2024-06", {"relu": _RELU})
    file = checkout / "webnn" / "validation_tests" / "zero.https.any.js"
    file.parent.mkdir()
    file.write_text(_VALIDATION, encoding="utf-8")


def _readme(folder: Path) -> None:
    _program(folder)
    _checkout(folder)


def _script(folder: Path) -> None:
    """A program in JavaScript."""
    shutil.copy(ROOT / "examples" / "js" / "softmax.mjs", folder / "program.mjs")


def _wpt(folder: Path) -> None:
    _checkout(folder)
    # An example becomes a test of it.
    later = written_checkout(folder / "wpt-2025-03", {})
    (later / "webnn" / "conformance_tests").mkdir()
    subtests = [{"name": "relu", "status": "PASS", "message": None}]
    test = {"test": "/webnn/conformance_tests/relu.https.any.html?cpu", "status": "OK", "message": None, "subtests": subtests}
    report = {"results": [test]}
    for name in ("before", "after", "emulator", "chrome", "firefox", "search"):
        (folder / f"{name}.json").write_text(json.dumps(report), encoding="utf-8")


def _graph(folder: Path) -> None:
    """A program, and a graph."""
    _program(folder)
    builder = webnn.MLGraphBuilder(webnn.ML().createContextSync())
    webnn.describe({"y": builder.relu(builder.input("x", dataType="float32", dimensions=[2]))}).save(folder / "model.webnn")


def _newest(folder: Path) -> None:
    """A program and a page for the newest draft."""
    (folder / "program.py").write_text("from webnn import navigator\n\nnavigator.ml.createContextSync()\n", encoding="utf-8")
    (folder / "page.html").write_text(_PAGE, encoding="utf-8")


def _proposal(folder: Path) -> None:
    """A program, and a checkout."""
    _newest(folder)
    _wpt(folder)


def _draft(folder: Path) -> None:
    """A proposal in a module of the reader, and a page."""
    (folder / "proposals").mkdir()
    shutil.copy(ROOT / "tests" / "validation" / "drafts" / "imaginary.py", folder / "proposals" / "shrink.py")
    (folder / "page.html").write_text(_PAGE, encoding="utf-8")


def _data(folder: Path) -> None:
    """A model and data, and a checkout."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    webnn.describe({"scores": builder.relu(builder.input("image", dataType="float32", shape=[1, 4]))}).save(folder / "model.webnn")
    np.save(folder / "images.npy", np.ones((10, 4), np.float32))
    _checkout(folder)


def _pages(folder: Path) -> None:
    (folder / "my-page.html").write_text(_PAGE, encoding="utf-8")
    (folder / "dist").mkdir()
    (folder / "dist" / "index.html").write_text(_PAGE, encoding="utf-8")


def _shared(folder: Path) -> None:
    """The shared data beside the checkout."""
    if SHARED.is_dir():
        (folder.parent / "shared").symlink_to(SHARED, target_is_directory=True)


def _jax(folder: Path) -> None:
    """A model, and an image for it. It is text, which the commands read as well as a file of JAX."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    image = builder.input("image", dataType="float32", shape=[1, 4])
    webnn.describe({"probabilities": builder.softmax(image, 1)}).save(folder / "model.mlir")
    text = (folder / "model.mlir").read_text(encoding="utf-8")
    (folder / "model.mlirbc").write_text(text.replace('"image"}', '"image"} loc("image")'), encoding="utf-8")
    np.save(folder / "image.npy", np.ones((1, 4), np.float32))
    if find_spec("jaxlib") is None:
        # The program that makes it does not run.
        (folder / "site").mkdir()


def _package(folder: Path) -> None:
    """A package of npm."""
    with tarfile.open(folder / "onnxruntime-web-1.30.0.tgz", "w:gz") as archive:
        archive.add(ROOT / "examples" / "js" / "add.mjs", "package/add.mjs")


def _language_model(folder: Path) -> None:
    """A tiny decoder, with a tokenizer."""
    (folder / "model").mkdir()
    save_decoder(save_tokenizer(folder / "model") / "model.onnx")


#: Files that a document needs beside the examples.
FILES: dict[str, Callable[[Path], None]] = {
    "README.md": _readme,
    "docs/adding-a-proposal.md": _proposal,
    "docs/adding-an-op.md": _draft,
    "docs/browser.md": _script,
    "docs/check.md": _model,
    "docs/generate.md": _language_model,
    "docs/inspect.md": _program,
    "docs/javascript.md": _shared,
    "docs/jax.md": _jax,
    "docs/onnx.md": _model,
    "docs/ort-web.md": _package,
    "docs/pages.md": _pages,
    "docs/proposals.md": _newest,
    "docs/scale.md": _data,
    "docs/tflite.md": _tflite,
    "docs/viewing.md": _graph,
    "docs/wpt.md": _wpt,
}
