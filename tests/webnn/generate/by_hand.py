"""The decoder of `decoders` with a builder: for sizes that have names, which the import of ONNX cannot make everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from onnx import numpy_helper

from tests.webnn.generate.decoders import HEADS, LAYERS, SIZE, WIDTH
from webnn.onnx.model import Model

__all__ = ["load"]


def load(model: Model, builder: Any, *, shapes: Mapping[str, Sequence[int | str]], int32: bool) -> Any:
    """Build a decoder with a cache, a mask and positions, for some lengths; the result is that of `webnn.onnx.load`."""
    assert not int32
    arrays = {each.name: numpy_helper.to_array(each) for each in model.proto.graph.initializer}
    b = builder

    def constant(value: Any) -> Any:
        array = np.asarray(value)
        return b.constant({"dataType": array.dtype.name, "shape": list(array.shape)}, array)

    inputs: dict[str, Any] = {}
    for name, shape in shapes.items():
        if 0 not in shape:
            dataType = "float32" if name.startswith("past") else "int64"
            inputs[name] = b.input(name, {"dataType": dataType, "shape": list(shape)})
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    # [1, total]: the number of each column; a row sees those up to its own.
    columns = b.sub(b.cumulativeSum(b.cast(b.identity(mask), "float32"), 1), constant(np.float32(1)))
    total = b.cast(b.slice(b.shape(mask), [1], [1]), "float32")
    rows = b.cast(b.slice(b.shape(ids), [1], [1]), "float32")
    own = b.add(
        b.sub(total, rows), b.sub(b.cumulativeSum(b.add(b.mul(b.cast(ids, "float32"), _zero(constant)), _one(constant)), 1), _one(constant))
    )
    before = b.lesserOrEqual(b.unsqueeze(columns, [1]), b.unsqueeze(own, [2]))
    bias = b.unsqueeze(b.where(before, _zero(constant), constant(np.float32(-1e4))), [1])
    x = b.add(b.gather(constant(arrays["words"]), ids), b.gather(constant(arrays["places"]), inputs["position_ids"]))
    outputs: dict[str, Any] = {}

    def split(value: Any) -> Any:
        """Return [1, heads, rows, size]."""
        length = b.slice(b.shape(ids), [1], [1])
        shape = b.concat([constant(np.array([1], np.uint32)), b.cast(length, "uint32"), constant(np.array([HEADS, SIZE], np.uint32))], 0)
        return b.transpose(b.reshapeDynamic(value, shape), permutation=[0, 2, 1, 3])

    for layer in range(LAYERS):
        q, k, v = (split(b.matmul(x, constant(arrays[f"w{name}{layer}"]))) for name in "qkv")
        for kind, new in (("key", k), ("value", v)):
            past = inputs.get(f"past_key_values.{layer}.{kind}")
            outputs[f"present.{layer}.{kind}"] = b.identity(new) if past is None else b.concat([past, new], 2)
        keys, values = (outputs[f"present.{layer}.{kind}"] for kind in ("key", "value"))
        scores = b.softmax(b.add(b.matmul(q, b.transpose(keys, permutation=[0, 1, 3, 2])), bias), 3)
        mixed = b.transpose(b.matmul(scores, values), permutation=[0, 2, 1, 3])
        length = b.cast(b.slice(b.shape(ids), [1], [1]), "uint32")
        joined = b.concat([constant(np.array([1], np.uint32)), length, constant(np.array([WIDTH], np.uint32))], 0)
        x = b.add(x, b.matmul(b.reshapeDynamic(mixed, joined), constant(arrays[f"wo{layer}"])))
    outputs = {"logits": b.matmul(x, constant(arrays["out"])), **outputs}
    return SimpleNamespace(inputs={name: each.descriptor for name, each in inputs.items()}, outputs=outputs)


def _zero(constant: Any) -> Any:
    return constant(np.float32(0))


def _one(constant: Any) -> Any:
    return constant(np.float32(1))
