"""The number of groups of `conv2d` follows from the channels if it is not given."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import each_row
from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.javascript.test_realm import Page
from tests.wpt_runner.clock import Clock

REVISION: Any = "2026-06+inferred-groups"
ORDERS = {"nchw": (0, 1, 2, 3), "nhwc": (0, 2, 3, 1)}
FILTERS = {"oihw": (0, 1, 2, 3), "hwio": (2, 3, 1, 0), "ohwi": (0, 2, 3, 1), "ihwo": (1, 2, 3, 0)}


def builder_of(revision: Any = REVISION, **options: Any) -> Any:
    return webnn.MLGraphBuilder(webnn.ML(revision=revision, **options).createContextSync())


def compute(revision: Any, x: Any, f: Any, name: str = "conv2d", *, reference: bool = False, **options: Any) -> Any:
    context: Any = webnn.ML(revision=revision, reference=reference).createContextSync()
    builder: Any = webnn.MLGraphBuilder(context)
    operand = builder.input("x", {"dataType": "float32", "shape": x.shape})
    y = getattr(builder, name)(operand, builder.constant({"dataType": "float32", "shape": f.shape}, f), options)
    graph = builder.buildSync({"y": y})
    given = context.createTensorSync(dataType="float32", shape=x.shape, writable=True)
    result = context.createTensorSync(dataType="float32", shape=y.shape, readable=True)
    context.writeTensor(given, x)
    context.dispatch(graph, {"x": given}, {"y": result})
    return context.readTensorSync(result)


def numbers(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 5


GROUPS = [
    # the channels of the input, those that the filter takes, those of the output, the groups
    (4, 4, 6, 1),
    (4, 2, 6, 2),
    (4, 1, 4, 4),
    (4, 1, 8, 4),
    (1, 1, 3, 1),
]


@each_row(("channels", "taken", "made", "groups"), GROUPS)
def test_numbers(channels: int, taken: int, made: int, groups: int) -> None:
    """Without groups, the numbers are those of the draft with them, in each layout, on the engine and by the reference."""
    x, f = numbers(1, channels, 3, 3), numbers(made, taken, 2, 2)
    expected = compute("2026-06", x, f, groups=groups)
    assert compute(REVISION, x, f, reference=True).tolist() == expected.tolist()
    for (layout, order), (filterLayout, axes) in itertools.product(ORDERS.items(), FILTERS.items()):
        found = compute(REVISION, x.transpose(order).copy(), f.transpose(axes).copy(), inputLayout=layout, filterLayout=filterLayout)
        assert found.tolist() == expected.transpose(order).tolist()


REFUSED = [
    # the shape of the filter, the options, and the message, for an input of four channels
    ([3, 3, 1, 1], {}, r"^conv2d: filter must have 4 input channels \(4 channels of the input in 1 groups\), got 3$"),
    ([3, 8, 1, 1], {}, r"^conv2d: filter must have 4 input channels"),
    ([3, 1, 1, 1], {}, r"^conv2d: options.groups must divide the 3 output channels evenly, got 4$"),
    ([4, 1, 1, 1], {"groups": 1}, r"^conv2d: filter must have 4 input channels"),
    ([4, 1, 1, 1], {"groups": 0}, r"^conv2d: options.groups must be greater than 0, got 0$"),
    ([4, 1, 1, 1], {"inputLayout": "nope"}, r"^conv2d: options.inputLayout must be one of"),
    ([4, 1, 1, 1], {"filterLayout": 3}, r"^conv2d: options.filterLayout must be"),
    ([4, 1, 1], {}, r"^conv2d: filter must be 4-D"),
]


@each_row(("shape", "options", "message"), REFUSED)
def test_what_is_refused(shape: list[int], options: Any, message: str) -> None:
    builder = builder_of()
    x, f = (builder.input(name, {"dataType": "float32", "shape": each}) for name, each in (("x", [1, 4, 3, 3]), ("f", shape)))
    with pytest.raises(webnn.WebNNTypeError, match=message):
        builder.conv2d(x, f, options)


def test_the_transposed_convolution_has_one_group() -> None:
    x, f = numbers(1, 4, 3, 3), numbers(4, 2, 2, 2)
    expected = compute("2026-06", x, f, "convTranspose2d")
    assert expected.shape == (1, 2, 4, 4)
    assert compute(REVISION, x, f, "convTranspose2d").tolist() == expected.tolist()
    assert compute(REVISION, x, f, "convTranspose2d", groups=2).shape == (1, 4, 4, 4)


def test_a_file_has_the_number(tmp_path: Path) -> None:
    """The draft reads it: the number is there, also if the program did not give it."""
    builder = builder_of()
    x, f = (builder.input(name, {"dataType": "float32", "shape": shape}) for name, shape in (("x", [1, 4, 3, 3]), ("f", [8, 1, 2, 2])))
    description = webnn.describe({"y": builder.conv2d(x, f, label="deep")})
    [operator] = description.operators
    assert (dict(operator.options), operator.label) == ({"groups": 4}, "deep")
    path = tmp_path / "graph.webnn"
    description.save(path)
    again = webnn.load(path)
    assert [dict(each.options) for each in again.operators] == [{"groups": 4}]
    for draft in (REVISION, "2026-06"):
        assert replace(again, draft=draft).build(builder_of(draft))["y"].shape == (1, 8, 2, 2)


@each_row("others", ["zero-size", "low-precision", "subgraphs", "window-limits", "compute", "browsers"])
def test_with_others(others: str) -> None:
    for revision in (f"{REVISION}+{others}", f"2026-06+{others}+inferred-groups"):
        builder = builder_of(revision)
        x, f = (builder.input(name, {"dataType": "float32", "shape": shape}) for name, shape in (("x", [1, 4, 3, 3]), ("f", [8, 1, 2, 2])))
        assert builder.conv2d(x, f).shape == (1, 8, 2, 2)


def test_devices() -> None:
    """A profile sees the number."""
    builder = builder_of(profile="coreml")
    x, f = (builder.input(name, {"dataType": "float32", "shape": shape}) for name, shape in (("x", [1, 4, 3, 3]), ("f", [8, 1, 2, 2])))
    assert builder.conv2d(x, f).shape == (1, 8, 2, 2)


def test_names_of_dimensions() -> None:
    """The number follows from the shapes at dispatch."""
    context: Any = webnn.ML(revision="2026-06+dynamic-shapes+inferred-groups").createContextSync()
    builder: Any = webnn.MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "shape": [1, "c", 3, 3]})
    f = builder.input("f", {"dataType": "float32", "shape": [4, "taken", 1, 1]})
    graph = builder.buildSync({"y": builder.conv2d(x, f)})
    values, filter = numbers(1, 4, 3, 3), numbers(4, 1, 1, 1)
    tensors = {
        name: context.createTensorSync(dataType="float32", shape=each.shape, writable=True) for name, each in (("x", values), ("f", filter))
    }
    result = context.createTensorSync(dataType="float32", shape=(1, 4, 3, 3), readable=True)
    for name, each in (("x", values), ("f", filter)):
        context.writeTensor(tensors[name], each)
    context.dispatch(graph, tensors, {"y": result})
    assert context.readTensorSync(result).tolist() == (values * filter.reshape(1, 4, 1, 1)).tolist()
    with pytest.raises(webnn.WebNNTypeError, match="conv2d"):
        graph.computeShapes({"x": [1, 4, 3, 3], "f": [4, 3, 1, 1]})


JAVASCRIPT = """
const builder = new MLGraphBuilder(await navigator.ml.createContext());
const x = builder.input('x', {dataType: 'float32', shape: [1, 4, 3, 3]});
const f = builder.input('f', {dataType: 'float32', shape: [8, 1, 2, 2]});
console.log(builder.conv2d(x, f).shape.join(), builder.conv2d(x, f, {groups: undefined}).shape.join());
try { builder.conv2d(x, f, {groups: 2}); } catch (error) { console.log(error.name); }
"""


@needs_quickjs
def test_quickjs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(Clock(monkeypatch), revision=REVISION)
    printed = page.run_async(JAVASCRIPT)
    assert printed == ["1,8,2,2 1,8,2,2", "TypeError"]
