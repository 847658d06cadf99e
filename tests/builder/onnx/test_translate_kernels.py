"""Operators that are one node of the engine in float32, which their translation need not make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support import CURRENT, shared_context
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.graph import collect
from webnn.builder.numerics import Numerics
from webnn.builder.onnx import translate as module
from webnn.builder.onnx.translate import TRANSLATIONS, OnnxModel, translate
from webnn.validation.families import OPERATIONS

KERNELS = {name: each.kernel for name, each in TRANSLATIONS.items() if each.kernel}


def make(name: str, dataType: str = "float32", *, transposed: bool = False) -> MLOperand:
    """Apply an operation to inputs, perhaps transposed ones, and to its own result."""
    builder = MLGraphBuilder(shared_context(CURRENT))
    method = getattr(builder, name)
    operands = [builder.input(each, dataType=dataType, shape=[2, 2]) for each in OPERATIONS[name].operands]
    if transposed:
        operands = [builder.transpose(each) for each in operands]
    result: MLOperand = method(method(*operands), *operands[1:])
    return result


def without_kernels(monkeypatch: pytest.MonkeyPatch, output: MLOperand, numerics: Numerics = "exact") -> OnnxModel:
    """Translate with the functions alone."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "TRANSLATIONS", {name: replace(each, kernel="") for name, each in TRANSLATIONS.items()})
        return translate(collect({"y": output}), numerics)


def test_there_are_kernels() -> None:
    assert len(KERNELS) >= 24
    assert {"add", "max", "pow", "relu", "tanh", "sqrt"} <= KERNELS.keys()


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_the_node_is_that_of_the_function(name: str, numerics: Numerics, monkeypatch: pytest.MonkeyPatch) -> None:
    output = make(name)
    model, expected = translate(collect({"y": output}), numerics), without_kernels(monkeypatch, output, numerics)
    assert model.proto == expected.proto
    assert model.results == {index: tuple(values) for index, values in expected.results.items()}
    assert [node.op_type for node in model.proto.graph.node] == [KERNELS[name]] * 2


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_other_types_are_left_to_the_function(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    types = shared_context(CURRENT).opSupportLimits()[name][OPERATIONS[name].operands[0]]["dataTypes"]
    for dataType in types:
        output = make(name, dataType)
        assert translate(collect({"y": output})).proto == without_kernels(monkeypatch, output).proto, dataType


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_transposes_are_left_to_the_function(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    output = make(name, transposed=True)
    model = translate(collect({"y": output}))
    assert model.proto == without_kernels(monkeypatch, output).proto
    if TRANSLATIONS[name].elementwise:
        # The transpose stands behind both nodes.
        assert [node.op_type for node in model.proto.graph.node] == [KERNELS[name]] * 2 + ["Transpose"]


def test_the_largest_value_is_counted() -> None:
    builder = MLGraphBuilder(shared_context(CURRENT))
    x = builder.input("x", dataType="float32", shape=[4, 5])
    weight = builder.constant({"dataType": "float32", "shape": [5, 300]}, np.ones((5, 300), np.float32))
    row = builder.input("row", dataType="float32", shape=[1])
    assert translate(collect({"y": builder.relu(x)})).largest == 20
    assert translate(collect({"y": builder.matmul(x, weight)})).largest == 1500
    assert translate(collect({"y": builder.relu(row), "z": builder.expand(row, [60, 50])})).largest == 3000
    assert translate(collect({"y": builder.reduceSum(x)})).largest == 20
