"""Folders of finished parts: what is kept, what is computed again, what is refused."""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import each_row
from tests.webnn.scale.graphs import data, double, expected, several, times
from webnn.scale.folder import digest_of, keys_of, write_part

ROWS = data(50)
OPTIONS: dict[str, Any] = {"executor": "threads:2", "progress": False, "batchSize": 8}


def make(folder: Path, rows: Any = ROWS, model: Any = None, **options: Any) -> webnn.Batch:
    return webnn.batch(model or times(), rows, output=folder, **{**OPTIONS, **options})


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*"))


def test_a_second_call_computes_what_is_missing(tmp_path: Path) -> None:
    assert make(tmp_path).finish() == 7
    assert len(parts(tmp_path)) == 7
    before = {path.name: path.stat().st_mtime_ns for path in parts(tmp_path)}
    assert make(tmp_path).finish() == 0
    removed = {path.name for path in (parts(tmp_path)[number] for number in (0, 3, 6))}
    for name in removed:
        (tmp_path / name).unlink()
    assert make(tmp_path).finish() == 3
    after = {path.name: path.stat().st_mtime_ns for path in parts(tmp_path)}
    # The same names: the same bytes.
    assert set(after) == set(before)
    assert {name for name in after if after[name] == before[name]} == set(before) - removed
    np.testing.assert_allclose(make(tmp_path).collect()["y"], expected(ROWS), rtol=1e-5, atol=1e-6)


def test_iterating_keeps_what_was_read(tmp_path: Path) -> None:
    made = iter(make(tmp_path))
    next(made)
    next(made)
    made.close()  # type: ignore[attr-defined]
    kept = len(parts(tmp_path))
    assert 2 <= kept <= 6
    assert make(tmp_path).finish() == 7 - kept


def test_the_files_are_numpy_archives(tmp_path: Path) -> None:
    make(tmp_path).finish()
    with np.load(parts(tmp_path)[1]) as archive:
        np.testing.assert_allclose(archive["y"], expected(ROWS)[8:16], rtol=1e-5, atol=1e-6)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["rows"] == 50
    assert manifest["outputs"] == {"y": {"key": "y", "descriptor": "float32 [1, 2]"}}


@each_row("name", ["../up", "a/b", "file", "nul\0", "ä", "", "CON", "x" * 200])
def test_names_of_outputs(name: str) -> None:
    [key] = keys_of({name: None}).values()
    assert key == name if name in ("file", "CON") else key == "output0"


def test_an_output_with_the_name_of_a_path(tmp_path: Path) -> None:
    graph = double("float32", [2], "../../up")
    rows = np.ones((3, 2), np.float32)
    found = make(tmp_path / "out", rows, graph).collect()
    np.testing.assert_array_equal(found["../../up"], rows * 2)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@each_row("keep", [0, 1, 10, 200])
def test_a_part_that_is_cut_off(tmp_path: Path, keep: int) -> None:
    folder = tmp_path / str(keep)
    make(folder).finish()
    os.truncate(parts(folder)[2], keep)
    found = make(folder)
    np.testing.assert_allclose(found.collect()["y"], expected(ROWS), rtol=1e-5, atol=1e-6)
    assert len(parts(folder)) == 7
    assert make(folder).finish() == 0


def test_a_part_with_a_wrong_bit(tmp_path: Path) -> None:
    make(tmp_path).finish()
    content = bytearray(parts(tmp_path)[2].read_bytes())
    content[-60] ^= 1
    parts(tmp_path)[2].write_bytes(content)
    assert make(tmp_path).finish() == 1


def test_parts_in_each_other_s_place(tmp_path: Path) -> None:
    make(tmp_path).finish()
    first, second = parts(tmp_path)[:2]
    swapped = second.name.replace("00000001", "00000000")
    second.rename(tmp_path / swapped)
    first.rename(tmp_path / first.name.replace("00000000", "00000001"))
    assert make(tmp_path).finish() == 2


def test_a_part_of_another_job(tmp_path: Path) -> None:
    make(tmp_path / "one").finish()
    make(tmp_path / "two", ROWS + 1).finish()
    shutil.copy(parts(tmp_path / "two")[0], tmp_path / "one")
    assert make(tmp_path / "one").finish() == 0
    np.testing.assert_allclose(make(tmp_path / "one").collect()["y"], expected(ROWS), rtol=1e-5, atol=1e-6)


def test_parts_that_the_job_does_not_have(tmp_path: Path) -> None:
    make(tmp_path).finish()
    stray = tmp_path / parts(tmp_path)[0].name.replace("00000000", "00000099")
    stray.write_bytes(b"")
    assert make(tmp_path).finish() == 0
    assert not stray.exists()


def test_what_a_killed_process_was_writing(tmp_path: Path) -> None:
    make(tmp_path).finish()
    unfinished = tmp_path / "part-00000001-x.npz.0123.tmp"
    unfinished.write_bytes(b"part")
    make(tmp_path).finish()
    assert not unfinished.exists()


