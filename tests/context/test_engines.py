"""Other engines than ONNX Runtime, by their names."""

from __future__ import annotations

import pytest

from webnn.context.engines import ONNX_RUNTIME, find_engine
from webnn.tflite.engine import ENGINE


def test_an_installed_engine_is_found() -> None:
    assert find_engine("litert") is ENGINE


@pytest.mark.parametrize("name", ["", "none", ONNX_RUNTIME])
def test_other_names(name: str) -> None:
    """ONNX Runtime is not an entry point: every program has it."""
    with pytest.raises(KeyError):
        find_engine(name)
