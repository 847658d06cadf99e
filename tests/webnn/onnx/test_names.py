"""Models whose dimensions keep their names: decoders of three exporters, settings, refusals, and what a graph checks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import parser

import webnn
import webnn.onnx
from tests.command_line import call, save_model
from tests.webnn.onnx.decoders import CACHES, STYLES, feed, make_decoder
from tests.webnn.onnx.models import run_onnx
from tests.webnn.onnx.named import NAMED
from webnn import MLGraphBuilder, WebNNTypeError

#: Numbers of earlier tokens and of new ones.
LENGTHS = [(5, 3), (1, 1), (2, 1), (17, 1), (100, 1), (1, 5), (2, 2), (17, 4), (100, 7), (6, 6)]
_DIMS = {"past_sequence_length": "past", "sequence_length": "sequence"}


def _dims(style: str) -> dict[str, str]:
    return {**_DIMS, **({"total_sequence_length": "past + sequence"} if style == "grouped" else {})}


def _load(model: Any, revision: str = NAMED, **settings: Any) -> tuple[webnn.onnx.Imported, Any]:
    """Import a model; return it, and its graph."""
    builder = MLGraphBuilder(webnn.ML(revision=revision).createContextSync())
    imported = webnn.onnx.load(model, builder, **settings)
    return imported, builder.buildSync(dict(imported.outputs))


def _compare(graph: Any, imported: webnn.onnx.Imported, expected: Mapping[str, Any], feeds: Mapping[str, Any]) -> None:
    results = graph.run({name: array for name, array in feeds.items() if name in imported.inputs})
    assert results.keys() == expected.keys()
    for name, wanted in expected.items():
        assert results[name].shape == wanted.shape
        np.testing.assert_allclose(results[name], wanted, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("style", STYLES)
def test_a_decoder_is_one_graph_for_all_lengths(style: str) -> None:
    model = make_decoder(style)
    imported, graph = _load(model, dims=_dims(style))
    assert str(imported.inputs["input_ids"]) == "int64 [1, 'sequence']"
    assert str(imported.inputs[CACHES[0]]) == "float32 [1, 2, 'past', 16]"
    assert [str(each) for each in imported.outputs["present.0.key"].shape] == ["1", "2", "past + sequence", "16"]
    assert {each.outcome for each in imported.report.nodes} == {"converted", "folded"}
    for past, rows in LENGTHS:
        feeds = feed(style, past, rows)
        _compare(graph, imported, run_onnx(model, feeds), feeds)
    # One session for one new token, and one for more.
    assert sum(each.implementation is not None for each in graph._implementation._variants) == 2


@pytest.mark.parametrize("style", STYLES)
def test_the_cache_may_be_empty(style: str) -> None:
    model = make_decoder(style)
    imported, graph = _load(model, f"{NAMED}+zero-size", dims=_dims(style))
    for past, rows in [(0, 5), (0, 1), (3, 2)]:
        feeds = feed(style, past, rows)
        _compare(graph, imported, run_onnx(model, feeds), feeds)


@pytest.mark.parametrize("style", ["older", "newer"])
def test_a_dimension_that_is_a_sum_is_checked(style: str) -> None:
    _, graph = _load(make_decoder(style), dims=_DIMS)
    feeds = {**feed(style, 5, 3), "attention_mask": np.ones((1, 9), np.int64)}
    with pytest.raises(WebNNTypeError, match=r"attention_mask must be \[1, past \+ sequence\]") as error:
        graph.run(feeds)
    assert error.value.operation == "reshapeDynamic"


def test_a_batch_has_a_name(tmp_path: Path) -> None:
    model = make_decoder("older", batch="batch")
    imported, graph = _load(model, dims={**_DIMS, "batch": "batch"})
    for batch, past, rows in [(2, 5, 3), (1, 4, 1)]:
        feeds = feed("older", past, rows, batch=batch)
        _compare(graph, imported, run_onnx(model, feeds), feeds)


@pytest.mark.parametrize("suffix", ["webnn", "webnn.json"])
def test_a_file_of_the_graph(suffix: str, tmp_path: Path) -> None:
    model = make_decoder("older")
    # Without a builder, the graph is in a draft that has names.
    imported = webnn.onnx.load(model, dims=_DIMS)
    assert imported.description.draft == NAMED
    imported.description.save(tmp_path / f"decoder.{suffix}")
    builder = MLGraphBuilder(webnn.ML(revision=NAMED).createContextSync())
    graph = builder.buildSync(webnn.load(tmp_path / f"decoder.{suffix}").build(builder))
    feeds = feed("older", 5, 3)
    _compare(graph, imported, run_onnx(model, feeds), feeds)
    with pytest.raises(WebNNTypeError, match="attention_mask must be"):
        graph.run({**feeds, "attention_mask": np.ones((1, 9), np.int64)})


def test_the_option_of_commands(tmp_path: Path) -> None:
    path = save_model(
        tmp_path / "m.onnx", """<ir_version: 9, opset_import: ["" : 20]> m (float[n, 4] x) => (float[n, 4] y) { y = Relu(x) }"""
    )
    code, _, errors = call("convert", path, "--dim", "n=rows", "-o", tmp_path / "m.webnn")
    assert code == 0, errors
    assert str(webnn.load(tmp_path / "m.webnn").inputs["x"]) == "float32 ['rows', 4]"
    for command in ("check", "run", "show"):
        code, _, errors = call(command, path, "--dim", "n=rows")
        assert code == 2
        assert "--dim must be NAME=SIZE, got 'n=rows': dimensions keep names in webnn convert alone" in " ".join(errors.split())
    code, _, errors = call("convert", tmp_path / "m.webnn", "--dim", "rows=n", "-o", tmp_path / "other.webnn")
    assert code != 0
    assert "--dim must give numbers for a graph, which has names already" in " ".join(errors.split())


def test_attention_is_a_call_in_the_draft_with_subgraphs() -> None:
    model = make_decoder("grouped")
    imported, graph = _load(model, f"{NAMED}+subgraphs", dims=_dims("grouped"))
    assert {each.name for each in imported.description.calls} == {"GroupQueryAttention", "RMSNormalization"}
    feeds = feed("grouped", 5, 3)
    _compare(graph, imported, run_onnx(model, feeds), feeds)


def _shape(settings: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(webnn.onnx.load(make_decoder("older"), **settings).inputs["attention_mask"].dimensions)


def test_a_dimension_that_is_a_sum_follows_from_the_names() -> None:
    assert _shape({"dims": {"past_sequence_length": 4, "sequence_length": 2}}) == (1, 6)
    assert _shape({"dims": {"past_sequence_length": "past", "sequence_length": 1}}) == (1, "past + 1")
    assert _shape({"dims": {**_DIMS, "past_sequence_length + sequence_length": "sequence + past"}}) == (1, "sequence + past")
    shapes = {name: [1, 2, "p", 16] for name in CACHES}
    assert _shape({"dims": {"sequence_length": "s"}, "shapes": {**shapes, "attention_mask": [1, "p + s"]}}) == (1, "p + s")


#: Settings of a model with x [batch, n], what is refused, and the advice.
_REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "another draft": ({"dims": {"batch": "b", "n": 2}, "builder": "2026-06"}, "must be a number in this draft, got the name 'b'", NAMED),
    "an empty name": ({"dims": {"batch": " ", "n": 2}}, "must not be empty", ""),
    "a fraction": ({"dims": {"batch": 1.5, "n": 2}}, "must be an integer or a name, got 1.5", ""),
    "an unknown dimension": ({"dims": {"bach": "b"}}, "must name a dimension of an input", "did you mean 'batch'?"),
    "a number that is needed": ({"dims": {"batch": "b", "n": "n"}}, "the dimension 'n' must be fixed", "give a number for dims['n']"),
    "a shape": ({"shapes": {"x": ["b", "n"]}}, "the dimension 'n' must be fixed", "give a number for shapes['x'][1]"),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_refusals_name_the_dimension_and_the_setting(case: str) -> None:
    settings, reason, advice = _REFUSED[case]
    model = parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 20]>
        m (float[batch, n] x) => (float[batch, k] y) <int64[4] pads = {0, 1, 0, 1}> { y = Pad <mode = "wrap"> (x, pads) }
    """)
    builder = MLGraphBuilder(webnn.ML(revision=settings.get("builder", NAMED)).createContextSync())
    with pytest.raises(webnn.onnx.RefusedModelError) as error:
        webnn.onnx.load(model, builder, **{name: each for name, each in settings.items() if name != "builder"})
    found = error.value.report.refusals
    assert any(reason in each.reason and advice in each.advice for each in found), found


