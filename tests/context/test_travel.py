"""Pickles of contexts, graphs and `ML`: what travels, what is made again, and what is refused."""

from __future__ import annotations

import base64
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import PATIENCE, each_row, refused
from webnn.context.ml import Origin
from webnn.context.profiles import PROFILES, load_profile
from webnn.context.travel import Arrivals, pack
from webnn.validation.drafts import DEFAULT, DRAFTS, find_revision

WEIGHTS = np.arange(8, dtype=np.float32).reshape(4, 2)


def make(revision: str = "2024-06", **settings: Any) -> tuple[webnn.MLContext, webnn.MLGraph]:
    """Return a context, and a graph that multiplies a row of four by `WEIGHTS`."""
    context = webnn.ML(revision=find_revision(revision), **settings).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", shape("1,4", context))
    weights = builder.constant(shape("4,2", context), WEIGHTS)
    return context, builder.buildSync({"y": builder.matmul(x, weights, label="product")})


def shape(sizes: str, context: webnn.MLContext) -> Any:
    member = "shape" if hasattr(context, "dispatch") else "dimensions"
    return {"dataType": "float32", member: [int(each) for each in sizes.split(",")]}


def compute(context: webnn.MLContext, graph: webnn.MLGraph) -> Any:
    from webnn.context.once import compute

    return compute(context, graph, {"x": np.ones((1, 4), np.float32)})["y"]


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@each_row(
    "settings",
    [{}, {"revision": DEFAULT}, {"revision": "2026-06"}, {"revision": "2026-06", "profile": "coreml"}, {"revision": "2026-06+browsers"}],
)
def test_a_graph_computes_the_same(settings: dict[str, Any]) -> None:
    context, graph = make(**settings)
    received_context, received = again((context, graph))
    assert received is not graph
    assert received.description == graph.description
    np.testing.assert_array_equal(compute(received_context, received), compute(context, graph))
    with refused(rule="owner", argument="graph"):
        compute(context, received)


@each_row("draft", [*DRAFTS, DEFAULT])
def test_a_graph_is_built_once(draft: str) -> None:
    _, graph = make(revision=draft)
    content = pickle.dumps(graph)
    first = pickle.loads(content)
    assert pickle.loads(content) is first
    # The second hop brings the same graph.
    assert again(first).description == graph.description
    _, other = make(revision=draft)
    assert again(other) is not first


def test_threads_build_a_graph_once() -> None:
    _, graph = make()
    content = pickle.dumps(graph)
    with ThreadPoolExecutor(8) as pool:
        received = list(pool.map(pickle.loads, [content] * 8))
    assert all(each is received[0] for each in received)


def test_the_graphs_that_are_kept_are_bounded() -> None:
    arrivals = Arrivals(2)
    context, _ = make()
    packed = pack(context._state.origin)
    graphs = [make()[1].description for _ in range(3)]
    built = [arrivals.graph(str(number), packed, "digest", each) for number, each in enumerate(graphs)]
    assert len(arrivals._graphs) == 2
    assert arrivals.graph("2", packed, "digest", graphs[2]) is built[2]
    assert arrivals.graph("0", packed, "digest", graphs[0]) is not built[0]


def test_a_destroyed_arrival_is_built_again() -> None:
    _, graph = make(revision="2026-06")
    content = pickle.dumps(graph)
    first = pickle.loads(content)
    first.destroy()
    second = pickle.loads(content)
    assert second is not first
    assert second.description == graph.description


def test_a_lost_arrival_is_made_again() -> None:
    context, graph = make(revision="2026-06")
    content = pickle.dumps((context, graph))
    first, _ = pickle.loads(content)
    first.destroy()
    second, received = pickle.loads(content)
    assert second._state is received._state is not first._state
    assert compute(second, received).shape == (1, 2)


def test_weights_go_out_of_band() -> None:
    _, graph = make()
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(graph, 5, buffer_callback=buffers.append)
    assert [buffer.raw().nbytes for buffer in buffers] == [WEIGHTS.nbytes]
    assert WEIGHTS.tobytes() not in content
    # No copy: the memory is the graph's.
    own = graph.description.constants["product_b"].value
    assert np.shares_memory(np.frombuffer(buffers[0].raw(), np.float32), own)
    received = pickle.loads(pickle.dumps(graph.description, 5, buffer_callback=(kept := []).append), buffers=kept)  # type: ignore[var-annotated]
    assert np.shares_memory(received.constants["product_b"].value, own)


