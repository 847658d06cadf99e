"""Mutated files: each one is valid or an error of the package, no process dies, and the memory is bounded."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.property.files import FORMATS, Files, load, mutate
from tests.shared import ROOT
from tests.webnn.formats.graphs import mixed, relu, small_integers

#: The mutated files of each format, by day and at night.
MUTATED, NIGHTLY = 200, 100_000
#: The seed by day. At night there is another one for each part.
SEED = 20_260_601
PARTS = 4

#: For each format, a graph's file with its weights.
GRAPHS: dict[str, list[str]] = {
    ".webnn": ["mixed.webnn", "small.webnn", "relu.webnn"],
    ".webnn.json": ["mixed.webnn.json", "small.webnn.json", "relu.webnn.json"],
    ".safetensors": ["mixed.webnn.json", "small.webnn"],
}


@cache
def originals(folder: Path) -> dict[str, Files]:
    """Save graphs; return the files of each one."""
    found: dict[str, Files] = {}
    for stem, make in (("mixed", mixed), ("small", small_integers), ("relu", relu)):
        for suffix in (".webnn", ".webnn.json"):
            path = folder / f"{stem}{suffix}"
            make().save(path)
            weights = folder / f"{stem}.safetensors"
            found[path.name] = {each.name: each.read_bytes() for each in (path, weights) if each.exists()}
    return found


def check(folder: Path, suffix: str, count: int, seed: int | str) -> Counter[bool]:
    """Load mutated files; return how many are valid."""
    chosen = random.Random(seed)
    counts: Counter[bool] = Counter()
    work = folder / "mutated"
    work.mkdir(exist_ok=True)
    for number in range(count):
        name = chosen.choice(GRAPHS[suffix])
        files = mutate(originals(folder)[name], suffix, chosen)
        for each, data in files.items():
            (work / each).write_bytes(data)
        try:
            counts[load(work / name)] += 1
        except BaseException as error:
            raise AssertionError(f"the mutation {number} of {name} with the seed {seed!r}: {type(error).__name__}: {error}") from error
    return counts


@pytest.mark.parametrize("suffix", FORMATS)
def test_mutated_files(suffix: str, tmp_path: Path) -> None:
    counts = check(tmp_path, suffix, MUTATED, SEED)
    assert counts.total() == MUTATED
    # Most mutations break a file, but not all: otherwise the rest of the reader is not reached.
    assert counts[False] > 0.4 * MUTATED
    assert counts[True] > 0.02 * MUTATED


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("suffix", FORMATS)
def test_many_mutated_files(suffix: str, part: int, tmp_path: Path) -> None:
    """In a child, whose memory is limited: a death would be seen."""
    seed = f"{random.SystemRandom().randrange(2**32)}-{part}"
    code = f"from tests.property.test_files import in_child; in_child({str(tmp_path)!r}, {suffix!r}, {NIGHTLY // PARTS}, {seed!r})"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"seed {seed}: {ended.stderr[-3000:]}"
    print(suffix, seed, ended.stdout)


#: How much more memory a child may have than after its first loads, in bytes: the mutated files have a few kilobytes.
ALLOWANCE = 64 << 20


def in_child(folder: str, suffix: str, count: int, seed: str) -> None:
    """Load mutated files with a limit for the memory; called in a process of its own."""
    counts = check(Path(folder), suffix, 50, SEED)
    limit_memory(ALLOWANCE)
    counts += check(Path(folder), suffix, count, seed)
    print(dict(counts), flush=True)


def limit_memory(more: int) -> None:
    """Limit the address space of this process to what it has, and some bytes more, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    status = Path("/proc/self/statm")
    if status.exists():
        size = int(status.read_text().split()[0]) * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


#: The bytes of the constants of the large graph.
LARGE = 64 << 20


def measure(folder: str, change: str) -> None:
    """Load a graph with large weights, after a change, in memory for twice the file; called in a process of its own."""
    import json
    import struct

    import numpy as np

    import webnn
    from tests.webnn.formats.graphs import new_builder

    builder = new_builder()
    quarter = LARGE // 16
    values = [builder.constant({"dataType": "float32", "shape": [quarter]}, np.full(quarter, each, np.float32)) for each in range(4)]
    y = builder.add(builder.add(values[0], values[1]), builder.add(values[2], values[3]))
    path = Path(folder) / "large.webnn.json"
    webnn.describe({"y": y}).save(path)
    del y, values, builder
    weights = path.with_name("large.safetensors")
    content = json.loads(path.read_text())
    with weights.open("r+b") as stream:
        [size] = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(size))
        consts = content["consts"]
        first, *others = consts
        match change:
            case "none":
                pass
            case "shared":
                # Many constants of one tensor.
                names = [f"more{number}" for number in range(200)]
                consts.update({name: {**consts[first]} for name in names})
            case "larger":
                consts[first]["shape"] = [quarter * 2]
                header[first]["shape"] = [quarter * 2]
            case "overlap":
                for name in others:
                    header[name]["data_offsets"] = header[first]["data_offsets"]
        text = json.dumps(header, separators=(",", ":")).encode()
        assert len(text) <= size
        stream.seek(8)
        stream.write(text.ljust(size))
    path.write_text(json.dumps(content))
    small = Path(folder) / "small.webnn"
    relu().save(small)
    assert load(small)
    limit_memory(2 * LARGE + (16 << 20))
    try:
        description = webnn.load(path)
        print("valid", len(description.constants))
    except webnn.FormatError as error:
        print("refused", error.message)


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of a process cannot be limited here")
@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ("none", "valid 4"),
        ("shared", "valid 204"),
        ("larger", "refused is not a safetensors file"),
        ("overlap", "refused is not a safetensors file"),
    ],
)
def test_memory_is_bounded(change: str, outcome: str, tmp_path: Path) -> None:
    code = f"from tests.property.test_files import measure; measure({str(tmp_path)!r}, {change!r})"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.startswith(outcome)) == (0, True), ended.stdout + ended.stderr[-3000:]


def test_the_checks_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of another kind is reported with its seed."""
    broken: Callable[..., object] = lambda *_: 1 // 0  # noqa: E731
    monkeypatch.setattr("webnn.formats.decode._Decoder.node", broken)
    with pytest.raises(AssertionError, match=r"the mutation \d+ of .* with the seed 3: ZeroDivisionError"):
        check(tmp_path, ".webnn.json", 200, 3)
