"""TFLite operators: what LiteRT's reference kernels compute for the cases of the tests.

    python -m tools.evidence.tflite_ops

It writes `tests/webnn/tflite/recorded.json`, which tests/webnn/tflite compare with. It needs ai-edge-litert. Operators that the reference
kernels lack, and LOCAL_RESPONSE_NORMALIZATION, whose reference kernel leaves out the last channel of each window, are computed by the
optimized kernels.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from tests.webnn.tflite.cases import CASES
from tests.webnn.tflite.makers import feed
from tests.webnn.tflite.support import RECORDED
from tools.evidence.models.litert import Judge

__all__ = ["record"]

#: The cases whose reference kernel is wrong.
_WRONG = frozenset({"local response"})


def record(name: str) -> list[Any]:
    """Return the outputs of a case: their types, shapes and bytes."""
    judge = Judge(CASES[name], optimized=name in _WRONG)
    inputs = feed([(each.name, each.shape, each.dtype) for each in judge.inputs])
    outputs = judge.run(dict(zip([each.name for each in judge.inputs], inputs, strict=True)))
    return [[value.dtype.str, list(value.shape), base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()] for value in outputs]


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(record(name))}" for name in CASES]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} cases")
