"""The whole sequence of `gru` and `lstm` is checked, whether it is returned or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import each_row
from webnn.validation.descriptor import MAX_BYTE_LENGTH

NAME = "checked-descriptors"
REVISION = f"2026-06+{NAME}"
GATES = {"gru": 3, "lstm": 4}


def network(name: str, steps: int, batch: int, hidden: int, dtype: str = "float32", revision: str = REVISION, **options: Any) -> Any:
    """Call an operation with small operands."""
    ml: Any = webnn.ML(revision=revision)  # type: ignore[arg-type]  # type checkers know only some names
    builder: Any = webnn.MLGraphBuilder(ml.createContextSync())
    directions, gates = 2 if options.get("direction") == "both" else 1, GATES[name]
    shapes = {"x": [steps, batch, 1], "w": [directions, gates * hidden, 1], "r": [directions, gates * hidden, hidden]}
    operands = [builder.input(key, {"dataType": dtype, "shape": shape}) for key, shape in shapes.items()]
    return getattr(builder, name)(*operands, steps, hidden, options)


#: The largest power of two that fits is 2**30 bytes, which 2**28 elements of float32 and 2**29 of float16 have.
BORDERS = [
    # steps, batch, hidden size, options, whether the sequence fits
    (2**12, 2**10, 2**6, "float32", {}, True),
    (2**12, 2**10, 2**7, "float32", {}, False),
    (2**12, 2**10, 2**6, "float32", {"direction": "both"}, False),
    (2**12, 2**10, 2**6, "float16", {"direction": "both"}, True),
    (2**12, 2**10, 2**7, "float32", {"returnSequence": False}, False),
    (2**12, 2**10, 2**7, "float32", {"direction": "backward"}, False),
    # 2**31 elements
    (2**15, 2**9, 2**7, "float16", {}, False),
    # One step: the sequence is the output.
    (1, 2**12, 2**9, "float32", {}, True),
]


@each_row(("steps", "batch", "hidden", "dtype", "options", "fits"), BORDERS)
@pytest.mark.parametrize("name", GATES)
def test_borders(name: str, steps: int, batch: int, hidden: int, dtype: str, options: Any, *, fits: bool) -> None:
    shape = (2 if options.get("direction") == "both" else 1, batch, hidden)
    # The draft takes all of them, because the sequence is not an output.
    last = network(name, steps, batch, hidden, dtype, "2026-06", **options)[0]
    assert last.shape == shape
    if fits:
        assert network(name, steps, batch, hidden, dtype, **options)[0].shape == shape
        return
    size = {"float32": 4, "float16": 2}[dtype] * steps * int(np.prod(shape))
    with pytest.raises(webnn.WebNNTypeError) as caught:
        network(name, steps, batch, hidden, dtype, **options)
    error = caught.value
    assert (error.operation, error.argument, error.rule) == (name, "output", "limit")
    assert str(error) == (
        f"{name}: output of all steps must have at most {MAX_BYTE_LENGTH} bytes, got {dtype} {[steps, *shape]} of {size} bytes"
    )


@pytest.mark.parametrize("name", GATES)
def test_a_sequence_that_is_returned(name: str) -> None:
    """The draft refuses it in the same way."""
    for revision in ("2026-06", REVISION):
        with pytest.raises(webnn.WebNNTypeError, match=f"^{name}: output must have at most {MAX_BYTE_LENGTH} bytes, got float32 "):
            network(name, 2**12, 2**10, 2**7, revision=revision, returnSequence=True)


@each_row("others", ["zero-size", "low-precision", "subgraphs", "dynamic-shapes", "browsers"])
def test_with_others(others: str) -> None:
    for revision in (f"{REVISION}+{others}", f"2026-06+{others}+{NAME}"):
        with pytest.raises(webnn.WebNNTypeError, match=r"^gru: output of all steps must have at most"):
            network("gru", 2**12, 2**10, 2**7, revision=revision)
        assert network("gru", 2, 3, 4, revision=revision)[0].shape == (1, 3, 4)


def test_the_limit_of_a_device() -> None:
    """A profile may have a smaller one."""
    ml: Any = webnn.ML(revision="2026-06+checked-descriptors", profile="coreml")
    builder: Any = webnn.MLGraphBuilder(ml.createContextSync())
    most = builder._revision.max_byte_length
    steps = most // (4 * 64 * 64) + 1
    shapes = {"x": [steps, 64, 1], "w": [1, 192, 1], "r": [1, 192, 64]}
    operands = [builder.input(name, {"dataType": "float32", "shape": shape}) for name, shape in shapes.items()]
    with pytest.raises(webnn.WebNNTypeError, match=f"^gru: output of all steps must have at most {most} bytes"):
        builder.gru(*operands, steps, 64)


LARGE: list[tuple[str, Callable[[Any, Any], Any]]] = [
    # operations whose output is larger than their operands, each with an operand of 2**30 bytes
    ("add", lambda b, x: b.add(x, b.input("row", {"dataType": "int8", "shape": [2, 1]}))),
    ("concat", lambda b, x: b.concat([x, x], 0)),
    ("cast", lambda b, x: b.cast(x, "float16")),
    ("expand", lambda b, x: b.expand(x, [2, 2**30])),
    ("gather", lambda b, x: b.gather(x, b.input("rows", {"dataType": "int32", "shape": [2]}))),
    ("pad", lambda b, x: b.pad(b.reshape(x, [2**30]), [2**30], [0])),
    (
        "resample2d",
        lambda b, x: b.resample2d(
            b.cast(b.slice(b.reshape(x, [1, 1, 2**15, 2**15]), [0] * 4, [1, 1, 2**14, 2**14]), "float32"), scales=[2, 4]
        ),
    ),
    ("tile", lambda b, x: b.tile(x, [2, 1])),
    ("where", lambda b, x: b.where(b.input("c", {"dataType": "uint8", "shape": [2, 1]}), x, x)),
    (
        "matmul",
        lambda b, x: b.matmul(*(b.input(n, {"dataType": "float32", "shape": s}) for n, s in (("u", [2**15, 1]), ("v", [1, 2**15])))),
    ),
]


@each_row(("name", "call"), LARGE)
def test_other_operations(name: str, call: Callable[[Any, Any], Any]) -> None:
    """Their outputs are checked, in the draft and with the proposal."""
    for revision in ("2026-06", REVISION):
        builder = webnn.MLGraphBuilder(webnn.ML(revision=revision).createContextSync())  # type: ignore[arg-type]  # as above
        x = builder.input("x", dataType="int8", shape=[1, 2**30])
        with pytest.raises(webnn.WebNNTypeError, match=f"^{name}: output must have (at most {MAX_BYTE_LENGTH} bytes|dimensions from 1)"):
            call(builder, x)
