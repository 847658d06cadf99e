"""The benchmarks compute the same on both sides, and their command line works. Nothing here looks at a time."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import onnx
import pytest

from benchmarks import (
    attention,
    cases,
    first_build,
    inside,
    javascript,
    memory,
    mobilenet,
    native,
    onnx_files,
    pages,
    recurrent,
    resnet,
    silu,
    small,
    squeezenet,
    startup,
    subgraphs,
    transformer,
)
from benchmarks.__main__ import main
from benchmarks.measure import Array, Effort, OutputsDifferError, Result, SkippedError, check_same, interleave, summarize
from benchmarks.report import COLUMNS, cells
from benchmarks.sides import CURRENT, TensorProgram
from tests.webnn.javascript.node_support import require_node
from webnn import ML
from webnn.browser.chromium import VARIABLE
from webnn.builder.numerics import Numerics
from webnn.reference import compute

Side = Callable[[], Array]


def _squeezenet(revision: str) -> tuple[Side, Side]:
    weights = squeezenet.random_weights()
    image = np.random.default_rng(0).uniform(-1, 1, (1, 64, 64, 3)).astype(np.float32)
    return squeezenet.webnn_side(weights, image, revision), squeezenet.onnx_side(weights, image)


def _real_squeezenet() -> tuple[Side, Side]:
    directory = cases.MODELS / "squeezenet1.0_nhwc"
    weights, image = squeezenet.load_weights(directory), squeezenet.load_input(directory)
    assert {name: array.shape for name, array in weights.items()} == {
        name: array.shape for name, array in squeezenet.random_weights().items()
    }
    return squeezenet.webnn_side(weights, image), squeezenet.onnx_side(weights, image)


def _mobilenet(*, external: bool) -> tuple[Side, Side]:
    network = mobilenet.make_network(size=32, classes=11, divisor=8)
    planes = np.ascontiguousarray(network.image.transpose(0, 3, 1, 2))
    return mobilenet.webnn_side(ML(revision="2024-06").createContextSync(), network), mobilenet.onnx_side(
        network, planes, external=external
    )


def _transformer(revision: str) -> tuple[Side, Side]:
    block = transformer.make_block(sequence=5, hidden=12, heads=3, inner=24)
    return transformer.webnn_side(block, revision), transformer.onnx_side(block)


def _lstm(numerics: Numerics) -> tuple[Side, Side]:
    network = recurrent.make_memory(steps=5, hiddenSize=3)
    return recurrent.webnn_side(network, numerics), recurrent.onnx_side(network)


def _silu(numerics: Numerics) -> tuple[Side, Side]:
    x = silu.silu_input()
    return silu.webnn_silu(ML(revision="2024-06", numerics=numerics).createContextSync(), x), silu.onnx_silu(x)


def _detector(numerics: Numerics) -> tuple[Side, Side]:
    detector = silu.make_detector(size=32, divisor=8)
    assert sum(len(layers) for layers, _ in detector.blocks) == 58
    return silu.webnn_detector(ML(revision="2024-06", numerics=numerics).createContextSync(), detector), silu.onnx_detector(detector)


def _resnet(numerics: Numerics) -> tuple[Side, Side]:
    network = resnet.make_network(size=64, classes=7, divisor=4)
    return resnet.webnn_side(ML(revision="2024-06", numerics=numerics).createContextSync(), network), resnet.onnx_side(network)


def _written(program: TensorProgram) -> TensorProgram:
    program()
    return program


def _subgraph(case: subgraphs.Case, name: str) -> tuple[Side, Side]:
    return subgraphs.side(case, name).queue, subgraphs.side(case, "").queue


_HEADS = attention.Heads(sequence=7, heads=3, size=8)

SIDES: dict[str, Callable[[], tuple[Side, Side]]] = {
    "squeezenet": lambda: _squeezenet("2024-06"),
    "squeezenet-dispatch": lambda: _squeezenet(CURRENT),
    "real squeezenet": _real_squeezenet,
    "mobilenet": lambda: _mobilenet(external=False),
    "build": lambda: _mobilenet(external=True),
    "transformer": lambda: _transformer("2024-06"),
    "transformer-dispatch": lambda: _transformer(CURRENT),
    "lstm": lambda: _lstm("exact"),
    "lstm-fast": lambda: _lstm("fast"),
    "silu": lambda: _silu("exact"),
    "silu-fast": lambda: _silu("fast"),
    "detector": lambda: _detector("exact"),
    "detector-fast": lambda: _detector("fast"),
    "resnet": lambda: _resnet("exact"),
    "resnet-fast": lambda: _resnet("fast"),
    "gqa": lambda: _subgraph(subgraphs.make_gqa(2, 6, 3, 9, 4), "GQA"),
    "rms-norm": lambda: _subgraph(subgraphs.make_norm(3, 8), "RMSNorm"),
    "attention": lambda: (attention.webnn_side(_HEADS), attention.onnx_side(_HEADS)),
    "tiny": lambda: (small.webnn_tiny(), small.onnx_tiny()),
    "tiny-dispatch": lambda: (small.webnn_tiny_tensors(), small.onnx_tiny_bound()),
    "isolated-cpu": lambda: (small.webnn_tiny_isolated("cpu", isolate=True), small.webnn_tiny_isolated("cpu", isolate=False)),
    "queued-dispatch": lambda: (_written(small.webnn_tiny_tensors()).queue, small.onnx_tiny_bound().queue),
    "chain": lambda: (small.webnn_chain(ML(revision="2024-06").createContextSync(), 10), small.onnx_chain(10)),
    "memory": lambda: (memory.webnn_side(2, 16, "array"), memory.onnx_side(2, 16, "array")),
    "memory-in-place": lambda: (memory.webnn_side(2, 64, "bytes"), memory.onnx_side(2, 64, "bytes")),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.shared] if name.startswith("real ") else []) for name in SIDES])
def test_the_sides_compute_the_same(name: str) -> None:
    ours, theirs = SIDES[name]()
    expected = theirs()
    assert np.ptp(expected) > 0
    # The second call uses the arrays that the first one passed on.
    for _ in range(2):
        np.testing.assert_allclose(ours(), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("columns", [True, False])
def test_a_decoder_takes_the_same_steps(columns: bool) -> None:
    heads = replace(_HEADS, columns=columns)
    ours, theirs = attention.TensorSteps(heads), attention.BoundSteps(heads)
    last = np.zeros(())
    for step in range(9):
        expected = theirs()
        np.testing.assert_allclose(ours(), expected, rtol=1e-5, atol=1e-6)
        # A step finds what the one before it kept; after seven steps all is the same token.
        assert step > 6 or not np.allclose(expected, last)
        last = expected.copy()


def test_the_import_of_an_onnx_file_computes_the_same(tmp_path: Path) -> None:
    network = mobilenet.make_network(size=32, classes=11, divisor=8)
    path = onnx_files.write_file(network, tmp_path)
    expected = onnx_files.run_session(path, network)
    assert np.ptp(expected) > 0
    check_same(onnx_files.run_import(path, network), expected)


def test_the_mobilenet_has_its_17_blocks() -> None:
    network = mobilenet.make_network(size=32, classes=11, divisor=8)
    assert len(network.blocks) == 1 + 17 + 1
    assert sum(layer.depthwise for layers, _ in network.blocks for layer in layers) == 17
    assert sum(residual for _, residual in network.blocks) == 10


@pytest.mark.processes
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of the process alone")
@pytest.mark.parametrize("kind", get_args(memory.Kind))
def test_the_peak_memory_is_the_childs_own(kind: memory.Kind) -> None:
    ballast = np.ones(2**28, np.uint8)
    ours, theirs = (memory.run_child(side, 2, 256, kind) for side in ("webnn", "onnxruntime"))
    check_same(np.array(ours["output"]), np.array(theirs["output"]))
    for report in (ours, theirs):
        assert 0 < report["before"] <= report["peak"] < ballast.nbytes


@pytest.mark.processes
def test_the_first_builds_compute_the_same() -> None:
    ours, theirs = (first_build.run_child(side, 32, 11, 8) for side in ("webnn", "onnxruntime"))
    check_same(np.array(ours["output"]), np.array(theirs["output"]))
    assert ours["seconds"] > 0
    assert ours["work"] > 0


@pytest.mark.processes
def test_the_first_builds_with_a_cache_compute_the_same(tmp_path: Path) -> None:
    results = [first_build.run_child("webnn", 32, 11, 8, kind="bytes", cache=tmp_path)["output"] for _ in range(2)]
    # The small network that loads the modules is stored, too.
    assert len(list(tmp_path.glob("*.model"))) == 2
    assert results[0] == results[1] == first_build.run_child("webnn", 32, 11, 8)["output"]


def test_the_model_that_grows_is_that_of_the_chain() -> None:
    nodes = onnx.ModelProto.FromString(small.webnn_translation(ML(revision="2024-06").createContextSync(), 50)).graph.node
    assert [node.op_type for node in nodes] == [node.op_type for node in small.onnx_nodes(50).model().graph.node] == ["Add"] * 50


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell the CPU time of children")
def test_processes_are_timed(tmp_path: Path) -> None:
    assert startup.cpu_seconds(["-c", "sum(range(10**6))"], tmp_path) > 0
    assert startup.first_line_seconds(["-c", "print(1)"], tmp_path) > 0
    with pytest.raises(RuntimeError, match="wrote nothing and ended with 3"):
        startup.first_line_seconds(["-c", "exit(3)"], tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        startup.cpu_seconds(["-c", "exit(3)"], tmp_path)


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell the CPU time of children")
@pytest.mark.parametrize("name", ["import", "first-ml", "version", "help", "first-line", "plugin"])
def test_what_starting_costs(name: str) -> None:
    result = startup.CASES[name](Effort(rounds=1))
    assert result.name == name
    assert min(result.webnn, result.other) > 0


def test_the_benchmark_of_wpt_needs_two_checkouts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("WEBNN_WPT", "here")
    monkeypatch.delenv("WEBNN_BEFORE", raising=False)
    assert main(["wpt", "--quick"]) == 0
    assert "wpt: skipped, WEBNN_WPT must name a checkout" in capsys.readouterr().out


@pytest.mark.processes
@pytest.mark.parametrize("part", javascript.PARTS)
def test_the_page_computes_what_is_expected(part: str) -> None:
    report = javascript.run_page(require_node(), part, rounds=2, repeats=3, megabytes=1)
    assert report["result"] == javascript.PARTS[part].expected
    assert len(report["seconds"]) == 2
    assert all(seconds > 0 for seconds in report["seconds"])


@pytest.mark.processes
@pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"{VARIABLE} names no browser")
@pytest.mark.parametrize("part", ["compute", "cycle", "image"])
def test_the_page_computes_the_same_in_a_browser(part: str) -> None:
    report = pages.run_page(Path(os.environ[VARIABLE]), part, rounds=2, repeats=3)
    assert report["result"] == javascript.PARTS[part].expected
    assert len(report["seconds"]) == 2


@pytest.mark.processes
@pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"{VARIABLE} names no browser")
@pytest.mark.parametrize("part", native.PARTS)
def test_the_page_computes_the_same_natively(part: str) -> None:
    results = [native.run_page(Path(os.environ[VARIABLE]), part, rounds=1, native=each)["result"] for each in (True, False)]
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", pages.CASES)
def test_pages_need_a_browser(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(SkippedError, match=VARIABLE):
        pages.CASES[name](Effort(rounds=1))


@pytest.mark.processes
def test_node_answers_messages() -> None:
    with javascript.echo(require_node()) as echo:
        assert echo.exchange(3) > 0


def test_other_numbers_are_not_the_same() -> None:
    check_same(np.array([1.0, 1e-9]), np.array([1.0, 0.0]))
    for ours in ([1.0, 1e-4], [1.0, np.nan], [1.0]):
        with pytest.raises(OutputsDifferError):
            check_same(np.array(ours), np.array([1.0, 0.0]))


def test_rounds_are_interleaved(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr("gc.collect", lambda: calls.append("gc"))
    times = interleave(lambda count: calls.append(f"a{count}"), lambda count: calls.append(f"b{count}"), rounds=2, repeats=20)
    assert calls == ["a3", "gc", "a20", "b3", "gc", "b20", "b3", "gc", "b20", "a3", "gc", "a20"]
    assert [len(seconds) for seconds in times] == [2, 2]


def test_the_ratio_is_that_of_the_medians() -> None:
    result = summarize("x", "title", ([1.0, 2.0, 3.0], [1.0, 1.0, 6.0]), unit="ms", bar=2.0)
    assert (result.low, result.value, result.high) == (0.5, 2.0, 2.0)
    assert (result.webnn, result.other, result.ok) == (2000.0, 1000.0, True)


def test_a_figure_may_have_no_bar() -> None:
    result = summarize("x", "title", ([9.0], [1.0]), unit="ms", bar=None)
    assert result.ok
    assert cells(result)[-2:] == ("", "")


@pytest.mark.parametrize(
    ("metric", "value", "ok"),
    [("rate", 9, False), ("rate", 11, True), ("time", 9, True), ("time", 11, False), ("difference", 9, True), ("ratio", 11, False)],
)
def test_bars(metric: str, value: float, ok: bool) -> None:
    result = Result(
        name="x",
        title="x",
        unit="ms",
        webnn=value,
        other=1,
        against="onnxruntime",
        metric=metric,  # type: ignore[arg-type]  # a parameter of the test
        value=value,
        low=value,
        high=value,
        bar=10,
    )
    assert result.ok is ok
    assert len(cells(result)) == len(COLUMNS)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # It takes long where there is much, as in the process of many tests.
    monkeypatch.setattr("gc.collect", lambda: 0)
    file = tmp_path / "figures.json"
    status = main(["tiny", "--quick", "--markdown", "--json", str(file)])
    figures = json.loads(file.read_text())
    (result,) = figures["results"]
    assert status == (0 if result["ok"] else 1)
    assert result["name"] == "tiny"
    assert {"CPU", "cores", "onnxruntime", "webnn"} <= set(figures["environment"])
    assert "| relu(x + y)" in capsys.readouterr().out


def test_a_missing_model_is_skipped_with_a_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cases, "MODELS", tmp_path)
    assert main(["squeezenet", "--quick"]) == 0
    assert "squeezenet: skipped, the real weights are not there" in capsys.readouterr().out


def test_an_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "there is no benchmark nothing" in capsys.readouterr().err


def test_looking_inside_is_timed() -> None:
    graph, inputs = inside.transformer_graph(transformer.make_block(sequence=5, hidden=12, heads=3, inner=24))
    for times in (inside.profile_times, inside.trace_times):
        ours, theirs = times(graph, inputs, 2)
        assert len(ours) == len(theirs) == 2
        assert min(*ours, *theirs) > 0


@pytest.mark.parametrize("name", ["squeezenet", "transformer"])
def test_the_sides_of_accuracy(name: str) -> None:
    block = transformer.make_block(sequence=5, hidden=12, heads=3, inner=24)
    graph, inputs = inside.squeezenet_graph(64) if name == "squeezenet" else inside.transformer_graph(block)
    ours, theirs = inside.accuracy_sides(graph, inputs)
    for accuracy in ours(2):
        assert len(accuracy.operators) == len(graph.description.operators)
        assert accuracy.operators[0].relative < 1e-5
    one, other = theirs(2)
    for output, expected in compute(graph.description, inputs).items():
        assert np.ptp(expected) > 0
        np.testing.assert_array_equal(one[output], expected)
        np.testing.assert_array_equal(other[output], expected)
