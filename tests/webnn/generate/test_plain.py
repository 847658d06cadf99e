"""The other side says what it cannot run."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from tests.webnn.generate.decoders import save_decoder
from webnn import OperationError
from webnn.generate.layout import find_layout
from webnn.generate.plain import PlainModel


def test_a_model_that_onnxruntime_refuses(tmp_path: Path) -> None:
    model = onnx.load(save_decoder(tmp_path / "decoder.onnx"))
    model.graph.node.append(onnx.helper.make_node("Unheard", ["logits"], ["y"]))
    onnx.save(model, tmp_path / "decoder.onnx")
    with pytest.raises(OperationError, match=r"decoder\.onnx: onnxruntime cannot run the model: .*Unheard"):
        PlainModel(find_layout(tmp_path)[0])


def test_a_token_that_the_model_does_not_have(tmp_path: Path) -> None:
    layout, _ = find_layout(save_decoder(tmp_path / "decoder.onnx"))
    run = PlainModel(layout, optimize=False).start([7], [7])
    with pytest.raises(OperationError, match="onnxruntime cannot run the model"):
        run.feed([5000])
    run.close()
