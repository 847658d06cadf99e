"""JavaScript modules: what they look like, and that they describe the same graphs in the emulator's Node."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import make_context
from tests.webnn.formats.examples import LABELS, capture, hostile
from tests.webnn.formats.modules import build_in_node, export
from tests.webnn.formats.numbers import ELEMENTS, constant_of, numbers_of
from tests.webnn.formats.recorded import recorded
from tests.webnn.javascript.node_support import run

#: The dialect of the recorded graphs, whose draft has int4 too.
DIALECTS = {"2024-06": None, "2025-03": "wpt-2025-03"}


def compare(descriptions: list[webnn.GraphDescription], folder: Path, dialect: str | None = None) -> None:
    """Export graphs, build them in Node, and compare what is built with what was exported."""
    modules, built = build_in_node(export(descriptions, folder), folder, dialect)
    assert [(name, result["error"]) for name, result in modules.results.items() if "error" in result] == []
    for description, result, again in zip(descriptions, modules.results.values(), built, strict=True):
        assert again == replace(description, draft=""), description
        known = description.descriptors()
        outputs = {name: known[value] for name, value in description.outputs.items()}
        for table, expected in (("inputs", description.inputs), ("outputs", outputs)):
            rows: Any = result[table]
            assert {name: (row["dataType"], tuple(row["shape"])) for name, row in rows} == {
                name: (each.dataType, each.shape) for name, each in expected.items()
            }


def newest(level: str, step: int) -> list[webnn.GraphDescription]:
    """Return recorded graphs in the newest draft, with the names that they have if a program of this draft makes them."""
    found = []
    for _, description in recorded(level, step):
        try:
            lifted = description.lift()
        except webnn.DescriptionError:
            continue
        found.append(webnn.describe(lifted.build(webnn.MLGraphBuilder(make_context(lifted.draft)))))
    return found


@pytest.mark.processes
@pytest.mark.parametrize(("level", "step"), [("2025-03", 43)])
def test_some_recorded_graphs(level: str, step: int, tmp_path: Path) -> None:
    descriptions = newest(level, step)
    assert len(descriptions) >= 35
    compare(descriptions, tmp_path, DIALECTS[level])


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize(("level", "count"), [("2024-06", 921), ("2025-03", 1715)])
def test_recorded_graphs(level: str, count: int, tmp_path: Path) -> None:
    descriptions = newest(level, 1)
    assert len(descriptions) == count
    compare(descriptions, tmp_path, DIALECTS[level])


@pytest.mark.processes
def test_examples_numbers_and_hostile_labels(tmp_path: Path) -> None:
    """One process for all of them. The module sets no variable that a label tries to set: `build_in_node` looks."""
    numbers = numbers_of("2026-06+browsers")
    graphs = [capture("transformer_block")[0], capture("int8_graph")[0], numbers, *map(hostile, LABELS)]
    compare(graphs, tmp_path, "browsers-2026")


@pytest.mark.processes
def test_a_module_without_its_weights(tmp_path: Path) -> None:
    export([capture("transformer_block")[0]], tmp_path)
    source = """
        import {build} from './graph0.mjs';
        const context = await navigator.ml.createContext();
        for (const weights of [undefined, new Uint8Array(8)]) await build(context, weights).catch((error) => console.log(String(error)));
        const weights = await (await fetch('graph0.safetensors')).arrayBuffer();
        console.log((await build(context, weights)).constructor.name);
    """
    why = "TypeError: build: weights must be an ArrayBuffer, the bytes of the .safetensors file beside this module"
    outcome = run(tmp_path, source, revision="2026-06")
    assert outcome.stdout.splitlines() == [why, why, "MLGraph"], outcome.stderr


def test_what_it_looks_like(tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(make_context("2026-06"))
    x = builder.input("pixel values", dataType="float32", shape=[1, 1, 8, 8])
    weights = builder.constant({"dataType": "float32", "shape": [1, 1, 3, 3]}, np.ones((1, 1, 3, 3), np.float32))
    y = builder.conv2d(x, weights, padding=[1, 1, 1, 1], strides=[2, 2], dilations=[1, 1], groups=1, label="conv/0")
    first, second = builder.split(builder.clamp(y, minValue=-0.0, maxValue=float("inf")), 2, axis=3)
    outputs = {"__proto__": first, "new": builder.relu(second)}
    webnn.describe(outputs, name="a */ name\n").save(tmp_path / "model.mjs")
    text = (tmp_path / "model.mjs").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == f"// A graph of the Web Neural Network API, draft 2026-06. Written by webnn {webnn.__version__}."
    assert lines[1:3] == ['// Its name is "a */ name\\n".', '// Its weights are in the file "model.safetensors".']
    start = lines.index("  const constant = constantsOf(builder, weights);")
    assert lines[start + 1 : lines.index("}", start)] == [
        '  const pixel_values = builder.input("pixel values", {dataType: "float32", shape: [1, 1, 8, 8]});',
        '  const conv_0_filter = constant("conv/0_filter", "float32", [1, 1, 3, 3]);',
        "  const conv_0 = builder.conv2d(",
        "    pixel_values, conv_0_filter,",
        '    {padding: [1, 1, 1, 1], strides: [2, 2], dilations: [1, 1], groups: 1, label: "conv/0"},',
        "  );",
        "  const clamp = builder.clamp(conv_0, {minValue: -0.0, maxValue: Infinity});",
        "  const [proto, split_1] = builder.split(clamp, 2, {axis: 3});",
        "  const new_2 = builder.relu(split_1);",
        '  return builder.build({["__proto__"]: proto, new: new_2});',
    ]
    assert '  ["__proto__"]: {dataType: "float32", shape: [1, 1, 4, 2]},' in lines


@pytest.mark.parametrize(("dataType", "elements", "javascript", "_"), ELEMENTS)
def test_constants(dataType: Any, elements: Any, javascript: str, _: str, tmp_path: Path) -> None:
    constant_of(dataType, elements).save(tmp_path / "model.mjs")
    assert f"= builder.constant({javascript});\n" in (tmp_path / "model.mjs").read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["model.mjs"]


def test_what_has_no_counterpart(tmp_path: Path) -> None:
    builder = webnn.MLGraphBuilder(make_context("2024-06"))
    x = builder.input("x", dataType="float32", dimensions=[2, 3])
    with pytest.raises(webnn.DescriptionError, match="argMax has no counterpart in the draft 2026-06: it searches 2 axes"):
        webnn.describe({"y": builder.argMax(x)}).save(tmp_path / "model.mjs")
    assert list(tmp_path.iterdir()) == []
