"""Mutated ONNX models: each one becomes a graph, or an error that is documented; no process dies, time and memory are bounded."""

from __future__ import annotations

import faulthandler
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import Error
from onnx import ModelProto, numpy_helper

from tests.property import onnx_graphs
from tests.property.bounds import bounded
from tests.property.onnx_indexing import INDEXING
from tests.property.onnx_layers import LAYERS
from tests.property.onnx_mutations import EXTERNAL, load, mutate
from tests.property.onnx_recipes import ELEMENTWISE, MOVEMENT
from tests.property.test_files import limit_memory
from tests.shared import ROOT
from webnn.onnx import folding
from webnn.onnx.shapes import Shapes

#: The mutated models by day and at night.
MUTATED, NIGHTLY = 200, 100_000
PARTS = 4
#: The seed by day. At night there is another one for each part.
SEED = 20_261_122
#: The most seconds of the processor, and the most bytes, that a small model may take.
LONGEST, MOST_MEMORY = 10.0, 192 << 20
RECIPES = {**ELEMENTWISE, **MOVEMENT, **LAYERS, **INDEXING}


def drawn_models(count: int) -> list[ModelProto]:
    """Return random graphs: each operator in turn."""
    names = list(RECIPES)
    return [onnx_graphs.draw(seed, RECIPES, names[seed * 7 % len(names)]).model for seed in range(count)]


def node_tests() -> list[ModelProto]:
    """Return the models of ONNX's own tests. Small integers that are inputs become initializers, because most of them must be known."""
    from tests.webnn.onnx.nodes import collect

    models = []
    for case in collect().values():
        model = ModelProto()
        model.CopyFrom(case.model)
        known = {tensor.name for tensor in model.graph.initializer}
        names = [info.name for info in model.graph.input if info.name not in known]
        for name, given in zip(names, case.data_sets[0][0], strict=True):
            if isinstance(given, np.ndarray) and given.dtype.kind in "iub" and given.size <= 16:
                model.graph.initializer.append(numpy_helper.from_array(given, name))
        models.append(model)
    return models


def check(folder: Path, models: Sequence[ModelProto], count: int, seed: int | str) -> Counter[bool]:
    """Import mutated models; return how many are valid."""
    chosen = random.Random(seed)
    counts: Counter[bool] = Counter()
    path = folder / "model.onnx"
    (folder / EXTERNAL[0]).write_bytes(EXTERNAL[1])
    (folder / "link").symlink_to(sys.executable)
    for number in range(count):
        try:
            data = mutate(chosen.choice(models), chosen)
        except Error:  # nested too deep for protobuf itself
            continue
        path.write_bytes(data)
        try:
            with bounded(LONGEST, MOST_MEMORY):
                counts[load(path)] += 1
        except BaseException as error:
            kept = path.rename(folder / f"fault{number}.onnx")
            raise AssertionError(f"the mutation {number} with the seed {seed!r}: {type(error).__name__}: {error}; {kept}") from error
    (folder / "link").unlink()
    return counts


@pytest.fixture
def no_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't start a process for each refused model; test_model_hostile.py has those that are hostile to it."""
    monkeypatch.setattr(Shapes, "find", lambda *_: None)


@pytest.mark.processes
@pytest.mark.usefixtures("no_stand_ins")
def test_mutated_models(tmp_path: Path) -> None:
    counts = check(tmp_path, drawn_models(MUTATED), MUTATED, SEED)
    # Most mutations break a model, but not all: otherwise the rest of the import is not reached.
    assert counts.total() > 0.95 * MUTATED
    assert counts[False] > 0.3 * MUTATED
    assert counts[True] > 0.05 * MUTATED


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.timeout(14400)
@pytest.mark.parametrize("part", range(PARTS))
def test_many_mutated_models(part: int, tmp_path: Path) -> None:
    """In a child, whose memory is limited: a death would be seen."""
    seed = f"{random.SystemRandom().randrange(2**32)}-{part}"
    code = f"from tests.property.test_onnx_mutations import in_child; in_child({str(tmp_path)!r}, {NIGHTLY // PARTS}, {seed!r})"
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"seed {seed}: {ended.stderr[-3000:]}"
    print(f"the seed {seed}: {ended.stdout}")


def in_child(folder: str, count: int, seed: str) -> None:
    """Import mutated models with a limit for the memory; called in a process of its own."""
    find: Any = lambda *_: None  # noqa: E731
    Shapes.find = find  # type: ignore[method-assign]
    models = [*node_tests(), *drawn_models(1000)]
    counts = check(Path(folder), models, 50, SEED)
    limit_memory(1 << 30)
    lacks = _note_lacks()
    for begin in range(0, count, 1000):
        # A model that takes so long ends the process, with the place where it is.
        faulthandler.dump_traceback_later(1800, exit=True)
        counts += check(Path(folder), models, min(1000, count - begin), f"{seed}-{begin}")
        assert not lacks, f"memory that a small model must not ask for, before the mutation {begin + 1000}: {lacks}"
    faulthandler.cancel_dump_traceback_later()
    # Most mutations break a model, but not all, as by day.
    assert counts.total() > 0.95 * count, counts
    assert counts[False] > 0.3 * count, counts
    assert counts[True] > 0.05 * count, counts
    print(f"{counts.total()} mutated models, of which {counts[True]} are valid", flush=True)


def _note_lacks() -> list[str]:
    """Note each time that folding asks for more memory than there is. It leaves the node to the graph then, and nobody would see it."""
    lacks: list[str] = []

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except MemoryError as error:
                lacks.append(str(error))
                raise

        return noted

    noted: Mapping[str, Any] = {name: noting(function) for name, function in folding.FOLDS.items()}
    folding.FOLDS = noted  # type: ignore[misc]
    folding._evaluate = noting(folding._evaluate)
    return lacks


@pytest.mark.processes
@pytest.mark.usefixtures("no_stand_ins")
@pytest.mark.parametrize("place", ["_check", "_result"])
def test_the_checks_can_fail(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of another kind is reported with its seed."""
    broken: Callable[..., object] = lambda *_: 1 // 0  # noqa: E731
    monkeypatch.setattr(f"webnn.onnx.importer.Importer.{place}", broken)
    with pytest.raises(AssertionError, match=r"the mutation \d+ with the seed 3: ZeroDivisionError"):
        check(tmp_path, drawn_models(10), 20, 3)


@pytest.mark.processes
@pytest.mark.usefixtures("no_stand_ins")
@pytest.mark.parametrize(("limit", "message"), [("LONGEST", r"it took \d"), ("MOST_MEMORY", r"it took \d+ MiB")])
def test_the_limits_can_fail(limit: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/proc/self/status").exists() and limit == "MOST_MEMORY":
        pytest.skip("the system does not say how much memory a process has")
    monkeypatch.setattr(f"{__name__}.{limit}", -1)
    with pytest.raises(AssertionError, match=message):
        check(tmp_path, drawn_models(3), 1, 3)
