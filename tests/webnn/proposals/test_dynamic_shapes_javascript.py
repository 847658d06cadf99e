"""dynamic-shapes from JavaScript, in quickjs and in Node: the samples of the explainer, and calls that look alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shared import ROOT
from tests.webnn.javascript.node_support import Outcome, run
from tests.webnn.javascript.test_realm import Page
from tests.webnn.proposals.test_dynamic_shapes import REVISION
from tests.wpt_runner.clock import Clock

SAMPLES = (ROOT / "examples/js/dynamic_shapes.mjs").read_text(encoding="utf-8")
LINES = [
    "[ 1, 'sequence_length' ] [ 1, 'concat2_axis1' ]",
    "1 [ 1, 2 ] 0",
    "37 [ 1, 74 ] 0",
    "{ output: [ 1, 74 ] }",
    "1 [ 32, 2 ]",
    "32 [ 32, 2 ]",
    "33 [ 64, 2 ]",
    "[ 1, 'seqlen', 8, 64 ] [ 1, 37, 8, 64 ]",
    "[ 2, 10, 3 ]",
    "null [ 'n', 'm' ]",
    "TypeError: input: descriptor.shape must not have an empty name, got ['']",
    "TypeError: reshape: newShape must have 2 * n elements, as ['n', 2] has, got [7]",
    "TypeError: computeShapes: inputShapes['x'] must be float32 [1, 'n', 'm'], got float32 [1, 2]",
    "TypeError: [six] reshapeDynamic: newShape must have 4 elements, as [2, 2] has, got [2, 3]",
]
#: Results that depend on more than the types and shapes of operands, and how values become names.
PROGRAM = """
const context = await navigator.ml.createContext();
let builder = new MLGraphBuilder(context);
const print = (...values) => console.log(JSON.stringify(values));
const lists = [[4, 6], [6, 4], [24, 1]].map(each => builder.constant({dataType: 'int32', shape: [2]}, new Int32Array(each)));
const x = builder.input('x', {dataType: 'float32', shape: [2, 12]});
print(...lists.map(each => builder.reshapeDynamic(x, each).shape));
const n = builder.input('n', {dataType: 'float32', shape: ['n', 2]}), joined = [0, 1].map(() => builder.concat([n, n], 0));
print(joined[0].shape[0] !== joined[1].shape[0], Object.isFrozen(n.shape), n.shape === n.shape);
print(builder.input('y', {dataType: 'float32', shape: ['3', 3.9, {toString: () => 'm'}, null]}).shape);
const graph = await builder.build({y: builder.relu(n)});
const shapes = graph.computeShapes({n: new Map([[0, 5]]).size ? [5, 2] : []});
print(shapes, Object.getPrototypeOf(shapes) === Object.prototype);
for (const shape of [undefined, 5, [5n, 2], [NaN, 2], ['n', 2]])
  try { graph.computeShapes({n: shape}); console.log('taken'); } catch (error) { console.log(error.name); }
const tensor = shape => context.createTensor({dataType: 'float32', shape, readable: true, writable: true});
const [given, wanted, wrong] = await Promise.all([tensor([3, 2]), tensor([3, 2]), tensor([2, 2])]);
context.writeTensor(given, Float32Array.of(-1, 2, -3, 4, 5, -6));
context.dispatch(graph, {n: given}, {y: wanted});
print([...new Float32Array(await context.readTensor(wanted))]);
try { context.dispatch(graph, {n: given}, {y: wrong}); } catch (error) { console.log(error.name, error.message); }
graph.destroy();
try { graph.computeShapes({n: [5, 2]}); } catch (error) { console.log(error.name, error.message); }
"""
PRINTED = [
    "[[4,6],[6,4],[24,1]]",
    "[true,true,true]",
    '[["3",3,"m","null"]]',
    '[{"y":[5,2]},true]',
    *["TypeError"] * 5,
    "[[0,2,0,4,5,0]]",
    "TypeError dispatch: outputs['y'] must be float32 [3, 2], got float32 [2, 2]",
    "InvalidStateError computeShapes: the graph must not be destroyed",
]


def test_quickjs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Page(Clock(monkeypatch), revision=REVISION).run_async(PROGRAM) == PRINTED


@pytest.mark.processes
@pytest.mark.parametrize(("program", "lines"), [(PROGRAM, PRINTED), (SAMPLES, LINES)], ids=["calls", "samples"])
def test_node(tmp_path: Path, program: str, lines: list[str]) -> None:
    assert run(tmp_path, program, revision=REVISION) == Outcome(0, "\n".join([*lines, ""]), "")


@pytest.mark.processes
def test_without_the_name(tmp_path: Path) -> None:
    program = """
    const builder = new MLGraphBuilder(await navigator.ml.createContext());
    try { builder.input('x', {dataType: 'float32', shape: ['n']}); console.log('taken'); } catch (error) { console.log(error.name); }
    const {shape} = builder.input('y', {dataType: 'float32', shape: ['3']});
    console.log('squeeze' in builder, 'computeShapes' in MLGraph.prototype, shape[0]);
    """
    assert run(tmp_path, program, revision="2026-06") == Outcome(0, "TypeError\nfalse false 3\n", "")
