"""The outputs that ONNX Runtime computes, node by node, for the inputs of the programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tools.evidence.judge import start

__all__ = ["compute", "noise"]

Array = np.ndarray[Any, np.dtype[Any]]
#: The tokens of a text, as `programs/transformers.mjs` has them.
_LENGTH, _FIRST, _STEP = 16, 100, 37


def noise(size: int) -> Array:
    """Return numbers in [-1, 1), float32 [size]: those of `programs/measure.mjs`."""
    state, values = 1, []
    for _ in range(size):
        state = state * 48271 % 2147483647
        values.append(state / 1073741824 - 1)
    return np.array(values, np.float32)


def compute(model: Path) -> Mapping[str, Sequence[float]]:
    """Compute a model of a text: ``input_ids``, masks of ones, and noise for other inputs; return its outputs in float32.

    A dimension that the model leaves open is 1 if it is the first one, and the length of the text otherwise.
    """
    session = start(model, plain=True)
    feeds = {}
    for each in session.get_inputs():
        shape = [size if isinstance(size, int) else _LENGTH if index else 1 for index, size in enumerate(each.shape)]
        if each.name == "input_ids":
            feeds[each.name] = (_FIRST + _STEP * np.arange(_LENGTH, dtype=np.int64)).reshape(shape)
        elif each.type == "tensor(int64)":
            feeds[each.name] = np.ones(shape, np.int64)
        else:
            feeds[each.name] = noise(int(np.prod(shape))).reshape(shape)
    names = [each.name for each in session.get_outputs()]
    found = zip(names, session.run(None, feeds), strict=True)
    return {name: value.ravel().tolist() for name, value in found if value.dtype == np.float32}
