"""Weights beside a graph: which file is read, and what it must hold."""

from __future__ import annotations

import json
import struct
import tracemalloc
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import webnn
from tests.webnn.formats.graphs import mixed, small_integers
from webnn import FormatError
from webnn.formats.tensors import TensorsFile

PACKED = {"rustnn.webnn.packed4": "1"}


def graph(dataType: str = "float32", shape: tuple[int, ...] = (2, 3), ref: str = "w") -> dict[str, Any]:
    """Return the content of a graph with weights."""
    return {
        "format": "webnn-graph-json",
        "version": 2,
        "consts": {name: {"dataType": dataType, "shape": list(shape), "init": {"kind": "weights", "ref": ref}} for name in ("c", "d")},
        "nodes": [{"id": "y", "op": "identity", "inputs": ["c"]}],
        "outputs": {"y": "y"},
    }


def write(folder: Path, content: Mapping[str, Any]) -> Path:
    path = folder / "graph.webnn.json"
    path.write_text(json.dumps(content))
    return path


def test_what_is_written(tmp_path: Path) -> None:
    mixed().save(tmp_path / "graph.webnn.json")
    tensors = load_file(tmp_path / "graph.safetensors")
    assert {name: (each.dtype, each.shape) for name, each in tensors.items()} == {"input": (np.dtype(np.float16), (1, 2, 4, 4))}
    small_integers().save(tmp_path / "graph.webnn.json")
    tensors = load_file(tmp_path / "graph.safetensors")
    assert {name: each.tolist() for name, each in tensors.items()} == {"input": [0x21, 0x43, 0x0F], "zeroPoint": [0]}
    header = (tmp_path / "graph.safetensors").read_bytes()[8:]
    assert b'"__metadata__":{"rustnn.webnn.packed4":"1"}' in header


def test_no_weights_no_file(tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    webnn.describe({"y": builder.neg(builder.constant("float32", 1))}).save(tmp_path / "graph.webnn")
    assert [each.name for each in tmp_path.iterdir()] == ["graph.webnn"]


def test_a_reserved_name(tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    data = builder.constant({"dataType": "float32", "shape": [8]}, np.arange(8, dtype=np.float32))
    more = builder.constant({"dataType": "float32", "shape": [8]}, np.ones(8, np.float32))
    description = webnn.describe({"y": builder.add(builder.neg(data, label="_"), more)})
    first, second = description.constants
    renamed = {"__metadata__": description.constants[first], "constant0": description.constants[second]}
    names = {first: "__metadata__", second: "constant0"}
    operators = [
        webnn.OperatorDescription(
            operation=each.operation,
            inputs={key: names.get(str(value), str(value)) for key, value in each.inputs.items()},
            outputs=each.outputs,
            label=each.label,
        )
        for each in description.operators
    ]
    odd = webnn.GraphDescription(draft=description.draft, inputs={}, constants=renamed, operators=tuple(operators), outputs={"y": "y"})
    odd.save(tmp_path / "graph.webnn.json")
    assert webnn.load(tmp_path / "graph.webnn.json") == odd


@pytest.mark.parametrize(
    ("files", "read"),
    [
        (["graph.safetensors", "graph.weights", "model.safetensors", "model.weights"], "graph.safetensors"),
        (["graph.weights", "model.safetensors", "model.weights"], "graph.weights"),
        (["model.safetensors", "model.weights"], "model.safetensors"),
        (["model.weights"], "model.weights"),
        ([], ""),
    ],
)
def test_which_file_is_read(files: list[str], read: str, tmp_path: Path) -> None:
    for number, name in enumerate(files):
        save_file({"w": np.full((2, 3), number, np.float32)}, tmp_path / name)
    path = write(tmp_path, graph())
    if read.endswith(".safetensors"):
        loaded = webnn.load(path)
        assert float(loaded.constants["c"].value[0, 0]) == files.index(read)
        # Bytes that two constants share are read once.
        assert np.shares_memory(loaded.constants["c"].value, loaded.constants["d"].value)
        return
    with pytest.raises(FormatError) as caught:
        webnn.load(path)
    if read:
        assert str(caught.value) == f"{tmp_path / read}: weights in this format are not supported: convert them to safetensors"
    else:
        assert "needs weights in a file beside it: graph.safetensors or graph.weights or model.safetensors" in str(caught.value)


def test_what_is_not_needed_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path, {**graph(), "consts": {}, "inputs": {"c": {"dataType": "float32", "shape": [2]}}})
    (tmp_path / "graph.safetensors").write_bytes(b"no safetensors")
    assert webnn.load(path).constants == {}


@pytest.mark.parametrize(
    ("content", "tensor", "metadata", "message"),
    [
        (graph(), np.ones((3, 2), np.float32), None, "consts.c: graph.safetensors must have F32 [2, 3] for 'w', got F32 [3, 2]"),
        (graph(), np.ones((2, 3), np.int32), None, "consts.c: graph.safetensors must have F32 [2, 3] for 'w', got I32 [2, 3]"),
        (graph(), np.ones((2, 3), np.float64), None, "got F64 [2, 3]"),
        (graph("uint8"), np.ones((2, 3), np.bool_), None, "got BOOL [2, 3]"),
        (graph(ref="v"), np.ones((2, 3), np.float32), None, "consts.c: graph.safetensors has no tensor 'v'"),
        (graph(ref="__metadata__"), np.ones(2, np.float32), PACKED, "graph.safetensors has no tensor '__metadata__'"),
        (graph("int4"), np.ones(3, np.uint8), None, "graph.safetensors must have the metadata rustnn.webnn.packed4=1 for int4"),
        (graph("int4"), np.ones((2, 3), np.uint8), PACKED, "graph.safetensors must have U8 [3] for 'w', got U8 [2, 3]"),
        (graph("int4"), np.ones(3, np.int8), PACKED, "graph.safetensors must have U8 [3] for 'w', got I8 [3]"),
    ],
)
def test_what_is_refused(content: dict[str, Any], tensor: Any, metadata: Any, message: str, tmp_path: Path) -> None:
    save_file({"w": tensor}, tmp_path / "graph.safetensors", metadata=metadata)
    path = write(tmp_path, content)
    with pytest.raises(FormatError) as caught:
        webnn.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def header(text: bytes, size: int | None = None, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(text) if size is None else size) + text + data


TENSOR = b'{"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,%d]}}'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"12345678",
        header(b"{}", 2**63),
        header(b"{}", 2**32),
        header(b"[]"),
        header(b"[" * 100_000),
        header(TENSOR % 24, data=b"x" * 23),
        header(TENSOR % 24, data=b"x" * 25),
        header(TENSOR % 2**62),
        header(TENSOR.replace(b"2,3", b"4294967296,4294967296,3") % 24, data=b"x" * 24),
        header(TENSOR.replace(b"[0,", b"[8,") % 32, data=b"x" * 32),
    ],
)
def test_what_is_no_safetensors_file(content: bytes, tmp_path: Path) -> None:
    path = write(tmp_path, graph())
    (tmp_path / "graph.safetensors").write_bytes(content)
    with pytest.raises(FormatError) as caught:
        webnn.load(path)
    assert str(caught.value).startswith(f"{tmp_path / 'graph.safetensors'}: is not a safetensors file: ")


