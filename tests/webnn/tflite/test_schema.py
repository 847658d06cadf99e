from __future__ import annotations

import struct
import sys
from typing import Any

import numpy as np
import pytest

from tests.webnn.tflite.cases import CASES
from webnn.tflite import TFLiteMissingError, schema


def test_names() -> None:
    assert schema.names_of("TensorType")[0] == "FLOAT32"
    assert schema.names_of("BuiltinOperator")[3] == "CONV_2D"


def test_fields() -> None:
    assert {name: each.letter for name, each in schema.fields_of("ReshapeOptions").items()} == {"NewShape": "i"}
    assert [*schema.fields_of("SoftmaxOptions")] == ["Beta"]
    # The accessor of the package reads both fields.
    codes = schema.fields_of("OperatorCode")
    assert codes["BuiltinCode"].slot != codes["DeprecatedBuiltinCode"].slot


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tflite", None)
    schema.load_schema.cache_clear()
    try:
        with pytest.raises(TFLiteMissingError, match=r"^TFLite models need the package tflite: .*pip install"):
            schema.load_schema()
    finally:
        schema.load_schema.cache_clear()


def _compare(record: schema.Record, plain: Any) -> int:
    """Compare the fields of a record with those that the package reads; return how many there are."""
    for name, field in record.fields.items():
        if field.number is not None:
            assert record.number(name) == getattr(plain, name)()
        elif field.is_text:
            assert record.text(name) == getattr(plain, name)()
        elif field.letter:
            wanted, spent = getattr(plain, f"{name}AsNumpy")(), list[int]()
            assert record.numbers(name, spent.append) == (wanted.tolist() if isinstance(wanted, np.ndarray) else [])
            assert sum(spent) == record.length(name)
    return len(record.fields)


@pytest.mark.parametrize("case", ["conv 0 0 2 1", "RELU quantized", "squeeze"])
def test_records_have_the_fields_that_the_package_reads(case: str) -> None:
    package = schema.load_schema()
    plain = package.Model.GetRootAs(CASES[case], 0)
    (code,) = schema.Record.first("Model", CASES[case], {}).tables("OperatorCodes", "OperatorCode")
    assert code.number("DeprecatedBuiltinCode") == plain.OperatorCodes(0).BuiltinCode()
    (record,) = schema.Record.first("Model", CASES[case], {}).tables("Subgraphs", "SubGraph")
    graph = plain.Subgraphs(0)
    tensors = record.tables("Tensors", "Tensor")
    assert len(tensors) == graph.TensorsLength() > 0
    for index, each in enumerate(tensors):
        assert _compare(each, graph.Tensors(index)) > 8
    (operator,) = record.tables("Operators", "Operator")
    assert _compare(operator, graph.Operators(0)) > 8
    kind = schema.names_of("BuiltinOptions")[operator.number("BuiltinOptionsType")]
    if kind != "NONE":
        options, table = operator.table("BuiltinOptions", kind), graph.Operators(0).BuiltinOptions()
        fields = getattr(package, kind)()
        fields.Init(table.Bytes, table.Pos)
        assert options is not None
        assert _compare(options, fields) > 0


def test_missing_fields() -> None:
    record = schema.Record("Tensor", b"\x04\0\x04\0\x04\0\0\0", 4, {})
    assert (record.number("Type"), record.number("IsVariable"), record.text("Name")) == (0, False, None)
    assert (record.length("Shape"), record.array("Shape"), record.numbers("Shape", [].append)) == (0, None, [])
    assert record.table("Quantization", "QuantizationParameters") is None
    assert record.tables("VariantTensors", "VariantSubType") == []


def test_a_vector_outside_of_its_file() -> None:
    # The field is at the end; its vector has more elements than the file has bytes.
    data = struct.pack("<HHH", 6, 8, 4) + struct.pack("<iIII", 6, 4, 1 << 30, 0)
    spent: list[int] = []
    with pytest.raises(ValueError, match="buffer is smaller"):
        schema.Record("Tensor", data, 6, {}).numbers("Shape", spent.append)
    assert spent == []


@pytest.mark.parametrize("distance", [1, -100], ids=["before the file", "behind it"])
def test_a_record_outside_of_its_file(distance: int) -> None:
    with pytest.raises(struct.error):
        schema.Record("Tensor", distance.to_bytes(4, "little", signed=True) + bytes(4), 0, {})
