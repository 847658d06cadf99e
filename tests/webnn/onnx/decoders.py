"""Small decoders with a cache, in the forms that exporters write: their shapes are computed from those of the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = ["CACHES", "STYLES", "feed", "make_decoder"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Chains of shapes as the older exporter of PyTorch writes them; nodes as the newer one writes them; operators of ONNX Runtime.
STYLES = ("older", "newer", "grouped")
_WIDTH, _HEADS, _GROUPS, _SIZE, _VOCABULARY, _LAYERS, _LONGEST = 64, 4, 2, 16, 50, 2, 256
_LOWEST = np.float32(np.finfo(np.float32).min)
CACHES = [f"past_key_values.{layer}.{kind}" for layer in range(_LAYERS) for kind in ("key", "value")]


class _Graph:
    """Nodes and weights of a model."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(39)

    def op(self, operator: str, *inputs: str, count: int = 1, name: str = "", **attributes: Any) -> Any:
        """Add a node, and return its output, or its outputs."""
        outputs = [name or f"{operator.lower()}_{len(self.nodes)}_{index}" for index in range(count)]
        self.nodes.append(helper.make_node(operator, list(inputs), outputs, name=f"{operator}_{len(self.nodes)}", **attributes))
        return outputs[0] if count == 1 else outputs

    def known(self, array: Any, dtype: Any = np.int64) -> str:
        """Add a constant."""
        name = f"known_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def weight(self, *shape: int) -> str:
        """Add random weights."""
        return self.known(self._random.standard_normal(shape) * shape[0] ** -0.5, np.float32)

    def size(self, value: str, axis: int) -> str:
        """Return the size of an axis as a scalar."""
        return str(self.op("Gather", self.op("Shape", value), self.known(axis), axis=0))

    def join(self, *sizes: str | int) -> str:
        """Return a shape of scalars and numbers."""
        zero = self.known([0])
        parts = [self.known([each]) if isinstance(each, int) else self.op("Unsqueeze", each, zero) for each in sizes]
        return str(self.op("Concat", *parts, axis=0))

    def repeat(self, value: str, shape: str, rank: int) -> str:
        """Expand a value to a shape in which -1 keeps a size, as the older exporter does."""
        ones = self.op("ConstantOfShape", self.known([rank]), value=helper.make_tensor("", TensorProto.INT64, [1], [1]))
        asked = self.op("Equal", shape, self.op("Mul", ones, self.known(-1)))
        return str(self.op("Expand", value, self.op("Where", asked, ones, shape)))

    def normalize(self, x: str) -> str:
        """Divide by the root of the mean of the squares."""
        mean = self.op("ReduceMean", self.op("Pow", x, self.known(2, np.float32)), self.known([-1]), keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.known(1e-6, np.float32)))
        scaled = self.op("Mul", x, self.op("Div", self.known(1, np.float32), root))
        return str(self.op("Mul", self.known(np.linspace(0.5, 1.5, _WIDTH), np.float32), scaled))

    def feed_forward(self, x: str) -> str:
        """A gated network of two layers."""
        gate = self.op("MatMul", x, self.weight(_WIDTH, 48))
        gate = self.op("Mul", gate, self.op("Sigmoid", gate))
        return str(self.op("MatMul", self.op("Mul", gate, self.op("MatMul", x, self.weight(_WIDTH, 48))), self.weight(48, _WIDTH)))


def _angles() -> Array:
    return 1 / 10000 ** (np.arange(0, _SIZE, 2) / _SIZE)


