"""The folder of stored models: who may use it, what is deleted, and several processes at once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.context.engine.cache.graphs import Hits, convolutions, run, stored
from webnn import ML, WebNNWarning, emulate
from webnn.builder.onnx.optimized import Packed
from webnn.context import emulation
from webnn.context.engine.cache import entry
from webnn.context.engine.cache.folder import Folder

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other permissions")

TENSOR = np.arange(200, dtype=np.uint8)
#: The size of a file of `MODEL`, which is more than a file counts at least.
MODEL = Packed(model=bytes(range(256)) * 400, tensors=((0, TENSOR),), size=TENSOR.size)


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBNN_CACHE", raising=False)
    monkeypatch.delenv("WEBNN_CACHE_SIZE", raising=False)


def key(number: int) -> bytes:
    return bytes([number]) * 32


def store(folder: Folder, number: int, packed: Packed = MODEL) -> None:
    with folder.workspace() as workspace:
        folder.write(key(number), packed, workspace)


def numbers_in(folder: Folder) -> list[int]:
    return [bytes.fromhex(path.stem)[0] for path in stored(folder.path)]


def set_age(folder: Folder, number: int, seconds: int) -> None:
    os.utime(folder.path / f"{key(number).hex()}.model", (1e9 - seconds, 1e9 - seconds))


def length_of_a_file(folder: Folder) -> int:
    store(folder, 0)
    path = folder.path / f"{key(0).hex()}.model"
    length = path.stat().st_size
    path.unlink()
    return length


# Files that are added and files that are removed


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 2**20)
    assert folder.read(key(1)) is None
    packed = Packed(model=b"the model", tensors=((0, TENSOR), (256, TENSOR[:7])), size=263)
    store(folder, 1, packed)
    found = folder.read(key(1))
    assert found is not None
    assert found.model == b"the model"
    assert found.tensors.ctypes.data % 64 == 0
    assert found.tensors.tobytes() == TENSOR.tobytes() + bytes(56) + TENSOR[:7].tobytes()
    assert not found.tensors.flags.writeable
    assert folder.read(key(2)) is None
    store(folder, 1, Packed(model=b"another", tensors=(), size=0))
    again = folder.read(key(1))
    assert again is not None
    assert (again.model, again.tensors.size) == (b"another", 0)


def test_the_least_recently_used_model_goes_first(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 2**30)
    length = length_of_a_file(folder)
    folder.size = 3 * length + length // 2
    for number in (1, 2, 3):
        store(folder, number)
        set_age(folder, number, 100 - number)
    assert numbers_in(folder) == [1, 2, 3]
    # A use counts, not the time of writing.
    assert folder.read(key(1)) is not None
    store(folder, 4)
    assert numbers_in(folder) == [1, 3, 4]
    store(folder, 5)
    assert numbers_in(folder) == [1, 4, 5]
    # One that is replaced needs no room of its own.
    store(folder, 4)
    assert numbers_in(folder) == [1, 4, 5]


def test_a_model_that_is_too_large_is_not_stored_and_deletes_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 2**30)
    store(folder, 1)
    folder.size = length_of_a_file(folder) - 1
    store(folder, 2)
    assert numbers_in(folder) == [1]
    assert os.listdir(tmp_path) == [f"{key(1).hex()}.model"]


def test_many_small_models_count_more_than_their_bytes(tmp_path: Path) -> None:
    """Otherwise a folder would have too many files to look through it quickly."""
    folder = Folder(tmp_path, 10 * 2**16)
    for number in range(1, 30):
        store(folder, number, Packed(model=b"small", tensors=(), size=0))
        set_age(folder, number, 100 - number)
    assert len(stored(tmp_path)) <= 11
    assert numbers_in(folder)[-5:] == [25, 26, 27, 28, 29]


def test_other_files_are_left_alone_and_abandoned_ones_deleted(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 1)
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "mine").mkdir()
    for name, age in (("writing-old", 1e9), ("writing-new", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "entry").write_bytes(b"part")
        if age is not None:
            os.utime(tmp_path / name, (age, age))
    folder.size = 2**30
    store(folder, 1)
    assert sorted(os.listdir(tmp_path)) == sorted([f"{key(1).hex()}.model", "mine", "mine.txt", "writing-new"])


def test_a_workspace_goes_whatever_happens(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 2**30)

    def fail() -> None:
        with folder.workspace() as workspace:
            (workspace / "part").write_bytes(b"part")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert os.listdir(tmp_path) == []


def test_a_file_that_cannot_be_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one in use on Windows: the others go."""
    folder = Folder(tmp_path, 2**30)
    length = length_of_a_file(folder)
    for number in (1, 2, 3):
        store(folder, number)
        set_age(folder, number, 100 - number)
    original = Path.unlink

    def unlink(path: Path, *arguments: Any, **options: Any) -> None:
        if path.name.startswith(key(1).hex()):
            raise PermissionError(13, "in use")
        original(path, *arguments, **options)

    monkeypatch.setattr(Path, "unlink", unlink)
    folder.size = 2 * length
    store(folder, 4)
    # The first one counts as deleted, as the second one does.
    assert numbers_in(folder) == [1, 3, 4]


# Permissions


