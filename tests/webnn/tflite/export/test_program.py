"""The files of programs: what is written, and where."""

from __future__ import annotations

import io

import numpy as np
import pytest

from tests.webnn.tflite.export.litert import Interpreter
from webnn.hlo.types import TensorType
from webnn.tflite.export import program as written
from webnn.tflite.export.program import Program, Quantization, Slot
from webnn.tflite.model import read

WEIGHT = np.arange(40, dtype=np.float32)


def slot(name: str, data: np.ndarray | None = None, quantization: Quantization | None = None, element: str = "f32") -> Slot:
    return Slot(TensorType(shape=(40,), element=element), name, data, quantization)


def model() -> Program:
    """Return a program that adds a weight to its input; a second operator is not needed."""
    x, y, unused = slot("x"), slot("y"), slot("y")
    made = Program(name="sum", inputs={"x": x}, outputs={"y": y})
    made.append("ADD", [x, slot("w", WEIGHT)], [y], ("AddOptions", {}))
    made.append("MUL", [x, slot("v", WEIGHT + 1)], [unused], ("MulOptions", {}))
    return made


def run(content: bytes) -> np.ndarray:
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    found: np.ndarray = interpreter.get_signature_runner()(x=np.ones(40, np.float32))["y"]
    return found


def test_operators_that_nothing_needs_are_left_out() -> None:
    [graph] = read(bytes(model().to_bytes())).subgraphs
    assert [each.key for each in graph.operators] == ["ADD"]
    assert [each.name for each in graph.tensors] == ["x", "y", "w"]


def test_the_stream_is_the_bytes() -> None:
    stream = io.BytesIO()
    model().write(stream)
    assert stream.getvalue() == bytes(model().to_bytes())


def test_weights_are_aligned() -> None:
    content = bytes(model().to_bytes())
    assert content.index(WEIGHT.tobytes()) % 64 == 0
    np.testing.assert_array_equal(run(content), WEIGHT + 1)


def test_a_view_is_written_in_its_order() -> None:
    x, y = slot("x"), slot("y")
    made = Program(inputs={"x": x}, outputs={"y": y})
    made.append("ADD", [x, slot("w", WEIGHT[::-1])], [y], ("AddOptions", {}))
    np.testing.assert_array_equal(run(bytes(made.to_bytes())), WEIGHT[::-1] + 1)


def test_weights_beyond_the_reach_of_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    near = bytes(model().to_bytes())
    monkeypatch.setattr(written, "_FARTHEST", 100)
    far = bytes(model().to_bytes())
    assert far != near
    np.testing.assert_array_equal(run(far), WEIGHT + 1)
    [graph] = read(far).subgraphs
    np.testing.assert_array_equal(graph.tensors[2].read(), WEIGHT)


def test_equal_names_become_different() -> None:
    x, y, z = slot("a"), slot("a"), slot("a")
    made = Program(inputs={"x": x}, outputs={"z": z})
    made.append("ABS", [x], [y], ("AbsOptions", {}))
    made.append("ABS", [y], [z], ("AbsOptions", {}))
    [graph] = read(bytes(made.to_bytes())).subgraphs
    assert len({each.name for each in graph.tensors}) == 3


def test_the_meaning_of_integers() -> None:
    x, y = slot("x", quantization=Quantization((0.5,), (3,)), element="i8"), slot("y")
    made = Program(inputs={"x": x}, outputs={"y": y})
    made.append("DEQUANTIZE", [x], [y], ("DequantizeOptions", {}))
    [graph] = read(bytes(made.to_bytes())).subgraphs
    found = graph.tensors[0].quantization
    assert found is not None
    assert (found.scales.tolist(), found.zeros.tolist(), found.axis) == ([0.5], [3], 0)