OTHERS: list[tuple[str, dict[str, Any], str]] = [
    ("rows", {"rows": ROWS + 1}, "another 'inputs'"),
    ("fewer", {"rows": ROWS[:40]}, "other 'inputs', 'rows'"),
    ("size", {"batchSize": 9}, "another 'batchSize'"),
    ("graph", {"model": times("2026-06", 2)}, "other 'graph', 'outputs'"),
    ("context", {"model": times().description, "ml": webnn.ML(revision="2026-06", numerics="fast")}, "another 'context'"),
]


@pytest.mark.parametrize(("name", "options", "message"), OTHERS, ids=[name for name, _, _ in OTHERS])
def test_a_folder_of_another_job(tmp_path: Path, name: str, options: dict[str, Any], message: str) -> None:
    make(tmp_path).finish()
    with pytest.raises(ValueError, match=message) as caught:
        make(tmp_path, **options).finish()
    assert "output must be an empty folder, or one of the same job" in str(caught.value)
    assert make(tmp_path).finish() == 0


def test_two_jobs_at_once(tmp_path: Path) -> None:
    first = iter(make(tmp_path))
    next(first)
    with pytest.raises(ValueError, match="that no other job uses at the same time"):
        make(tmp_path).finish()
    first.close()  # type: ignore[attr-defined]
    make(tmp_path).finish()


def test_a_folder_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("unsaved")
    with pytest.raises(ValueError, match=r"has 'thesis\.txt'"):
        make(tmp_path).finish()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make(tmp_path / "file").finish()


FORGED = [b"", b"null", b"[]", b"{", b'{"rows": 50', b"[" * 2000, b"\xff", b"{}", b'{"format": "webnn.batch 1"}']


@each_row("content", FORGED)
def test_a_forged_manifest(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / str(FORGED.index(content))
    make(folder).finish()
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(ValueError, match="output must be"):
        make(folder).finish()
    assert len(parts(folder)) == 7


def test_a_manifest_without_end(tmp_path: Path) -> None:
    make(tmp_path).finish()
    with (tmp_path / "manifest.json").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(ValueError, match="is not a manifest"):
        make(tmp_path).finish()


def forge(folder: Path, write: Any) -> None:
    """Replace the first part by one that has the right digest."""
    job = digest_of(json.loads((folder / "manifest.json").read_text()))
    parts(folder)[0].unlink()
    write(job)


@each_row("array", [np.zeros((8, 2), np.float64), np.zeros((8, 3), np.float32), np.zeros(0, np.float32)])
def test_a_forged_part(tmp_path: Path, array: Any) -> None:
    folder = tmp_path / str(array.dtype) / str(array.size)
    make(folder).finish()
    forge(folder, lambda job: write_part(str(folder), job, 0, {"y": array}))
    with pytest.raises(ValueError, match="is not a part of this job: y must be float32"):
        make(folder).collect()


def test_a_forged_part_with_objects_runs_nothing(tmp_path: Path) -> None:
    make(tmp_path).finish()

    class Trap:
        def __reduce__(self) -> Any:
            return os.abort, ()

    import io

    from webnn.scale.folder import _digest

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive, archive.open("y.npy", "w") as stream:
        np.lib.format.write_array(stream, np.array([Trap()]), allow_pickle=True)

    def write(job: str) -> None:
        digest = _digest(job, 0, io.BytesIO(content.getvalue()))
        (tmp_path / f"part-00000000-{digest}.npz").write_bytes(content.getvalue())

    forge(tmp_path, write)
    with pytest.raises(ValueError, match="is not a part of this job"):
        make(tmp_path).collect()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_part_that_is_a_link(tmp_path: Path) -> None:
    make(tmp_path / "out").finish()
    first = parts(tmp_path / "out")[0]
    first.rename(tmp_path / "elsewhere")
    first.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").read_bytes()
    assert make(tmp_path / "out").finish() == 1
    assert not first.is_symlink()
    assert (tmp_path / "elsewhere").read_bytes() == before


def test_a_folder_in_the_place_of_a_part(tmp_path: Path) -> None:
    make(tmp_path).finish()
    first = parts(tmp_path)[0]
    first.unlink()
    first.mkdir()
    with pytest.raises((OSError, webnn.BatchError)):
        make(tmp_path).finish()


def test_a_folder_that_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there must be a folder output"):
        webnn.batch(times(), ROWS, **OPTIONS).finish()


def test_several_outputs(tmp_path: Path) -> None:
    a, b = np.arange(15, dtype=np.float32).reshape(5, 3), np.arange(5, dtype=np.int32)
    made = make(tmp_path, {"a": a, "b": b}, several(), batchSize=2)
    np.testing.assert_array_equal(made.collect()["b2"], b * 2)
    assert make(tmp_path, {"a": a, "b": b}, several(), batchSize=2).finish() == 0