@posix
def test_nobody_else_can_look_into_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        run(convolutions, tmp_path / "cache")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700
    [path] = stored(tmp_path / "cache")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(mode: int, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(mode)
    expected = run(convolutions, None)
    with pytest.warns(WebNNWarning, match="must belong to this user, and nobody else may have permission to write to it"):
        assert run(convolutions, cache) == expected
    assert not any(cache.iterdir())


@posix
def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = run(convolutions, None)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.warns(WebNNWarning, match="must belong to this user"):
        assert run(convolutions, tmp_path) == expected
    assert not any(tmp_path.iterdir())


@posix
def test_a_file_that_others_may_have_written_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hits = Hits(monkeypatch)
    expected = run(convolutions, tmp_path)
    [path] = stored(tmp_path)
    path.chmod(0o620)
    assert entry.read(path, bytes.fromhex(path.stem)) is None
    assert run(convolutions, tmp_path) == expected
    assert hits.count == 0
    # It was written again.
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


PLANTED: dict[str, Callable[[Path, Path], None]] = {
    "a link": lambda path, elsewhere: path.symlink_to(elsewhere),
    "a link to nothing": lambda path, elsewhere: path.symlink_to(path.parent / "missing"),
    "a pipe": lambda path, elsewhere: os.mkfifo(path),
}


@posix
@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_links_and_pipes_are_not_read(plant: Callable[[Path, Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hits = Hits(monkeypatch)
    cache, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    expected = run(convolutions, cache)
    [path] = stored(cache)
    path.rename(elsewhere)
    before = elsewhere.read_bytes()
    plant(path, elsewhere)
    assert run(convolutions, cache) == expected
    assert hits.count == 0
    # A file is in its place.
    assert stat.S_ISREG(path.lstat().st_mode)
    assert elsewhere.read_bytes() == before
    assert run(convolutions, cache) == expected
    assert hits.count == 1


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    expected = run(convolutions, tmp_path)
    [path] = stored(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.warns(WebNNWarning, match="the cache of models is not used"):
        assert run(convolutions, tmp_path) == expected
    assert os.listdir(tmp_path) == [path.name]


def test_a_warning_that_is_an_error_is_no_failure_of_the_engine(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WebNNWarning, match="the cache of models is not used"):
        run(convolutions, tmp_path / "file")
    # It is given once.
    run(convolutions, tmp_path / "file")


# Several processes

CHILD = """
import sys
from pathlib import Path
from tests.context.engine.cache.graphs import convolutions, run
for seed in (0, 1, 0, 1):
    print(run(lambda builder: convolutions(builder, seed=seed), Path(sys.argv[1])).hex())
"""


@pytest.mark.processes
def test_processes_that_build_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [run(lambda builder, seed=seed: convolutions(builder, seed=seed), None).hex() for seed in (0, 1, 0, 1)]  # type: ignore[misc]
    root = Path(__file__).parents[4]
    started = [
        subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=root) for _ in range(4)
    ]
    for child in started:
        output, _ = child.communicate()
        assert child.returncode == 0
        assert output.split() == expected
    assert len(stored(tmp_path)) == len(os.listdir(tmp_path)) == 2
    hits = Hits(monkeypatch)
    assert run(convolutions, tmp_path).hex() == expected[0]
    assert hits.count == 1


# Settings


def test_the_size_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_CACHE", str(tmp_path))
    monkeypatch.setenv("WEBNN_CACHE_SIZE", "1K")
    run(convolutions, None)
    assert not any(tmp_path.iterdir())
    monkeypatch.setenv("WEBNN_CACHE_SIZE", "1M")
    run(convolutions, None)
    assert len(stored(tmp_path)) == 1


SIZES = {"0": 0, "1000": 1000, "1K": 2**10, "512M": 2**29, "3G": 3 * 2**30, " 2T ": 2**41}


@pytest.mark.parametrize(("text", "size"), SIZES.items())
def test_sizes(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_CACHE_SIZE", text)
    assert emulation.ambient().cacheSize == size


@pytest.mark.parametrize("text", ["x", "-1", "1.5G", "1KB", "1g", "M", "1 M", "1" * 16, "\u0661"])
def test_sizes_that_are_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_CACHE_SIZE", text)
    with pytest.raises(ValueError, match="WEBNN_CACHE_SIZE must be a number of bytes, or of K, M, G or T"):
        ML(revision="2024-06").createContextSync()


BAD: list[tuple[Any, type[Exception]]] = [(3, TypeError), (b"folder", TypeError), (True, TypeError), ("", ValueError), ("a\0b", ValueError)]


@pytest.mark.parametrize(("value", "error"), BAD)
@pytest.mark.parametrize(("make", "where"), [(ML, "ML"), (emulate, "emulate")])
def test_a_path_that_is_none(value: Any, error: type[Exception], make: Callable[..., object], where: str) -> None:
    with pytest.raises(error, match=f"{where}: cache must be the path of a folder, got "):
        make(cache=value)


def test_who_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_CACHE", str(tmp_path / "environment"))
    with emulate(cache=tmp_path / "block"):
        run(convolutions, tmp_path / "argument")
        run(convolutions, None)
    run(convolutions, None)
    for name in ("argument", "block", "environment"):
        assert len(stored(tmp_path / name)) == 1


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path)
    with emulate(cache="cache"):
        monkeypatch.chdir(tmp_path / "there")
        run(convolutions, None)
    assert len(stored(tmp_path / "cache")) == 1