def test_all_refusals_come_at_once() -> None:
    model = parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 20]>
        m (float[n, 4] x, float[4, k] w) => (float[n, 4] y, float[4, k] z)
        <int64[4] pads = {1, 1, 0, 0}>
        {
            a = Pad <mode = "wrap"> (x, pads)
            y = Relu(a)
            b = Hardmax <axis = 1> (w)
            z = Pad <mode = "wrap"> (b, pads)
        }
    """)
    with pytest.raises(webnn.onnx.RefusedModelError) as error:
        _load(model, dims={"n": "n", "k": "k"})
    assert [each.reason for each in error.value.report.refusals] == [f"the dimension '{name}' must be fixed" for name in "nk"]
    assert [each.outcome for each in error.value.report.nodes] == ["refused", "blocked", "converted", "refused"]


#: Models with x [n, 4] that assume something about n; numbers for which it is true, and for which it is not, and the condition.
_ASSUMING: dict[str, tuple[str, int, int, str]] = {
    "Squeeze": ("y = Squeeze(x)", 3, 1, "n is not 1"),
    "Slice": ("y = Slice(x, none, three, none)", 3, 2, "n is at least 3"),
    "Gather": ("y = Gather <axis = 0> (x, some)", 4, 3, "n is at least 4"),
}


@pytest.mark.parametrize("operator", _ASSUMING)
def test_a_graph_refuses_sizes_that_the_import_has_not_assumed(operator: str) -> None:
    text, right, wrong, condition = _ASSUMING[operator]
    model = parser.parse_model(f"""
        <ir_version: 9, opset_import: ["" : 20]>
        m (float[n, 4] x) => (float y) <int64[1] none = {{0}}, int64[1] three = {{3}}, int64[2] some = {{3, 0}}> {{ {text} }}
    """)
    _, graph = _load(model, dims={"n": "n"})
    array = np.arange(right * 4, dtype=np.float32).reshape(right, 4)
    np.testing.assert_array_equal(graph.run(x=array)["y"], run_onnx(model, {"x": array})["y"])
    with pytest.raises(WebNNTypeError) as error:
        graph.computeShapes({"x": [wrong, 4]})
    assert f"the import has assumed that {condition}" in str(error.value)


def test_imports_with_numbers_have_the_same_graph_in_both_drafts() -> None:
    model, dims = make_decoder("older"), {"past_sequence_length": 5, "sequence_length": 3, "past_sequence_length + sequence_length": 8}
    plain, named = (_load(model, revision, dims=dims)[0].description for revision in ("2026-06", NAMED))
    assert plain == named


def test_int64_becomes_int32() -> None:
    model = make_decoder("older")
    imported, graph = _load(model, dims=_DIMS, int32=True)
    assert imported.inputs["input_ids"].dataType == "int32"
    feeds = feed("older", 5, 3)
    given = {name: array.astype(imported.inputs[name].dataType) for name, array in feeds.items()}
    _compare(graph, imported, run_onnx(model, feeds), given)
