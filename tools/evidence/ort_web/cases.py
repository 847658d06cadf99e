"""The node tests of ONNX, and a few whole models, written as files that a page program can fetch.

A node test is a model of one operator, or of its body of other operators (``..._expanded``), with inputs and the outputs that the
operator must give for them. They come from the generators of the package `onnx`.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, numpy_helper

__all__ = ["IR_VERSION", "OPSET", "Array", "Case", "Tensor", "Test", "collect", "inputs_of", "load", "lower", "unpack", "why_not", "write"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The newest versions of models and operators that ONNX Runtime Web 1.30 reads.
IR_VERSION, OPSET = 13, 26

#: ONNX Runtime Web's names of element types, by those of ONNX. The bytes of its other types have no form in JavaScript.
TYPES: dict[int, str] = {
    TensorProto.BOOL: "bool",
    TensorProto.DOUBLE: "float64",
    TensorProto.FLOAT: "float32",
    TensorProto.FLOAT16: "float16",
    TensorProto.INT4: "int4",
    TensorProto.INT8: "int8",
    TensorProto.INT16: "int16",
    TensorProto.INT32: "int32",
    TensorProto.INT64: "int64",
    TensorProto.UINT4: "uint4",
    TensorProto.UINT8: "uint8",
    TensorProto.UINT16: "uint16",
    TensorProto.UINT32: "uint32",
    TensorProto.UINT64: "uint64",
}
#: The types of which two elements share a byte.
NIBBLES = ("int4", "uint4")
#: A test with more data than this takes too long.
LARGEST = 8 << 20

_INDEX = "cases.json"
_STANDARD = ("", "ai.onnx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A test as `onnx` has it.

    Attributes:
        name: Its name, for example ``"test_relu"``.
        model: The model.
        inputs: The values of the model's inputs, in their order.
        outputs: The values that its outputs must have.
        rtol: The relative tolerance of an output.
        atol: The absolute tolerance, which is added.
        runs: How many times it is run, to see how long that takes.
    """

    __test__ = False

    name: str
    model: ModelProto
    inputs: list[Any]
    outputs: list[Any]
    rtol: float
    atol: float
    runs: int = 1


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a test: the place of its bytes in the test's file of data.

    Attributes:
        name: The name of the model's input or output.
        type: Its element type, by ONNX Runtime Web's name.
        dims: Its shape.
        offset: Where its bytes begin.
        size: How many there are: two elements of ``"int4"`` or ``"uint4"`` share one.
    """

    name: str
    type: str
    dims: tuple[int, ...]
    offset: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A test as the page program gets it.

    Attributes:
        name: Its name.
        model: The address of its model.
        data: The address of the bytes of its tensors.
        inputs: The inputs.
        expected: The outputs that it must give.
        rtol: The relative tolerance of an output.
        atol: The absolute tolerance, which is added.
        runs: How many times it is run.
    """

    name: str
    model: str
    data: str
    inputs: tuple[Tensor, ...]
    expected: tuple[Tensor, ...]
    rtol: float
    atol: float
    runs: int


def collect() -> Iterator[Test]:
    """Generate the node tests of the package `onnx`."""
    from onnx.backend.test.case.node import collect_testcases  # noqa: PLC0415

    with warnings.catch_warnings():
        # The generators divide by zero, and more, on purpose.
        warnings.simplefilter("ignore")
        tests = collect_testcases(None)
    for test in tests:
        assert test.model is not None
        for inputs, outputs in test.data_sets or ():
            yield Test(name=test.name, model=test.model, inputs=list(inputs), outputs=list(outputs), rtol=test.rtol, atol=test.atol)


def why_not(test: Test) -> str:
    """Return why a test is unusable here, as a short reason that many tests share, or ``""``."""
    values = [*test.inputs, *test.outputs]
    for value in values:
        if isinstance(value, TensorProto):
            if value.data_type not in TYPES:
                return f"a tensor of {TensorProto.DataType.Name(value.data_type).lower()}"
        elif not isinstance(value, np.ndarray | np.generic):
            return "an optional without a value" if value is None else "a sequence"
        elif value.dtype.kind not in "bfiu":
            return f"a tensor of {'string' if value.dtype.kind in 'OSU' else value.dtype.name}"
    if sum(len(_bytes(value)) for value in values) > LARGEST:
        return f"more than {LARGEST >> 20} MiB"
    return ""


