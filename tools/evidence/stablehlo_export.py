"""Exports the graphs of the recorded conformance cases to StableHLO, runs them with XLA on the CPU, and compares the results.

    python -m tools.evidence.stablehlo_export                  all cases
    python -m tools.evidence.stablehlo_export lstm 'gru cell'  those whose file, name or operation fits

Each graph becomes a text, which JAX's compiler reads, and `webnn.hlo` too; the expected values and the tolerances are those of the cases.
It needs the package jax. `.ci/stablehlo` runs it in an environment of its own.
"""

from __future__ import annotations

import argparse
import collections
import functools
import importlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import webnn
from webnn.context.devices.selection import CPU, Device
from webnn.hlo.child import ReadError, start
from webnn.hlo.decode import decode
from webnn.hlo.export import RuleError, export
from webnn.hlo.ir import Module
from webnn.hlo.mlir import write_mlir
from webnn.validation.descriptor import SMALL_TYPES, unpack
from webnn.wpt_runner.levels import level_of
from webnn.wpt_runner.vectors.batch import choose, group_cases
from webnn.wpt_runner.vectors.cases import Case, load_cases
from webnn.wpt_runner.vectors.comparison import compare
from webnn.wpt_runner.vectors.corrections import Correction
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.graphs import RecordedGraph, read_graph

__all__ = ["Judge", "Verdict", "judge", "load_judge", "main", "recorded_graph"]

Array = np.ndarray[Any, np.dtype[Any]]
#: Runs a program: from its text and the arrays of its inputs to those of its outputs, in their orders.
Judge = Callable[[str, Sequence[Array]], list[Array]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a case: ``"right"``, ``"wrong"``, ``"refused"`` by the export, or ``"no graph"``; and why it is not right."""

    kind: str
    reason: str = ""


def load_judge() -> Judge:
    """Load XLA's compiler for the CPU.

    Raises:
        ImportError: jax is not installed.
    """
    client = importlib.import_module("jax.extend.backend").get_backend("cpu")
    jaxlib = importlib.import_module("jaxlib.xla_client")
    put = importlib.import_module("jax").device_put
    devices = jaxlib.DeviceList(tuple(client.local_devices()[:1]))
    options = jaxlib.CompileOptions()

    def run(text: str, inputs: Sequence[Array]) -> list[Array]:
        program = client.compile_and_load(text, devices, options)
        # Without 64-bit types, which JAX enables apart, `device_put` would narrow integers.
        found = program.execute_sharded([put(each) for each in inputs])
        return [np.asarray(each[0]) for each in found.disassemble_into_single_device_arrays()]

    importlib.import_module("jax").config.update("jax_enable_x64", True)
    return run


def recorded_graph(case: Case) -> RecordedGraph:
    """Return a case with the graph that its context makes of it, in which drafts of tests are those of the specification.

    Raises:
        WebNNTypeError: The draft refuses it.
    """
    recorded = read_graph(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        described = webnn.describe(recorded.graph.build(webnn.MLGraphBuilder(_context(case.level))))
    return RecordedGraph(graph=described, inputs=recorded.inputs, expected=recorded.expected)


@functools.cache
def _context(level: str) -> webnn.MLContext:
    return level_of(level).make_ml().createContextSync()


def judge(case: Case, correction: Correction | None, run: Judge) -> Verdict:
    """Export a case, run it, and compare."""
    try:
        recorded = recorded_graph(case)
    except webnn.WebNNTypeError as error:
        expected = correction is not None and correction.error and correction.error in str(error)
        return Verdict("no graph" if expected else "wrong", str(error))
    graph = recorded.graph
    try:
        module = export(graph)
    except RuleError as error:
        return Verdict("refused", str(error))
    text = "".join(write_mlir(module))
    problem = _read(text, module)
    if problem:
        return Verdict("wrong", problem)
    # JAX's own arrays of small integers have one element in a byte, as the export's have.
    inputs = [_give(recorded.inputs[name], each) for name, each in graph.inputs.items()]
    try:
        outputs = dict(zip(graph.outputs, run(text, inputs), strict=True))
    except Exception as error:  # whatever the compiler raises
        return Verdict("wrong", f"{type(error).__name__}: {str(error).splitlines()[0]}")
    right = {correction.output: correction.values} if correction is not None and not correction.error else {}
    found = compare({name: _take(each) for name, each in outputs.items()}, recorded.expected, case.metric, case.tolerance, right)
    return Verdict("wrong", found.failure) if found.failure else Verdict("right")


@functools.cache
def _reader() -> Callable[[bytes, bool], list[Any]]:
    return start()


def _read(text: str, module: Module) -> str:
    """Read a text with `webnn.hlo`; return what is wrong with it."""
    try:
        read = decode(b"".join(map(bytes, _reader()(text.encode(), False))), "<text>")
    except ReadError as error:
        return f"webnn.hlo: {error.message}"
    for made, found in zip(module.functions, read.functions, strict=True):
        same = [getattr(made, name) == getattr(found, name) for name in ("name", "type", "argument_attributes", "result_attributes")]
        if not all(same):
            return f"webnn.hlo reads another function than @{made.name}"
    return ""


def _give(value: Array, descriptor: webnn.OperandDescriptor) -> Array:
    """Return an input as the program takes it."""
    if descriptor.dataType not in SMALL_TYPES:
        return value.reshape(descriptor.shape)
    return unpack(value, descriptor.dataType, descriptor.shape).astype(getattr(importlib.import_module("ml_dtypes"), descriptor.dataType))


def _take(value: Array) -> Array:
    """Return an output as the comparison takes it: small integers in a byte each."""
    return value.astype({"int4": np.int8, "uint4": np.uint8}.get(value.dtype.name, value.dtype))


def judge_all(filters: Sequence[str], run: Judge) -> Iterator[tuple[Case, Verdict]]:
    """Judge all cases, or those that fit a filter."""
    for case, correction, _ in choose(group_cases(list(load_cases(bundled_archives())), None, Device(provider=CPU, type="cpu")), filters):
        yield case, judge(case, correction, run)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 if a case is wrong, or none is right."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.stablehlo_export", description="Export the recorded cases, run them with XLA, and compare."
    )
    parser.add_argument("filters", nargs="*", help="a part of 'file: name', or an operation")
    options = parser.parse_args(arguments)
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    began = time.perf_counter()
    for case, verdict in judge_all(options.filters, load_judge()):
        counts[verdict.kind] += 1
        if verdict.kind == "wrong":
            print(f"{case.level} {case.file}: {case.name}: {verdict.reason}", file=sys.stderr)
        elif verdict.kind != "right":
            reasons[f"{verdict.kind}: {verdict.reason}"] += 1
    for reason, count in reasons.most_common():
        print(f"{count} {reason}")
    numbers = ", ".join([f"{counts[kind]} {kind}" for kind in ("right", "wrong", "refused", "no graph")])
    print(f"{counts.total()} cases: {numbers}, in {time.perf_counter() - began:.0f} s")
    return int(counts["wrong"] > 0 or not counts["right"])


if __name__ == "__main__":
    sys.exit(main())
