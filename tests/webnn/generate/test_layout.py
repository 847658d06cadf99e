"""Each kind of model is recognised, and others are refused with everything that is missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from tests.command_line import save_model
from tests.support import each_row
from tests.webnn.generate.decoders import HEADS, SIZE, save_config, save_decoder, save_pair
from webnn.builder.description import FormatError
from webnn.generate.layout import Config, UnsuitableModelError, find_layout, read_config


def test_a_decoder_with_a_cache(tmp_path: Path) -> None:
    layout, folder = find_layout(save_decoder(tmp_path / "any.onnx"))
    assert (layout.kind, folder, layout.unpadded) == ("cache", tmp_path, "")
    assert [(each.past, each.present) for each in layout.cache][:2] == [
        ("past_key_values.0.key", "present.0.key"),
        ("past_key_values.0.value", "present.0.value"),
    ]
    assert {(each.heads, each.size, each.dtype) for each in layout.cache} == {(HEADS, SIZE, "float32")}


def test_an_encoder_and_a_decoder(tmp_path: Path) -> None:
    save_pair(tmp_path)
    for source in (tmp_path, tmp_path / "decoder_model.onnx"):
        layout, folder = find_layout(source)
        assert (layout.kind, folder) == ("encoder", tmp_path)
        assert layout.encoder is not None
        assert "lengths" in layout.unpadded


def test_the_models_may_be_below_the_folder(tmp_path: Path) -> None:
    (tmp_path / "onnx").mkdir()
    save_decoder(tmp_path / "onnx" / "model.onnx")
    layout, folder = find_layout(tmp_path)
    assert (layout.kind, layout.folder, folder) == ("cache", tmp_path / "onnx", tmp_path)


@each_row(
    ("options", "reason"),
    [
        ({"positions": False}, "position_ids"),
        ({"mask": False}, "attention_mask"),
        ({"mask": False, "positions": False}, "attention_mask and position_ids"),
        ({"cache": False}, ""),
        ({"cache": False, "positions": False}, ""),
        ({"cache": False, "mask": False}, "attention_mask"),
    ],
)
def test_why_rows_cannot_be_added(options: dict[str, bool], reason: str, tmp_path: Path) -> None:
    layout, _ = find_layout(save_decoder(tmp_path / "decoder.onnx", **options))
    assert layout.kind == ("cache" if options.get("cache", True) else "whole")
    assert layout.unpadded == (reason and f"it has no input {reason}")


@pytest.mark.parametrize(("domain", "operator"), [("", "DynamicQuantizeLinear"), ("com.microsoft", "GroupQueryAttention")])
def test_operators_that_see_added_rows(domain: str, operator: str, tmp_path: Path) -> None:
    model = onnx.load(save_decoder(tmp_path / "decoder.onnx"))
    model.graph.node.append(onnx.helper.make_node(operator, ["logits"], ["a", "b", "c"], domain=domain))
    onnx.save(model, tmp_path / "decoder.onnx")
    assert operator in find_layout(tmp_path)[0].unpadded


# Refused models


def rename(old: str, new: str) -> Callable[[onnx.ModelProto], None]:
    def change(model: onnx.ModelProto) -> None:
        for info in [*model.graph.input, *model.graph.output]:
            info.name = new if info.name == old else info.name

    return change


def retype(model: onnx.ModelProto) -> None:
    for info in model.graph.input[:2]:
        info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT


def fix_batch(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2


def fix_past(model: onnx.ModelProto) -> None:
    model.graph.input[3].type.tensor_type.shape.dim[2].dim_value = 64


def make_scalar(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.shape.ClearField("dim")


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        (rename("input_ids", "pixels"), ["the input input_ids is missing, int64 [1, sequence]", "the input 'pixels' is not known"]),
        (rename("logits", "scores"), ["the output logits is missing, float32 [1, sequence, vocabulary]"]),
        (rename("present.1.key", "new"), ["the output present.1.key is missing"]),
        (rename("past_key_values.0.value", "x"), ["the input past_key_values.0.value is missing", "'x' is not known"]),
        (rename("past_key_values.1.key", "past_key_values.3.key"), ["the inputs past_key_values.2.key and past_key_values.2.value are"]),
        (retype, ["the input input_ids must be int64 or int32 [1, sequence], got float32 [batch_size, sequence_length]", "attention_mask"]),
        (fix_batch, ["the input input_ids must be int64 or int32 [1, sequence], got int64 [2, sequence_length]"]),
        (fix_past, ["the input past_key_values.0.key must have a number of heads, an open length and a size"]),
        (make_scalar, ["the input input_ids must be int64 or int32 [1, sequence], got int64 []"]),
    ],
)
def test_a_refusal_names_all_reasons(change: Callable[[onnx.ModelProto], None], reasons: list[str], tmp_path: Path) -> None:
    path = save_decoder(tmp_path / "decoder.onnx")
    model = onnx.load(path)
    change(model)
    onnx.save(model, path)
    with pytest.raises(UnsuitableModelError) as caught:
        find_layout(path)
    assert str(caught.value).startswith(f"{path} cannot generate tokens, for ")
    assert [reason for reason in reasons if reason not in str(caught.value)] == []


def test_a_refusal_of_many_layers_is_short(tmp_path: Path) -> None:
    path = save_decoder(tmp_path / "decoder.onnx")
    model = onnx.load(path)
    rename("past_key_values.1.key", "past_key_values.9999.key")(model)
    onnx.save(model, path)
    with pytest.raises(UnsuitableModelError, match=r"\n  and [\d]+ more$"):
        find_layout(path)


def test_the_states_of_encoder_and_decoder_must_fit(tmp_path: Path) -> None:
    save_pair(tmp_path)
    model = onnx.load(tmp_path / "encoder_model.onnx")
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    model.graph.input[0].name = "ids"
    onnx.save(model, tmp_path / "encoder_model.onnx")
    with pytest.raises(UnsuitableModelError) as caught:
        find_layout(tmp_path)
    assert "encoder_model.onnx: the input input_ids is missing" in str(caught.value)
    assert "float16 from the encoder and float32 in the decoder" in str(caught.value)


def test_folders_without_a_language_model(tmp_path: Path) -> None:
    with pytest.raises(UnsuitableModelError, match=r"has no model: a folder must have model\.onnx"):
        find_layout(tmp_path)
    with pytest.raises(UnsuitableModelError, match="nothing is not there: a model is a folder"):
        find_layout(tmp_path / "nothing")
    for name in ("a.onnx", "b.onnx"):
        save_decoder(tmp_path / name)
    with pytest.raises(UnsuitableModelError, match=r"got a\.onnx, b\.onnx: give the file of a decoder"):
        find_layout(tmp_path)
    save_pair(tmp_path)
    (tmp_path / "encoder_model.onnx").unlink()
    with pytest.raises(UnsuitableModelError, match=r"its encoder is missing: there is no encoder\.onnx or encoder_model\.onnx"):
        find_layout(tmp_path / "decoder_model.onnx")


def test_a_file_that_is_not_a_model(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"\xff" * 64)
    with pytest.raises(FormatError):
        find_layout(tmp_path)
    image = '<ir_version: 9, opset_import: ["" : 20]> m (float[1, 3] image) => (float[1, 3] y) { y = Relu(image) }'
    with pytest.raises(UnsuitableModelError, match="for 3 reasons"):
        find_layout(save_model(tmp_path / "model.onnx", image))


# Settings


def test_settings(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config()
    save_config(tmp_path, eos_token_id=1, bos_token_id=2, n_positions=5, decoder_start_token_id=None)
    assert read_config(tmp_path) == Config(eos=frozenset([1]), bos=2, longest=5)
    save_config(tmp_path, "generation_config.json", eos_token_id=[3, 4], decoder_start_token_id=7)
    assert read_config(tmp_path) == Config(eos=frozenset([3, 4]), bos=2, start=7, longest=5)


@each_row(
    ("text", "message"),
    [
        ("[1]", "must be a JSON object"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"eos_token_id": "end"}', "eos_token_id must be a token"),
        ('{"eos_token_id": [1, -1]}', "eos_token_id must be a token"),
        ('{"bos_token_id": true}', "bos_token_id must be a token"),
        ('{"n_positions": 1e400}', "n_positions must be a token"),
        (" " * (2**20 + 1), "at most 1,048,576 bytes"),
    ],
)
def test_settings_that_are_wrong(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        read_config(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(FormatError, match="a pipe"):
        read_config(tmp_path)
