"""A language model that writes, built operation by operation: a decoder with grouped-query attention and rotary positions.

One graph takes one token and chooses the next one. The keys and values of earlier tokens stay in tensors of the context in one of two ways:

- ``--cache static``: as a browser has it. All shapes are fixed. A step writes its row at a position, and attention looks at the rows up to
  it.
- ``--cache growing``: with the proposal dynamic-shapes (docs/proposals/dynamic-shapes.md). The cache has a dimension with the name "past",
  and each step returns one that is a row longer. It begins without rows, which the proposal zero-size allows.

Both say the same. Run it: ``python examples/language_model/decode.py "At last the boats"``. It needs the package ``tokenizers``.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from webnn import ML, MLContext, MLGraph, MLGraphBuilder, MLOperand, MLTensor

MODEL = Path(__file__).resolve().parent / "model"
REVISIONS = {"static": "2026-06", "growing": "2026-06+dynamic-shapes+zero-size"}
#: The score of a place without a token yet.
MASKED = -1e9

Way = Literal["static", "growing"]
Weights = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """The sizes of the network.

    Attributes:
        layers: The number of layers.
        heads: The heads of queries in a layer.
        keyHeads: The heads of keys and values; each is shared by `heads / keyHeads` heads of queries.
        size: The numbers of a head.
        context: The most tokens that the model can read.
        theta: The base of the rotary angles.
        epsilon: RMS normalization adds it to a mean square.
        end: The number of the token that ends a text.
    """

    layers: int
    heads: int
    keyHeads: int
    size: int
    context: int
    theta: float
    epsilon: float
    end: int

    @classmethod
    def read(cls, folder: Path) -> Sizes:
        """Read config.json."""
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return cls(
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            keyHeads=config["num_key_value_heads"],
            size=config["head_dim"],
            context=config["max_position_embeddings"],
            theta=config["rope_theta"],
            epsilon=config["rms_norm_eps"],
            end=config["eos_token_id"],
        )


def read_weights(folder: Path) -> Weights:
    """Read the weights of model.onnx. Matrices of products are [input, output]; the embedding is [vocabulary, width]."""
    tensors = onnx.load(folder / "model.onnx").graph.initializer
    return {each.name: numpy_helper.to_array(each).astype(np.float32) for each in tensors if each.name.startswith("model.")}


def cache_names(sizes: Sizes) -> list[str]:
    """Return the names of the parts of the cache."""
    return [f"{kind}{layer}" for layer in range(sizes.layers) for kind in ("keys", "values")]


def build(context: MLContext, weights: Weights, sizes: Sizes, way: Way, length: int) -> MLGraph:
    """Build one step.

    Inputs and outputs have the same names: ``token`` and ``position``, int32 [1]; ``keys0``, ``values0`` and so on for each layer, float32
    [key heads, length, size]. The length is the name "past" in inputs of a growing cache.
    """
    b: Any = MLGraphBuilder(context)
    group = sizes.heads // sizes.keyHeads

    def constant(values: NDArray[Any]) -> MLOperand:
        operand: MLOperand = b.constant({"dataType": str(values.dtype), "shape": values.shape}, values)
        return operand

    def multiply(x: MLOperand, name: str) -> MLOperand:
        """Return the product [1, output] of a row [1, input] and a matrix."""
        product: MLOperand = b.matmul(x, constant(weights[f"model.{name}.weight"]), label=name)
        return product

    def normalize(x: MLOperand, name: str) -> MLOperand:
        """Divide a row [1, width] by the root of its mean square."""
        mean = b.reduceMean(b.mul(x, x), axes=[1], keepDimensions=True)
        normal = b.div(x, b.sqrt(b.add(mean, b.constant("float32", sizes.epsilon))))
        scaled: MLOperand = b.mul(normal, constant(weights[f"model.{name}.weight"]), label=name)
        return scaled

    def rotate(x: MLOperand, heads: int) -> MLOperand:
        """Turn pairs of numbers, one of each half of a head, by the angles of the position: [1, heads * size] to [heads, 1, size]."""
        rows = b.reshape(x, [heads, 1, sizes.size])
        left, right = b.split(rows, 2, axis=2)
        turned: MLOperand = b.add(b.mul(rows, cosines), b.mul(b.concat([b.neg(right), left], 2), sines))
        return turned

    def remember(cache: MLOperand, row: MLOperand) -> MLOperand:
        """Add a row [key heads, 1, size] to a part of the cache."""
        kept: MLOperand = b.concat([cache, row], 1) if way == "growing" else b.scatterND(cache, here, row)
        return kept

    token, position = (b.input(name, {"dataType": "int32", "shape": [1]}) for name in ("token", "position"))
    parts = {"dataType": "float32", "shape": [sizes.keyHeads, "past" if way == "growing" else length, sizes.size]}
    cache = {name: b.input(name, parts) for name in cache_names(sizes)}
    places = constant(np.arange(length, dtype=np.int32).reshape(1, 1, length))
    seen = b.lesserOrEqual(places, position)
    # The place of a row in a part of the cache: its head and its position.
    eachHead = constant(np.arange(sizes.keyHeads, dtype=np.int32).reshape(sizes.keyHeads, 1, 1))
    here = b.concat([eachHead, b.expand(b.reshape(position, [1, 1, 1]), [sizes.keyHeads, 1, 1])], 2)

    frequencies = sizes.theta ** -(np.arange(0, sizes.size, 2, dtype=np.float32) / np.float32(sizes.size))
    half = b.mul(b.cast(position, "float32"), constant(frequencies.astype(np.float32)))
    angles = b.concat([half, half], 0)
    cosines, sines = b.cos(angles), b.sin(angles)
    scale = b.constant("float32", 1 / math.sqrt(sizes.size))
    words = constant(weights["model.embed_tokens.weight"])

    x = b.gather(words, token)
    outputs = {}
    for layer in range(sizes.layers):
        normal = normalize(x, f"layers.{layer}.input_layernorm")
        query, key, value = (multiply(normal, f"layers.{layer}.self_attn.{name}_proj") for name in "qkv")
        row = b.reshape(value, [sizes.keyHeads, 1, sizes.size])
        keys = outputs[f"keys{layer}"] = remember(cache[f"keys{layer}"], rotate(key, sizes.keyHeads))
        values = outputs[f"values{layer}"] = remember(cache[f"values{layer}"], row)
        # The heads that share keys and values are the rows of one product.
        queries = b.reshape(rotate(query, sizes.heads), [sizes.keyHeads, group, sizes.size])
        scores = b.mul(b.matmul(queries, b.transpose(keys, permutation=[0, 2, 1])), scale)
        if way == "static":
            scores = b.where(seen, scores, b.constant("float32", MASKED))
        found = b.reshape(b.matmul(b.softmax(scores, 2), values), [1, sizes.heads * sizes.size])
        x = b.add(x, multiply(found, f"layers.{layer}.self_attn.o_proj"))
        normal = normalize(x, f"layers.{layer}.post_attention_layernorm")
        gate = multiply(normal, f"layers.{layer}.mlp.gate_proj")
        hidden = b.mul(b.mul(gate, b.sigmoid(gate)), multiply(normal, f"layers.{layer}.mlp.up_proj"))
        x = b.add(x, multiply(hidden, f"layers.{layer}.mlp.down_proj"))
    logits = b.gemm(normalize(x, "norm"), words, bTranspose=True)
    chosen = b.argMax(logits, 1, outputDataType="int32")
    graph: MLGraph = b.buildSync({"token": chosen, "position": b.add(position, b.constant("int32", 1)), **outputs})
    return graph


class Decoder:
    """A model that chooses tokens, one after the other.

    Args:
        folder: The folder of the model: model.onnx and config.json.
        way: How keys and values are kept.
        length: The most tokens that a static cache holds, at most the context of the model; the context if it is not given.

    Attributes:
        sizes: The sizes of the network.
        length: The most tokens that it can read.
        context: The context in which it computes.
    """

    def __init__(self, folder: Path = MODEL, way: Way = "static", length: int | None = None) -> None:
        self.sizes = Sizes.read(folder)
        self.length = length or self.sizes.context
        if not 0 < self.length <= self.sizes.context:
            raise ValueError(f"length must be from 1 to {self.sizes.context}, the context of the model, got {length}")
        self._way = way
        revision: Any = REVISIONS[way]
        self.context = ML(revision=revision).createContextSync()
        self._graph = build(self.context, read_weights(folder), self.sizes, way, self.length)
        # No tensor may be an input and an output of one dispatch: two sets take turns.
        self._numbers = [{name: self._tensor("int32", [1]) for name in ("token", "position")} for _ in range(2)]
        self._caches = [self._cache(self.length) for _ in range(2)] if way == "static" else []

    def _tensor(self, dataType: str, shape: Sequence[int]) -> MLTensor:
        descriptor: Any = {"dataType": dataType, "shape": shape, "readable": True, "writable": True}
        return self.context.createTensorSync(descriptor)

    def _cache(self, length: int) -> dict[str, MLTensor]:
        return {name: self._tensor("float32", [self.sizes.keyHeads, length, self.sizes.size]) for name in cache_names(self.sizes)}

    def generate(self, prompt: Sequence[int], count: int) -> Generator[int, None, None]:
        """Yield the most likely tokens after a prompt, each as soon as it is known.

        Args:
            prompt: The numbers of its tokens, at least one.
            count: The most tokens to yield. Fewer come if the text ends, or if the model can read no more.

        Raises:
            ValueError: The prompt is empty, or longer than the model can read.
        """
        if not 0 < len(prompt) <= self.length:
            raise ValueError(f"prompt must have from 1 to {self.length} tokens, got {len(prompt)}")
        old, new = self._numbers
        caches = self._caches or [self._cache(0), {}]
        self.context.writeTensor(old["position"], np.zeros(1, np.int32))
        try:
            for position in range(min(len(prompt) - 1 + count, self.length)):
                if position < len(prompt):
                    self.context.writeTensor(old["token"], np.array([prompt[position]], np.int32))
                if self._way == "growing":
                    caches[1] = self._cache(position + 1)
                self.context.dispatch(self._graph, {**old, **caches[0]}, {**new, **caches[1]})
                if position >= len(prompt) - 1:
                    token = int(self.context.readTensorSync(new["token"])[0])
                    if token == self.sizes.end:
                        return
                    yield token
                if self._way == "growing":
                    _destroy(caches[0])
                old, new = new, old
                caches = caches[::-1]
        finally:
            if self._way == "growing":
                for each in caches:
                    _destroy(each)


def _destroy(tensors: Mapping[str, MLTensor]) -> None:
    for tensor in tensors.values():
        tensor.destroy()


def main() -> None:
    """Write what the model says after a prompt."""
    parser = argparse.ArgumentParser(description="Let a small language model write.")
    parser.add_argument("prompt", help="how the text begins")
    parser.add_argument("--count", type=int, default=100, help="the most tokens to write")
    parser.add_argument("--cache", choices=[*REVISIONS], default="static", help="how keys and values are kept")
    parser.add_argument("--model", type=Path, default=MODEL, help="the folder of the model")
    arguments = parser.parse_args()
    # Imported here: programs that have numbers of tokens do not need it.
    from tokenizers import Tokenizer  # noqa: PLC0415
    from tokenizers.decoders import DecodeStream  # noqa: PLC0415

    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    # A character can be of several tokens: the stream holds them back until it is whole.
    stream = DecodeStream(skip_special_tokens=True)
    decoder = Decoder(arguments.model, arguments.cache)
    print(arguments.prompt, end="", flush=True)
    for token in decoder.generate(tokenizer.encode(arguments.prompt).ids, arguments.count):
        print(stream.step(tokenizer, token) or "", end="", flush=True)
    print()


if __name__ == "__main__":
    main()
