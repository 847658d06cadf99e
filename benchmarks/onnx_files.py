"""An ONNX file: its import, beside a session of the same file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime

import webnn.onnx
from benchmarks.measure import Array
from benchmarks.mobilenet import Network, onnx_graph
from benchmarks.sides import CURRENT, TensorProgram
from webnn import ML, GraphDescription, MLContext, MLGraph, MLGraphBuilder

__all__ = ["build_file", "import_file", "make_session", "run_import", "run_session", "write_file"]


def write_file(network: Network, folder: Path) -> Path:
    """Write a network as an ONNX file, with its weights."""
    path = folder / "network.onnx"
    path.write_bytes(onnx_graph(network).model().SerializeToString())
    return path


def import_file(path: Path) -> webnn.onnx.Imported:
    """Import the file as a WebNN graph that is not built."""
    return webnn.onnx.load(path)


def build_file(path: Path, context: MLContext) -> tuple[GraphDescription, MLGraph]:
    """Import the file, and build its graph."""
    description = import_file(path).description
    builder = MLGraphBuilder(context)
    return description, builder.buildSync(description.build(builder))


def make_session(path: Path) -> onnxruntime.InferenceSession:
    """Make a session of the file with one thread, as the import has."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def run_import(path: Path, network: Network) -> Array:
    """Import, build and compute the file; return the output."""
    context = ML(revision=CURRENT).createContextSync()
    description, graph = build_file(path, context)
    shapes = {name: description.descriptors()[value].dimensions for name, value in description.outputs.items()}
    return TensorProgram(context, graph, {"image": _planes(network)}, shapes)()


def run_session(path: Path, network: Network) -> Array:
    """Compute the file with onnxruntime; return the output."""
    output: Array = make_session(path).run(None, {"image": _planes(network)})[0]
    return output


def _planes(network: Network) -> Array:
    return np.ascontiguousarray(network.image.transpose(0, 3, 1, 2))
