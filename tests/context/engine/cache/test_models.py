"""The cache of optimized models: the results are those without it, whatever is in the folder."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import mobilenet, squeezenet, transformer
from tests.context.engine.cache.graphs import GRAPHS, Array, Hits, Make, build, constant, convolutions, numbers, result, run, stored
from tests.support import refused
from webnn import ML, InvalidStateError, MLContext, MLGraphBuilder, MLOperand, OperationError, WebNNWarning
from webnn.builder import onnx_names
from webnn.builder.onnx import optimized, translate
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.context.engine import runtime, session
from webnn.context.engine.cache import digest, entry, models
from webnn.context.engine.cache.folder import Folder
from webnn.context.engine.cache.models import ModelCache


@pytest.fixture
def hits(monkeypatch: pytest.MonkeyPatch) -> Hits:
    monkeypatch.delenv("WEBNN_CACHE", raising=False)
    monkeypatch.delenv("WEBNN_CACHE_SIZE", raising=False)
    return Hits(monkeypatch)


# The same bits


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_the_bits_are_those_without_a_cache(make: Make, hits: Hits, tmp_path: Path) -> None:
    expected = run(make, None)
    assert run(make, tmp_path) == expected
    assert (len(stored(tmp_path)), hits.count) == (1, 0)
    assert run(make, tmp_path) == expected
    assert run(make, tmp_path) == expected
    assert (len(stored(tmp_path)), hits.count) == (1, 2)


NETWORKS: dict[str, Callable[[], Any]] = {
    "squeezenet": lambda: squeezenet.webnn_side(squeezenet.random_weights(), numbers(1, 64, 64, 3)),
    "mobilenet": lambda: mobilenet.webnn_side(
        ML(revision="2024-06").createContextSync(), mobilenet.make_network(size=32, classes=11, divisor=8)
    ),
    "transformer": lambda: transformer.webnn_side(transformer.make_block(sequence=5, hidden=12, heads=3, inner=24)),
    "transformer over tensors": lambda: transformer.webnn_side(transformer.make_block(sequence=5, hidden=12, heads=3, inner=24), "2026-06"),
}


@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
def test_networks_by_the_environment(make: Callable[[], Any], hits: Hits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = make()().tobytes()
    monkeypatch.setenv("WEBNN_CACHE", str(tmp_path / "new" / "folder"))
    assert make()().tobytes() == expected
    assert make()().tobytes() == expected
    assert hits.count == 1


def test_weights_of_the_program_are_not_stored(hits: Hits, tmp_path: Path) -> None:
    """Weights that the optimizer keeps: a session of a stored model uses them in place, too."""
    large = numbers(256, 256) / 16

    def products(builder: MLGraphBuilder) -> MLOperand:
        value = builder.reshape(builder.input("x", {"dataType": "float32", "shape": (1, 4, 12, 12)}), [1, 576])
        value = builder.slice(value, [0, 0], [1, 256])
        for _ in range(20):
            value = builder.tanh(builder.matmul(value, constant(builder, large)))
        return value

    expected = run(products, tmp_path)
    [path] = stored(tmp_path)
    assert path.stat().st_size < large.nbytes
    assert run(products, tmp_path) == expected == run(products, None)
    assert hits.count == 1


# The parts of the key


def test_other_weights_are_another_model(hits: Hits, tmp_path: Path) -> None:
    first, second = run(convolutions, tmp_path), run(lambda builder: convolutions(builder, seed=1), tmp_path)
    assert first != second
    assert hits.count == 0
    assert run(lambda builder: convolutions(builder, seed=1), tmp_path) == second
    assert hits.count == 1


def test_one_bit_of_one_weight_is_another_model(hits: Hits, tmp_path: Path) -> None:
    weights = [numbers(16, 4, 3, 3), numbers(16, 4, 3, 3)]
    weights[1].view(np.uint8).reshape(-1)[-4] ^= 1
    keys = {digest.make_key(b"model", [("w", each.reshape(-1).view(np.uint8))], "") for each in weights}
    assert len(keys) == 2


def test_large_weights_differ_by_any_byte() -> None:
    """They are hashed in pieces, by several threads."""
    data = np.zeros(9 * 2**20 + 5, np.uint8)
    seen = {digest.digest([data])}
    assert digest.digest([data]) in seen
    for place in (0, 2**20 - 1, 2**20, 5 * 2**20 + 17, data.size - 1):
        data[place] = 1
        seen.add(digest.digest([data]))
        data[place] = 0
    assert len(seen) == 6
    # Where one array ends and the next one begins counts, too, and the order of the pieces.
    halves = [data[: 2**20], data[2**20 :]]
    assert len({digest.digest(halves), digest.digest([data]), digest.digest(halves[::-1])}) == 3


#: Another way of computing quantized products.
ENTRIES = {**onnx_names.SESSION_ENTRIES, "session.x64quantprecision": "1"}


def test_a_process_that_starts_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.arange(9 * 2**20, dtype=np.uint8)
    expected = digest.digest([data])
    monkeypatch.setattr(digest, "usable_cores", lambda: 4)
    assert digest.digest([data]) == expected

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert digest.digest([data]) == expected


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_fails_leaves_no_piece_out(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.arange(9 * 2**20, dtype=np.uint8)
    expected = digest.digest([data])
    monkeypatch.setattr(digest, "usable_cores", lambda: 4)
    caller = threading.get_ident()

    def fail_elsewhere(piece: Array) -> bytes:
        if threading.get_ident() != caller:
            raise MemoryError
        return digest.sha256(piece)

    assert digest.digest([data], fail_elsewhere) == expected


KEYS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "the engine": lambda patch: patch.setattr(digest, "_engine", lambda: "another"),
    "the processor": lambda patch: patch.setattr(digest, "_processor", lambda: "another"),
    "the format": lambda patch: patch.setattr(digest, "_FORMAT", 99),
    "the entries": lambda patch: patch.setattr(
        session, "session_entries", lambda _: {**onnx_names.SESSION_ENTRIES, "session.x64quantprecision": "1"}
    ),
    "the numerics": lambda patch: patch.setenv("WEBNN_NUMERICS", "fast"),
}


@pytest.mark.parametrize("change", KEYS.values(), ids=KEYS)
def test_what_the_optimized_form_depends_on(
    change: Callable[[pytest.MonkeyPatch], None], hits: Hits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(convolutions, tmp_path)
    with monkeypatch.context() as patch:
        change(patch)
        run(convolutions, tmp_path)
        assert (len(stored(tmp_path)), hits.count) == (2, 0)
    run(convolutions, tmp_path)
    assert (len(stored(tmp_path)), hits.count) == (2, 1)


def test_the_settings_of_the_session(hits: Hits, tmp_path: Path) -> None:
    for power in ("default", "low-power", "high-performance"):
        context = ML(revision="2026-06", cache=tmp_path).createContextSync({"powerPreference": power, "accelerated": False})  # type: ignore[typeddict-item]
        builder = MLGraphBuilder(context)
        builder.buildSync({"y": convolutions(builder)})
    assert (len(stored(tmp_path)), hits.count) == (3, 0)


def test_the_engine_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    described = digest._engine.__wrapped__()
    assert described.startswith(runtime.version())
    monkeypatch.setattr(runtime, "version", lambda: "1.99.0")
    assert digest._engine.__wrapped__() != described


def test_the_processor_is_known() -> None:
    described = digest._processor()
    assert len(described) > 40
    assert digest._processor() == described
    if Path("/proc/cpuinfo").exists():
        assert "flags" in described or "Features" in described
        assert "MHz" not in described


# Damaged and foreign files


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "a part of the header": lambda data: data[:50],
    "the header alone": lambda data: data[:128],
    "one byte less": lambda data: data[:-1],
    "half": lambda data: data[: len(data) // 2],
    "one byte more": lambda data: data + b"\0",
    "zeros": lambda data: bytes(len(data)),
    "the magic": lambda data: flipped(data, 0),
    "the version": lambda data: flipped(data, 6),
    "the key": lambda data: flipped(data, 8),
    "the checksum": lambda data: flipped(data, 40),
    "the length of the model": lambda data: flipped(data, 72),
    "a huge length": lambda data: data[:72] + b"\xff" * 8 + data[80:],
    "the length of the tensors": lambda data: flipped(data, 80),
    "a huge length of the tensors": lambda data: data[:80] + b"\xff" * 8 + data[88:],
    "behind the header": lambda data: flipped(data, 100),
    "the model": lambda data: flipped(data, 128),
    "inside the model": lambda data: flipped(data, 900),
    "the tensors": lambda data: flipped(data, len(data) - 2000),
    "the last byte": lambda data: flipped(data, len(data) - 1),
    "text": lambda data: b"hello\n" * (len(data) // 6),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_not_read_and_is_written_again(
    damage: Callable[[bytes], bytes], hits: Hits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run(convolutions, tmp_path)
    [path] = stored(tmp_path)
    whole = path.read_bytes()
    assert len(whole) > 5000
    path.write_bytes(damage(whole))
    seen: list[bytes] = []
    original = session.start

    def spied(model: bytes, *arguments: Any) -> Any:
        seen.append(model)
        return original(model, *arguments)

    monkeypatch.setattr(session, "start", spied)
    assert run(convolutions, tmp_path) == expected
    # The engine sees the translation, and nothing else.
    assert len(seen) == 1
    assert b"ReorderInput" not in seen[0]
    assert hits.count == 0
    assert run(convolutions, tmp_path) == expected
    assert hits.count == 1
    assert stored(tmp_path) == [path]
    assert path.stat().st_size == len(whole)


def test_every_byte_of_a_file_counts(hits: Hits, tmp_path: Path) -> None:
    run(convolutions, tmp_path)
    [path] = stored(tmp_path)
    key = bytes.fromhex(path.stem)
    whole = path.read_bytes()
    assert entry.read(path, key) is not None
    for place in [*range(130), *range(130, len(whole), 97)]:
        path.write_bytes(flipped(whole, place))
        assert entry.read(path, key) is None, place


def test_the_file_of_another_model_is_not_taken(hits: Hits, tmp_path: Path) -> None:
    expected = run(convolutions, tmp_path)
    [first] = stored(tmp_path)
    run(lambda builder: convolutions(builder, seed=1), tmp_path)
    [second] = [path for path in stored(tmp_path) if path != first]
    first.write_bytes(second.read_bytes())
    assert run(convolutions, tmp_path) == expected
    assert hits.count == 0


def test_a_valid_file_that_the_engine_refuses(hits: Hits, tmp_path: Path) -> None:
    """The model itself is taken, and stored anew."""
    expected = run(convolutions, tmp_path)
    [path] = stored(tmp_path)
    key = bytes.fromhex(path.stem)
    for model in (b"no model at all", b""):
        with path.open("w+b") as stream:
            entry.write(stream, key, model, [], 0)
        assert entry.read(path, key) is not None
        assert run(convolutions, tmp_path) == expected
        found = entry.read(path, key)
        assert found is not None
        assert found.model != model


# Errors, and looking inside


def reshaped(e: Emitter, op: Op) -> str:
    return e.node("Reshape", [op["input"], e.ints([7])])


def test_failures_name_operation_and_label(hits: Hits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(builder: MLGraphBuilder) -> MLOperand:
        return builder.relu(convolutions(builder), label="mine")

    monkeypatch.setattr(translate, "TRANSLATIONS", {**translate.TRANSLATIONS, "relu": Translation(emit=reshaped)})
    messages = []
    for _ in range(2):
        # The failure of a dispatch loses the context.
        with refused(InvalidStateError, rule="lost", operation="readTensor") as caught:
            run(failing, tmp_path)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert hits.count == 1


@pytest.mark.parametrize("op_type", ["NoSuchOperator"])
def test_a_refused_graph_is_refused_as_without_a_cache(op_type: str, hits: Hits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def emit(e: Emitter, op: Op) -> str:
        return e.node(op_type, [op["input"]])

    monkeypatch.setattr(translate, "TRANSLATIONS", {**translate.TRANSLATIONS, "relu": Translation(emit=emit)})
    messages = []
    for cache in (None, tmp_path):
        with pytest.raises(OperationError, match="build: the engine refused the graph at relu") as caught:
            run(lambda builder: builder.relu(convolutions(builder), label="mine"), cache)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert list(tmp_path.iterdir()) == []


def test_looking_inside(hits: Hits, tmp_path: Path) -> None:
    plain = build(convolutions, None)[1]
    build(convolutions, tmp_path)
    context, graph = build(convolutions, tmp_path)
    assert hits.count == 1
    files = stored(tmp_path)
    inputs = {"x": numbers(1, 4, 12, 12)}
    assert [each.operation for each in graph.profile(inputs, runs=2).operators] == [
        each.operation for each in plain.profile(inputs, runs=2).operators
    ]
    ours, theirs = (each.trace(inputs) for each in (graph, plain))
    assert [each.operation for each in ours.values] == [each.operation for each in theirs.values]
    assert graph.accuracy(inputs).operators
    assert graph.firstNaN(inputs) is None
    assert graph.placement == plain.placement
    # These build other graphs, which would crowd the folder.
    assert stored(tmp_path) == files
    assert result(context, graph) == run(convolutions, None)


def test_a_graph_outlives_its_file(hits: Hits, tmp_path: Path) -> None:
    expected = run(convolutions, tmp_path)
    context, graph = build(convolutions, tmp_path)
    assert hits.count == 1
    if os.name != "nt":  # a file that is mapped stays there
        for path in stored(tmp_path):
            path.unlink()
    gc.collect()
    for _ in range(3):
        assert result(context, graph) == expected


def test_a_small_graph_is_not_stored(hits: Hits, tmp_path: Path) -> None:
    def small(builder: MLGraphBuilder) -> MLOperand:
        return builder.relu(builder.input("x", {"dataType": "float32", "shape": (1, 4, 12, 12)}))

    assert run(small, tmp_path) == run(small, None)
    assert not any(tmp_path.iterdir())


def test_the_reference_does_not_use_it(tmp_path: Path) -> None:
    context: MLContext = ML(revision="2026-06", reference=True, cache=tmp_path).createContextSync()
    builder = MLGraphBuilder(context)
    builder.buildSync({"y": convolutions(builder)})
    assert not any(tmp_path.iterdir())


def test_a_device_profile_uses_it(hits: Hits, tmp_path: Path) -> None:
    results = []
    for _ in range(2):
        context = ML(revision="2026-06", profile="tflite", cache=tmp_path).createContextSync()
        builder = MLGraphBuilder(context)
        results.append(result(context, builder.buildSync({"y": convolutions(builder)})))
    assert results[0] == results[1] == run(convolutions, None)
    assert (len(stored(tmp_path)), hits.count) == (1, 1)


# Several at once, and folders that cannot be used


def test_threads_that_build_at_once(hits: Hits, tmp_path: Path) -> None:
    expected = run(convolutions, None)
    found: list[bytes] = []
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        found.extend(run(convolutions, tmp_path) for _ in range(3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 12
    assert [path.name for path in tmp_path.iterdir()] == [path.name for path in stored(tmp_path)]
    assert len(stored(tmp_path)) == 1
    assert run(convolutions, tmp_path) == expected


def fail_to_write(*_: Any) -> None:
    raise OSError(28, "No space left on device")


def fail_in_the_engine(folder: Path, options: Any) -> None:
    options.optimized_model_filepath = str(folder / "missing" / "model.onnx")


def cut_the_data(patch: pytest.MonkeyPatch) -> None:
    """Let the engine write less than it should, as on a disk that is full."""
    patch.setattr(models, "pack", lambda model, data, *others: optimized.pack(model, data[:-1], *others))


BROKEN: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "no space for the entry": (lambda patch: patch.setattr(entry, "write", fail_to_write), "No space left on device"),
    "no space for a folder": (lambda patch: patch.setattr(Folder, "workspace", fail_to_write), "No space left on device"),
    "the engine cannot write": (lambda patch: patch.setattr(models, "_write_optimized", fail_in_the_engine), "SystemError"),
    "the engine writes less": (cut_the_data, "the engine's file of weights must have"),
}


@pytest.mark.parametrize(("change", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_stored_gives_one_warning(
    change: Callable[[pytest.MonkeyPatch], None], reason: str, hits: Hits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run(convolutions, None)
    with monkeypatch.context() as patch:
        change(patch)
        with pytest.warns(WebNNWarning, match=f"the cache of models is not used: .*{reason}"):
            assert run(convolutions, tmp_path) == expected
        # A second warning would be an error.
        assert run(convolutions, tmp_path) == expected
    assert not any(tmp_path.iterdir())
    assert hits.count == 0
    # It works as soon as there is space.
    run(convolutions, tmp_path)
    assert run(convolutions, tmp_path) == expected
    assert hits.count == 1


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    expected = run(convolutions, None)
    for path, reason in ((tmp_path / "file", "Not a directory|File exists"), (tmp_path / "file" / "below", "Not a directory|cannot find")):
        with pytest.warns(WebNNWarning, match=reason):
            assert run(convolutions, path) == expected
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_a_cache_warns_once_whatever_fails(tmp_path: Path) -> None:
    cache = ModelCache(Folder(tmp_path, 10))
    with pytest.warns(WebNNWarning, match="first"):
        cache._warn("first")
    cache._warn("second")
    assert models.open_cache(tmp_path, 10) is models.open_cache(tmp_path, 10)


def test_only_the_default_cpu_provider_uses_it() -> None:
    model = translated(convolutions)
    chosen = build(convolutions, None)[0]._state.selection
    assert session._is_cached(model, chosen)
    for providers in ([("CUDAExecutionProvider", {}), *chosen.providers], [("OpenVINOExecutionProvider", {}), *chosen.providers]):
        assert not session._is_cached(model, replace(chosen, providers=tuple(providers)))


def translated(make: Make) -> translate.OnnxModel:
    graph = build(make, None)[1]
    assert graph._source is not None
    return translate.translate(graph._source)
