"""Dialects of the IDL, as browsers had them beside the draft, and what is done with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.support import CURRENT
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.checkouts import make_checkout
from tests.wpt_runner.clock import PATIENT
from webnn.context.profiles import load_profile
from webnn.javascript.dispatch import Dispatcher
from webnn.javascript.idl import load_idl
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.settings import Settings

DIALECTS = ("browsers-2024", "wpt-2024-06")
CURRENT_DIALECTS = ("browsers-2026", "wpt-2025-03")
ML, CONTEXT, BUILDER = 0, 1, 2


class Page:
    """A realm's requests, as JavaScript makes them."""

    def __init__(self, dialect: str | None) -> None:
        idl = load_idl("2024-06", dialect)
        self.dispatcher = Dispatcher(webnn.ML(revision="2024-06"), idl)
        assert self.ask("ML", "createContext", ML, [{}]) == CONTEXT
        assert self.ask("MLGraphBuilder", "constructor", None, [{"$h": CONTEXT}]) == BUILDER

    def answer(self, interface: str, member: str, handle: int | None, arguments: Sequence[Any], *buffers: np.ndarray[Any, Any]) -> Any:
        views = [
            {"kind": "Float32Array", "buffer": number, "offset": 0, "length": buffer.nbytes, "detached": False, "sent": True}
            for number, buffer in enumerate(buffers)
        ]
        request = json.dumps([interface, member, handle, arguments, views, []])
        text, self.answered = self.dispatcher.call(request, [buffer.tobytes() for buffer in buffers])
        assert self.dispatcher.faults == []
        return json.loads(text)

    def ask(self, *request: Any) -> Any:
        answer = self.answer(*request)
        assert "value" in answer, answer
        value = answer["value"]
        return value["$h"] if isinstance(value, dict) else value

    def build(self, member: str, *arguments: Any) -> Any:
        return self.ask("MLGraphBuilder", member, BUILDER, arguments)

    def input(self, name: str, *dimensions: int) -> dict[str, int]:
        return {"$h": self.build("input", name, {"dataType": "float32", "dimensions": dimensions})}

    def compute(self, output: int, inputs: dict[str, np.ndarray[Any, Any]], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        graph = self.build("build", {"$r": [["y", {"$h": output}]]})
        views = [[name, {"$v": index}] for index, name in enumerate(inputs)]
        arguments = [{"$h": graph}, {"$r": views}, {"$r": [["y", {"$v": len(inputs)}]]}]
        result = np.empty(shape, np.float32)
        self.ask("MLContext", "compute", CONTEXT, arguments, *inputs.values(), result)
        return np.frombuffer(self.answered[0], np.float32).reshape(shape)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_only_adds(dialect: str) -> None:
    plain, more = (json.loads(load_idl("2024-06", name).text) for name in (None, dialect))
    assert load_idl("2024-06", dialect).members == load_idl("2024-06").members
    assert [
        operation
        for operation in plain["interfaces"]["MLGraphBuilder"]["operations"]
        if operation not in more["interfaces"]["MLGraphBuilder"]["operations"]
    ] == []
    for name, dictionary in plain["dictionaries"].items():
        kept = {member["name"] for member in more["dictionaries"][name]["members"]}
        assert {member["name"] for member in dictionary["members"]} <= kept


def test_a_member_replaces_one_of_its_name() -> None:
    members = json.loads(load_idl("2024-06", "browsers-2024").text)["dictionaries"]["MLOperandDescriptor"]["members"]
    assert sorted(member["name"] for member in members) == ["dataType", "dimensions", "type"]
    assert not any(member.get("required") for member in members)


def test_an_unknown_dialect() -> None:
    with pytest.raises(ValueError, match="the dialect for the revision 2024-06 must be one of browsers-2024, wpt-2024-06, got 'early'"):
        load_idl("2024-06", "early")
    message = "must be one of browsers-2026, chromium-153, wpt-2025-03, got 'browsers-2024', one of the revision 2024-06"
    with pytest.raises(ValueError, match=message):
        load_idl("2026-06", "browsers-2024")


ACTIVATIONS: dict[str, tuple[list[Any], Any]] = {
    "relu": ([], lambda x: np.maximum(x, 0)),
    "sigmoid": ([], lambda x: 1 / (1 + np.exp(-x))),
    "leakyRelu": ([{"alpha": 0.25}], lambda x: np.where(x < 0, 0.25 * x, x)),
    "clamp": ([{"minValue": -1, "maxValue": 2}], lambda x: np.clip(x, -1, 2)),
    "softmax": ([], lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
}


@pytest.mark.parametrize("activation", [name for name in ACTIVATIONS if name != "softmax"])
@pytest.mark.parametrize("operation", ["conv2d", "convTranspose2d", "batchNormalization"])
def test_a_fused_activation(operation: str, activation: str) -> None:
    page = Page("browsers-2024")
    arguments, expected = ACTIVATIONS[activation]
    fused = page.build(activation, *arguments)
    inputs: dict[str, np.ndarray[Any, Any]] = {"x": np.linspace(-4, 4, 8, dtype=np.float32).reshape(1, 1, 2, 4)}
    if operation == "batchNormalization":
        inputs |= {"mean": np.zeros(1, np.float32), "variance": np.ones(1, np.float32)}
        options: dict[str, Any] = {"epsilon": 0}
    else:
        inputs |= {"filter": np.ones((1, 1, 1, 1), np.float32)}
        options = {}
    operands = [page.input(name, *value.shape) for name, value in inputs.items()]
    # The same activation may serve twice: the options are the program's, and a fresh copy each time.
    for _ in range(2):
        result = page.build(operation, *operands, options | {"activation": {"$h": fused}})
    np.testing.assert_allclose(page.compute(result, inputs, (1, 1, 2, 4)), expected(inputs["x"]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_softmax_without_an_axis(dialect: str) -> None:
    page = Page(dialect)
    values = np.array([[1, 2, 3], [0, 0, 5]], np.float32)
    result = page.build("softmax", page.input("x", 2, 3))
    np.testing.assert_allclose(page.compute(result, {"x": values}, (2, 3)), ACTIVATIONS["softmax"][1](values), rtol=1e-6)
    error = page.answer("MLGraphBuilder", "softmax", BUILDER, [page.input("z", 2, 3, 4)])["error"]
    assert error == ["TypeError", "softmax: input must be 2-D where no axis is given, got 3-D"]


def test_clamp_checks_its_options_at_once() -> None:
    name, message = Page("wpt-2024-06").answer("MLGraphBuilder", "clamp", BUILDER, [{"minValue": 3, "maxValue": 1}])["error"]
    assert name == "TypeError"
    assert "minValue" in message


def test_recurrent_operations_do_not_take_them() -> None:
    page = Page("wpt-2024-06")
    clamp = {"$h": page.build("clamp")}
    operands = [page.input(name, *shape) for name, shape in (("x", (1, 1, 2)), ("w", (1, 6, 2)), ("r", (1, 6, 2)))]
    error = page.answer("MLGraphBuilder", "gru", BUILDER, [*operands, 1, 2, {"activations": [clamp, clamp]}])["error"]
    assert error[0] == "TypeError"
    assert "activations" in error[1]


def test_without_a_dialect_nothing_changes() -> None:
    page = Page(None)
    softmax = page.build("softmax", page.input("x", 2, 3), 0)
    assert page.ask("MLOperand", "shape", softmax, []) == [2, 3]


# A dialect as programs see it: bodies of tests in JavaScript. `context` and `builder` are there.

IMAGE = "{dataType: 'float32', shape: [1, 2, 4, 4]}"
POOL = "windowDimensions: [3, 3], strides: [2, 2]"
SEEN: list[tuple[str, str]] = [
    (
        "browsers-2024",
        """
        assert_equals(builder.input('a', {type: 'float32', dimensions: [2]}).dataType(), 'float32');
        assert_equals(builder.input('b', {type: 'int8', dataType: 'float32', dimensions: [2]}).dataType(), 'float32');
        assert_throws_js(TypeError, () => builder.input('c', {dimensions: [2]}));
        assert_throws_js(TypeError, () => builder.input('c', {dataType: 'float32', type: 'strange'}));
        """,
    ),
    *[
        (
            dialect,
            f"""
            for (const deviceType of ['cpu', 'gpu', 'npu', undefined]) await navigator.ml.createContext({{deviceType}});
            for (const deviceType of ['xpu', '', null]) await promise_rejects_js(t, TypeError, navigator.ml.createContext({{deviceType}}));
            const x = builder.input('x', {IMAGE}), pool = options => builder.maxPool2d(x, {{{POOL}, ...options}}).shape[2];
            assert_equals(pool({{}}), 1);
            assert_equals(pool({{roundingType: 'ceil'}}), 2);
            assert_equals(pool({{outputShapeRounding: 'ceil'}}), 2);
            assert_equals(pool({{roundingType: 'ceil', outputShapeRounding: 'floor'}}), 1, 'the name of the draft counts');
            assert_equals(pool({{roundingType: 'floor', outputShapeRounding: 'ceil'}}), 2);
            assert_equals(builder.input('small', {{dataType: 'int4', shape: [3]}}).dataType, 'int4');
            assert_throws_js(TypeError, () => builder.input('tiny', {{dataType: 'int2', shape: [3]}}));
            """,
        )
        for dialect in CURRENT_DIALECTS
    ],
    (
        "browsers-2026",
        """
        assert_array_equals(builder.input('a', {dataType: 'float32', dimensions: [2]}).shape, [2]);
        assert_array_equals(builder.input('b', {dataType: 'float32', dimensions: [2], shape: [3]}).shape, [3]);
        assert_throws_js(TypeError, () => builder.input('c', {dataType: 'float32'}));
        assert_throws_js(TypeError, () => builder.input('c', {dataType: 'float32', dimensions: 5, shape: [3]}));
        const flags = async descriptor => {
          const {readable, writable} = await context.createTensor({dataType: 'float32', shape: [2], ...descriptor});
          return [readable, writable];
        };
        const {READ, WRITE, WEBGPU_INTEROP} = MLTensorUsage;
        assert_array_equals([READ, WRITE, WEBGPU_INTEROP], [2, 4, 1]);
        assert_array_equals(await flags({}), [false, false]);
        assert_array_equals(await flags({usage: READ}), [true, false]);
        assert_array_equals(await flags({usage: READ | WRITE}), [true, true]);
        assert_array_equals(await flags({usage: WEBGPU_INTEROP}), [false, false]);
        assert_array_equals(await flags({usage: READ, readable: false, writable: true}), [false, true]);
        assert_equals(Object.prototype.toString.call(MLTensorUsage), '[object MLTensorUsage]');
        assert_throws_js(TypeError, () => { MLTensorUsage.READ = 1; });
        assert_equals(typeof GPUDevice, 'function');
        const constant = await context.createConstantTensor({dataType: 'float32', shape: [1]}, new ArrayBuffer(4));
        assert_array_equals(builder.constant(constant).shape, [1]);
        """,
    ),
    (
        "wpt-2025-03",
        """
        assert_equals(MLGraphBuilder.prototype.constant.length, 2, 'there is no constant(tensor)');
        const tensor = await context.createConstantTensor({dataType: 'float32', shape: [1]}, new ArrayBuffer(4));
        assert_throws_js(TypeError, () => builder.constant(tensor));
        assert_not_own_property(self, 'MLTensorUsage');
        assert_throws_js(TypeError, () => builder.input('a', {dataType: 'float32', dimensions: [2]}));
        """,
    ),
]


@needs_quickjs
@pytest.mark.parametrize(("dialect", "body"), SEEN, ids=[f"{dialect}-{index}" for index, (dialect, _) in enumerate(SEEN)])
def test_what_programs_see(tmp_path: Path, dialect: str, body: str) -> None:
    start = "const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);"
    checkout = Checkout(make_checkout(tmp_path, {"x.any.js": f"'use strict'; promise_test(async t => {{ {start} {body} }}, 'a');"}))
    revision = "2024-06" if "2024" in dialect else CURRENT
    result = run_test(checkout, checkout.tests()[0], Settings(revision=revision, dialect=dialect, timeout_multiplier=PATIENT))
    assert [(result.status, result.message), *((each.status, each.message) for each in result.subtests)] == [("OK", ""), ("PASS", "")]


@pytest.mark.parametrize("dialect", CURRENT_DIALECTS)
def test_what_a_current_dialect_changes(dialect: str) -> None:
    plain, more = (json.loads(load_idl(CURRENT, name).text) for name in (None, dialect))
    for name, values in plain["enumerations"].items():
        assert more["enumerations"][name][: len(values)] == values
    for name, dictionary in plain["dictionaries"].items():
        kept = {member["name"] for member in more["dictionaries"][name]["members"]}
        assert {member["name"] for member in dictionary["members"]} <= kept
    gone = [
        operation
        for operation in plain["interfaces"]["MLGraphBuilder"]["operations"]
        if operation not in more["interfaces"]["MLGraphBuilder"]["operations"]
    ]
    assert [operation["arguments"] for operation in gone] == (
        [] if dialect == "browsers-2026" else [[{"name": "tensor", "type": "MLTensor"}]]
    )
    expected = dict(load_idl(CURRENT).members)
    if dialect == "browsers-2026":
        expected["MLGraph"] = expected["MLGraph"]._replace(attributes=frozenset({"devices"}))
    assert load_idl(CURRENT, dialect).members == expected


def test_members_of_other_names_are_of_the_same_type() -> None:
    for dialect in CURRENT_DIALECTS:
        for dictionary in json.loads(load_idl(CURRENT, dialect).text)["dictionaries"].values():
            members = {member["name"]: member for member in dictionary["members"]}
            for member in members.values():
                if "as" in member:
                    assert member["type"] == members[member["as"]]["type"]


def test_a_strict_dialect_has_what_the_browser_has() -> None:
    """The members are those that were recorded in the browser, except for those that need a GPUDevice."""
    idl = json.loads(load_idl(CURRENT, "chromium-153").text)
    recorded = load_profile("tflite-chromium153").members
    for name, members in recorded["dictionaries"].items():
        own: list[str] = []
        level: str | None = name
        while level is not None:
            own += [each["name"] for each in idl["dictionaries"][level]["members"]]
            level = idl["dictionaries"][level].get("inherits")
        assert sorted(own) == members, name
    missing = {"MLContext": ["createExportableTensor", "exportToGPU"], "MLTensor": ["gpuDevice"]}
    for name, members in recorded["interfaces"].items():
        here = {each["name"] for kind in ("attributes", "operations") for each in idl["interfaces"][name].get(kind, ())}
        assert sorted(here) == [each for each in members if each not in missing.get(name, ())], name
    assert "namespaces" not in idl or idl["namespaces"] == {}
    assert set(idl["interfaces"]) == set(recorded["interfaces"])


_FINITE = "-3.4028234663852886e38"


@needs_quickjs
@pytest.mark.parametrize(
    ("dialect", "low"), [("chromium-153", "-Infinity"), ("browsers-2026", "-Infinity"), ("wpt-2025-03", "-Infinity"), (None, _FINITE)]
)
def test_numbers_beyond_single_precision(tmp_path: Path, dialect: str | None, low: str) -> None:
    """float32's shortest digits of its lowest number are beyond its range: browsers make an infinity of them, the draft the number."""
    body = f"""
    const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
    const x = builder.constant({{dataType: 'float32', shape: [1]}}, new Float32Array([-Infinity]));
    const low = builder.clamp(x, {{minValue: -3.4028235e38}}), padded = builder.pad(x, [1], [0], {{value: -3.4028235e38}});
    const scalar = builder.expand(builder.constant("float32", -3.4028235e38), [1]);
    const graph = await builder.build({{y: builder.concat([low, padded, scalar], 0)}});
    const tensor = await context.createTensor({{dataType: 'float32', shape: [4], readable: true}});
    context.dispatch(graph, {{}}, {{y: tensor}});
    assert_array_equals(new Float32Array(await context.readTensor(tensor)), [{low}, {low}, -Infinity, {low}]);
    """
    checkout = Checkout(make_checkout(tmp_path, {"x.any.js": f"'use strict'; promise_test(async t => {{ {body} }}, 'a');"}))
    settings = Settings(revision=CURRENT, dialect=dialect, timeout_multiplier=PATIENT)
    result = run_test(checkout, checkout.tests()[0], settings)
    assert [(result.status, result.message), *((each.status, each.message) for each in result.subtests)] == [("OK", ""), ("PASS", "")]


@needs_quickjs
def test_what_programs_see_of_a_strict_dialect(tmp_path: Path) -> None:
    body = """
    const context = await navigator.ml.createContext({deviceType: 'cpu'}), builder = new MLGraphBuilder(context);
    const x = builder.input('x', {dataType: 'float32', shape: [1, 1, 3, 3]});
    assert_throws_js(TypeError, () => builder.input('a', {dataType: 'float32', dimensions: [2]}));
    assert_array_equals(builder.maxPool2d(x, {windowDimensions: [2, 2], strides: [2, 2], roundingType: 'ceil'}).shape, [1, 1, 1, 1]);
    const {readable, writable} = await context.createTensor({dataType: 'float32', shape: [2], usage: 6});
    assert_array_equals([readable, writable], [false, false]);
    assert_throws_js(TypeError, () => builder.cumulativeSum(x, 2 ** 32));
    assert_throws_js(TypeError, () => builder.tile(x, [2 ** 32 + 1, 1, 1, 1]));
    assert_array_equals(builder.tile(x, [2, 1, 1, 1]).shape, [2, 1, 3, 3]);
    assert_not_own_property(self, 'MLTensorUsage');
    assert_false('accelerated' in context);
    assert_equals(builder.input('small', {dataType: 'int4', shape: [3]}).dataType, 'int4');
    """
    checkout = Checkout(make_checkout(tmp_path, {"x.any.js": f"'use strict'; promise_test(async t => {{ {body} }}, 'a');"}))
    settings = Settings(revision=CURRENT, dialect="chromium-153", timeout_multiplier=PATIENT)
    result = run_test(checkout, checkout.tests()[0], settings)
    assert [(result.status, result.message), *((each.status, each.message) for each in result.subtests)] == [("OK", ""), ("PASS", "")]
