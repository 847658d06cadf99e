"""Cases of attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tools.evidence.onnx_contrib.cases import Array, Case, Kind, integers, numbers, some

__all__ = ["KINDS"]

Random = np.random.Generator


def _sizes(random: Random, *most: int) -> list[int]:
    return [int(random.integers(1, each, endpoint=True)) for each in most]


def _scale(random: Random) -> dict[str, Any]:
    return {"scale": float(random.uniform(0.1, 1))} if random.integers(2) else {}


def _mask(random: Random, batch: int, rows: int, columns: int, forms: str = "-1s23") -> Array | None:
    """Return no mask, lengths, ends and starts, or flags for each key, perhaps by query.

    Each row sees a key: 10000 less is too few digits for a comparison.
    """
    form = random.choice(list(forms))
    lengths = random.integers(1, columns, batch, np.int32, endpoint=True)
    if form == "1":
        return np.asarray(lengths)
    if form == "s":
        return np.asarray(np.concatenate([lengths, random.integers(0, lengths)]), np.int32)
    if form == "2":
        return np.asarray(np.arange(columns) < lengths[:, None], np.int32)
    if form == "3":
        flags = random.integers(0, 1, (batch, rows, columns), np.int32, endpoint=True)
        flags[..., 0] = 1
        return flags
    return None


def _added(random: Random, batch: int, heads: int, rows: int, columns: int) -> Array | None:
    """Return what is added to the scores, for all batches and heads or for each of them."""
    return some(random, numbers(random, int(random.choice([1, batch])), int(random.choice([1, heads])), rows, columns))


def attention(random: Random) -> Case:
    """Attention of one input."""
    batch, rows, heads, size, features, past = _sizes(random, 3, 5, 4, 5, 7, 4)
    earlier = some(random, numbers(random, 2, batch, heads, past, size))
    columns = rows if earlier is None else rows + past
    unidirectional = int(random.integers(2))
    attributes: dict[str, Any] = {"num_heads": heads, "unidirectional": unidirectional, **_scale(random)}
    wide = size
    if earlier is None and random.integers(2):
        wide = size + 2
        attributes["qkv_hidden_sizes"] = [heads * size, heads * size, heads * wide]
    if random.integers(2):
        attributes["mask_filter_value"] = -50.0
    inputs = {
        "x": numbers(random, batch, rows, features),
        "w": numbers(random, features, heads * (2 * size + wide)),
        "b": numbers(random, heads * (2 * size + wide)),
        "m": _mask(random, batch, rows, columns, "-123" if unidirectional else "-1s23"),
        "p": earlier,
        # The kernel does not take it behind earlier steps.
        "a": None if earlier is not None else _added(random, batch, heads, rows, columns),
    }
    outputs = ("y", "z") if earlier is not None or (wide == size and random.integers(2)) else ("y",)
    return Case(operator="Attention", inputs=inputs, attributes=attributes, outputs=outputs, known=("w", "b"))


def quantized_attention(random: Random) -> Case:
    """Attention of one quantized input."""
    batch, rows, heads, features, past = _sizes(random, 3, 5, 4, 7, 4)
    size = 4
    # The kernel has only inputs of uint8.
    dtypes = ["uint8", str(random.choice(["uint8", "int8"]))]
    earlier = some(random, numbers(random, 2, batch, heads, past, size))
    columns = rows if earlier is None else rows + past
    width, unidirectional = 3 * heads * size, int(random.integers(2))
    each = int(random.choice([1, width]))
    inputs = {
        "x": integers(random, dtypes[0], batch, rows, features),
        "w": integers(random, dtypes[1], features, width),
        "b": numbers(random, width),
        "s": np.float32(random.uniform(0.01, 0.03)),
        "t": np.asarray(random.uniform(0.005, 0.01, each if each > 1 else ()), np.float32),
        "m": _mask(random, batch, rows, columns, "-12" if unidirectional else "-1s2"),
        "c": some(random, integers(random, dtypes[0]).reshape(())),
        "d": integers(random, dtypes[1], each if each > 1 else 1).reshape(-1 if each > 1 else ()),
        "p": earlier,
    }
    inputs = {name: None if array is None else np.asarray(array) for name, array in inputs.items()}
    attributes = {"num_heads": heads, "unidirectional": unidirectional, **_scale(random)}
    outputs = ("y",) if earlier is None else ("y", "z")
    return Case(operator="QAttention", inputs=inputs, attributes=attributes, outputs=outputs, known="wbstcd", tolerance=2e-5)


def multi_head_attention(random: Random) -> Case:
    """Attention of queries, keys and values of one sequence or of two."""
    batch, rows, columns, heads, size, past = _sizes(random, 3, 5, 5, 4, 5, 4)
    form = str(random.choice(["self", "cross", "heads"]))
    earlier = form != "heads" and bool(random.integers(2))
    wide = size if earlier or form == "heads" or random.integers(2) else size + 1
    columns = rows if form == "self" else columns
    inputs: dict[str, Array | None] = {
        "q": numbers(random, batch, rows, heads * size),
        "k": numbers(random, batch, columns, heads * size),
        "v": numbers(random, batch, columns, heads * wide),
        "b": some(random, numbers(random, heads * (2 * size + wide))),
    }
    attributes: dict[str, Any] = {"num_heads": heads, **_scale(random)}
    total = columns + past if earlier else columns
    if form == "heads":
        inputs["k"], inputs["v"] = (numbers(random, batch, heads, columns, size) for _ in range(2))
        inputs["b"] = None
    if form == "self":
        attributes["unidirectional"] = int(random.integers(2))
    inputs["m"] = _mask(random, batch, rows, total, "-23" if earlier else "-123")
    inputs["a"] = _added(random, batch, heads, rows, total)
    if earlier:
        inputs |= {name: numbers(random, batch, heads, past, size) for name in "ef"}
    outputs = ("y", "s", "t") if earlier or (form == "self" and random.integers(2)) else ("y",)
    return Case(operator="MultiHeadAttention", inputs=inputs, attributes=attributes, outputs=outputs, known="b")


def grouped(random: Random) -> Case:
    """Attention with heads that share keys and values: a prompt, a step, or several steps; the cache grows, or has its size."""
    batch, groups, share = _sizes(random, 3, 3, 3)
    heads, half = groups * share, int(random.choice([8, 16]))
    size = 2 * half
    step = str(random.choice(["prompt", "step", "chunk"]))
    batch = 1 if step == "chunk" else batch
    rows = 1 if step == "step" else int(random.integers(2, 6))
    past = 0 if step == "prompt" else int(random.integers(1, 6))
    total = past + rows
    buffer = int(random.choice([past, total + int(random.integers(0, 4))]))
    lengths = np.full(batch, total - 1, np.int32)
    if step == "step":
        # Shorter sequences.
        lengths = np.asarray(np.append(random.integers(0, total, batch - 1), total - 1), np.int32)
    packed, rotary, quarter = random.integers(2), int(random.integers(2)), int(random.choice([0, 8])) if half == 16 else 0
    inputs: dict[str, Array | None] = {
        "q": numbers(random, batch, rows, (heads + 2 * groups if packed else heads) * size),
        "k": None if packed else numbers(random, batch, rows, groups * size),
        "v": None if packed else numbers(random, batch, rows, groups * size),
        "e": numbers(random, batch, groups, buffer, size) if buffer else None,
        "f": numbers(random, batch, groups, buffer, size) if buffer else None,
        "s": lengths,
        "t": np.asarray(total, np.int32),
        "c": None,
        "d": None,
        "i": None,
        "a": _added(random, batch, heads, rows, total),
        "h": some(random, numbers(random, heads)),
    }
    if rotary:
        inputs |= {name: numbers(random, total + 2, half - quarter) for name in "cd"}
    attributes: dict[str, Any] = {"num_heads": heads, "kv_num_heads": groups, "do_rotary": rotary, **_scale(random)}
    attributes["rotary_interleaved"] = int(random.integers(2))
    if random.integers(2):
        attributes["local_window_size"] = int(random.integers(1, total + 2))
    if random.integers(2):
        attributes["softcap"] = float(random.uniform(0.5, 5))
    if inputs["h"] is None:
        attributes["smooth_softmax"] = int(random.integers(2))
    if random.integers(2):
        attributes["causal"] = int("local_window_size" in attributes)
    outputs = ["y", "g", "l"]
    if random.integers(2):
        outputs.append("o")
        attributes["qk_output"] = int(random.integers(1, 3))
    if rotary and random.integers(2):
        inputs["i"] = np.asarray(random.integers(0, 3, (batch, rows)), np.int64)
    known = str(random.choice(["t", "ts", ""] if buffer >= total and inputs["a"] is None and len(outputs) == 3 else ["t", "ts"]))
    return Case(operator="GroupQueryAttention", inputs=inputs, attributes=attributes, outputs=outputs, known=known)


KINDS: Mapping[str, Kind] = {
    "Attention": attention,
    "GroupQueryAttention": grouped,
    "MultiHeadAttention": multi_head_attention,
    "QAttention": quantized_attention,
}
