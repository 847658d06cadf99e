"""A loop as language models run it: each step makes one token, and the keys and values of earlier tokens stay in tensors.

No tensor may be an input and an output of one dispatch. So there are two sets of tensors, which take turns: a step reads one and writes the
other. `webnn.inspect.record_waste` shows that a step copies nothing but the token that the program reads, and that it makes no tensor.

Run it: ``python examples/decode_loop.py``. ``--leak`` and ``--round-trip`` add mistakes that the report names: a tensor for each step that
nobody destroys, and keys that go through the program's memory.
"""

import math
import sys
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

import webnn.inspect
from webnn import ML, MLContext, MLGraph, MLGraphBuilder, MLOperand, MLTensor

WORDS, WIDTH, HEADS, LENGTH, STEPS = 64, 32, 4, 256, 200
DEPTH = WIDTH // HEADS
#: The score of a place without a token yet.
MASKED = -1e4
#: By how much the score of a chosen token may be below the best one in double precision.
TOLERANCE = 1e-4

Weights = Mapping[str, NDArray[np.float32]]


def random_weights() -> Weights:
    random = np.random.default_rng(0)
    shapes = {
        "words": (WORDS, WIDTH),
        "places": (LENGTH, WIDTH),
        "query": (WIDTH, WIDTH),
        "key": (WIDTH, WIDTH),
        "value": (WIDTH, WIDTH),
        "projection": (WIDTH, WIDTH),
        "scores": (WIDTH, WORDS),
    }
    return {name: random.standard_normal(shape).astype(np.float32) / np.float32(math.sqrt(shape[1])) for name, shape in shapes.items()}


def build(context: MLContext, weights: Weights) -> MLGraph:
    """Build one step.

    Inputs and outputs have the same names: ``token`` and ``position``, int32 [1]; ``keys`` and ``values``, float32 [heads, length, depth].
    """
    b = MLGraphBuilder(context)

    def constant(values: NDArray[np.float32]) -> MLOperand:
        return b.constant({"dataType": "float32", "shape": values.shape}, values)

    def multiply(x: MLOperand, name: str) -> MLOperand:
        return b.matmul(x, constant(weights[name]), label=name)

    def remember(cache: MLOperand, name: str) -> MLOperand:
        """Put what the token adds at its place: [heads, 1, depth] into [heads, length, depth]."""
        return b.scatterElements(cache, place, b.reshape(multiply(x, name), [HEADS, 1, DEPTH]), axis=1)

    token, position = (b.input(name, dataType="int32", shape=[1]) for name in ("token", "position"))
    cached = [b.input(name, dataType="float32", shape=[HEADS, LENGTH, DEPTH]) for name in ("keys", "values")]
    place = b.expand(b.reshape(position, [1, 1, 1]), [HEADS, 1, DEPTH])
    x = b.add(b.gather(constant(weights["words"]), token), b.gather(constant(weights["places"]), position))
    keys, values = (remember(cache, name) for cache, name in zip(cached, ("key", "value"), strict=True))
    query = b.reshape(multiply(x, "query"), [HEADS, 1, DEPTH])
    scores = b.div(b.matmul(query, b.transpose(keys, permutation=[0, 2, 1])), b.constant("float32", math.sqrt(DEPTH)))
    places = b.constant({"dataType": "int32", "shape": [1, 1, LENGTH]}, np.arange(LENGTH, dtype=np.int32).reshape(1, 1, LENGTH))
    known = b.where(b.lesserOrEqual(places, b.reshape(position, [1, 1, 1])), scores, b.constant("float32", MASKED))
    attention = b.reshape(b.matmul(b.softmax(known, 2), values), [1, WIDTH])
    x = b.add(x, multiply(attention, "projection"))
    chosen = b.argMax(multiply(b.layerNormalization(x, axes=[1]), "scores"), 1, outputDataType="int32")
    following = b.add(position, b.constant("int32", 1))
    return b.buildSync({"token": chosen, "position": following, "keys": keys, "values": values})


def make_tensors(context: MLContext) -> dict[str, MLTensor]:
    """Make one set of tensors, all zeros: the first token is 0."""
    cache = {"dataType": "float32", "shape": [HEADS, LENGTH, DEPTH], "readable": True, "writable": True}
    number = {"dataType": "int32", "shape": [1], "readable": True}
    shapes = {"token": number, "position": number, "keys": cache, "values": cache}
    return {name: context.createTensorSync(descriptor) for name, descriptor in shapes.items()}  # type: ignore[call-overload]


def decode(
    context: MLContext, graph: MLGraph, sets: Iterable[dict[str, MLTensor]], *, leak: bool = False, roundTrip: bool = False
) -> list[int]:
    """Make the tokens."""
    old, new = sets
    token = np.zeros(1, np.int32)
    tokens: list[int] = []
    forgotten: list[MLTensor] = []
    for _ in range(STEPS):
        if leak:
            forgotten.append(context.createTensorSync(dataType="float32", shape=[HEADS, LENGTH]))
        if roundTrip:
            context.writeTensor(old["keys"], context.readTensorSync(old["keys"]))
        context.dispatch(graph, old, new)
        context.readTensorSync(new["token"], token)
        tokens.append(int(token[0]))
        old, new = new, old
    return tokens


def shortfall(tokens: list[int], weights: Weights) -> float:
    """Compute the scores in NumPy, in double precision; return by how much a chosen token is below the best one, at most."""
    exact = {name: values.astype(np.float64) for name, values in weights.items()}
    x = exact["words"][[0, *tokens[:-1]]] + exact["places"][: len(tokens)]
    query, key, value = ((x @ exact[name]).reshape(-1, HEADS, DEPTH).transpose(1, 0, 2) for name in ("query", "key", "value"))
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(DEPTH)
    powers = np.tril(np.exp(scores - scores.max(2, keepdims=True)))
    x = x + (powers / powers.sum(2, keepdims=True) @ value).transpose(1, 0, 2).reshape(-1, WIDTH) @ exact["projection"]
    centred = x - x.mean(1, keepdims=True)
    x = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    final = x @ exact["scores"]
    return float((final.max(1) - final[range(len(tokens)), tokens]).max())


def main(arguments: list[str]) -> None:
    weights = random_weights()
    context = ML(revision="2026-06").createContextSync()
    graph = build(context, weights)
    with webnn.inspect.record_waste(context) as waste:
        sets = make_tensors(context), make_tensors(context)
        tokens = decode(context, graph, sets, leak="--leak" in arguments, roundTrip="--round-trip" in arguments)
    print(f"{len(tokens)} tokens, {len(set(tokens))} different ones")
    print(f"each has the best score in NumPy, within {TOLERANCE:.0e}: {shortfall(tokens, weights) <= TOLERANCE}")
    print(waste.report())


if __name__ == "__main__":
    main(sys.argv[1:])
