"""Anything but a file in the place of one is refused at once, by every reader; and damaged arrays are one error that names the file."""

from __future__ import annotations

import functools
import os
import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import webnn
from tests.webnn.scale.graphs import times
from webnn import FormatError
from webnn.builder.npy import map_array
from webnn.builder.regular import describe_kind
from webnn.commands.feeds import read_archive, read_inputs
from webnn.commands.models import ModelOptions
from webnn.context.profiles import ProfileError, load_profile
from webnn.hlo import read as read_stablehlo
from webnn.onnx.model import read as read_onnx
from webnn.scale.rows import open_npy, open_npz

Read = Callable[[Path], object]
DESCRIPTORS = times().description.inputs


def read_external(path: Path) -> object:
    """Load a model whose weights are in this file."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=path.name)
    node = helper.make_node("Add", ["x", "w"], ["y"])
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    model = helper.make_model(helper.make_graph([node], "g", info[:1], info[1:], [tensor]), opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, path.with_name("model.onnx"))
    return webnn.onnx.load(path.with_name("model.onnx"))


def read_weights(path: Path) -> object:
    """Load a graph whose weights are in this file."""
    times().description.save(path.with_name("graph.webnn"))
    path.with_name("graph.safetensors").unlink()
    path.rename(path.with_name("graph.safetensors"))
    return webnn.load(path.with_name("graph.webnn"))


def read_constant(path: Path) -> object:
    return ModelOptions(constants={"c": str(path)}).arrays()


#: The readers, by what they read.
READERS: Mapping[str, Read] = {
    "model.onnx": read_onnx,
    "external.bin": read_external,
    "weights.safetensors": read_weights,
    "graph.webnn": webnn.load,
    "graph.webnn.json": webnn.load,
    "graph.mlir": read_stablehlo,
    "profile.json": load_profile,
    "constant.npy": read_constant,
    "input.npy": lambda path: read_inputs({"x": path}, DESCRIPTORS),
    "inputs.npz": lambda path: read_archive(path, DESCRIPTORS),
    "rows.npy": open_npy,
    "rows.npz": lambda path: open_npz(path, lambda: path.parent),
}


def make_link(path: Path) -> None:
    path.symlink_to(path.with_name("nothing"))


#: Things in the place of a file, and a part of the message.
OTHERS: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "pipe": (getattr(os, "mkfifo", lambda _: pytest.skip("Windows has no pipes in folders")), "must be a file, got a pipe"),
    "device": (lambda path: path.symlink_to(os.devnull), "must be a file, got a device"),
    "folder": (Path.mkdir, "must be a file, got a folder"),
    "link": (make_link, "the link leads to "),
}


@pytest.mark.skipif(sys.platform == "win32", reason="a link needs rights there")
@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("name", READERS)
def test_anything_but_a_file(name: str, kind: str, tmp_path: Path) -> None:
    make, message = OTHERS[kind]
    if (name, kind) == ("external.bin", "device"):
        pytest.skip("a link out of the folder is refused before")
    if (name, kind) == ("weights.safetensors", "device"):
        message = "must not be a link to another folder"
    path = tmp_path / name
    make(path)
    with pytest.raises((FormatError, ProfileError, OSError)) as caught:
        READERS[name](path)
    assert message in str(caught.value)
    assert str(tmp_path) in str(caught.value)


# Arrays


def write_npy(path: Path) -> None:
    np.save(path, np.ones((1, 4), np.float32))


ARCHIVES: Mapping[str, Callable[..., None]] = {"stored": np.savez, "compressed": np.savez_compressed}
ARRAYS: Mapping[str, tuple[Callable[[Path], None], Read]] = {
    "constant.npy": (write_npy, map_array),
    "input.npy": (write_npy, READERS["input.npy"]),
    "rows.npy": (write_npy, open_npy),
    **{
        f"{kind} {name}.npz": (
            functools.partial(lambda save, path: save(path, x=np.ones((1, 4), np.float32)), save),
            READERS[f"{name}.npz"],
        )
        for name in ("inputs", "rows")
        for kind, save in ARCHIVES.items()
    },
}
#: Headers on which Python's own parser fails in a way of its own.
HEADERS = [b"", b"(", b"{'descr': '<f4', 'shape': (", b"(" * 5000, b"{[]: 1}", b"{'descr': 'O', 'fortran_order': False, 'shape': (1, 4)}"]
HEADERS += [b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s,)}" % size for size in (b"-1", b"2**70", b"9" * 25, b"True")]
HEADERS += [b"{'descr': %s, 'fortran_order': False, 'shape': (4,)}" % kind for kind in (b"'|V0'", b"('<f4', (2,))", b"[('a', 'O')]", b"1")]


def damage(content: bytes, generator: random.Random) -> bytes:
    changed = bytearray(content)
    match generator.randrange(3):
        case 0:
            del changed[generator.randrange(len(changed)) :]
        case 1:
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        case _:
            place = generator.randrange(len(changed))
            changed[place : place + 4] = generator.randbytes(4)
    return bytes(changed)


@pytest.mark.parametrize("name", ARRAYS)
def test_damaged_arrays(name: str, tmp_path: Path) -> None:
    """Each is read, or is a `ValueError` that names its file."""
    write, read = ARRAYS[name]
    folder = tmp_path / "unpacked"
    path = tmp_path / name
    write(path)
    content, generator, refused = path.read_bytes(), random.Random(name), 0
    changes = [damage(content, generator) for _ in range(300)]
    if path.suffix == ".npy":
        changes += [b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + bytes(16) for text in HEADERS]
    for number, change in enumerate([b"", *changes]):
        (folder / str(number)).mkdir(parents=True)
        file = folder / str(number) / path.name
        file.write_bytes(change)
        told = None
        try:
            read(file)
        except ValueError as error:
            told = str(error)
            refused += 1
        assert told is None or told.startswith(f"{file}: "), (number, change)
    assert refused > 50


def test_an_array_is_mapped(tmp_path: Path) -> None:
    arrays: list[Any] = [np.arange(6, dtype=np.int32).reshape(2, 3), np.ones((2, 3), order="F"), np.zeros((0, 2)), np.array(3.5)]
    for number, array in enumerate(arrays):
        np.save(tmp_path / f"{number}.npy", array)
        mapped = map_array(tmp_path / f"{number}.npy")
        assert (mapped.dtype, mapped.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(mapped, array)


def test_links_and_pipes_are_described(tmp_path: Path) -> None:
    assert describe_kind(tmp_path) == "a folder"
    assert describe_kind(tmp_path / "none") == "not there"
    if sys.platform != "win32":
        make_link(tmp_path / "link")
        assert describe_kind(tmp_path / "link") == f"a link to {tmp_path / 'nothing'}, which is not there"
