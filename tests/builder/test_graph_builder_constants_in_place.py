"""Constants over memory that nobody can write to are not copied; all others are."""

from __future__ import annotations

import array
import gc
import mmap
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, make_context
from webnn import MLGraphBuilder, MLOperand

Array = np.ndarray[Any, Any]

COUNT = 5000
VALUES = np.arange(COUNT, dtype=np.float32)


class Bytes(bytes):
    """A subclass: what it gives away need not be its own bytes."""


class Map(mmap.mmap):
    """Likewise."""


def constant(value: Any, count: int = COUNT, revision: str = CURRENT, dataType: str = "float32") -> Array:
    builder = MLGraphBuilder(make_context(revision))
    descriptor: Any = {"dataType": dataType, "shape": [count // 2, 2], "dimensions": [count // 2, 2]}
    operand: MLOperand = builder.constant(descriptor, value)
    assert operand._value is not None
    return operand._value


def write_file(folder: Path) -> Path:
    path = folder / "values.bin"
    path.write_bytes(VALUES.tobytes())
    return path


def make_map(folder: Path, access: int, kind: type[mmap.mmap] = mmap.mmap) -> mmap.mmap:
    with write_file(folder).open("r+b") as stream:
        return kind(stream.fileno(), 0, access=access)


def make_posix_map(folder: Path, flags: str, *, written: bool) -> mmap.mmap:
    if sys.platform == "win32":
        pytest.skip("Windows has other arguments")
    with write_file(folder).open("r+b") as stream:
        return mmap.mmap(stream.fileno(), 0, flags=getattr(mmap, flags), prot=mmap.PROT_READ | (mmap.PROT_WRITE if written else 0))


def saved(folder: Path) -> Path:
    np.save(folder / "values.npy", VALUES)
    return folder / "values.npy"


def read_only(values: Array) -> Array:
    values.flags.writeable = False
    return values


def view_of_read_only() -> Array:
    """Its base can be made writeable again."""
    return read_only(VALUES.copy())[:]


IN_PLACE: dict[str, Callable[[Path], Any]] = {
    "bytes": lambda _: VALUES.tobytes(),
    "a memoryview of bytes": lambda _: memoryview(VALUES.tobytes()),
    "a memoryview of it with other elements": lambda _: memoryview(VALUES.tobytes()).cast("f"),
    "an array over bytes": lambda _: np.frombuffer(VALUES.tobytes(), np.float32),
    "a part of bytes": lambda _: np.frombuffer(bytes(8) + VALUES.tobytes(), np.float32)[2:],
    "an array in another shape": lambda _: np.frombuffer(VALUES.tobytes(), np.float32).reshape(10, -1),
    "a memoryview of an array over bytes": lambda _: memoryview(np.frombuffer(VALUES.tobytes(), np.float32)),
    "a read-only mmap": lambda folder: make_map(folder, mmap.ACCESS_READ),
    "an array over a read-only mmap": lambda folder: np.frombuffer(make_map(folder, mmap.ACCESS_READ), np.float32),
    "a shared read-only mmap": lambda folder: make_posix_map(folder, "MAP_SHARED", written=False),
    "a private read-only mmap": lambda folder: make_posix_map(folder, "MAP_PRIVATE", written=False),
    "a memmap": lambda folder: np.memmap(write_file(folder), np.float32, "r"),
    "a memmap of a part": lambda folder: np.memmap(write_file(folder), np.float32, "r", 0, (COUNT,)),
    "a file of NumPy": lambda folder: np.load(saved(folder), mmap_mode="r"),
}
COPIED: dict[str, Callable[[Path], Any]] = {
    "an array": lambda _: VALUES.copy(),
    "a read-only array": lambda _: read_only(VALUES.copy()),
    "a read-only view of an array": lambda _: read_only(VALUES.copy()[:]),
    "a view of a read-only array": lambda _: view_of_read_only(),
    "a bytearray": lambda _: bytearray(VALUES.tobytes()),
    "a read-only memoryview of a bytearray": lambda _: memoryview(bytearray(VALUES.tobytes())).toreadonly(),
    "a read-only array over a bytearray": lambda _: read_only(np.frombuffer(bytearray(VALUES.tobytes()), np.float32)),
    "a read-only memoryview of an array": lambda _: memoryview(VALUES.copy()).toreadonly(),
    "an array of the standard library": lambda _: array.array("f", VALUES.tolist()),
    "a subclass of bytes": lambda _: Bytes(VALUES.tobytes()),
    "an array over a subclass of bytes": lambda _: np.frombuffer(Bytes(VALUES.tobytes()), np.float32),
    "a subclass of mmap": lambda folder: make_map(folder, mmap.ACCESS_READ, Map),
    "a mmap that can be written": lambda folder: make_map(folder, mmap.ACCESS_WRITE),
    "a mmap that is copied on write": lambda folder: make_map(folder, mmap.ACCESS_COPY),
    "a read-only array over such a mmap": lambda folder: read_only(np.frombuffer(make_map(folder, mmap.ACCESS_COPY), np.float32)),
    "a private mmap that can be written": lambda folder: make_posix_map(folder, "MAP_PRIVATE", written=True),
    "a memmap that can be written": lambda folder: np.memmap(write_file(folder), np.float32, "r+"),
    "a memmap that is copied on write": lambda folder: np.memmap(write_file(folder), np.float32, "c"),
    "a read-only view of a memmap that can be written": lambda folder: read_only(np.memmap(write_file(folder), np.float32, "r+")),
    "bytes that are not aligned": lambda _: np.frombuffer(bytes(1) + VALUES.tobytes(), np.float32, offset=1),
    "every second element of bytes": lambda _: np.frombuffer(np.repeat(VALUES, 2).tobytes(), np.float32)[::2],
}


@pytest.mark.parametrize("make", IN_PLACE.values(), ids=IN_PLACE)
@pytest.mark.parametrize("revision", ["2024-06", CURRENT])
def test_memory_that_nobody_can_write_is_used_in_place(make: Callable[[Path], Any], revision: str, tmp_path: Path) -> None:
    given = make(tmp_path)
    memory = np.asarray(memoryview(given))
    if revision == "2024-06" and memory.dtype != np.float32:
        given = np.frombuffer(given, np.float32)  # that draft wants elements of the descriptor's type
    value = constant(given, revision=revision)
    assert value.__array_interface__["data"] == (memory.__array_interface__["data"][0], True)
    np.testing.assert_array_equal(value, VALUES.reshape(-1, 2))


@pytest.mark.parametrize("make", COPIED.values(), ids=COPIED)
def test_other_memory_is_copied(make: Callable[[Path], Any], tmp_path: Path) -> None:
    given = make(tmp_path)
    memory = np.asarray(memoryview(given))
    value = constant(given)
    assert not np.shares_memory(value, memory)
    assert value.flags.aligned
    np.testing.assert_array_equal(value, VALUES.reshape(-1, 2))


def test_a_read_only_array_whose_owner_writes() -> None:
    """The flag of a view says nothing about its memory."""
    owner = VALUES.copy()
    value = constant(read_only(owner[:]))
    owner[:] = 7
    np.testing.assert_array_equal(value, VALUES.reshape(-1, 2))
    own = read_only(VALUES.copy())
    value = constant(own)
    own.flags.writeable = True
    own[:] = 7
    np.testing.assert_array_equal(value, VALUES.reshape(-1, 2))


@pytest.mark.parametrize(("count", "copied"), [(1022, True), (1024, False)])
def test_a_small_constant_does_not_keep_large_memory(count: int, copied: bool) -> None:
    data = VALUES.tobytes()
    value = constant(np.frombuffer(data, np.float32, count), count)
    assert np.shares_memory(value, np.frombuffer(data, np.float32)) is not copied


def test_a_map_stays_open_as_long_as_the_constant(tmp_path: Path) -> None:
    given = make_map(tmp_path, mmap.ACCESS_READ)
    kept = weakref.ref(given)
    value = constant(given)
    with pytest.raises(BufferError):
        given.close()
    del given
    gc.collect()
    np.testing.assert_array_equal(value, VALUES.reshape(-1, 2))
    assert kept() is not None
    del value
    gc.collect()
    assert kept() is None


def at_address(values: Array, remainder: int) -> Array:
    """Return an array over bytes, at an address with this remainder modulo 64."""
    room = np.frombuffer(bytes(values.nbytes + 128), np.uint8)
    offset = (remainder - room.ctypes.data) % 64
    data = bytearray(values.nbytes + 128)
    data[offset : offset + values.nbytes] = values.tobytes()
    # Bytes of one length begin at one remainder modulo 16, large ones usually at one modulo 64: this is looked at below.
    return np.frombuffer(bytes(data), values.dtype, values.size, offset).reshape(values.shape)


@pytest.mark.parametrize("dataType", ["float32", "float16", "int32", "int64", "uint8"])
def test_the_engine_takes_every_alignment_of_elements(dataType: str) -> None:
    """Vector instructions of the engine must not expect more than the elements' own alignment."""
    rng = np.random.default_rng(1)
    size = 64
    values = rng.integers(0, 3, (size, size)).astype(dataType)
    vector = rng.integers(0, 3, (1, size)).astype(dataType)
    results, remainders = [], set()
    for remainder in range(0, 64, values.itemsize):
        weights = at_address(values, remainder)
        remainders.add(weights.ctypes.data % 64)
        builder = MLGraphBuilder(context := make_context())
        x = builder.input("x", dataType=dataType, dimensions=[1, size])  # type: ignore[arg-type]
        w = builder.constant({"dataType": dataType, "dimensions": [size, size]}, weights)  # type: ignore[typeddict-item]
        assert w._value is not None
        assert np.shares_memory(w._value, weights)
        outputs = {"sum": builder.add(x, w), "rows": builder.gather(w, builder.constant("uint32", 3))}
        if dataType.startswith("float"):
            filter = builder.constant({"dataType": dataType, "dimensions": [16, 16, 4, 4]}, weights)  # type: ignore[typeddict-item]
            image = builder.reshape(builder.concat([x, x, x, x], 0), [1, 16, 4, 4])
            outputs |= {"product": builder.matmul(x, w), "gemm": builder.gemm(w, w), "conv": builder.conv2d(image, filter)}
        graph = builder.buildSync(outputs)
        found = {name: np.empty(operand.shape(), dataType) for name, operand in outputs.items()}
        results.append(context.computeSync(graph, {"x": vector.copy()}, found)["outputs"])  # type: ignore[arg-type]
    assert len(remainders) > 1
    for result in results[1:]:
        for name, expected in results[0].items():
            np.testing.assert_array_equal(result[name], expected)
    np.testing.assert_array_equal(results[0]["sum"], values + vector)
