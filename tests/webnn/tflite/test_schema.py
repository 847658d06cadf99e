from __future__ import annotations

import struct
import sys
from typing import Any

import pytest

from tests.webnn.tflite.cases import CASES
from webnn.tflite import TFLiteMissingError, schema


def test_names() -> None:
    assert schema.names_of("TensorType")[0] == "FLOAT32"
    assert schema.names_of("BuiltinOperator")[3] == "CONV_2D"


def test_accessors() -> None:
    found = {name: is_vector for name, is_vector, _ in schema.accessors("ReshapeOptions")}
    assert found == {"NewShape": True}
    assert {name for name, _, _ in schema.accessors("SoftmaxOptions")} == {"Beta"}


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tflite", None)
    schema.load_schema.cache_clear()
    try:
        with pytest.raises(TFLiteMissingError, match=r"^TFLite models need the package tflite: .*pip install"):
            schema.load_schema()
    finally:
        schema.load_schema.cache_clear()


@pytest.mark.parametrize("case", ["conv 0 0 2 1", "RELU quantized"])
def test_quick_tables_have_the_same_fields(case: str) -> None:
    def read(table: Any) -> list[Any]:
        return [table.ShapeAsNumpy().tolist(), table.Type(), table.Buffer(), table.Name(), table.IsVariable(), table.HasRank()]

    lists: schema.Lists = {}
    graph = schema.load_schema().Model.GetRootAs(CASES[case], 0).Subgraphs(0)
    assert graph.TensorsLength()
    for index in range(graph.TensorsLength()):
        plain = read(graph.Tensors(index))
        assert read(schema.quicken(graph.Tensors(index), lists)) == plain


@pytest.mark.parametrize("distance", [1, -100], ids=["before the file", "behind it"])
def test_a_quick_table_outside_of_its_file(distance: int) -> None:
    table = schema.load_schema().Tensor()
    table.Init(distance.to_bytes(4, "little", signed=True) + bytes(4), 0)
    with pytest.raises(struct.error):
        schema.quicken(table, {})
