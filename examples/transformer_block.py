"""A transformer block, as language models stack them: attention, then a small network, each around a residual.

The block is causal: a token sees itself and those before it. The program computes it over a few tokens, compares the answer with NumPy's,
and shows that a later token changes no earlier one.

Run it: ``python examples/transformer_block.py``; see what devices say about it: ``webnn check examples/transformer_block.py``
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from webnn import ML, MLContext, MLGraph, MLGraphBuilder, MLOperand

WORDS, WIDTH, HEADS, TOKENS = 50, 32, 4, 8
HIDDEN = 4 * WIDTH
EPSILON = 1e-5
#: A later token adds this to a score. Minus infinity would make NaN in float16.
MASKED = -1e4
TOLERANCE = 1e-5

Weights = Mapping[str, NDArray[np.float32]]


def random_weights() -> Weights:
    random = np.random.default_rng(0)
    shapes = {
        "embedding": (WORDS, WIDTH),
        "query": (WIDTH, WIDTH),
        "key": (WIDTH, WIDTH),
        "value": (WIDTH, WIDTH),
        "projection": (WIDTH, WIDTH),
        "up": (WIDTH, HIDDEN),
        "down": (HIDDEN, WIDTH),
    }
    return {name: (random.standard_normal(shape) / math.sqrt(shape[0])).astype(np.float32) for name, shape in shapes.items()}


class Block:
    """Builds the block.

    Args:
        context: The context that compiles and computes it.
        weights: The matrices by name.
    """

    def __init__(self, context: MLContext, weights: Weights) -> None:
        self.builder = MLGraphBuilder(context)
        self.weights = weights

    def constant(self, values: NDArray[np.float32]) -> MLOperand:
        """A float32 constant with these values."""
        return self.builder.constant({"dataType": "float32", "shape": values.shape}, values)

    def multiply(self, x: MLOperand, name: str) -> MLOperand:
        """Multiply with the matrix of this name."""
        return self.builder.matmul(x, self.constant(self.weights[name]), label=name)

    def heads(self, x: MLOperand) -> MLOperand:
        """Split the width: [tokens, width] becomes [heads, tokens, width of a head]."""
        return self.builder.transpose(self.builder.reshape(x, [TOKENS, HEADS, WIDTH // HEADS]), permutation=[1, 0, 2])

    def attention(self, x: MLOperand) -> MLOperand:
        """Mix what the tokens know, each with those before it: a share for each, by head."""
        b = self.builder
        query, key, value = (self.heads(self.multiply(x, name)) for name in ("query", "key", "value"))
        scores = b.matmul(query, b.transpose(key, permutation=[0, 2, 1]), label="scores")
        scores = b.div(scores, b.constant("float32", math.sqrt(WIDTH / HEADS)))
        masked = b.add(scores, self.constant(np.triu(np.full((TOKENS, TOKENS), MASKED, np.float32), 1)), label="mask")
        seen = b.matmul(b.softmax(masked, 2, label="attention"), value)
        return self.multiply(b.reshape(b.transpose(seen, permutation=[1, 0, 2]), [TOKENS, WIDTH]), "projection")

    def normalize(self, x: MLOperand, label: str) -> MLOperand:
        """Give every token the mean 0 and the variance 1."""
        return self.builder.layerNormalization(x, axes=[1], epsilon=EPSILON, label=label)

    def build(self) -> MLGraph:
        """Build and compile: ``tokens`` is int64 [tokens], as exported models have them; ``output`` float32 [tokens, width]."""
        b = self.builder
        tokens = b.input("tokens", dataType="int64", shape=[TOKENS])
        x = b.gather(self.constant(self.weights["embedding"]), tokens, label="embedding")
        x = b.add(x, self.attention(self.normalize(x, "norm1")))
        x = b.add(x, self.multiply(b.gelu(self.multiply(self.normalize(x, "norm2"), "up")), "down"))
        return b.buildSync({"output": x})


def reference(tokens: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """Compute the block in NumPy, in double precision."""
    erf = np.vectorize(math.erf)

    def normalize(x: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = x - x.mean(1, keepdims=True)
        return np.asarray(centred / np.sqrt((centred**2).mean(1, keepdims=True) + EPSILON))

    def heads(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return x.reshape(TOKENS, HEADS, WIDTH // HEADS).transpose(1, 0, 2)

    x = weights["embedding"].astype(np.float64)[tokens]
    query, key, value = (heads(normalize(x) @ weights[name]) for name in ("query", "key", "value"))
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH / HEADS) + np.triu(np.full((TOKENS, TOKENS), MASKED), 1)
    powers = np.exp(scores - scores.max(2, keepdims=True))
    seen = powers / powers.sum(2, keepdims=True) @ value
    x = x + seen.transpose(1, 0, 2).reshape(TOKENS, WIDTH) @ weights["projection"]
    up = normalize(x) @ weights["up"]
    return np.asarray(x + (up * 0.5 * (1 + erf(up / math.sqrt(2)))) @ weights["down"])


def main() -> None:
    weights = random_weights()
    context = ML(revision="2026-06").createContextSync()
    graph = Block(context, weights).build()
    given = context.createTensorSync(dataType="int64", shape=[TOKENS], writable=True)
    result = context.createTensorSync(dataType="float32", shape=[TOKENS, WIDTH], readable=True)

    def compute(tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        context.writeTensor(given, tokens)
        context.dispatch(graph, {"tokens": given}, {"output": result})
        return np.asarray(context.readTensorSync(result))

    tokens = np.array([3, 14, 15, 9, 26, 5, 35, 8], np.int64)
    output = compute(tokens)
    changed = compute(np.where(np.arange(TOKENS) == TOKENS - 1, 0, tokens))
    print(f"the last token is now: {np.round(output[-1, :4], 4)}")
    print(f"another last token changes the rows: {np.flatnonzero(np.any(output != changed, axis=1)).tolist()}")
    difference = float(np.abs(output - reference(tokens, weights)).max())
    print(f"as NumPy computes it, within {TOLERANCE:.0e}: {difference <= TOLERANCE}")


if __name__ == "__main__":
    main()
