"""Where rows come from: arrays, maps of files, archives and tables."""

from __future__ import annotations

import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import webnn
from tests.support import each_row
from tests.webnn.scale.graphs import Array, data, expected, several, times
from webnn._extras import install_command
from webnn.scale.parquet import open_parquet
from webnn.scale.rows import FileRows, MemoryRows, open_array, open_npy, open_npz, store

THREADS: dict[str, Any] = {"executor": "threads:1", "progress": False, "batchSize": 7}
ROWS = data(50)


def check(given: Any) -> None:
    """The results of `times` are right, for rows that are `ROWS`."""
    np.testing.assert_allclose(webnn.batch(times(), given, **THREADS).collect()["y"], expected(ROWS), rtol=1e-5, atol=1e-6)


def mapped(tmp_path: Path, mode: Any = "r", order: Any = "C") -> np.memmap[Any, Any]:
    file = np.memmap(tmp_path / "rows.bin", np.float32, "w+", 64, ROWS.shape, order)
    file[...] = ROWS
    file.flush()
    return np.memmap(tmp_path / "rows.bin", np.float32, mode, 64, ROWS.shape, order)


@each_row("order", ["C", "F"])
def test_a_file_npy(tmp_path: Path, order: Any) -> None:
    np.save(tmp_path / "rows.npy", np.asarray(ROWS, order=order))
    check(tmp_path / "rows.npy")
    check(str(tmp_path / "rows.npy"))
    check({"x": tmp_path / "rows.npy"})
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(open_npy(tmp_path / "rows.npy"))).read(3, 9), ROWS[3:9])


@each_row("mode", ["r", "r+", "c"])
@each_row("order", ["C", "F"])
def test_a_map(tmp_path: Path, mode: Any, order: Any) -> None:
    array = mapped(tmp_path, mode, order)
    check(array)
    # Workers read the file, if it has what the map has.
    assert isinstance(open_array(array), FileRows if (mode, order) in (("r", "C"), ("r+", "C")) else MemoryRows)
    if mode == "c":
        array[0] = 1
        np.testing.assert_array_equal(open_array(array).read(0, 1), [[1, 1, 1, 1]])


def test_what_a_program_wrote_into_a_map(tmp_path: Path) -> None:
    array = mapped(tmp_path, "r+")
    array[4] = 5
    np.testing.assert_array_equal(open_array(array).read(4, 5), [[5, 5, 5, 5]])


@given(first=st.integers(0, 50), second=st.integers(0, 50), third=st.integers(0, 50), fourth=st.integers(0, 50))
@settings(deadline=None)
def test_a_part_of_a_map(tmp_path_factory: pytest.TempPathFactory, first: int, second: int, third: int, fourth: int) -> None:
    array = mapped(tmp_path_factory.mktemp("map"))[first:second][third:fourth]
    rows = open_array(array)
    assert isinstance(rows, FileRows) == bool(array.size)
    np.testing.assert_array_equal(rows.read(0, rows.count), ROWS[first:second][third:fourth])


def test_a_part_with_steps_is_memory(tmp_path: Path) -> None:
    rows = open_array(mapped(tmp_path)[::3])
    assert isinstance(rows, MemoryRows)
    np.testing.assert_array_equal(rows.read(1, 3), ROWS[::3][1:3])


@each_row("save", [np.savez, np.savez_compressed])
def test_an_archive(tmp_path: Path, save: Any) -> None:
    save(tmp_path / "rows.npz", x=ROWS)
    check(tmp_path / "rows.npz")
    a, b = np.ones((4, 3), np.float32), np.arange(4, dtype=np.int32)
    save(tmp_path / "two.npz", b=b, a=a)
    found = webnn.batch(several(), tmp_path / "two.npz", batchSize=2, executor="threads:1").collect()
    np.testing.assert_array_equal(found["b2"], b * 2)


