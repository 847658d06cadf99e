"""Filters and windows are bounded by other sizes of the call, as `opSupportLimits` says."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import each_row
from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.javascript.node_support import Outcome, run
from tests.webnn.javascript.test_realm import Page
from tests.wpt_runner.clock import Clock
from webnn.proposals.window_limits import RELATIONS

REVISION: Any = "2026-06+window-limits"
POOLS = ["averagePool2d", "l2Pool2d", "maxPool2d"]


def builder_of(revision: Any = REVISION, **options: Any) -> Any:
    return webnn.MLGraphBuilder(webnn.ML(revision=revision, **options).createContextSync())


def call(builder: Any, name: str, size: tuple[int, int], window: tuple[int, int], **options: Any) -> Any:
    """Call an operation on an image of one channel."""
    x = builder.input("x", {"dataType": "float32", "shape": [1, 1, *size]})
    if name == "conv2d":
        return builder.conv2d(x, builder.input("f", {"dataType": "float32", "shape": [1, 1, *window]}), options)
    return getattr(builder, name)(x, {"windowDimensions": list(window), **options})


PADDED, WINDOW = "the input with its padding, got ", "the window with its dilation, got "
REFUSED = [
    # operations; the input's size, the window's, the options; the argument and the message
    (["conv2d", *POOLS], (5, 8), (1, 1), {"strides": [6, 1]}, "options.strides", "must be at most 5, the height of " + PADDED + "6"),
    (["conv2d", *POOLS], (5, 8), (1, 1), {"strides": [5, 9]}, "options.strides", "must be at most 8, the width of " + PADDED + "9"),
    (["conv2d", *POOLS], (5, 8), (1, 1), {"dilations": [1, 9]}, "options.dilations", "must be at most 8, the width of " + PADDED + "9"),
    (["conv2d", *POOLS], (5, 8), (1, 1), {"strides": [2**32 - 1, 1]}, "options.strides", "must be at most 5, the height"),
    (["conv2d", *POOLS], (5, 8), (1, 1), {"dilations": [2**32 - 1, 1]}, "options.dilations", "must be at most 5, the height"),
    (POOLS, (5, 8), (2, 3), {"padding": [2, 0, 0, 0]}, "options.padding", "must be less than 2, the height of " + WINDOW + "2"),
    (POOLS, (5, 8), (2, 3), {"padding": [0, 0, 0, 3]}, "options.padding", "must be less than 3, the width of " + WINDOW + "3"),
    (
        *(POOLS, (5, 8), (6, 1), {"strides": [2, 1], "outputShapeRounding": "ceil"}, "options.windowDimensions"),
        "with its dilation must be at most 5, the height of " + PADDED + "6",
    ),
    (
        *(POOLS, (5, 8), (1, 5), {"dilations": [1, 2], "strides": [1, 2], "outputShapeRounding": "ceil"}, "options.windowDimensions"),
        "with its dilation must be at most 8, the width of " + PADDED + "9",
    ),
]


@each_row(("names", "size", "window", "options", "argument", "message"), REFUSED)
def test_what_is_refused(names: list[str], size: Any, window: Any, options: Any, argument: str, message: str) -> None:
    for name in names:
        assert call(builder_of("2026-06"), name, size, window, **options) is not None
        with pytest.raises(webnn.WebNNTypeError) as caught:
            call(builder_of(), name, size, window, **options)
        error = caught.value
        assert (error.operation, error.argument, error.rule) == (name, argument, "limit")
        assert str(error).startswith(f"{name}: {argument} {message}")


TAKEN = [
    # operations; the input's size, the window's, the options
    (["conv2d", *POOLS], (5, 8), (1, 1), {"strides": [5, 8], "dilations": [5, 8]}),
    (["conv2d", *POOLS], (5, 8), (5, 8), {}),
    (["conv2d", *POOLS], (5, 8), (3, 2), {"dilations": [2, 7]}),
    # The padding counts.
    (["conv2d", *POOLS], (5, 8), (2, 2), {"padding": [1, 1, 0, 1], "strides": [7, 9]}),
    (["conv2d", *POOLS], (5, 8), (7, 2), {"padding": [1, 1, 0, 0]}),
    # Of a dilated window, the dilation counts.
    (POOLS, (5, 8), (2, 2), {"padding": [2, 2, 0, 0], "dilations": [2, 1]}),
    # As in SqueezeNet.
    (["conv2d"], (5, 8), (1, 1), {"padding": [1, 1, 1, 1]}),
    # Another layout.
    (["convTranspose2d"], (5, 8), (2, 2), {"strides": [9, 9]}),
]


@each_row(("names", "size", "window", "options"), TAKEN)
def test_what_is_taken(names: list[str], size: Any, window: Any, options: Any) -> None:
    for name in names:
        if name == "convTranspose2d":
            builder = builder_of()
            x, f = (builder.input(key, {"dataType": "float32", "shape": [1, 1, *each]}) for key, each in (("x", size), ("f", window)))
            assert builder.convTranspose2d(x, f, options).shape
            continue
        assert call(builder_of(), name, size, window, **options).shape == call(builder_of("2026-06"), name, size, window, **options).shape


def test_layouts() -> None:
    builder = builder_of()
    x = builder.input("x", {"dataType": "float32", "shape": [1, 5, 8, 9]})
    f = builder.input("f", {"dataType": "float32", "shape": [2, 5, 3, 9]})
    with pytest.raises(webnn.WebNNTypeError, match=r"^maxPool2d: options.strides must be at most 5, the height of"):
        builder.maxPool2d(x, layout="nhwc", strides=[6, 1])
    assert builder.conv2d(x, f, inputLayout="nhwc", filterLayout="ohwi", strides=[5, 8]).shape == (1, 1, 1, 2)
    with pytest.raises(webnn.WebNNTypeError, match=r"^conv2d: options.strides must be at most 8, the width of"):
        builder.conv2d(x, f, inputLayout="nhwc", filterLayout="ohwi", strides=[5, 9])


def test_a_window_that_is_not_given() -> None:
    """It is the whole input, which dilation makes too large."""
    builder = builder_of()
    x = builder.input("x", {"dataType": "float32", "shape": [1, 1, 2, 2]})
    assert builder.maxPool2d(x).shape == (1, 1, 1, 1)
    with pytest.raises(webnn.WebNNTypeError, match=r"^maxPool2d: options.windowDimensions with its dilation must be at most 2"):
        builder.maxPool2d(x, dilations=[2, 1], strides=[2, 1], outputShapeRounding="ceil")


def test_limits() -> None:
    """They are those that are checked, on devices too; a program may change its copy."""
    draft = webnn.ML(revision="2026-06").createContextSync().opSupportLimits()
    for options in ({}, {"profile": "coreml"}, {"profile": "tflite"}):
        context: Any = webnn.ML(revision=REVISION, **options).createContextSync()
        limits = context.opSupportLimits()
        assert {name: each["window"] for name, each in limits.items() if isinstance(each, dict) and "window" in each} == RELATIONS
        limits["conv2d"]["window"].clear()
        assert context.opSupportLimits()["conv2d"]["window"] == RELATIONS["conv2d"]
    own = webnn.ML(revision=REVISION).createContextSync().opSupportLimits()
    for name in RELATIONS:
        del own[name]["window"]
    assert own == draft


def test_numbers_stay_the_same() -> None:
    """Calls at the border are computed as in the draft."""
    values = np.arange(40, dtype=np.float32).reshape(1, 1, 5, 8)
    found = []
    for revision in ("2026-06", REVISION):
        context: Any = webnn.ML(revision=revision).createContextSync()
        builder: Any = webnn.MLGraphBuilder(context)
        x = builder.input("x", {"dataType": "float32", "shape": [1, 1, 5, 8]})
        y = builder.maxPool2d(x, windowDimensions=[3, 2], dilations=[2, 7], strides=[5, 8])
        graph = builder.buildSync({"y": y})
        tensors = {"x": context.createTensorSync(dataType="float32", shape=[1, 1, 5, 8], writable=True)}
        result = context.createTensorSync(dataType="float32", shape=y.shape, readable=True)
        context.writeTensor(tensors["x"], values)
        context.dispatch(graph, tensors, {"y": result})
        found.append(context.readTensorSync(result))
    assert found[0].tolist() == found[1].tolist() == [[[[39.0]]]]


def test_with_others() -> None:
    """Each has its checks, in any order."""
    for order in itertools.permutations(["window-limits", "zero-size", "low-precision"]):
        builder = builder_of(f"2026-06+{'+'.join(order)}")
        with pytest.raises(webnn.WebNNTypeError, match=r"options.strides must be at most 5, the height of"):
            call(builder, "maxPool2d", (5, 8), (1, 1), strides=[6, 1])
        with pytest.raises(webnn.WebNNTypeError, match="must have a height and a width of at least 1"):
            call(builder_of(f"2026-06+{'+'.join(order)}"), "conv2d", (5, 8), (0, 1))


def test_names_of_dimensions() -> None:
    """With dynamic shapes, a call is refused when no size makes it valid; otherwise at dispatch."""
    context: Any = webnn.ML(revision="2026-06+dynamic-shapes+window-limits").createContextSync()
    builder: Any = webnn.MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "shape": [1, 1, "n", 4]})
    with pytest.raises(webnn.WebNNTypeError, match=r"^maxPool2d: "):
        builder.maxPool2d(x, windowDimensions=[1, 1], strides=[1, 5])
    graph = builder.buildSync({"y": builder.maxPool2d(x, windowDimensions=[1, 1], strides=[3, 1])})
    assert graph.computeShapes({"x": [1, 1, 3, 4]}) == {"y": [1, 1, 1, 4]}
    with pytest.raises(webnn.WebNNTypeError, match=r"options.strides must be at most 2, the height of"):
        graph.computeShapes({"x": [1, 1, 2, 4]})


JAVASCRIPT = """
const context = await navigator.ml.createContext();
const limits = context.opSupportLimits();
console.log(JSON.stringify(limits.averagePool2d.window), JSON.stringify(limits.conv2d.window), limits.convTranspose2d.window);
const builder = new MLGraphBuilder(context);
const x = builder.input('x', {dataType: 'float32', shape: [1, 1, 5, 8]});
try { builder.averagePool2d(x, {strides: [6, 1]}); } catch (error) { console.log(error.name, error.message); }
"""
PRINTED = [
    # Web IDL sorts the members of a dictionary.
    '{"dilations":"padded-input","padding":"window","size":"padded-input","strides":"padded-input"} '
    '{"dilations":"padded-input","size":"padded-input","strides":"padded-input"} undefined',
    "TypeError averagePool2d: options.strides must be at most 5, the height of the input with its padding, got 6",
]


@needs_quickjs
def test_quickjs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(Clock(monkeypatch), revision=REVISION)
    assert page.run_async(JAVASCRIPT) == PRINTED


@pytest.mark.processes
def test_node(tmp_path: Path) -> None:
    assert run(tmp_path, JAVASCRIPT, revision=REVISION) == Outcome(0, "".join(f"{line}\n" for line in PRINTED), "")
