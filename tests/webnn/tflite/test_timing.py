"""Models of single operators: packed, and run one after the other."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np

from tests.webnn.tflite.export.litert import Interpreter, describe
from webnn.tflite.timing import Steps, pack_steps


def _start(content: bytes) -> Interpreter:
    made = Interpreter(model_content=content)
    made.allocate_tensors()
    return made


def test_steps(tmp_path: Path) -> None:
    """Values flow from model to model, and the file has each kernel of each run."""
    description, inputs = describe(lambda b, x: b.relu(b.neg(x)), np.float32([1, -2]))
    steps = Steps(pack_steps(description, (), [3, 7]), partial(_start))
    for _ in range(2):
        assert steps.run(inputs)[description.outputs["y"]].tolist() == [0, 2]
    events = json.loads(Path(steps.write(str(tmp_path / "times"))).read_text(encoding="utf-8"))
    assert [each["name"] for each in events] == ["neg#3_kernel_time", "relu#7_kernel_time", "model_run"] * 2
    assert [each["args"]["op_name"] for each in events[:2]] == ["NEG", "RELU"]