def test_links(tmp_path: Path) -> None:
    """A link must not lead to another folder, unless the graph's own link leads there."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "here").mkdir()
    save_file({"w": np.ones((2, 3), np.float32)}, tmp_path / "elsewhere" / "blob")
    path = write(tmp_path / "here", graph())
    (tmp_path / "here" / "graph.safetensors").symlink_to(tmp_path / "elsewhere" / "blob")
    with pytest.raises(FormatError, match="must not be a link to another folder"):
        webnn.load(path)
    path.rename(tmp_path / "elsewhere" / "another blob")
    path.symlink_to(tmp_path / "elsewhere" / "another blob")
    assert list(webnn.load(path).constants) == ["c", "d"]


def many(count: int) -> bytes:
    """Return a file of empty tensors, and one with the data of the graph."""
    empty = ",".join(f'"t{number}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}' for number in range(count))
    text = f'{{"w":{{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}},{empty}}}'
    return header(text.encode(), data=bytes(range(24)))


def test_a_file_of_many_tensors_takes_little_memory(tmp_path: Path) -> None:
    path = write(tmp_path, graph())
    (tmp_path / "graph.safetensors").write_bytes(many(20_000))
    loaded = webnn.load(path)
    assert loaded.constants["c"].value.tobytes() == bytes(range(24))
    tracemalloc.start()
    try:
        with closing(TensorsFile(tmp_path / "graph.safetensors")) as file:
            assert file.find("t19999") is not None
            assert file.find("t20000") is None
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * (tmp_path / "graph.safetensors").stat().st_size


#: Headers that the format does not allow, and a part of the message. `%s` is a valid tensor without elements.
EMPTY = b'{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
HEADERS = [
    (b'{"a":%s,"a":%s}', "two tensors have the name a"),
    (b'{"a":%s,}', "a name and an object"),
    (b'{"a":%s} x', "must end with its object"),
    (b'{"a":%s', "a name and an object"),
    (b'{"a":{"b":%s}}', "a name and an object"),
    (b'{"\\q":%s}', "JSON in UTF-8"),
    (b'{"\xff":%s}', "JSON in UTF-8"),
    (b'{"__metadata__":{"a":1},"b":%s}', "metadata must be texts"),
    (b'{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,false]},"b":%s}', "a type, a shape"),
    (b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,-4]},"b":%s}', "a type, a shape"),
    (b'{"a":{"dtype":"X32","shape":[0],"data_offsets":[0,0]},"b":%s}', "a type, a shape"),
    (b'{"a":{"dtype":"F32","shape":[' + b"0," * 64 + b'0],"data_offsets":[0,0]},"b":%s}', "a type, a shape"),
    (b'{"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[8],"data_offsets":[4,12]}}', "one behind the other"),
    (b'{"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[2],"data_offsets":[9,11]}}', "one behind the other"),
    (b'{"__metadata__":{"a":"' + b"x" * (1 << 20) + b'"},"b":%s}', "at most 1 MiB"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), HEADERS, ids=range(len(HEADERS)))
def test_headers_that_the_format_does_not_allow(text: bytes, message: str, tmp_path: Path) -> None:
    content = text.replace(b"%s", EMPTY)
    (tmp_path / "a.safetensors").write_bytes(header(content, data=bytes(12 if b"4,12" in content else 11 if b"U8" in content else 0)))
    with pytest.raises(FormatError) as caught:
        TensorsFile(tmp_path / "a.safetensors")
    assert message in caught.value.message


def test_headers_as_others_write_them(tmp_path: Path) -> None:
    text = b' { "__metadata__" : { "a{" : "}\\"" } , "\\u00e9\\ud83d\\ude00" : %s , "b" : %s } ' % (EMPTY, EMPTY)
    (tmp_path / "a.safetensors").write_bytes(header(text))
    with closing(TensorsFile(tmp_path / "a.safetensors")) as file:
        assert dict(file.metadata) == {"a{": '}"'}
        assert file.find("é😀") == file.find("b") == ("F32", [0], 0, 0)
        assert file.find("__metadata__") is None
