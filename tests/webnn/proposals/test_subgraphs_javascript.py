"""Subgraphs from JavaScript, in quickjs and in Node, and the sample programs of the proposal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shared import ROOT
from tests.webnn.commands.test_program import run
from tests.webnn.javascript.node_support import Outcome, require_node
from tests.webnn.javascript.node_support import run as run_in_node
from tests.webnn.javascript.test_realm import Page
from tests.webnn.proposals.subgraph_bodies import REVISION
from tests.wpt_runner.clock import Clock

PROGRAM = """
const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context), vector = {dataType: 'float32', shape: [2]};
const x = builder.input('x', vector);
class Config {
  constructor() {
    Object.assign(this, {scale: 0.08838, nan: NaN, large: 1e300, least: -Infinity, zero: -0, yes: true, text: 'a', missing: undefined});
    Object.assign(this, {none: null, $h: 3, $r: 4, object: {}});
    Object.defineProperty(this, '__proto__', {value: 5, enumerable: true});
  }
  get hidden() { return 1; }
}
const outputs = {y: builder.relu(x), $a: builder.neg(x), $i: builder.abs(x)};
const subgraph = builder.buildSubgraph(outputs, {name: 'Two', inputs: {x}, config: new Config()}), {config} = subgraph;
console.log(String(subgraph), subgraph.name, subgraph instanceof MLSubgraph, Object.keys(config).join());
console.log(config.scale === 0.08838, config.nan, config.large, config.least, Object.is(config.zero, -0));
console.log(config.yes, config.text, config.object);
console.log(config.$h, config.$r, Object.hasOwn(config, '__proto__'), Object.isFrozen(config), subgraph.config === config);
const result = builder.subgraph(subgraph, {x: builder.input('x', vector)});
console.log(Object.keys(result).join(), result.y.shape.join(), result.$a instanceof MLOperand, result.y !== outputs.y);

const attempts = [
  () => new MLSubgraph(),
  () => builder.buildSubgraph({y: x}, {inputs: {x}}),
  () => builder.buildSubgraph({y: result.y}, {}),
  () => builder.buildSubgraph({}, {inputs: {}}),
  () => builder.buildSubgraph({y: result.y}, {inputs: {x}}),
  () => builder.buildSubgraph({y: result.y}, {inputs: {x}, config: 7}),
  () => builder.buildSubgraph({y: result.y}, {inputs: {x}, config: {get scale() { throw new RangeError('mine'); }}}),
  () => builder.subgraph({}, {}),
  () => builder.subgraph(subgraph, {}),
  () => builder.subgraph(subgraph, {x: builder.constant('float32', 1)}),
  () => new MLGraphBuilder(context).subgraph(subgraph, {x}),
];
for (const attempt of attempts) { try { attempt(); console.log('nothing'); } catch (error) { console.log(error.name, error.message); } }

const graph = await builder.build({y: builder.add(result.y, result.$a)});
const given = await context.createTensor({...vector, writable: true}), read = await context.createTensor({...vector, readable: true});
context.writeTensor(given, new Float32Array([1, -2]));
context.dispatch(graph, {x: given}, {y: read});
console.log([...new Float32Array(await context.readTensor(read))].join());
try { builder.subgraph(subgraph, {x}); } catch (error) { console.log(error.name, error.message); }
"""
LINES = [
    "[object MLSubgraph] Two true scale,nan,large,least,zero,yes,text,$h,$r,object,__proto__",
    "true NaN 1e+300 -Infinity true",
    "true a [object Object]",
    "3 4 true true true",
    "y,$a,$i 2 true true",
    "TypeError MLSubgraph: Illegal constructor",
    "TypeError buildSubgraph: outputs['y'] must be the result of an operation, but it is the input 'x'",
    "TypeError buildSubgraph: options must have the member inputs (MLSubgraphOptions)",
    "TypeError buildSubgraph: outputs must not be empty",
    "TypeError buildSubgraph: options.inputs must have the operand that input('x') made, which the outputs need",
    "TypeError buildSubgraph: options.config must be an object, got 7",
    "RangeError mine",
    "TypeError subgraph: subgraph must be an MLSubgraph, got an object (of another type)",
    "TypeError subgraph: operands must have an operand for the input 'x', got []",
    "TypeError subgraph: operands['x'] must be float32 [2], got float32 []",
    "TypeError subgraph: subgraph must be a subgraph of this builder, but another one made it",
    "0,2",
    "InvalidStateError subgraph: the builder must not have built a graph yet: make a new one for each graph",
]


def test_quickjs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(Clock(monkeypatch), revision=REVISION)
    assert page.run_async(PROGRAM) == LINES


@pytest.mark.processes
def test_node(tmp_path: Path) -> None:
    assert run_in_node(tmp_path, PROGRAM, revision=REVISION) == Outcome(0, "\n".join([*LINES, ""]), "")


@pytest.mark.processes
def test_without_the_name(tmp_path: Path) -> None:
    program = """
    const builder = new MLGraphBuilder(await navigator.ml.createContext());
    console.log(typeof MLSubgraph, 'subgraph' in builder, 'buildSubgraph' in builder);
    """
    assert run_in_node(tmp_path, program, revision="2026-06").stdout == "undefined false false\n"


@pytest.mark.processes
@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_the_samples(numerics: str) -> None:
    require_node()
    result = run("--revision", REVISION, "--numerics", numerics, ROOT / "examples" / "js" / "subgraphs.mjs")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "tanh(tanh(x)): -0.6420 0.0000 0.4318",
        'GQA {"do_rotary":true,"scale":0.08838} output,present_key,present_value right: true',
        'GQA {"do_rotary":false} output,present_key,present_value right: true',
    ]
