"""Calls that do not wait for Python's answer, in Node: they do what they did when they waited, and calls that are not certain wait."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

import webnn
from tests.support import CURRENT
from tests.webnn.javascript.node_support import Outcome, run
from webnn.javascript.dispatch import Dispatcher

pytestmark = pytest.mark.processes

START = """
const context = await navigator.ml.createContext(), pair = {dataType: 'float32', shape: [2]}, more = {dataType: 'float32', shape: [3]};
const builder = new MLGraphBuilder(context), a = builder.input('a', pair), b = builder.input('b', pair), c = builder.input('c', more);
function attempt(action) {
  try { console.log(JSON.stringify(action()) ?? 'done'); } catch (error) { console.log(`${error.name}: ${error.message}`); }
}
const tensor = () => context.createTensor({...pair, readable: true, writable: true});
const show = bytes => console.log([...new Float32Array(bytes)].join());
"""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the requests without an answer by their members."""
    counts: Counter[str] = Counter()
    tell = Dispatcher.tell

    def count(self: Dispatcher, text: str, buffers: object) -> None:
        counts[json.loads(text)[1]] += 1
        tell(self, text, buffers)  # type: ignore[arg-type]

    monkeypatch.setattr(Dispatcher, "tell", count)
    return counts


#: A program, its output, and the calls that do not wait.
PROGRAMS: Mapping[str, tuple[str, str, Mapping[str, int]]] = {
    "operations": (
        "const graph = new MLGraphBuilder(context), x = graph.input('x', pair); let y = x;"
        "for (let index = 0; index < 5; index++) y = graph.add(y, y, {label: `number ${index}`});"
        "console.log(y.shape.join(), y.dataType, Object.isFrozen(y.shape), y.shape === y.shape);"
        "const built = await graph.build({y}), [input, output] = await Promise.all([tensor(), tensor()]);"
        "context.writeTensor(input, new Float32Array([1, 2])); context.dispatch(built, {x: input}, {y: output});"
        "show(await context.readTensor(output));",
        "2 float32 true true\n32,64\n",
        {"constructor": 1, "add": 4},
    ),
    "operations with several results": (
        "const [p, q] = builder.split(a, 2), [r, s] = builder.split(b, 2); console.log(r.shape.join(), s.shape.join());"
        "const graph = await builder.build({sum: builder.add(r, s)}), [input, output] ="
        "  [await tensor(), await context.createTensor({...pair, shape: [1], readable: true})];"
        "context.writeTensor(input, new Float32Array([1, 2])); context.dispatch(graph, {b: input}, {sum: output});"
        "show(await context.readTensor(output));",
        "1 1\n3\n",
        {"split": 1},
    ),
    "constants": (
        "const one = builder.constant(pair, new Float32Array([1, 2])), two = builder.constant(pair, new Float32Array([3, 4]));"
        "attempt(() => builder.constant(pair, new Float32Array(3)).shape);"
        "attempt(() => builder.constant(pair, new Int32Array(2)).shape);"
        "const graph = await builder.build({y: builder.sub(two, one)}), output = await tensor();"
        "context.dispatch(graph, {}, {y: output}); show(await context.readTensor(output));",
        "TypeError: constant: bufferView must have 8 bytes for float32 [2], got 12 (a NumPy array of float32 [3])\n"
        "TypeError: constant: bufferView must have elements of float32, got int32\n2,2\n",
        {"constant": 1},
    ),
    "large constants": (
        "const many = {dataType: 'float32', shape: [100000]}, values = new Float32Array(100000).fill(2);"
        "const [one, two] = [1, 2].map(() => builder.constant(many, values)); values.fill(0);"
        "const graph = await builder.build({y: builder.mul(two, one)});"
        "const output = await context.createTensor({...many, readable: true}); context.dispatch(graph, {}, {y: output});"
        "console.log(new Set(new Float32Array(await context.readTensor(output))));",
        "Set(1) { 4 }\n",
        {"constant": 1},
    ),
    "errors": (
        "builder.add(a, b, {label: 'first'}); builder.add(a, b, {label: 'second'}); attempt(() => builder.add(a, c, {label: 'third'}));"
        "attempt(() => builder.add(a, c, {label: 'fourth'})); builder.concat([a, b], 0);"
        "attempt(() => builder.concat([a, b], 1)); attempt(() => builder.concat([a, c], 0).shape);"
        "builder.transpose(a, {permutation: [0]}); attempt(() => builder.transpose(a, {permutation: [1]}));",
        "TypeError: [third] add: b must broadcast with the shape of a, [2], got [3]\n"
        "TypeError: [fourth] add: b must broadcast with the shape of a, [2], got [3]\n"
        "TypeError: concat: axis must be less than the rank of inputs[0], 1, got 1\n[5]\n"
        "TypeError: transpose: options.permutation must be less than the rank of input, 1, in each element, got [1]\n",
        {"add": 1},
    ),
    "operands of another builder": (
        "builder.add(a, b); const other = new MLGraphBuilder(context), x = other.input('x', pair); attempt(() => builder.add(a, x));"
        "attempt(() => other.add(a, x)); attempt(() => other.add(x, x).shape);",
        "TypeError: add: b must be an operand of this builder, but another one made it\n"
        "TypeError: add: a must be an operand of this builder, but another one made it\n[2]\n",
        {"constructor": 1, "add": 1},
    ),
    "a builder that has built": (
        "const y = builder.add(a, b); builder.add(a, y); await builder.build({y}); attempt(() => builder.add(a, b));",
        "InvalidStateError: add: the builder must not have built a graph yet: make a new one for each graph\n",
        {"add": 1},
    ),
    "a builder of a lost context": (
        "builder.add(a, b); context.destroy(); attempt(() => builder.add(a, b));",
        "InvalidStateError: add: the context must not be lost, but it is: destroy() was called\n",
        {},
    ),
    "the names of inputs": (
        "attempt(() => builder.input('a', pair)); attempt(() => builder.input('d', pair).shape);",
        "TypeError: input: name must be another one for each input of a builder, got 'a'\n[2]\n",
        {},
    ),
    "written views": (
        "const x = await tensor(), data = new Float32Array([1, 2]); context.writeTensor(x, data); context.writeTensor(x, data);"
        "data.fill(9);"
        "show(await context.readTensor(x)); attempt(() => context.writeTensor(x, new Float32Array(3)));"
        "structuredClone(data, {transfer: [data.buffer]}); attempt(() => context.writeTensor(x, data));",
        "1,2\nTypeError: writeTensor: inputData must have 8 bytes for float32 [2], got 12 (a NumPy array of float32 [3])\n"
        "TypeError: writeTensor: inputData must have elements that are numbers, got a detached Float32Array\n",
        {"writeTensor": 1},
    ),
    "destroyed objects": (
        "const [x, y] = [await tensor(), await tensor()], graph = await builder.build({y: builder.neg(a)}), data = new Float32Array(2);"
        "for (let call = 0; call < 3; call++) { context.writeTensor(x, data); context.dispatch(graph, {a: x}, {y}); } y.destroy();"
        "attempt(() => context.dispatch(graph, {a: x}, {y})); context.writeTensor(x, data); context.writeTensor(x, data); x.destroy();"
        "attempt(() => context.writeTensor(x, data));",
        "TypeError: dispatch: outputs['y'] must not be destroyed\nInvalidStateError: writeTensor: tensor must not be destroyed\n",
        {"writeTensor": 3, "dispatch": 2},
    ),
    "other tensors": (
        "const [x, y, z] = [await tensor(), await tensor(), await context.createTensor(pair)];"
        "const graph = await builder.build({y: builder.neg(a)}); for (let call = 0; call < 2; call++) context.dispatch(graph, {a: x}, {y});"
        "attempt(() => context.dispatch(graph, {a: x}, {y: x}));"
        "context.writeTensor(x, new Float32Array(2)); attempt(() => context.writeTensor(z, new Float32Array(2)));",
        "TypeError: dispatch: outputs['y'] must be a tensor of its own, but it is that of inputs['a'], too\n"
        "TypeError: writeTensor: tensor must be made with writable: true\n",
        {"dispatch": 1},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(tmp_path: Path, told: Counter[str], name: str) -> None:
    source, stdout, calls = PROGRAMS[name]
    assert run(tmp_path, START + source, revision=CURRENT) == Outcome(0, stdout, "")
    assert told == calls


DISPATCHES = """
const [x, y] = [await tensor(), await tensor()], graph = await builder.build({y: builder.neg(a)}), other = new MLGraphBuilder(context);
const d = other.input('d', pair); other.neg(d); other.neg(d);
context.dispatch(graph, {a: x}, {y}); context.dispatch(graph, {a: x}, {y});
"""
LOST = "dispatch: an injected fault (failCompute=2)"


@pytest.mark.parametrize(
    ("source", "stdout"),
    [
        ("console.log((await context.lost).message);", f"{LOST}\n"),
        ("attempt(() => other.neg(d));", f"InvalidStateError: neg: the context must not be lost, but it is: {LOST}\n"),
        (
            "attempt(() => context.writeTensor(x, new Float32Array(2)));",
            f"InvalidStateError: writeTensor: the context must not be lost, but it is: {LOST}\n",
        ),
        (
            "attempt(() => context.writeTensor(x, new Float32Array(2))); attempt(() => other.neg(d));",
            "".join(f"InvalidStateError: {name}: the context must not be lost, but it is: {LOST}\n" for name in ("writeTensor", "neg")),
        ),
        ("await context.readTensor(y).catch(error => console.log(error.name));", "InvalidStateError\n"),
        ("context.dispatch(graph, {a: x}, {y}); console.log((await context.lost).message);", f"{LOST}\n"),
    ],
    ids=["nothing else", "an operation", "a write", "an operation after that", "a read", "another dispatch"],
)
def test_a_dispatch_that_loses_the_context(tmp_path: Path, told: Counter[str], source: str, stdout: str) -> None:
    """The second dispatch, which does not wait, loses it. The program is told with its next answer, or without one."""
    with webnn.emulate(faults=webnn.Faults(failCompute=2)):
        assert run(tmp_path, START + DISPATCHES + source, revision=CURRENT) == Outcome(0, stdout, "")
    assert told["dispatch"] == 1 + source.count("dispatch")


def test_the_draft_without_tensors(tmp_path: Path, told: Counter[str]) -> None:
    source = """
    const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
    const pair = {dataType: 'float32', dimensions: [2]}, x = builder.input('x', pair), y = builder.add(builder.add(x, x), x);
    console.log(y.shape().join(), y.dataType(), y.shape() === y.shape());
    const graph = await builder.build({y}), twice = await builder.build({z: builder.add(y, y)});
    for (const value of [1, 2]) {
      const {outputs} = await context.compute(graph, {x: new Float32Array([value, 0])}, {y: new Float32Array(2)});
      console.log([...outputs.y].join());
    }
    """
    assert run(tmp_path, source, revision="2024-06") == Outcome(0, "2 float32 false\n3,0\n6,0\n", "")
    # A builder that builds is asked from then on.
    assert told == {"add": 1}
