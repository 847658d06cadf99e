"""Tiny language models with random weights, and a tokenizer of bytes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import onnx

from tests.command_line import save_model

HEADS, SIZE, LAYERS = 2, 4, 2
WIDTH = HEADS * SIZE
#: The bytes, and the end token.
WORDS = 257
END = WORDS - 1
PLACES = 400

_HEAD = '<ir_version: 9, opset_import: ["" : 20]>'
_CONSTANTS = f"""<int64[1] zero_1 = {{0}}, int64 zero = {{0}}, int64 one = {{1}}, int64[1] one_1 = {{1}}, int64[2] middle = {{1, 2}},
 int64[4] apart = {{0, 0, {HEADS}, {SIZE}}}, int64[3] joined = {{0, 0, {WIDTH}}}, float none = {{0.0}}, float low = {{-10000.0}}>"""


def _attention(layer: int, *, cache: bool) -> str:
    lines = []
    for name in "qkv":
        lines.append(f"{name}m{layer} = MatMul(x{layer}, w{name}{layer})")
        lines.append(f"{name}r{layer} = Reshape({name}m{layer}, apart)")
        lines.append(f"{name}{layer} = Transpose<perm = [0, 2, 1, 3]>({name}r{layer})")
    keys, values = (f"present_{layer}_key", f"present_{layer}_value") if cache else (f"k{layer}", f"v{layer}")
    if cache:
        lines.append(f"{keys} = Concat<axis = 2>(past_key_values_{layer}_key, k{layer})")
        lines.append(f"{values} = Concat<axis = 2>(past_key_values_{layer}_value, v{layer})")
    return "\n".join(
        [
            *lines,
            f"kt{layer} = Transpose<perm = [0, 1, 3, 2]>({keys})",
            f"s{layer} = MatMul(q{layer}, kt{layer})",
            f"b{layer} = Add(s{layer}, bias)",
            f"p{layer} = Softmax<axis = -1>(b{layer})",
            f"m{layer} = MatMul(p{layer}, {values})",
            f"mt{layer} = Transpose<perm = [0, 2, 1, 3]>(m{layer})",
            f"mj{layer} = Reshape(mt{layer}, joined)",
            f"mo{layer} = MatMul(mj{layer}, wo{layer})",
            f"x{layer + 1} = Add(x{layer}, mo{layer})",
        ]
    )


def save_decoder(path: Path, *, cache: bool = True, mask: bool = True, positions: bool = True) -> Path:
    """Write a decoder of the names of Optimum."""
    inputs = ["int64[batch_size, sequence_length] input_ids"]
    inputs += ["int64[batch_size, total_sequence_length] attention_mask"] if mask else []
    inputs += ["int64[batch_size, sequence_length] position_ids"] if positions else []
    outputs = [f"float[batch_size, sequence_length, {WORDS}] logits"]
    for layer in range(LAYERS if cache else 0):
        for kind in ("key", "value"):
            inputs.append(f"float[batch_size, {HEADS}, past_sequence_length, {SIZE}] past_key_values_{layer}_{kind}")
            outputs.append(f"float[batch_size, {HEADS}, total_sequence_length, {SIZE}] present_{layer}_{kind}")
    past = "pasts = Shape<start = 2, end = 3>(past_key_values_0_key)\npast = Squeeze(pasts)" if cache else "past = Identity(zero)"
    text = f"""{_HEAD}