def test_stored_members_stay_where_they_are(tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", x=ROWS, y=ROWS + 1)
    rows = open_npz(tmp_path / "rows.npz", lambda: pytest.fail("nothing is unpacked"))
    assert all(isinstance(each, FileRows) and each.travels for each in rows.values())
    np.testing.assert_array_equal(rows["y"].read(2, 4), ROWS[2:4] + 1)


def test_rows_are_stored_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webnn.scale.rows._PIECE", 100)
    stored = store(open_array(np.asfortranarray(ROWS)), tmp_path / "rows.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), ROWS)
    np.testing.assert_array_equal(stored.read(10, 20), ROWS[10:20])


def test_identities(tmp_path: Path) -> None:
    same = open_array(ROWS.copy()).identity()
    assert open_array(ROWS).identity() == same
    assert open_array(ROWS + 1).identity() != same
    assert open_array(ROWS.reshape(25, 8)).identity() != same
    np.save(tmp_path / "rows.npy", ROWS)
    before = open_npy(tmp_path / "rows.npy").identity()
    np.save(tmp_path / "rows.npy", np.append(ROWS, ROWS))
    assert open_npy(tmp_path / "rows.npy").identity() != before


def header(text: str) -> bytes:
    content = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(content).to_bytes(2, "little") + content


BAD: list[tuple[str, bytes, str]] = [
    ("empty", b"", "must be an array of NumPy"),
    ("text", b"1,2,3\n", "must be an array of NumPy"),
    ("shape", header("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 99)}"), "must have 1584 bytes of elements"),
    ("negative", header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 4)}"), "must be an array of numbers"),
    ("huge", header("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807)}"), "but is shorter"),
    ("scalar", header("{'descr': '<f4', 'fortran_order': False, 'shape': ()}"), "must be an array with an axis of rows"),
    ("objects", header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), "must be an array of numbers"),
    ("code", header("__import__('os').abort()"), "must be an array of NumPy"),
    ("version", b"\x93NUMPY\x09\x00\x00\x00", "must be an array of NumPy"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[name for name, _, _ in BAD])
def test_bad_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    file = tmp_path / f"{name}.npy"
    file.write_bytes(content)
    with pytest.raises(webnn.FormatError, match=message) as caught:
        open_npy(file)
    assert str(caught.value).startswith(str(file))
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        archive.writestr("x.npy", content)
    with pytest.raises(webnn.FormatError, match=message):
        open_npz(tmp_path / "bad.npz", lambda: tmp_path)


@each_row("content", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)])
def test_bad_archives(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rows.npz").write_bytes(content)
    with pytest.raises((webnn.FormatError, webnn.WebNNTypeError)):
        webnn.batch(times(), tmp_path / "rows.npz")


@each_row("names", [["x.txt"], ["x.npy", "x.npy"], ["../x.npy", "x.npy"]])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_in_archives(tmp_path: Path, names: list[str]) -> None:
    with zipfile.ZipFile(tmp_path / "rows.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            with archive.open(name, "w") as stream:
                np.save(stream, ROWS)
    with pytest.raises((webnn.FormatError, webnn.WebNNTypeError), match=r"names of their own|must have the inputs 'x', got '\.\./x'"):
        webnn.batch(times(), tmp_path / "rows.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.npz"]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for suffix in (".npy", ".npz"):
        with pytest.raises(FileNotFoundError):
            webnn.batch(times(), tmp_path / f"none{suffix}")


# Parquet


def fixed(rows: Array, kind: str = "float32") -> Any:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    column = pa.array(rows.reshape(-1), getattr(pa, kind)())
    for size in reversed(rows.shape[1:]):
        column = pa.FixedSizeListArray.from_arrays(column, size)
    return column


def write(path: Path, columns: dict[str, Any], group: int = 1000) -> Path:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=group)
    return path


@each_row("group", [1, 7, 16, 1000])
def test_a_table(tmp_path: Path, group: int) -> None:
    check(write(tmp_path / "rows.parquet", {"label": np.arange(50), "x": fixed(ROWS)}, group))


def test_columns_of_several_kinds(tmp_path: Path) -> None:
    a, b = np.arange(15, dtype=np.float32).reshape(5, 3), np.arange(5, dtype=np.int32)
    file = write(tmp_path / "rows.parquet", {"b": b, "a": fixed(a)}, 2)
    found = webnn.batch(several(), file, batchSize=4, executor="threads:1").collect()
    np.testing.assert_array_equal(found["a2"], a * 2)
    np.testing.assert_array_equal(found["b2"], b * 2)


def test_flat_and_nested_lists_have_any_shape(tmp_path: Path) -> None:
    images = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for rows in (images, images.reshape(2, 12)):
        found = webnn.batch(times(rows=3), write(tmp_path / "rows.parquet", {"x": fixed(rows)}), executor="threads:1").collect()["y"]
        np.testing.assert_allclose(found, expected(images), rtol=1e-5)


def test_a_column_of_tensors(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    check(write(tmp_path / "rows.parquet", {"x": pa.FixedShapeTensorArray.from_numpy_ndarray(ROWS)}, 20))


@given(group=st.integers(1, 60), ranges=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=8))
@settings(deadline=None, max_examples=40)
def test_rows_of_a_table_in_any_order(tmp_path_factory: pytest.TempPathFactory, group: int, ranges: list[tuple[int, int]]) -> None:
    file = write(tmp_path_factory.mktemp("table") / "rows.parquet", {"x": fixed(ROWS)}, group)
    rows = open_parquet(file, {"x": None})["x"]
    assert (rows.count, rows.shape) == (50, (4,))
    for start, stop in ranges:
        np.testing.assert_array_equal(rows.read(start, max(start, stop)), ROWS[start : max(start, stop)])


def test_a_table_that_was_written_again(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.parquet", {"x": fixed(ROWS)})
    np.testing.assert_array_equal(open_parquet(file, {"x": None})["x"].read(0, 5), ROWS[:5])
    write(file, {"x": fixed(ROWS + 1), "more": np.arange(50)})
    np.testing.assert_array_equal(open_parquet(file, {"x": None})["x"].read(5, 9), ROWS[5:9] + 1)


def test_bad_tables(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    lists = pa.array([[1.0, 2.0], [3.0]], pa.list_(pa.float32()))
    holes = pa.array([[1.0] * 4, None], pa.list_(pa.float32(), 4))
    inner = pa.array([[1.0, 2.0, 3.0, None]], pa.list_(pa.float32(), 4))
    rows: list[tuple[dict[str, Any], str]] = [
        ({"y": fixed(ROWS)}, r"must have one column 'x', got the columns \['y'\]"),
        ({"x": lists}, "numbers, or lists of a fixed size, in the column 'x', got list"),
        ({"x": pa.array(["a"])}, "numbers, or lists of a fixed size, in the column 'x', got string"),
        ({"x": fixed(ROWS.astype(np.float64), "float64")}, "must have elements of float32, got float64"),
        ({"x": fixed(ROWS.reshape(40, 5))}, r"rows of the shape \[1, 4\] or \[4\], .*got \[5\]"),
        ({"x": holes}, "a value in every row"),
        ({"x": inner}, "a value in every row"),
    ]
    for columns, message in rows:
        file = write(tmp_path / "rows.parquet", columns)
        with pytest.raises((webnn.FormatError, webnn.WebNNTypeError, webnn.BatchError), match=message):
            webnn.batch(times(), file, executor="threads:1").collect()
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(webnn.FormatError, match="must be a Parquet file"):
        webnn.batch(times(), tmp_path / "rows.parquet")


def test_parquet_needs_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "rows.parquet").touch()
    with pytest.raises(ImportError, match=re.escape(f"Parquet needs the package pyarrow: {install_command('parquet')}")):
        webnn.batch(times(), tmp_path / "rows.parquet")
