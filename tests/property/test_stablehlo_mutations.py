"""Mutated StableHLO programs: each one becomes a graph, or an error that is documented; no process dies, time and memory are bounded."""

from __future__ import annotations

import faulthandler
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import webnn.hlo.reader
from tests.property.bounds import bounded
from tests.property.stablehlo_imports import draw_constants, load
from tests.property.stablehlo_mutations import mutate, mutate_file
from tests.property.stablehlo_programs import make_programs
from tests.property.stablehlo_reader import Reader
from tests.property.stablehlo_tree import Program, take_apart
from tests.property.test_files import limit_memory
from tests.shared import ROOT
from tests.webnn.hlo.test_reader import jaxlib
from tests.webnn.stablehlo.programs import Array, compute, program
from webnn.hlo.mlir import write_mlir
from webnn.hlo.types import TensorType
from webnn.importing import steps
from webnn.stablehlo import lowering
from webnn.stablehlo.elements import dtype_of

#: The mutations by day: of the neutral form, and of files; at night of the neutral form, of texts and of bytecode.
MUTATED, READ = 300, 60
NIGHTLY = {"programs": 86_000, "texts": 36_000, "bytecode": 14_000}
PARTS = 4
#: The seed by day. At night there is another one for each part.
SEED = 20_261_123
#: The most seconds of the processor, and the most bytes, that a small program may take.
LONGEST, MOST_MEMORY = 10.0, 256 << 20
#: Limits of the import for small programs: steps, operators, and bytes that are computed. The product's own limits take much longer.
_STEPS, _OPERATORS, _BYTES = 3000, 10_000, 16 << 20

#: Operations of the programs that are always refused.
_REFUSED = ("stablehlo.complex", "stablehlo.torch_index_select", "stablehlo.rng_bit_generator")
_RUN = webnn.hlo.reader._run

#: Makes a program of a random number generator, and tells whether it is valid; None if it is not a program at all.
Trial = Callable[[random.Random], bool | None]


def programs() -> list[Program]:
    """Return valid programs."""
    return [take_apart(module) for module in make_programs()]


def texts() -> list[bytes]:
    """Return the texts of valid programs."""
    found = []
    for module in make_programs():
        try:
            found.append("".join(write_mlir(module)).encode())
        except ValueError:  # quantized types have no text
            continue
    return found


def bytecode() -> list[bytes]:
    """Return bytecode and portable artifacts."""
    names = ("tests/webnn/hlo/small", "examples/jax/mlp", "tests/webnn/stablehlo/jax/lstm-20")
    paths = [ROOT / f"{name}.mlirbc" for name in names]
    return [path.read_bytes() for path in paths]


def import_program(sources: Sequence[Program]) -> Trial:
    """Return what imports mutated programs."""

    def trial(random: random.Random) -> bool | None:
        try:
            module = mutate(random.choice(sources), random).build()
        except ValueError:
            return None
        return load(module, draw_constants(module, random))

    return trial


def import_file(sources: Sequence[bytes]) -> Trial:
    """Return what imports mutated files."""

    def trial(random: random.Random) -> bool | None:
        return load(mutate_file(random.choice(sources), random), {})

    return trial


def check(trial: Trial, count: int, seed: int | str) -> Counter[bool | None]:
    """Import mutated programs; return how many are valid."""
    counts: Counter[bool | None] = Counter()
    for number in range(count):
        chosen = random.Random(f"{seed}-{number}")
        try:
            with bounded(LONGEST, MOST_MEMORY):
                counts[trial(chosen)] += 1
        except BaseException as error:
            raise AssertionError(f"the mutation {number} with the seed {seed!r}: {type(error).__name__}: {error}") from error
    return counts


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webnn.stablehlo.lowering.Lowering.most_steps", _STEPS)
    monkeypatch.setattr("webnn.stablehlo.lowering.Lowering.most_operators", _OPERATORS)
    monkeypatch.setattr("webnn.importing.steps._MOST_BYTES", _BYTES)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """Read all programs in one process."""
    found = Reader()
    monkeypatch.setattr("webnn.hlo.reader._run", found.run)
    yield found
    found.close()


@pytest.mark.parametrize("number", range(len(make_programs())))
def test_programs_are_valid(number: int) -> None:
    """Otherwise their mutations say nothing. Sizes and small integers are known for some of the constants that are drawn."""
    module = make_programs()[number]
    name = module.functions[0].body.operations[0].name if module.functions[0].body else ""
    valid = any(load(module, draw_constants(module, random.Random(seed))) for seed in range(20))
    assert valid == (name not in _REFUSED), name


@pytest.mark.processes
@pytest.mark.usefixtures("small_limits")
def test_mutated_programs() -> None:
    counts = check(import_program(programs()), MUTATED, SEED)
    # Most mutations break a program, but not all: otherwise the rest of the import is not reached.
    assert counts[False] > 0.3 * MUTATED
    assert counts[True] > 0.2 * MUTATED
    assert counts[None] < 0.2 * MUTATED


