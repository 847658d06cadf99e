"""Reading files: what they have, and hostile ones."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.webnn.tflite.cases import CASES
from tests.webnn.tflite.makers import c, f, one
from tests.webnn.tflite.models import Graph, Op, T, write
from webnn.builder.description import FormatError
from webnn.importing.values import Refused
from webnn.tflite import RefusedModelError, load
from webnn.tflite.model import Sparsity, Tensor, read

CONV = CASES["conv 0 0 2 1"]


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(CONV)
    model = read(path)
    assert model.file == str(path)
    (graph,) = model.subgraphs
    (operator,) = graph.operators
    assert (operator.key, operator.inputs, operator.outputs) == ("CONV_2D", (0, 1, 2), (3,))
    assert (operator.options["StrideH"], operator.options["DilationHFactor"]) == (2, 1)
    found = graph.tensors[1].read()
    assert found is not None
    np.testing.assert_array_equal(found, c(4, 3, 2, 3).data)
    assert graph.tensors[0].read() is None


def test_names_differ() -> None:
    (graph,) = read(write(Graph([f(2, name="x"), f(2, name="x"), f(2)], [Op("ABS", [0], [1])], [0], [1]))).subgraphs
    assert [each.name for each in graph.tensors] == ["x", "x 1", "t2"]


@pytest.mark.parametrize(
    ("type", "data", "wanted"), [("INT16", b"\xff\xff\x02\x00", [-1, 2]), ("INT4", b"\x0f", [-1, 0]), ("BOOL", b"\0\1", [0, 1])]
)
def test_elements(type: str, data: bytes, wanted: list[int]) -> None:
    (graph,) = read(write(Graph([T(type=type, shape=[2], raw=data)], [], [], [0]))).subgraphs
    found = graph.tensors[0].read()
    assert found is not None
    assert found.astype(int).tolist() == wanted


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (T(type="FLOAT32", shape=[3], raw=b"12345678"), "must have 3 elements, as its shape [3] says, got 2"),
        (T(type="FLOAT32", shape=[3], raw=b"12345"), "must have elements of 4 bytes, got 5 bytes"),
        (T(type="STRING", shape=[3], raw=b"12345"), "the element type must be one of WebNN, got STRING"),
    ],
)
def test_a_tensor_that_contradicts_itself(tensor: T, message: str) -> None:
    with pytest.raises(RefusedModelError) as caught:
        load(write(Graph([tensor, f(3)], [Op("ABS", [0], [1])], [], [1])))
    assert message in caught.value.report.refusals[0].reason


SIGNATURES = [("one", 0, {"a": 0}, {"b": 1}), ("two", 0, {"c": 0}, {"d": 1})]


def test_signatures() -> None:
    model = write(Graph([f(2), f(2)], [Op("ABS", [0], [1])], [0], [1]), signatures=SIGNATURES)
    imported = load(model)
    assert [*imported.inputs, *imported.description.outputs] == ["a", "b"]
    assert imported.report.notes == ("the signature is 'one'; the model has also 'two'",)
    assert [*load(model, signature="two").inputs] == ["c"]
    with pytest.raises(ValueError, match="signature must be one of the model's, 'one', 'two', got 'three'"):
        load(model, signature="three")
    assert read(model).input_types(read(model).find("two")) == [("c", "FLOAT32")]


HOSTILE = {
    "empty": (b"", "the bytes from 4 to 7 must be b'TFL3', got b''"),
    "version": (write(Graph([f(2), f(2)], [Op("ABS", [0], [1])], [0], [1]), version=2), "the version must be 3, got 2"),
    "no subgraph": (write(), "it must have a subgraph"),
    "tensors": (
        write(Graph([f(2), f(2)], [Op("ABS", [0], [7])], [0], [1])),
        "the outputs of an operator must be tensors from 0 to 1, got [7]",
    ),
    "inputs": (
        write(Graph([f(2), f(2)], [Op("ABS", [-2], [1])], [0], [1])),
        "the inputs of an operator must be tensors from -1 to 1, got [-2]",
    ),
    "sizes": (write(Graph([f(-2), f(2)], [Op("ABS", [0], [1])], [0], [1])), "sizes of at least 0"),
    "many elements": (write(Graph([f(0, 2**30, 2**30), f(2)], [Op("ABS", [0], [1])], [0], [1])), "fewer than 281474976710656 elements"),
    "signature": (
        write(Graph([f(2), f(2)], [Op("ABS", [0], [1])], [0], [1]), signatures=[("s", 9, {}, {})]),
        "must have one of 1 subgraphs, got 9",
    ),
    "scales": (write(Graph([T(type="INT8", shape=[3], scale=[1, 2]), f(3)], [Op("DEQUANTIZE", [0], [1])], [0], [1])), "got 2 and 1"),
    "name": (write(Graph([f(2, name="x" * 5000), f(2)], [Op("ABS", [0], [1])], [0], [1])), "names must have at most 4096 bytes, got 5000"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file(name: str) -> None:
    data, message = HOSTILE[name]
    with pytest.raises(FormatError) as caught:
        read(data)
    assert message in str(caught.value)


def test_every_beginning_of_a_file() -> None:
    for size in range(len(CONV)):
        with contextlib.suppress(RefusedModelError), pytest.raises(FormatError):
            load(CONV[:size])


@pytest.mark.parametrize("seed", range(20))
def test_changed_files(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [*CASES]
    for _ in range(25):
        data = bytearray(CASES[names[rng.integers(len(names))]])
        for place in rng.integers(8, len(data), rng.integers(1, 6)):
            data[place] = rng.integers(256)
        if rng.integers(2):
            # Offsets and counts are words.
            place = 4 * int(rng.integers(2, len(data) // 4))
            data[place : place + 4] = int(rng.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1, len(data)])).to_bytes(4, "little")
        with contextlib.suppress(FormatError, RefusedModelError):
            load(bytes(data))


def test_a_list_that_is_repeated() -> None:
    """A thousand operators whose inputs are one long list are not read a thousand times."""
    data = bytearray(one("ADD_N", [f(2)] * 1, [f(2)]))
    # The count of the operator's inputs says that all of the file follows.
    model = read(bytes(data))
    assert model.subgraphs[0].operators[0].inputs == (0,)
    place = data.rindex((1).to_bytes(4, "little") + bytes(4))
    data[place : place + 4] = (1 << 30).to_bytes(4, "little")
    with pytest.raises(FormatError):
        read(bytes(data))


def test_types() -> None:
    tensor = Tensor("x", "INT16", (2,), frozenset(), None, None, None, is_variable=False)
    assert tensor.dtype == np.int32
    assert tensor.limits == (-32768, 32767)
    with pytest.raises(Refused, match="got COMPLEX64"):
        _ = Tensor("x", "COMPLEX64", (2,), frozenset(), None, None, None, is_variable=False).dtype


# Sparse tensors.


def _array(*values: int) -> Any:
    return np.array(values, np.int64)


ROWS = (_array(0, 1, 1, 3), _array(1, 0, 1))


def test_rows() -> None:
    found = Sparsity([0, 1], [], [3, ROWS]).expand(np.array([1, 2, 3], np.float32), (3, 2))
    assert found.tolist() == [[0, 1], [0, 0], [2, 3]]


def test_columns_first() -> None:
    found = Sparsity([1, 0], [], [2, (_array(0, 1, 2), _array(2, 0))]).expand(np.array([5, 7]), (3, 2))
    assert found.tolist() == [[0, 7], [0, 0], [5, 0]]


def test_blocks() -> None:
    found = Sparsity([0, 1, 2], [1], [2, (_array(0, 1, 1), _array(1)), 2]).expand(np.array([5, 7]), (2, 4))
    assert found.tolist() == [[0, 0, 5, 7], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("sparsity", "reason"),
    [
        (Sparsity([0, 0], [], [3, ROWS]), "must name each of 2 dimensions"),
        (Sparsity([0, 1, 2], [5], [3, ROWS, 1]), "blocks must divide different dimensions"),
        (Sparsity([0, 1], [], [9, ROWS]), "must be those of its 3 elements"),
        (Sparsity([0, 1], [], [3, (_array(0, 1, 1, 9), _array(1, 0, 1))]), "must be those of its 3 elements"),
        (Sparsity([0, 1], [], [3, (_array(0, 2, 1, 3), _array(1, 0, 1))]), "must be those of its 3 elements"),
        (Sparsity([0, 1], [], [3, (_array(0, 1, 1, 3), _array(1, 0, 7))]), "must be those of its 3 elements"),
        (Sparsity([0, 1], [], [3, (_array(0, 1, 1, 3), _array(1, 0, -1))]), "must be those of its 3 elements"),
        # More than any machine has, behind a level without elements.
        (Sparsity([0, 1], [], [(_array(0, 0), _array()), 1 << 50]), "must be those of its 3 elements"),
        (Sparsity([0, 1], [], [(_array(0, 0), _array()), (_array(0), _array())]), "must be those of its 3 elements"),
    ],
)
def test_positions_that_are_wrong(sparsity: Sparsity, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        sparsity.expand(np.array([1, 2, 3], np.float32), (3, 2))


def test_a_tensor_that_is_too_large() -> None:
    with pytest.raises(Refused, match="must store one of 64 elements at least"):
        Sparsity([0, 1], [], [3, ROWS]).expand(np.array([1, 2, 3], np.float32), (1 << 20, 1 << 20))
