"""Cases of attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tools.evidence.onnx_contrib.cases import Array, Case, Kind, factors, integers, numbers, run_engine, some

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
    inputs: dict[str, Array | None] = {
        "x": integers(random, dtypes[0], batch, rows, features),
        "w": factors(random, dtypes[1], features, width),
        "b": numbers(random, width),
        "s": np.asarray(random.uniform(0.01, 0.03), np.float32),
        "t": np.asarray(random.uniform(0.005, 0.01, each if each > 1 else ()), np.float32),
        "m": _mask(random, batch, rows, columns, "-12" if unidirectional else "-1s2"),
        "c": some(random, np.asarray(integers(random, dtypes[0], 1)[0])),
        "d": integers(random, dtypes[1], each if each > 1 else 1).reshape(-1 if each > 1 else ()),
        "p": earlier,
    }
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
    if buffer and random.integers(3) == 0:
        form = str(random.choice(["PER_TENSOR", "PER_CHANNEL"]))
        each = (1, groups, 1, size) if form == "PER_CHANNEL" else (1,)
        attributes |= {"k_quant_type": form, "v_quant_type": form, "kv_cache_bit_width": 8}
        inputs |= {
            "e": integers(random, "int8", batch, groups, buffer, size),
            "f": integers(random, "int8", batch, groups, buffer, size),
            "n": np.asarray(random.uniform(0.01, 0.03, each), np.float32),
            "r": np.asarray(random.uniform(0.01, 0.03, each), np.float32),
        }
    # Of the positions of a prompt the kernel takes the first one only, which is not known to be one without its length.
    known = str(
        random.choice(
            ["t", "ts", ""] if inputs["i"] is None and buffer >= total and inputs["a"] is None and len(outputs) == 3 else ["t", "ts"]
        )
    )
    return Case(operator="GroupQueryAttention", inputs=inputs, attributes=attributes, outputs=outputs, known=known)


def sparse(random: Random) -> Case:
    """Attention to blocks of keys: of a prompt, or of a step."""
    groups, share, layouts = _sizes(random, 2, 2, 2)
    heads, size, block, count = groups * share * layouts, 16, 16, 4
    groups *= layouts
    isStep = bool(random.integers(2))
    batch = int(random.integers(1, 4)) if isStep else 1
    rows = 1 if isStep else int(random.integers(2, 60))
    # The kernel is wrong about the shorter sequences of a batch, and about first tokens.
    lengths = np.full(batch, random.integers(2, block * count) if isStep else rows, np.int32)
    flags = np.tril(random.integers(0, 2, (layouts, count, count))) | np.eye(count, dtype=np.int64)
    most = int(flags.sum((1, 2)).max())
    starts = np.concatenate([np.zeros((layouts, 1), np.int64), flags.sum(2).cumsum(1)], 1)
    columns = np.full((layouts, most), -1)
    for layout, each in enumerate(flags):
        found = np.argwhere(each)[:, 1]
        columns[layout, : len(found)] = found
    rotary, packed = int(random.integers(2)), random.integers(2)
    inputs: dict[str, Array | None] = {
        "q": numbers(random, batch, rows, (heads + 2 * groups if packed else heads) * size),
        **{name: None if packed else numbers(random, batch, rows, groups * size) for name in "kv"},
        **{name: numbers(random, batch, groups, block * count, size) for name in "ef"},
        "r": starts.astype(np.int32),
        "c": columns.astype(np.int32),
        "t": np.array([lengths.max()], np.int32),
        "l": lengths,
        **{name: numbers(random, block * count, size // 2) if rotary else None for name in "gh"},
    }
    attributes = {"num_heads": heads, "kv_num_heads": groups, "sparse_block_size": block, "do_rotary": rotary, **_scale(random)}
    return Case(
        operator="SparseAttention",
        inputs=inputs,
        attributes=attributes,
        outputs=("y", "n", "w"),
        known=str(random.choice(["rc", "rct", "rctl"])),
        shared={"n": "e", "w": "f"},
    )


def decoder(random: Random) -> Case:
    """Attention of one token: of its own sequence behind earlier tokens, or of another sequence."""
    batch, columns, heads, size, past = _sizes(random, 3, 5, 4, 5, 4)
    width = heads * size
    inputs: dict[str, Array | None] = {"q": numbers(random, batch, 1, width)}
    isCross = bool(random.integers(2))
    total = columns if isCross else past + 1
    if isCross:
        inputs |= {name: numbers(random, batch, heads, columns, size) for name in "kv"}
    else:
        inputs |= {name: numbers(random, batch, 1, width) for name in "kv"}
    inputs["m"] = _mask(random, batch, 1, total, "-2")
    inputs["a"] = None if isCross else _added(random, 1, heads, 1, total)
    most = total + int(random.integers(0, 3))
    inputs |= {name: None if isCross else numbers(random, batch, heads, most, size) for name in "ef"}
    inputs |= {"g": None if isCross else np.full(1, past, np.int32), "h": None, "i": None, "b": some(random, numbers(random, 3 * width))}
    attributes = {"num_heads": heads, "past_present_share_buffer": int(not isCross), **_scale(random)}
    outputs = ("y",) if isCross else ("y", "s", "t")

    def cut(results: dict[str, Array]) -> dict[str, Array]:
        # The rows behind the new one are left open.
        return {name: array if name == "y" else array[:, :, :total] for name, array in results.items()}

    return Case(
        operator="DecoderMaskedMultiHeadAttention",
        inputs=inputs,
        attributes=attributes,
        outputs=outputs,
        known="g" if inputs["a"] is not None or random.integers(2) else "",
        compared=cut,
    )


def rotary(random: Random) -> Case:
    """Rotary embeddings of heads."""
    batch, rows, heads = _sizes(random, 3, 5, 4)
    size = int(random.choice([8, 16, 32]))
    half = size // 2
    attributes: dict[str, Any] = {"interleaved": int(random.integers(2))}
    isWide = bool(random.integers(2))
    if size > 8 and random.integers(2):
        half //= 2
        attributes |= {"num_heads": heads, "rotary_embedding_dim": 2 * half}
    if random.integers(2):
        attributes["num_heads"] = heads
    most = rows + 4
    inputs = {
        "x": numbers(random, batch, heads, rows, size) if isWide else numbers(random, batch, rows, heads * size),
        "i": random.integers(0, most, (batch, rows)) if random.integers(2) else random.integers(0, 4, 1),
        **{name: numbers(random, most, half) for name in "cs"},
    }
    return Case(operator="RotaryEmbedding", inputs=inputs, attributes=attributes, known=str(random.choice(["", "cs"])))


def packed_heads(random: Random) -> Case:
    """Queries, keys and values in one input, or keys and values in one. The CPU does not have them: it gets three."""
    batch, rows, heads, size = _sizes(random, 3, 5, 4, 5)
    columns = int(random.integers(1, 6))
    isWhole = bool(random.integers(2))
    columns = rows if isWhole else columns
    parts = {name: numbers(random, batch, count, heads * size) for name, count in (("q", rows), ("k", columns), ("v", columns))}
    rest = {"b": some(random, numbers(random, 3 * heads * size)), "m": _mask(random, batch, rows, columns, "-123")}
    attributes = {"num_heads": heads, **_scale(random)}
    expected = run_engine(Case(operator="MultiHeadAttention", inputs={**parts, **rest}, attributes=attributes))
    split = {name: each.reshape(batch, -1, heads, size) for name, each in parts.items()}
    if isWhole:
        inputs = {"q": np.stack([*split.values()], 3), "k": None, "v": None}
    else:
        inputs = {"q": parts["q"], "k": np.stack([split["k"], split["v"]], 3), "v": None}
    return Case(operator="MultiHeadAttention", inputs={**inputs, **rest}, attributes=attributes, expected=expected)


# The kernels of packed tokens are those of GPUs: NumPy is the judge.


def _pack(random: Random, heads: int) -> tuple[int, dict[str, Array], Array]:
    """Return the number of tokens, the inputs that say where sequences begin, and which tokens see which ones."""
    lengths = random.integers(1, 5, int(random.integers(1, 4)))
    tokens = int(lengths.sum())
    starts = np.asarray(np.append(0, np.cumsum(lengths)), np.int32)
    offsets = np.asarray(np.resize(np.arange(tokens), (len(lengths), int(lengths.max()))), np.int32)
    number = np.repeat(np.arange(len(lengths)), lengths)
    return tokens, {"o": offsets, "c": starts}, number[:, None] == number


def _attend(q: Array, k: Array, v: Array, heads: int, scale: float, seen: Array) -> Array:
    """Compute attention of [tokens, heads * size]."""
    q, k, v = (np.moveaxis(each.reshape(len(each), heads, -1).astype(np.float64), 1, 0) for each in (q, k, v))
    scores = np.where(seen, q @ k.transpose(0, 2, 1) * (scale or q.shape[2] ** -0.5), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(np.moveaxis(weights / weights.sum(-1, keepdims=True) @ v, 0, 1).reshape(q.shape[1], -1), np.float32)


def packed(random: Random) -> Case:
    """Attention of queries, keys and values of packed tokens."""
    heads, size, wide = _sizes(random, 4, 5, 5)
    tokens, where, seen = _pack(random, heads)
    attributes = {"num_heads": heads, **_scale(random)}
    together = bool(random.integers(2))
    wide = size if together else wide
    parts = [numbers(random, tokens, heads * each) for each in (size, size, wide)]
    bias = some(random, numbers(random, heads * (2 * size + wide)))
    inputs: dict[str, Array | None] = {**dict(zip("qkv", parts, strict=True)), "b": bias, **where}
    if together:
        joined = np.stack([each.reshape(tokens, heads, size) for each in parts], 2)
        inputs |= {"q": joined, "k": None, "v": None}
    if bias is not None:
        ends = np.cumsum([heads * size, heads * size])
        parts = [part + each for part, each in zip(parts, np.split(bias, ends), strict=True)]
    expected = {"y": _attend(parts[0], parts[1], parts[2], heads, attributes.get("scale", 0), seen)}
    return Case(operator="PackedMultiHeadAttention", inputs=inputs, attributes=attributes, expected=expected)


def packed_self(random: Random) -> Case:
    """Attention of one input of packed tokens."""
    heads, size, features = _sizes(random, 4, 5, 7)
    tokens, where, seen = _pack(random, heads)
    attributes = {"num_heads": heads, **_scale(random)}
    inputs = {
        "x": numbers(random, tokens, features),
        "w": numbers(random, features, 3 * heads * size),
        "b": numbers(random, 3 * heads * size),
        **where,
    }
    q, k, v = np.split(inputs["x"] @ inputs["w"] + inputs["b"], 3, 1)
    expected = {"y": _attend(q, k, v, heads, attributes.get("scale", 0), seen)}
    return Case(operator="PackedAttention", inputs=inputs, attributes=attributes, known="wb", expected=expected)


KINDS: Mapping[str, Kind] = {
    "Attention": attention,
    "DecoderMaskedMultiHeadAttention": decoder,
    "GroupQueryAttention": grouped,
    "MultiHeadAttention": multi_head_attention,
    "MultiHeadAttention, packed": packed_heads,
    "PackedAttention": packed_self,
    "PackedMultiHeadAttention": packed,
    "QAttention": quantized_attention,
    "RotaryEmbedding": rotary,
    "SparseAttention": sparse,
}
