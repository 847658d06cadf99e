"""The kernels of LiteRT take the element types that the table says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.webnn.tflite.export.litert import Interpreter
from webnn.hlo.types import DTYPES, TensorType
from webnn.tflite.export.builtins import COMPARISONS, ELEMENTS, OPTIONS, WIDER, options_of
from webnn.tflite.export.program import Program, Slot
from webnn.tflite.schema import load_schema

ONE = ["ABS", "CEIL", "COS", "EXP", "FLOOR", "LOG", "LOGICAL_NOT", "LOGISTIC", "NEG", "ROUND", "SIGN", "SIN", "SQRT", "TANH"]
TWO = ["ADD", "DIV", "LOGICAL_AND", "LOGICAL_OR", "MAXIMUM", "MINIMUM", "MUL", "POW", "RIGHT_SHIFT", "SUB", *COMPARISONS.values()]
ARRAY = np.array([1, 2, 1, 3])


def run(code: str, element: str, count: int) -> None:
    kind = "i1" if code in COMPARISONS.values() else element
    inputs = {f"x{number}": Slot(TensorType(shape=(4,), element=element), f"x{number}") for number in range(count)}
    output = Slot(TensorType(shape=(4,), element=kind), "y")
    program = Program(inputs=inputs, outputs={"y": output})
    program.append(code, list(inputs.values()), [output], options_of(code, {}))
    interpreter = Interpreter(model_content=bytes(program.to_bytes()))
    interpreter.allocate_tensors()
    interpreter.get_signature_runner()(**{name: ARRAY.astype(DTYPES[element]) for name in inputs})


@pytest.mark.parametrize("code", [*ONE, *TWO])
def test_the_kernels_take_the_types(code: str) -> None:
    for element in ELEMENTS[code]:
        run(code, element, 1 if code in ONE else 2)


def test_other_types_are_refused() -> None:
    """A type joins the table when the kernel takes it."""
    for code, element in (("ADD", "ui32"), ("EXP", "i32"), ("DIV", "i64"), ("SIGN", "i64"), ("MAXIMUM", "ui32")):
        assert element not in ELEMENTS[code]
        with pytest.raises((RuntimeError, ValueError)):
            run(code, element, 1 if code in ONE else 2)


def test_the_names_are_those_of_the_schema() -> None:
    schema = load_schema()
    assert not [code for code in ELEMENTS if not hasattr(schema.BuiltinOperator, code)]
    assert not [name for name in OPTIONS.values() if not hasattr(schema.BuiltinOptions, name) and not hasattr(schema.BuiltinOptions2, name)]


def test_wider_types_end() -> None:
    for element in WIDER:
        seen = [element]
        while seen[-1] in WIDER:
            seen.append(WIDER[seen[-1]])
        assert len({*seen}) == len(seen)
