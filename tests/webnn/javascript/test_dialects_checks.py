"""The checks of Chromium 153, which its dialect has and the draft has not: each was measured in that browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import CURRENT
from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.checkouts import make_checkout
from tests.wpt_runner.clock import PATIENT
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.settings import Settings

START = """
const flat = {dataType: 'float32', shape: [2]}, both = {...flat, readable: true, writable: true};
const context = await navigator.ml.createContext(), other = await navigator.ml.createContext();
const builder = new MLGraphBuilder(context), x = builder.input('x', flat), y = builder.relu(x);
const image = builder.input('image', {dataType: 'float32', shape: [1, 1, 2, 2]});
const long = builder.input('long', {dataType: 'int64', shape: [2]});
const destroyed = await context.createTensor(both), lost = await other.createTensor(both);
const one = await context.createTensor(both), two = await context.createTensor(both), three = await context.createTensor(both);
const made = new MLGraphBuilder(context), a = made.input('a', flat), b = made.input('b', flat), otherBuilder = new MLGraphBuilder(other);
const graph = await made.build({y: made.add(a, b)}), otherInput = otherBuilder.input('x', flat);
destroyed.destroy();
"""
#: A program, and what becomes of it with the dialect and in the draft: the name of an error, or the value.
CASES: list[tuple[str, object, object]] = [
    ("builder.elu(x, {alpha: 3.4028235e38}).dataType", "TypeError", "float32"),
    ("builder.linear(x, {beta: -1e39}).dataType", "TypeError", "float32"),
    ("builder.gemm(builder.reshape(x, [1, 2]), builder.reshape(x, [2, 1]), {alpha: 1e300}).dataType", "TypeError", "float32"),
    ("builder.instanceNormalization(image, {epsilon: 1e39}).dataType", "TypeError", "float32"),
    ("builder.elu(x, {alpha: 3.4028234663852886e38}).dataType", "float32", "float32"),
    ("builder.constant('int32', 3n).dataType", "TypeError", "int32"),
    ("builder.constant('float32', 3n).dataType", "TypeError", "float32"),
    ("builder.constant('uint64', 2n ** 64n).dataType", "uint64", "uint64"),
    ("builder.constant('uint64', Object(3n)).dataType", "TypeError", "uint64"),
    ("builder.constant('uint64', {valueOf: () => 3n}).dataType", "TypeError", "uint64"),
    ("builder.clamp(x, {minValue: 1n}).dataType", "TypeError", "float32"),
    ("builder.clamp(long, {minValue: 1n}).dataType", "int64", "int64"),
    ("builder.pad(x, [1], [1], {value: 1n}).dataType", "TypeError", "float32"),
    ("builder.constant('int4', 3).dataType", "TypeError", "TypeError"),
    ("builder.constant(new String('int8'), 1).dataType", "int8", "TypeError"),
    ("builder.constant(['int8'], '1').dataType", "int8", "TypeError"),
    ("builder.constant({toString() { throw new RangeError(); }}, 1)", "RangeError", "TypeError"),
    ("builder.constant(flat, new Float32Array(2)).dataType", "float32", "float32"),
    ("builder.constant('float32', new Float32Array(2)).dataType", "TypeError", "float32"),
    ("builder.resample2d(image, {sizes: [3, 3], scales: [0, 1]}).shape[3]", 3, "TypeError"),
    ("builder.resample2d(image, {sizes: [3, 3], scales: [1]}).shape[3]", 3, "TypeError"),
    ("builder.resample2d(image, {scales: [0, 1]}).shape[3]", "TypeError", "TypeError"),
    ("builder.input('x', flat).dataType", "float32", "TypeError"),
    ("await builder.build({y: builder.add(x, builder.input('x', flat))})", "TypeError", "TypeError"),
    ("await builder.build({'': y})", "InvalidStateError", "TypeError"),
    ("await builder.build({y, z: y})", "InvalidStateError", "built"),
    ("await builder.build({'': y}).catch(() => undefined), builder.relu(x).dataType", "InvalidStateError", "float32"),
    ("await builder.build({y}), builder.constant(destroyed)", "InvalidStateError", "TypeError"),
    ("builder.constant(one)", "TypeError", "TypeError"),
    ("context.dispatch(graph, {a: one, b: one}, {y: two})", "done", "TypeError"),
    ("context.dispatch(graph, {a: one, b: two}, {y: two})", "TypeError", "TypeError"),
    ("context.dispatch(graph, {a: one, b: destroyed}, {y: two})", "InvalidStateError", "TypeError"),
    ("context.dispatch(graph, {a: one, b: destroyed}, {y: lost})", "TypeError", "TypeError"),
    ("context.dispatch(graph, {a: one, b: destroyed}, {z: two})", "TypeError", "TypeError"),
    ("other.destroy(), other.dispatch(graph, {}, {})", "InvalidStateError", "TypeError"),
    ("await context.readTensor(destroyed, new Float32Array(1))", "InvalidStateError", "TypeError"),
    ("context.writeTensor(destroyed, new Float32Array(1))", "TypeError", "TypeError"),
]


@needs_quickjs
@pytest.mark.parametrize("dialect", ["chromium-153", None])
def test_checks(tmp_path: Path, dialect: str | None) -> None:
    """Only the dialect has them."""
    programs = ",\n".join(f"[{json.dumps(program)}, async () => {{ {START} return ({program}); }}]" for program, *_ in CASES)
    wanted = json.dumps([[case[0], case[1 if dialect else 2]] for case in CASES], separators=(",", ":"))
    body = f"""
    const found = [], name = value => value === undefined ? 'done' : typeof value === 'object' ? 'built' : value;
    for (const [program, run] of [{programs}]) found.push([program, await run().then(name, error => error.name)]);
    assert_equals(JSON.stringify(found), {json.dumps(wanted)});
    """
    checkout = Checkout(make_checkout(tmp_path, {"x.any.js": f"'use strict'; promise_test(async t => {{ {body} }}, 'a');"}))
    settings = Settings(revision=CURRENT, dialect=dialect, timeout_multiplier=PATIENT)
    result = run_test(checkout, checkout.tests()[0], settings)
    assert [(result.status, result.message), *((each.status, each.message) for each in result.subtests)] == [("OK", ""), ("PASS", "")]
