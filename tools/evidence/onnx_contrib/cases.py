"""A case: a model of one operator with random sizes, attributes and inputs; and its comparison with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import webnn
import webnn.onnx
from webnn import MLGraphBuilder
from webnn.context import once

__all__ = ["Array", "Case", "Kind", "compare", "factors", "integers", "numbers", "pack", "run_engine", "some"]

Array = np.ndarray[Any, np.dtype[Any]]
Random = np.random.Generator


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model of one node.

    Attributes:
        operator: The operator.
        domain: Its domain.
        inputs: The inputs in their order; None is one that is not given.
        attributes: The attributes.
        outputs: The names of the outputs; an empty one is not used.
        known: The inputs that are initializers of the model.
        tolerance: The largest difference of floating-point numbers, absolute up to 1, relative for larger ones.
        expected: The outputs, where no kernel computes them.
        shared: The outputs whose memory is that of inputs, with these.
        compared: Changes outputs before they are compared: elements that the operator leaves open.
    """

    operator: str
    domain: str = "com.microsoft"
    inputs: Mapping[str, Array | None]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    outputs: Sequence[str] = ("y",)
    known: Collection[str] = ()
    tolerance: float = 1e-5
    expected: Mapping[str, Array] | None = None
    shared: Mapping[str, str] = field(default_factory=dict)
    compared: Callable[[dict[str, Array]], dict[str, Array]] = dict

    def model(self) -> onnx.ModelProto:
        """Return the model."""
        given = {name: array for name, array in self.inputs.items() if array is not None}
        names = [name if name in given else "" for name in self.inputs]
        while names and not names[-1]:
            names.pop()
        node = helper.make_node(self.operator, names, self.outputs, domain=self.domain, **self.attributes)
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in given.items()
            if name not in self.known
        ]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs if name]
        initializers = [numpy_helper.from_array(given[name], name) for name in self.known if name in given]
        graph = helper.make_graph([node], "m", infos, outputs, initializers)
        domains = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=domains, ir_version=10)

    def feeds(self) -> dict[str, Array]:
        """Return the inputs of the model."""
        return {name: array for name, array in self.inputs.items() if array is not None and name not in self.known}


#: Makes a case.
Kind = Callable[[Random], Case]


def compare(case: Case) -> float:
    """Return the largest difference from ONNX Runtime, or from what is expected, as a part of the tolerance.

    Raises:
        AssertionError: The outputs have other names or shapes.
    """
    wanted = case.compared(dict(case.expected) if case.expected is not None else run_engine(case))
    actual = case.compared(_compute(case))
    assert actual.keys() == wanted.keys()
    worst = 0.0
    for name, array in wanted.items():
        assert actual[name].shape == array.shape, f"{name}: {actual[name].shape} is not {array.shape}"
        one, other = actual[name].astype(np.float64), array.astype(np.float64)
        # Integers may differ by a step, where a kernel rounds in another place.
        limit = 1 if array.dtype.kind in "iu" else case.tolerance * np.maximum(1, np.abs(other))
        difference = np.abs(one - other) / limit
        # NaN, and equal infinities, differ from other numbers only.
        difference = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0, difference)
        worst = max(worst, float(np.where(np.isnan(difference), np.inf, difference).max()))
    return worst


def run_engine(case: Case) -> dict[str, Array]:
    """Compute a case by ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(case.model().SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    binding = session.io_binding()
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array.copy()) for name, array in case.feeds().items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for name in names:
        if name in case.shared:
            binding.bind_ortvalue_output(name, values[case.shared[name]])
        else:
            binding.bind_output(name)
    session.run_with_iobinding(binding)
    return dict(zip(names, binding.copy_outputs_to_cpu(), strict=True))


def _compute(case: Case) -> dict[str, Array]:
    context = webnn.ML(revision="2026-06").createContextSync()
    builder = MLGraphBuilder(context)
    imported = webnn.onnx.load(case.model(), builder)
    graph = builder.buildSync(dict(imported.outputs))
    feeds = case.feeds()
    inputs = {name: np.ascontiguousarray(feeds[name].astype(each.dataType)) for name, each in imported.inputs.items()}
    return once.compute(context, graph, inputs)


# Random arrays.


def numbers(random: Random, *shape: int, spread: float = 1.0, dtype: str = "float32") -> Array:
    """Return numbers from a normal distribution."""
    return np.asarray(random.standard_normal(shape) * spread, dtype)


def integers(random: Random, dtype: str, *shape: int) -> Array:
    """Return all integers of a type."""
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def factors(random: Random, dtype: str, *shape: int) -> Array:
    """Return right factors of products of integers. With larger ones, kernels of some processors saturate 16 bits."""
    values = integers(random, dtype, *shape)
    return values // 2 if dtype == "int8" else values


def some(random: Random, array: Array) -> Array | None:
    """Return an array half of the time."""
    return array if random.integers(2) else None


def pack(integers: Array, bits: int) -> Array:
    """Pack the integers of the last axis into bytes, the lowest bits first."""
    each = 8 // bits
    padding = [(0, 0)] * (integers.ndim - 1) + [(0, -integers.shape[-1] % each)]
    wide = np.pad(integers, padding).reshape(*integers.shape[:-1], -1, each).astype(np.uint32)
    return np.asarray(sum(wide[..., index] << (bits * index) for index in range(each)), np.uint8)
