"""``webnn generate``: text on the standard output, figures behind it, JSON for machines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import onnx
import pytest

from tests.command_line import call
from tests.context.devices import inventories
from tests.context.devices.inventories import make_inventory
from tests.support import each_row
from tests.webnn.generate.decoders import save_config, save_decoder, save_tokenizer
from webnn.generate import command
from webnn.generate.model import Generation, Token
from webnn.generate.report import Difference


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    save_decoder(folder / "model.onnx")
    return folder


def test_tokens_without_a_tokenizer(folder: Path) -> None:
    code, out, err = call("generate", folder, "--tokens", "1,2,3", "--max-new-tokens", 4, "--compare", "onnxruntime", "--cache", "static")
    assert code == 0
    assert len([int(each) for each in out.split()]) == 4
    for part in (
        "3 prompt tokens, 4 new tokens (the most that were wanted)",
        "tokens per second",
        "2 sessions compiled in ",
        "a cache of 768 bytes in 16.0 KiB of tensors",
        "onnxruntime: 4 new tokens",
        "the same tokens",
    ):
        assert part in err, err


def test_text(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="needs tokenizers, the extra `generate`")
    save_decoder(save_tokenizer(tmp_path) / "model.onnx")
    arguments = ["generate", tmp_path, "--prompt", "Hi", "--max-new-tokens", 6, "--seed", 3, "--eos", "", "--cache", "static"]
    code, out, _ = call(*arguments)
    found = json.loads(call(*arguments, "--json")[1])
    assert code == 0
    assert (found["promptTokens"], found["newTokens"], len(found["tokens"]), found["finish"]) == (2, 6, 6, "tokens")
    assert (found["kind"], found["comparison"], found["lengths"]) == ("cache", None, "padded")
    assert out.endswith("\n")
    # Control characters are written as escapes.
    assert (out[:-1] == found["text"]) == found["text"].isprintable()


def test_json_of_a_comparison(folder: Path) -> None:
    code, out, _ = call(
        "generate", folder, "--tokens", "5", "--max-new-tokens", 3, "--compare", "onnxruntime", "--json", "--cache", "static"
    )
    found = json.loads(out)
    assert (code, found["text"], found["comparison"]["same"], found["comparison"]["difference"]) == (0, None, True, None)
    assert found["comparison"]["other"]["newTokens"] == 3
    assert found["cacheBytes"] > 0


def test_a_difference_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    differ = Difference(position=1, tokens=(7, 9), scores=((2.5, 2.25), (1, 1.125)), gaps=(0.25, 0.125))

    def take_turns(one: Generation, other: Generation, found: list[Difference]) -> object:
        found.append(differ)
        yield from one

    monkeypatch.setattr(command, "take_turns", take_turns)
    code, _, err = call("generate", folder, "--tokens", "5", "--max-new-tokens", 3, "--compare", "onnxruntime")
    assert code == 1
    assert "the tokens differ from number 1 on: 7 here, 9 in onnxruntime" in err
    assert "scores here: 2.5 and 2.25, 0.25 above the other one" in err


def test_lengths_without_masks_are_announced(tmp_path: Path) -> None:
    save_decoder(tmp_path / "model.onnx", mask=False)
    _, _, err = call("generate", tmp_path, "--tokens", "1,2", "--max-new-tokens", 2, "--cache", "static")
    assert "webnn: each length is compiled: it has no input attention_mask" in err


def test_a_device_that_is_not_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_SIMULATORS", "0")
    inventories.install(monkeypatch, make_inventory())
    code, out, err = call("generate", folder, "--tokens", "1,2,3", "--max-new-tokens", 2, "--device", "npu", "--cache", "static")
    assert (code, len(out.split())) == (0, 2)
    assert err.count('webnn: createContext: deviceType "npu"') + err.count('webnn: deviceType "npu" runs on the CPU here') == 1
    code, _, err = call("generate", folder, "--tokens", "1,2,3", "--device", "npu", "--fallback", "deny")
    assert (code, 'deviceType "npu" would run on the CPU here' in err) == (1, True)


def test_an_interrupt_ends_with_the_figures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Generation.__next__

    def interrupt(self: Generation) -> Token:
        if len(self.ids) == 2:
            raise KeyboardInterrupt
        return step(self)

    monkeypatch.setattr(Generation, "__next__", interrupt)
    code, out, err = call("generate", folder, "--tokens", "1,2,3")
    assert (code, len(out.split())) == (130, 2)
    assert "2 new tokens (interrupted)" in err


def test_an_interrupt_before_the_first_token(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "load", interrupt)
    assert call("generate", folder, "--tokens", "1")[::2] == (130, "webnn: interrupted before the first token\n")


@each_row(
    ("arguments", "message"),
    [
        ([], "either --prompt or --tokens must be given"),
        (["--prompt", "a", "--tokens", "1"], "either --prompt or --tokens must be given"),
        (["--tokens", "1,x"], "--tokens must be numbers such as 1,2,3, got '1,x'"),
        (["--tokens", "1,-2"], "prompt must be tokens from 0"),
        (["--tokens", ""], "the prompt must have at least one token"),
        (["--tokens", "1", "--eos", "end"], "--eos must be numbers"),
        (["--tokens", "1", "--temperature", "nan"], "'--temperature'"),
        (["--tokens", "1", "--revision", "2026-07"], "2026-07"),
        (["--tokens", "1", "--profile", "nothing"], "nothing"),
        (["--tokens", "1", "--revision", "2024-06"], "must have tensors, as 2026-06 has, got 2024-06"),
        (["--prompt", "Hi"], "a text needs a tokenizer"),
    ],
)
def test_wrong_calls(arguments: list[str], message: str, folder: Path) -> None:
    code, out, err = call("generate", folder, *arguments)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.processes
def test_a_model_that_cannot_be_imported(tmp_path: Path) -> None:
    model = onnx.load(save_decoder(tmp_path / "model.onnx"))
    model.graph.node[-1].output[0] = "scores"
    # How many there are depends on the scores.
    model.graph.node.append(onnx.helper.make_node("NonZero", ["scores"], ["places"]))
    model.graph.node.append(onnx.helper.make_node("Cast", ["places"], ["numbers"], to=onnx.TensorProto.FLOAT))
    model.graph.node.append(onnx.helper.make_node("Add", ["scores", "numbers"], ["logits"]))
    onnx.save(model, tmp_path / "model.onnx")
    for cache in ("static", "auto"):
        code, out, err = call("generate", tmp_path, "--tokens", "1,2", "--cache", cache)
        assert (code, out) == (1, "")
        assert "NonZero" in err


def test_files_that_are_not_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("generate", tmp_path / "none", "--tokens", "1")[::2] == (
        2,
        f"webnn: {tmp_path / 'none'} is not there: a model is a folder or a file .onnx\n",
    )
    save_decoder(tmp_path / "model.onnx")
    save_config(tmp_path, eos_token_id="x")
    code, _, err = call("generate", tmp_path, "--tokens", "1")
    assert (code, "eos_token_id must be a token" in err) == (2, True)
    save_config(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    code, _, err = call("generate", tmp_path, "--tokens", "1")
    assert (code, "text needs the package tokenizers" in err) == (2, True)