def lower(model: ModelProto) -> ModelProto:
    """Return an equivalent model in the newest form that ONNX Runtime Web reads, if there is one.

    The newest tests are written in the next versions of the operators and the format, although most of their operators are older.
    """
    lowered = ModelProto()
    lowered.CopyFrom(model)
    lowered.ir_version = min(model.ir_version, IR_VERSION)
    for opset in lowered.opset_import:
        names = {node.op_type for node in _nodes(model.graph) if node.domain in _STANDARD}
        if opset.domain in _STANDARD and all(onnx.defs.get_schema(name, opset.version, "").since_version <= OPSET for name in names):
            opset.version = min(opset.version, OPSET)
    return lowered


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _nodes(attribute.g)


def inputs_of(model: ModelProto) -> list[ValueInfoProto]:
    """Return the inputs of a model that need a value: those of an old model include its weights."""
    weights = {weight.name for weight in model.graph.initializer}
    return [info for info in model.graph.input if info.name not in weights]


def write(tests: Iterable[Test], folder: Path) -> list[Case]:
    """Write tests as files, and return them as `load` reads them.

    Args:
        tests: The tests, all usable (`why_not`).
        folder: The site that the page program reads.
    """
    place = folder / "cases"
    place.mkdir(parents=True, exist_ok=True)
    cases = []
    for test in tests:
        content = bytearray()
        sides: list[tuple[Tensor, ...]] = []
        for values, infos in ((test.inputs, inputs_of(test.model)), (test.outputs, test.model.graph.output)):
            side = []
            for value, info in zip(values, infos, strict=True):
                piece = _bytes(value)
                side.append(Tensor(info.name, *_describe(value), len(content), len(piece)))
                content += piece
            sides.append(tuple(side))
        onnx.save(lower(test.model), place / f"{test.name}.onnx")
        (place / f"{test.name}.bin").write_bytes(content)
        model, data = (f"/cases/{test.name}.{suffix}" for suffix in ("onnx", "bin"))
        cases.append(
            Case(
                name=test.name,
                model=model,
                data=data,
                inputs=sides[0],
                expected=sides[1],
                rtol=test.rtol,
                atol=test.atol,
                runs=test.runs,
            )
        )
    (folder / _INDEX).write_text(json.dumps([asdict(case) for case in cases]), encoding="utf-8")
    return cases


def load(folder: Path) -> list[Case]:
    """Read the tests that `write` wrote into a folder.

    Raises:
        FileNotFoundError: There are none.
    """
    return [_case(each) for each in json.loads((folder / _INDEX).read_text(encoding="utf-8"))]


def _case(entry: Mapping[str, Any]) -> Case:
    sides = {side: tuple(Tensor(**{**each, "dims": tuple(each["dims"])}) for each in entry[side]) for side in ("inputs", "expected")}
    return Case(**{**entry, **sides})


def _describe(value: Any) -> tuple[str, tuple[int, ...]]:
    """Return a value's element type and shape."""
    if isinstance(value, TensorProto):
        return TYPES[value.data_type], tuple(value.dims)
    return value.dtype.name, value.shape


def _bytes(value: Any) -> bytes:
    """Return a value's bytes, little-endian."""
    if isinstance(value, TensorProto):
        if TYPES[value.data_type] in NIBBLES:
            return value.raw_data or bytes(each & 0xFF for each in value.int32_data)
        value = numpy_helper.to_array(value)
    array = np.asarray(value)
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def unpack(content: bytes, type: str, dims: Iterable[int]) -> Array:
    """Return the elements of a tensor's bytes.

    Args:
        content: The bytes, little-endian. The lower half of a byte is the first of two elements.
        type: ONNX Runtime Web's name of the element type.
        dims: The shape.

    Returns:
        An array of that type and shape; of the type "int8" or "uint8" for "int4" and "uint4".

    Raises:
        ValueError: There are too many bytes, or too few.
    """
    shape = tuple(dims)
    if type not in NIBBLES:
        return np.frombuffer(content, np.dtype(type).newbyteorder("<")).reshape(shape)
    count = math.prod(shape)
    pairs = np.frombuffer(content, np.uint8)
    if len(pairs) != (count + 1) // 2:
        raise ValueError(f"{count} elements of {type} need {(count + 1) // 2} bytes, got {len(pairs)}")
    halves = np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(-1)[:count]
    # In a signed half, 8 to 15 mean -8 to -1.
    elements = (halves ^ 8).astype(np.int8) - np.int8(8) if type == "int4" else halves
    return elements.reshape(shape)