def _turn(g: _Graph, x: str, cos: str, sin: str, *, is_older: bool) -> str:
    """Rotate pairs of features: those in both halves."""
    half = g.join(g.op("Div", g.size(x, 3), g.known(2))) if is_older else g.known([_SIZE // 2])
    first = g.op("Slice", x, g.known([0]), half, g.known([3]), g.known([1]))
    last = g.op("Slice", x, half, g.known([2**63 - 1]), g.known([3]), g.known([1]))
    turned = g.op("Concat", g.op("Neg", last), first, axis=3)
    return str(g.op("Add", g.op("Mul", x, cos), g.op("Mul", turned, sin)))


def _older(g: _Graph) -> None:
    """Shape, Gather, Unsqueeze, Concat; masks by Trilu and comparison of positions; keys repeated by Expand."""
    x = g.op("Gather", g.weight(_VOCABULARY, _WIDTH), "input_ids", axis=0)
    batch, rows, past = g.size(x, 0), g.size("input_ids", 1), g.size(CACHES[0], 2)
    total = g.op("Add", past, rows)
    own = g.op("Range", past, total, g.known(1))
    positions = g.op("Unsqueeze", own, g.known([0]))
    # The mask.
    full = g.op("Expand", g.known(_LOWEST, np.float32), g.join(rows, total))
    upper = g.op("Trilu", full, g.known(1), upper=1)
    isLater = g.op("Greater", g.op("Range", g.known(0), total, g.known(1)), g.op("Reshape", own, g.known([-1, 1])))
    causal = g.op("Mul", upper, g.op("Cast", isLater, to=TensorProto.FLOAT))
    causal = g.op("Unsqueeze", g.op("Unsqueeze", causal, g.known([0])), g.known([1]))
    causal = g.repeat(causal, g.join(batch, 1, -1, -1), 4)
    seen = g.op("Unsqueeze", g.op("Unsqueeze", "attention_mask", g.known([1])), g.known([2]))
    length = g.join(g.size("attention_mask", 1))
    part = g.op("Slice", causal, g.known([0]), length, g.known([3]), g.known([1]))
    summed = g.op("Add", part, g.op("Cast", seen, to=TensorProto.FLOAT))
    mask = g.op("Where", g.op("Equal", summed, g.known(0, np.float32)), g.known(_LOWEST, np.float32), part)
    # The angles.
    inverse = g.op("Expand", g.known(_angles().reshape(1, -1, 1), np.float32), g.join(batch, _SIZE // 2, 1))
    numbers = g.op("Cast", g.op("Unsqueeze", positions, g.known([1])), to=TensorProto.FLOAT)
    angles = g.op("Transpose", g.op("MatMul", inverse, numbers), perm=[0, 2, 1])
    angles = g.op("Unsqueeze", g.op("Concat", angles, angles, axis=-1), g.known([1]))
    cos, sin = g.op("Cos", angles), g.op("Sin", angles)
    for layer in range(_LAYERS):
        h = g.normalize(x)
        heads = []
        for count in (_HEADS, _GROUPS, _GROUPS):
            projected = g.op("MatMul", h, g.weight(_WIDTH, count * _SIZE))
            shape = g.join(g.size(h, 0), g.size(h, 1), -1, _SIZE)
            heads.append(g.op("Transpose", g.op("Reshape", projected, shape), perm=[0, 2, 1, 3]))
        q, k = (_turn(g, each, cos, sin, is_older=True) for each in heads[:2])
        k = g.op("Concat", CACHES[2 * layer], k, axis=2, name=f"present.{layer}.key")
        v = g.op("Concat", CACHES[2 * layer + 1], heads[2], axis=2, name=f"present.{layer}.value")
        wide = []
        for each in (k, v):
            sizes = [g.size(each, axis) for axis in range(4)]
            spread = g.op("Unsqueeze", each, g.known([2]))
            spread = g.repeat(spread, g.join(sizes[0], sizes[1], _HEADS // _GROUPS, sizes[2], sizes[3]), 5)
            wide.append(g.op("Reshape", spread, g.join(sizes[0], g.op("Mul", sizes[1], g.known(_HEADS // _GROUPS)), sizes[2], sizes[3])))
        scores = g.op("MatMul", q, g.op("Transpose", wide[0], perm=[0, 1, 3, 2]))
        scores = g.op("Div", scores, g.op("Sqrt", g.op("Cast", g.size(q, 3), to=TensorProto.FLOAT)))
        shown = g.op("Slice", mask, g.known([0]), g.join(g.size(wide[0], 2)), g.known([3]), g.known([1]))
        weights = g.op("Softmax", g.op("Add", scores, shown), axis=-1)
        joined = g.op("Transpose", g.op("MatMul", weights, wide[1]), perm=[0, 2, 1, 3])
        joined = g.op("Reshape", joined, g.join(batch, rows, -1))
        x = g.op("Add", x, g.op("MatMul", joined, g.weight(_WIDTH, _WIDTH)))
        x = g.op("Add", x, g.feed_forward(g.normalize(x)))
    g.op("MatMul", g.normalize(x), g.weight(_WIDTH, _VOCABULARY), name="logits")


def _newer(g: _Graph) -> None:
    """Shape with start and end; masks of bool; shapes with zeros and -1."""

    def size(value: str, axis: int) -> Any:
        return g.op("Shape", value, start=axis, end=axis + 1)

    rows, past = size("input_ids", 1), size(CACHES[0], 2)
    total = g.op("Add", past, rows)
    positions = "position_ids"
    one, none = g.known(1), g.known([0])
    scalar = g.known([], np.int64)
    own = g.op("Add", g.op("Range", g.known(0), g.op("Reshape", rows, scalar), one), past)
    columns = g.op("Range", g.known(0), g.op("Squeeze", total, none), one)
    allowed = g.op("LessOrEqual", g.op("Unsqueeze", columns, none), g.op("Unsqueeze", own, g.known([1])))
    seen = g.op("Cast", g.op("Unsqueeze", "attention_mask", g.known([1, 2])), to=TensorProto.BOOL)
    allowed = g.op("And", g.op("Expand", allowed, g.op("Concat", g.known([1, 1]), rows, total, axis=0)), seen)
    mask = g.op("Where", allowed, g.known(0, np.float32), g.known(_LOWEST, np.float32))
    angles = g.op("Mul", g.op("Unsqueeze", g.op("Cast", positions, to=TensorProto.FLOAT), g.known([2])), g.known(_angles(), np.float32))
    angles = g.op("Unsqueeze", g.op("Concat", angles, angles, axis=-1), g.known([1]))
    cos, sin = g.op("Cos", angles), g.op("Sin", angles)
    x = g.op("Gather", g.weight(_VOCABULARY, _WIDTH), "input_ids")
    for layer in range(_LAYERS):
        h = g.normalize(x)
        heads = []
        for count in (_HEADS, _GROUPS, _GROUPS):
            projected = g.op("MatMul", h, g.weight(_WIDTH, count * _SIZE))
            shape = g.op("Concat", g.known([1]), rows, g.known([count, _SIZE]), axis=0)
            heads.append(g.op("Transpose", g.op("Reshape", projected, shape, allowzero=1), perm=[0, 2, 1, 3]))
        q, k = (_turn(g, each, cos, sin, is_older=False) for each in heads[:2])
        k = g.op("Concat", CACHES[2 * layer], k, axis=-2, name=f"present.{layer}.key")
        v = g.op("Concat", CACHES[2 * layer + 1], heads[2], axis=-2, name=f"present.{layer}.value")
        wide = []
        for each in (k, v):
            shape = g.op("Concat", g.known([1, _GROUPS, _HEADS // _GROUPS]), total, g.known([_SIZE]), axis=0)
            spread = g.op("Expand", g.op("Unsqueeze", each, g.known([2])), shape)
            wide.append(g.op("Reshape", spread, g.op("Concat", g.known([1, _HEADS]), total, g.known([_SIZE]), axis=0)))
        scores = g.op("MatMul", g.op("Mul", q, g.known(_SIZE**-0.5, np.float32)), g.op("Transpose", wide[0], perm=[0, 1, 3, 2]))
        weights = g.op("Softmax", g.op("Add", scores, mask), axis=-1)
        joined = g.op("Reshape", g.op("Transpose", g.op("MatMul", weights, wide[1]), perm=[0, 2, 1, 3]), g.known([0, 0, -1]))
        x = g.op("Add", x, g.op("MatMul", joined, g.weight(_WIDTH, _WIDTH)))
        x = g.op("Add", x, g.feed_forward(g.normalize(x)))
    # The last token alone.
    last = g.op("Gather", g.normalize(x), g.known([-1]), axis=1)
    g.op("MatMul", last, g.weight(_WIDTH, _VOCABULARY), name="logits")


def _grouped(g: _Graph) -> None:
    """GroupQueryAttention with its own rotary embedding, as the builder of ONNX Runtime's GenAI library writes it."""
    counts = g.op("ReduceSum", "attention_mask", g.known([1]), keepdims=1)
    lengths = g.op("Cast", g.op("Sub", counts, g.known([1])), to=TensorProto.INT32)
    total = g.op("Cast", g.size("attention_mask", 1), to=TensorProto.INT32)
    angles = np.arange(_LONGEST)[:, None] * _angles()
    cos, sin = g.known(np.cos(angles), np.float32), g.known(np.sin(angles), np.float32)
    x = g.op("Gather", g.weight(_VOCABULARY, _WIDTH), "input_ids")
    scale = g.known(np.linspace(0.5, 1.5, _WIDTH), np.float32)
    h = g.op("SimplifiedLayerNormalization", x, scale, axis=-1, epsilon=1e-6)
    for layer in range(_LAYERS):
        q, k, v = (g.op("MatMul", h, g.weight(_WIDTH, count * _SIZE)) for count in (_HEADS, _GROUPS, _GROUPS))
        outputs = [f"attended.{layer}", f"present.{layer}.key", f"present.{layer}.value"]
        inputs = [q, k, v, *CACHES[2 * layer : 2 * layer + 2], lengths, total, cos, sin]
        attributes = {"num_heads": _HEADS, "kv_num_heads": _GROUPS, "do_rotary": 1, "scale": _SIZE**-0.5}
        g.nodes.append(helper.make_node("GroupQueryAttention", inputs, outputs, name=f"gqa.{layer}", domain="com.microsoft", **attributes))
        attended = g.op("MatMul", outputs[0], g.weight(_WIDTH, _WIDTH))
        h, x = _add_and_normalize(g, x, attended, scale)
        h, x = _add_and_normalize(g, x, g.feed_forward(h), scale)
    g.op("MatMul", h, g.weight(_WIDTH, _VOCABULARY), name="logits")


def _add_and_normalize(g: _Graph, x: str, added: str, scale: str) -> tuple[str, str]:
    outputs = [f"normalized_{len(g.nodes)}", "", "", f"sum_{len(g.nodes)}"]
    g.nodes.append(helper.make_node("SkipSimplifiedLayerNormalization", [x, added, scale], outputs, domain="com.microsoft", epsilon=1e-6))
    return outputs[0], outputs[3]


def make_decoder(style: str, *, batch: str | int = 1) -> onnx.ModelProto:
    """Make a decoder of one of `STYLES`. Its dimensions have the names that exporters give them."""
    g = _Graph()
    {"older": _older, "newer": _newer, "grouped": _grouped}[style](g)
    whole = "total_sequence_length" if style == "grouped" else "past_sequence_length + sequence_length"
    inputs: dict[str, tuple[int, Sequence[int | str]]] = {
        "input_ids": (TensorProto.INT64, [batch, "sequence_length"]),
        "attention_mask": (TensorProto.INT64, [batch, whole]),
        **({"position_ids": (TensorProto.INT64, [batch, "sequence_length"])} if style == "newer" else {}),
        **{name: (TensorProto.FLOAT, [batch, _GROUPS, "past_sequence_length", _SIZE]) for name in CACHES},
    }
    outputs = ["logits", *[name.replace("past_key_values", "present") for name in CACHES]]
    graph = helper.make_graph(
        g.nodes,
        style,
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        g.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], ir_version=9)


def feed(style: str, past: int, rows: int, *, batch: int = 1) -> Mapping[str, Array]:
    """Return inputs for some numbers of earlier tokens and of new ones."""
    random = np.random.default_rng(past * 1000 + rows)
    return {
        "input_ids": random.integers(0, _VOCABULARY, (batch, rows)),
        "attention_mask": np.ones((batch, past + rows), np.int64),
        **({"position_ids": np.tile(np.arange(past, past + rows), (batch, 1))} if style == "newer" else {}),
        **{name: random.standard_normal((batch, _GROUPS, past, _SIZE)).astype(np.float32) for name in CACHES},
    }