def agrees(sources: Sequence[Program]) -> Trial:
    """Return what computes mutated programs at import, and when the graph runs: both must give the same. False: it is refused."""

    def trial(random: random.Random) -> bool | None:
        program = mutate(random.choice(sources), random)
        try:
            module = program.build()
        except ValueError:
            return None
        if any(isinstance(type, TensorType) and (type.size or 0) > _LARGEST for type in program.types.values()):
            return None
        main = module.functions[0]
        types = [type for type in main.type.inputs if isinstance(type, TensorType) and (type.size or _LARGE) < _LARGE]
        # The program's promises must be true, and arguments must have the names that `compute` gives them.
        promises = (operation.attributes.get("unique_indices") for operation in (main.body.walk() if main.body else ()))
        if main.name != "main" or len(types) != len(main.type.inputs) or any(promises):
            return None
        arrays = [_draw(type, random) for type in types]
        sizes = [index for index, array in enumerate(arrays) if array.dtype.kind in "iu" and array.size <= 4]
        try:
            results = [compute(module, arrays, known) for known in (sizes, range(len(arrays)))]
        except (webnn.stablehlo.RefusedModelError, webnn.WebNNTypeError):  # the device has no integers of 4 bits
            return False
        for one, other in zip(*results, strict=True):
            assert one.dtype == other.dtype
            if one.size < _LARGE:
                np.testing.assert_allclose(one, other, rtol=0.02 if one.dtype == np.float16 else 1e-3, atol=1e-3)
        return True

    return trial


#: Arguments and results that are compared have fewer elements, and what is computed has not more.
_LARGE, _LARGEST = 500, 1 << 16


def _draw(type: TensorType, random: random.Random) -> Array:
    """Return an array of numbers of which most operations make more numbers."""
    dtype = dtype_of(type.element)
    numbers = np.array([random.choice([0, 1, 2, 3, 5, random.uniform(0.1, 4)]) for _ in range(type.size or 0)])
    return (numbers + (dtype.kind == "f") / 4).astype(dtype).reshape([size or 0 for size in type.shape])


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("count", [250, pytest.param(5000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])])
def test_known_and_unknown_agree(count: int) -> None:
    """A composite is its name in a graph, and its function at import; they differ in the programs here."""
    sources = [each for each in programs() if "stablehlo.composite" not in {operation.name for operation in each.operations()}]
    assert check(agrees(sources), count, SEED)[True] > 0.2 * count


@jaxlib
@pytest.mark.processes
@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("sources", [texts, bytecode])
def test_mutated_files(sources: Callable[[], list[bytes]], reader: Reader) -> None:
    counts = check(import_file(sources()), READ, SEED)
    assert counts[False] > 0.3 * READ
    assert counts[True]
    assert reader.deaths < 0.3 * READ


@jaxlib
@pytest.mark.processes
@pytest.mark.usefixtures("small_limits")
def test_valid_files(reader: Reader) -> None:
    """The process for many programs reads what a process for one reads."""
    sources = [*texts()[:3], bytecode()[0]]
    found = [webnn.hlo.read(source) for source in sources]
    assert not reader.deaths
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webnn.hlo.reader._run", _RUN)
        assert [webnn.hlo.read(source) for source in sources] == found


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.timeout(14400)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", ["programs", pytest.param("texts", marks=jaxlib), pytest.param("bytecode", marks=jaxlib)])
def test_many_mutations(kind: str, part: int) -> None:
    """In a child, whose memory is limited: a death would be seen."""
    seed = f"{random.SystemRandom().randrange(2**32)}-{part}"
    code = f"from tests.property.test_stablehlo_mutations import in_child; in_child({kind!r}, {NIGHTLY[kind] // PARTS}, {seed!r})"
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"seed {seed}: {ended.stderr[-3000:]}"
    print(seed, ended.stdout)


def in_child(kind: str, count: int, seed: str) -> None:
    """Import mutated programs with a limit for the memory; called in a process of its own."""
    lowering.Lowering.most_steps, lowering.Lowering.most_operators, steps._MOST_BYTES = _STEPS, _OPERATORS, _BYTES
    trial = import_program(programs()) if kind == "programs" else import_file(texts() if kind == "texts" else bytecode())
    found = Reader()
    webnn.hlo.reader._run = found.run
    # Modules that are loaded at first use do not count.
    counts = check(trial, 50, SEED)
    limit_memory(1 << 30)
    for begin in range(0, count, 1000):
        # A program that takes so long ends the process, with the place where it is.
        faulthandler.dump_traceback_later(1800, exit=True)
        counts += check(trial, min(1000, count - begin), f"{seed}-{begin}")
    faulthandler.cancel_dump_traceback_later()
    found.close()
    print(dict(counts), f"{found.deaths} deaths", flush=True)


@pytest.mark.usefixtures("small_limits")
def test_the_checks_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of another kind is reported with its seed."""
    broken: Callable[..., object] = lambda *_: 1 // 0  # noqa: E731
    monkeypatch.setattr("webnn.stablehlo.lowering.Lowering.run", broken)
    with pytest.raises(AssertionError, match=r"the mutation \d+ with the seed 3: ZeroDivisionError"):
        check(import_program(programs()), 20, 3)


@pytest.mark.usefixtures("small_limits")
def test_wrong_results_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph with another result than the program says is reported."""
    monkeypatch.setattr("webnn.stablehlo.lowering.Lowering._check_items", lambda *_: None)
    module = program("optimization_barrier", [np.zeros(2, np.float32)], [TensorType(shape=(3,), element="f32")])
    with pytest.raises(AssertionError, match=r"result0 must be tensor<3xf32>, got \[2\]"):
        check(lambda _: load(module, {}), 1, 3)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(("limit", "message"), [("LONGEST", r"it took \d"), ("MOST_MEMORY", r"it took \d+ MiB")])
def test_the_limits_can_fail(limit: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/proc/self/status").exists() and limit == "MOST_MEMORY":
        pytest.skip("the system does not say how much memory a process has")
    monkeypatch.setattr(f"{__name__}.{limit}", -1)
    with pytest.raises(AssertionError, match=message):
        check(import_program(programs()), 1, 3)
