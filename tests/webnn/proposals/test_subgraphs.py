"""Subgraphs: what is refused, and the config."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from tests.support import Failures, each_row
from tests.webnn.proposals.subgraph_bodies import (
    REVISION,
    compute,
    new_context,
)
from webnn import InvalidStateError, MLGraphBuilder, MLOperand, WebNNTypeError, WebNNWarning
from webnn.proposals.subgraphs import MLSubgraph

#: The proposal, by itself and with others.
REVISIONS = [REVISION, "2026-06+low-precision+zero-size+subgraphs", "2026-06+compute-policy+subgraphs+browsers"]
VECTOR: Any = {"dataType": "float32", "shape": [2]}


@pytest.fixture(params=REVISIONS)
def builder(request: pytest.FixtureRequest) -> Any:
    return MLGraphBuilder(new_context(revision=request.param))


def double(builder: Any, **options: Any) -> MLSubgraph:
    """Return a subgraph for x + x."""
    x = builder.input("x", VECTOR)
    subgraph: MLSubgraph = builder.buildSubgraph({"y": builder.add(x, x)}, {"inputs": {"x": x}, **options})
    return subgraph


# Steps


def _elsewhere(b: Any) -> Any:
    return MLGraphBuilder(new_context())


def _with_an_input(b: Any, make: Callable[[Any, MLOperand], tuple[Any, Any]]) -> Any:
    return b.buildSubgraph(*make(b, b.input("x", VECTOR)))


def _result(b: Any) -> tuple[MLOperand, MLOperand]:
    x = b.input("x", VECTOR)
    return x, b.relu(x)


BUILD: list[tuple[Callable[[Any], Any], str]] = [
    # the call, and the message
    (lambda b: b.buildSubgraph(7, inputs={}), "outputs must be a mapping from names to values, got 7"),
    (lambda b: b.buildSubgraph({"y": 7}, inputs={}), r"outputs\['y'\] must be an MLOperand, got 7"),
    (lambda b: b.buildSubgraph({}, inputs={}), "outputs must not be empty"),
    (lambda b: b.buildSubgraph({"y": _result(b)[1]}), "options.inputs must be given"),
    (lambda b: b.buildSubgraph({"y": _result(b)[1]}, 7), "options must be a dictionary, got 7"),
    (lambda b: b.buildSubgraph({"y": _result(b)[1]}, {"inputs": {}}, name="a"), "options must be given as a dictionary or as keyword"),
    (lambda b: _with_an_input(b, lambda b, x: ({"": b.relu(x)}, {"inputs": {"x": x}})), "outputs must not have an empty name"),
    (lambda b: _with_an_input(b, lambda b, x: ({"y": b.relu(x)}, {"inputs": {"": x}})), "options.inputs must not have an empty name"),
    (lambda b: _with_an_input(b, lambda b, x: ({"y": x}, {"inputs": {"x": x}})), r"outputs\['y'\] must be .*, but it is the input 'x'"),
    (lambda b: b.buildSubgraph({"y": b.constant("float32", 1)}, inputs={}), r"outputs\['y'\] must be .*, but it is a constant"),
    (lambda b: b.buildSubgraph({"y": _result(_elsewhere(b))[1]}, inputs={}), r"outputs\['y'\] must be an operand of this builder"),
    (
        lambda b: b.buildSubgraph({"y": _result(b)[1]}, inputs={"x": _elsewhere(b).input("x", VECTOR)}),
        r"options.inputs\['x'\] must be an operand of this builder, but another one made it",
    ),
    (
        lambda b: _with_an_input(b, lambda b, x: ({"y": b.relu(x)}, {"inputs": {"x": b.neg(x)}})),
        r"options.inputs\['x'\] must be made by input\(\), but it is a result of neg",
    ),
    (
        lambda b: _with_an_input(b, lambda b, x: ({"y": b.relu(x)}, {"inputs": {"x": x, "c": b.constant("float32", 1)}})),
        r"options.inputs\['c'\] must be made by input\(\), but it is a constant",
    ),
    (
        lambda b: _with_an_input(b, lambda b, x: ({"y": b.relu(x)}, {"inputs": {"x": x, "z": x}})),
        r"options.inputs\['z'\] must be another operand than options.inputs\['x'\]",
    ),
    (
        lambda b: _with_an_input(b, lambda b, x: ({"y": b.add(x, b.input("z", VECTOR))}, {"inputs": {"x": x}})),
        r"options.inputs must have the operand that input\('z'\) made, which the outputs need$",
    ),
    (lambda b: double(b, config=7), "options.config must be a mapping from names to values, got 7"),
    (lambda b: double(b, config={"a": [1]}), r"options.config\['a'\] must be a boolean, a number or a string, got \[1\]"),
    (lambda b: double(b, config={"a": {}}), r"options.config\['a'\] must be a boolean, a number or a string, got \{\}"),
    (lambda b: double(b, config={7.5: 1}), "options.config must have names that are strings, got 7.5"),
    (lambda b: double(b, name=[]), r"options.name must be a string, got \[\]"),
]


def test_what_no_subgraph_can_be_made_of(builder: Any) -> None:
    failures = Failures()
    for number, (call, message) in enumerate(BUILD):
        other = MLGraphBuilder(new_context(revision=builder._revision.name))
        with failures.of(f"row {number}"), pytest.raises(WebNNTypeError, match=f"^buildSubgraph: {message}"):
            call(other)
    failures.report()


CALL: list[tuple[Callable[[Any], Any], str]] = [
    (lambda b: b.subgraph(7, {}), "subgraph must be an MLSubgraph, got 7"),
    (lambda b: b.subgraph(double(b), 7), "operands must be a mapping from names to values, got 7"),
    (lambda b: b.subgraph(double(b), {"x": 7}), r"operands\['x'\] must be an MLOperand, got 7"),
    (lambda b: b.subgraph(double(_elsewhere(b)), {}), "subgraph must be a subgraph of this builder, but another one made it"),
    (lambda b: b.subgraph(double(b), {}), r"operands must have an operand for the input 'x', got \[\]"),
    (lambda b: b.subgraph(double(b), {"X": b.constant(VECTOR, np.ones(2, np.float32))}), r"operands must have .* 'x', got \['X'\]"),
    (
        lambda b: b.subgraph(double(b), {"x": b.input("z", VECTOR), "y": b.input("y", VECTOR)}),
        r"operands must have names of inputs, \['x'\], got 'y'",
    ),
    (lambda b: b.subgraph(double(b), {"x": _elsewhere(b).input("x", VECTOR)}), r"operands\['x'\] must be an operand of this builder"),
    (
        lambda b: b.subgraph(double(b), {"x": b.input("z", {"dataType": "float32", "shape": [1]})}),
        r"operands\['x'\] must be float32 \[2\], got float32 \[1\]",
    ),
    (
        lambda b: b.subgraph(double(b), {"x": b.input("z", {"dataType": "float16", "shape": [2]})}),
        r"operands\['x'\] must be float32 \[2\], got float16 \[2\]",
    ),
]


def test_calls_that_are_refused(builder: Any) -> None:
    failures = Failures()
    for number, (call, message) in enumerate(CALL):
        other = MLGraphBuilder(new_context(revision=builder._revision.name))
        with failures.of(f"row {number}"), pytest.raises(WebNNTypeError, match=f"^subgraph: {message}"):
            call(other)
    failures.report()


def test_after_build_and_after_the_context(builder: Any) -> None:
    subgraph = double(builder)
    x = builder.input("z", VECTOR)
    builder.buildSync(builder.subgraph(subgraph, {"x": x}))
    with pytest.raises(InvalidStateError, match=r"^subgraph: the builder must not have built a graph yet"):
        builder.subgraph(subgraph, {"x": x})
    with pytest.raises(InvalidStateError, match=r"^buildSubgraph: the builder must not have built a graph yet"):
        builder.buildSubgraph({"y": subgraph._outputs["y"]}, inputs={"x": x})
    context = new_context()
    other: Any = MLGraphBuilder(context)
    subgraph = double(other)
    context.destroy()
    with pytest.raises(InvalidStateError, match="subgraph: the context must not be lost"):
        other.subgraph(subgraph, {"x": x})


def test_inputs_may_share_a_name() -> None:
    """A formal input goes by its name among the inputs. The inputs of a graph still have different names."""
    b: Any = MLGraphBuilder(new_context())
    one, other = b.input("x", VECTOR), b.input("x", VECTOR)
    subgraph = b.buildSubgraph({"y": b.sub(one, other)}, inputs={"left": one, "right": other})
    x = b.input("x", VECTOR)
    result = b.subgraph(subgraph, {"right": x, "left": b.mul(x, b.constant("float32", 3))})
    with pytest.raises(WebNNTypeError, match="build: inputs must have different names, got two that are named 'x'"):
        b.buildSync({"y": b.add(one, other)})
    assert compute(b.buildSync(result), {"x": np.array([1, -2], np.float32)})["y"].tolist() == [2, -4]
    plain: Any = MLGraphBuilder(new_context(revision="2026-06"))
    plain.input("x", VECTOR)
    with pytest.raises(WebNNTypeError, match="name must be another one for each input of a builder"):
        plain.input("x", VECTOR)


def test_a_formal_input_stays_an_input() -> None:
    b: Any = MLGraphBuilder(new_context())
    x = b.input("x", VECTOR)
    subgraph = b.buildSubgraph({"y": b.neg(x)}, inputs={"x": x})
    graph = b.buildSync({"sum": b.add(x, b.subgraph(subgraph, {"x": b.relu(x)})["y"])})
    assert compute(graph, {"x": np.array([3, -5], np.float32)})["sum"].tolist() == [0, -5]


def test_inputs_that_nothing_needs() -> None:
    b: Any = MLGraphBuilder(new_context())
    x, unused = b.input("x", VECTOR), b.input("unused", VECTOR)
    subgraph = b.buildSubgraph({"y": b.relu(x)}, inputs={"x": x, "unused": unused})
    graph = b.buildSync(b.subgraph(subgraph, {"x": b.input("a", VECTOR), "unused": b.input("b", VECTOR)}))
    assert list(graph.description.inputs) == ["a"]
    [call] = graph.description.calls
    assert (call.inputs, call.outputs) == ({"x": "a"}, {"y": "y"})


# The config


class Getters(Mapping[str, Any]):
    """A mapping whose values differ from reading to reading."""

    def __init__(self) -> None:
        self.count = 0

    def __getitem__(self, name: str) -> Any:
        self.count += 1
        return self.count

    def __iter__(self) -> Iterator[str]:
        return iter(["a", "b"])

    def __len__(self) -> int:
        return 2


class Refuses(Mapping[str, Any]):
    """A mapping that raises."""

    def __getitem__(self, name: str) -> Any:
        raise RuntimeError("no")

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


CONFIGS: list[tuple[Any, dict[str, Any]]] = [
    # what is given, and what is kept
    ({"scale": 0.08838, "other": 0.08839}, {"scale": 0.08838, "other": 0.08839}),
    ({"do_rotary": True, "no": False, "text": "a\ud800", "number": 8}, {"do_rotary": True, "no": False, "text": "a\ufffd", "number": 8}),
    ({"gone": None}, {}),
    ({"numpy": np.float32(0.5), "int": np.int64(-3), "bool": np.bool_(True)}, {"numpy": 0.5, "int": -3, "bool": True}),
    ({"huge": 10**400, "least": -(10**400), "large": 2**53 + 1}, {"huge": math.inf, "least": -math.inf, "large": 2.0**53}),
    ({str(number): number for number in range(10_000)}, {str(number): number for number in range(10_000)}),
    (Getters(), {"a": 1, "b": 2}),
]


@each_row(("given", "kept"), CONFIGS)
def test_configs(given: Any, kept: dict[str, Any]) -> None:
    subgraph = double(MLGraphBuilder(new_context()), config=given, name="a")
    assert (subgraph.name, dict(subgraph.config)) == ("a", kept)
    assert [type(each) for each in subgraph.config.values()] == [type(each) for each in kept.values()]
    with pytest.raises(TypeError):
        subgraph.config["new"] = 1  # type: ignore[index]


def test_a_config_with_nan_and_one_that_raises() -> None:
    b: Any = MLGraphBuilder(new_context())
    assert math.isnan(double(b, config={"scale": math.nan}).config["scale"])  # type: ignore[arg-type]
    with pytest.raises(WebNNTypeError, match=r"^buildSubgraph: options.config must be a mapping .*, got .*, which raised RuntimeError"):
        double(b, config=Refuses())
    with pytest.warns(WebNNWarning, match="options.nam is ignored"):
        double(b, nam="a")


def test_the_program_may_change_its_dictionaries() -> None:
    b: Any = MLGraphBuilder(new_context())
    x = b.input("x", VECTOR)
    outputs, inputs, config = {"y": b.relu(x)}, {"x": x}, {"a": 1}
    subgraph = b.buildSubgraph(outputs, inputs=inputs, config=config)
    for each in (outputs, inputs, config):
        each.clear()
    result = b.subgraph(subgraph, {"x": b.input("z", VECTOR)})
    assert (list(result), dict(subgraph.config)) == (["y"], {"a": 1})


def test_the_object() -> None:
    subgraph = double(MLGraphBuilder(new_context()), name="double")
    assert repr(subgraph) == "<MLSubgraph 'double': (x) -> (y), 1 operators>"
    with pytest.raises(TypeError, match=r"^MLSubgraph: illegal constructor"):
        MLSubgraph()
    with pytest.raises(TypeError, match=r"^MLSubgraph cannot be pickled"):
        pickle.dumps(subgraph)
    with pytest.raises(AttributeError):
        subgraph.name = "b"  # type: ignore[misc]


@each_row("revision", ["2024-06", "2026-06", "2026-06+browsers", "2026-06+zero-size"])
def test_without_the_name(revision: str) -> None:
    b = MLGraphBuilder(new_context(revision=revision))
    assert not {"buildSubgraph", "subgraph"} & {*dir(b)}
    assert not hasattr(b, "subgraph")