def test_what_a_context_was_made_with() -> None:
    options = {"CUDAExecutionProvider": {"device_id": 1}}
    ml = webnn.ML(revision="2026-06", order={"npu": ["gpu", "cpu"]}, providerOptions=options, fallback="silent", numerics="fast")
    context = ml.createContextSync(deviceType="gpu", powerPreference="low-power")
    received = again(context)
    assert repr(received) == repr(context)
    assert isinstance(context._state.origin, Origin)
    assert received._state.origin.settings == context._state.origin.settings
    assert again(ml)._settings == ml._settings
    assert again(ml)._revision is ml._revision


def test_the_defaults_of_a_block_travel() -> None:
    """A context keeps the settings that it was made with: the block is over where it arrives."""
    with webnn.emulate(profile="coreml", numerics="fast", on_build=lambda *_: None, on_context=lambda _: None):
        context, _ = make(revision="2026-06")
        content = pickle.dumps(context)
    assert context._state.on_build is not None
    received = pickle.loads(content)
    assert received._state.profile is load_profile("coreml")
    assert isinstance(received._state.origin, Origin)
    assert received._state.origin.settings.numerics == "fast"
    assert received._state.on_build is None
    assert received._state.origin.settings.on_context is None


@each_row("name", PROFILES)
def test_a_profile_travels_by_its_name(name: str) -> None:
    assert again(webnn.ML(revision="2024-06", profile=name))._settings.profile is load_profile(name)


def test_a_profile_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text('{"_extends": "coreml", "maxTensorByteLength": 1024}')
    ml = webnn.ML(revision="2026-06", profile=file)
    content = pickle.dumps(ml)
    file.unlink()
    context = pickle.loads(content).createContextSync()
    with refused(rule="limit", operation="input", argument="descriptor"):
        webnn.MLGraphBuilder(context).input("x", dataType="float32", shape=[1024])


def ended(which: int, end: int) -> object:
    """Return a context, or its graph, after the end of one of the two."""
    made = make(revision="2026-06")
    made[end].destroy()
    return made[which]


def new_builder() -> webnn.MLGraphBuilder:
    return webnn.MLGraphBuilder(webnn.ML(revision="2024-06").createContextSync())


def tensor() -> object:
    return webnn.ML(revision="2026-06").createContextSync().createTensorSync(dataType="float32", shape=[1])


REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: ended(1, 1), webnn.InvalidStateError, "pickle: the graph must not be destroyed"),
    (lambda: ended(0, 0), webnn.InvalidStateError, "pickle: the context must not be lost"),
    (lambda: ended(1, 0), webnn.InvalidStateError, "pickle: the context must not be lost"),
    (lambda: webnn.ML(revision="2024-06", faults=webnn.Faults()), TypeError, "faults cannot be pickled"),
    (lambda: make(faults=webnn.Faults())[0], TypeError, "faults cannot be pickled"),
    (lambda: make(faults=webnn.Faults())[1], TypeError, "faults cannot be pickled"),
    (lambda: webnn.ML(revision=replace(find_revision("2026-06"), name="2026-06+mine")), TypeError, "the program composed it"),
    (tensor, TypeError, "MLTensor cannot be pickled"),
    (lambda: new_builder().input("x", dataType="float32", dimensions=[1]), TypeError, "MLOperand cannot be pickled"),
    (new_builder, TypeError, "MLGraphBuilder cannot be pickled"),
]


@pytest.mark.parametrize(("made", "kind", "message"), REFUSED)
def test_what_does_not_travel(made: Callable[[], object], kind: type[Exception], message: str) -> None:
    value = made()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(kind, match=message):
            pickle.dumps(value, protocol)


@pytest.mark.processes
def test_another_process() -> None:
    _, graph = make(revision="2026-06", profile="ort")
    script = (
        "import base64, pickle, sys\n"
        "graph = pickle.loads(base64.b64decode(sys.stdin.read()))\n"
        "print(graph.description.digest(), graph._state.profile.name)"
    )
    given = base64.b64encode(pickle.dumps(graph)).decode()
    done = subprocess.run([sys.executable, "-c", script], input=given, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stderr == ""
    assert done.stdout.split() == [graph.description.digest(), "ort"]
