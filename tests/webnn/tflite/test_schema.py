from __future__ import annotations

import sys

import pytest

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