decoder ({", ".join(inputs)}) => ({", ".join(outputs)})
{_CONSTANTS}
{{
    {past}
    rows_1 = Shape<start = 1, end = 2>(input_ids)
    rows = Squeeze(rows_1)
    total = Add(past, rows)
    row_range = Range(past, total, one)
    column_range = Range(zero, total, one)
    row = Unsqueeze(row_range, one_1)
    column = Unsqueeze(column_range, zero_1)
    before = LessOrEqual(column, row)
    {"kept = Cast<to = 9>(attention_mask)" if mask else "kept = Identity(before)"}
    {"kept_4 = Unsqueeze(kept, middle)" if mask else "kept_4 = Identity(kept)"}
    seen = And(before, kept_4)
    bias = Where(seen, none, low)
    word = Gather(words, input_ids)
    {"place = Gather(places, position_ids)" if positions else "place = Identity(word)"}
    x0 = Add(word, place)
    {chr(10).join(_attention(layer, cache=cache) for layer in range(LAYERS))}
    logits = MatMul(x{LAYERS}, out)
}}"""
    weights = {f"w{name}{layer}": (WIDTH, WIDTH) for layer in range(LAYERS) for name in "qkvo"}
    places = {"places": (PLACES, WIDTH)} if positions else {}
    save_model(path, text, words=(WORDS, WIDTH), out=(WIDTH, WORDS), **places, **weights)
    return _rename(path)


def save_pair(folder: Path) -> Path:
    """Write an encoder and a decoder without a cache, and settings; return the folder."""
    inputs = ["int64[batch_size, encoded] input_ids", "int64[batch_size, encoded] attention_mask"]
    save_model(
        folder / "encoder_model.onnx",
        f"""{_HEAD}
encoder ({", ".join(inputs)}) => (float[batch_size, encoded, {WIDTH}] last_hidden_state)
<int64[1] last = {{-1}}>
{{
    word = Gather(words, input_ids)
    kept = Cast<to = 1>(attention_mask)
    kept_3 = Unsqueeze(kept, last)
    mixed = MatMul(word, w)
    last_hidden_state = Mul(mixed, kept_3)
}}""",
        words=(WORDS, WIDTH),
        w=(WIDTH, WIDTH),
    )
    inputs = ["int64[batch_size, sequence_length] input_ids", f"float[batch_size, encoded, {WIDTH}] encoder_hidden_states"]
    text = f"""{_HEAD}
decoder ({", ".join(inputs)}, int64[batch_size, encoded] encoder_attention_mask) => (float[batch_size, sequence_length, {WORDS}] logits)
<int64[1] first = {{1}}, float none = {{0.0}}, float low = {{-10000.0}}>
{{
    x = Gather(words, input_ids)
    t = Transpose<perm = [0, 2, 1]>(encoder_hidden_states)
    s = MatMul(x, t)
    kept = Cast<to = 9>(encoder_attention_mask)
    kept_3 = Unsqueeze(kept, first)
    bias = Where(kept_3, none, low)
    b = Add(s, bias)
    p = Softmax<axis = -1>(b)
    m = MatMul(p, encoder_hidden_states)
    y = Add(x, m)
    total = CumSum(y, first)
    logits = MatMul(total, out)
}}"""
    save_model(folder / "decoder_model.onnx", text, words=(WORDS, WIDTH), out=(WIDTH, WORDS))
    save_config(folder, decoder_start_token_id=0)
    return folder


def save_config(folder: Path, name: str = "config.json", **settings: object) -> None:
    """Write settings beside a model."""
    (folder / name).write_text(json.dumps(settings), encoding="utf-8")


def save_tokenizer(folder: Path) -> Path:
    """Write a tokenizer whose tokens are the bytes, and an end token."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("</s>", special=True)])
    assert tokenizer.get_vocab_size() == WORDS
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _rename(path: Path) -> Path:
    """Give a model the names that ONNX's textual form cannot have."""
    model = onnx.load(path)

    def rename(name: str) -> str:
        return re.sub(r"^(past_key_values|present)_(\d+)_(key|value)$", r"\1.\2.\3", name)

    for node in model.graph.node:
        node.input[:] = [rename(each) for each in node.input]
        node.output[:] = [rename(each) for each in node.output]
    for info in [*model.graph.input, *model.graph.output]:
        info.name = rename(info.name)
    onnx.save(model, path)
    return path
