"""Faults in JavaScript programs: a page sees them as in a browser, and knows nothing of who injects them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import CURRENT
from tests.webnn.javascript.node_support import Outcome, run
from webnn import Faults, emulate

pytestmark = pytest.mark.processes

START = """
const show = async (what, promise) => console.log(what, await promise.then(() => 'ok', error => `${error.name}: ${error.message}`));
const build = context => {
  const builder = new MLGraphBuilder(context);
  const y = builder.neg(builder.input('x', {dataType: 'float32', shape: [2], dimensions: [2]}));
  return builder.build({y});
};
"""
FORMER = """
await show('npu', navigator.ml.createContext({deviceType: 'npu'}));
const context = await navigator.ml.createContext();
await show('build', build(context));
const graph = await build(context);
const compute = () => context.compute(graph, {x: new Float32Array([1, 2])}, {y: new Float32Array(2)});
for (let attempt = 0; attempt < 4; attempt++) await show('compute', compute());
await show('build', build(context));
"""
FORMER_OUTPUT = """\
npu NotSupportedError: createContext: an injected fault (refuse="npu"): there is to be no context for "npu"
build OperationError: build: an injected fault (failBuild=1)
compute ok
compute OperationError: compute: an injected fault (failCompute=2)
compute ok
compute InvalidStateError: compute: the context must not be lost, but it is: an injected fault (loseAfter=3)
build InvalidStateError: build: the context must not be lost, but it is: an injected fault (loseAfter=3)
"""
LATTER = """
const context = await navigator.ml.createContext(), pair = {dataType: 'float32', shape: [2], readable: true, writable: true};
context.lost.then(({message}) => console.log(`lost: ${message}`));
await show('build', build(context));
const graph = await build(context);
await show('tensor', context.createTensor({...pair, shape: [5]}));
const [x, y] = await Promise.all([context.createTensor(pair), context.createTensor(pair)]);
context.writeTensor(x, new Float32Array([1, 2]));
context.dispatch(graph, {x}, {y});
console.log([...new Float32Array(await context.readTensor(y))].join());
context.dispatch(graph, {x}, {y});
await show('read', context.readTensor(y));
await context.lost;
try { context.dispatch(graph, {x}, {y}); } catch (error) { console.log(error.name); }
"""
LATTER_OUTPUT = """\
build OperationError: build: an injected fault (failBuild=1)
tensor UnknownError: createTensor: an injected fault (memoryLimit=16): there is no memory for 20 bytes, float32 [5]
-1,-2
read InvalidStateError: readTensor: the context must not be lost, but it is: dispatch: an injected fault (failCompute=2)
lost: dispatch: an injected fault (failCompute=2)
InvalidStateError
"""


@pytest.mark.parametrize("delay", [0, 0.01])
@pytest.mark.parametrize(
    ("revision", "source", "output", "faults"),
    [
        ("2024-06", FORMER, FORMER_OUTPUT, {"refuse": "npu", "failBuild": 1, "failCompute": 2, "loseAfter": 3}),
        (CURRENT, LATTER, LATTER_OUTPUT, {"failBuild": 1, "memoryLimit": 16, "failCompute": 2}),
    ],
)
def test_a_page_under_faults(tmp_path: Path, revision: str, source: str, output: str, faults: dict[str, int | str], delay: float) -> None:
    with emulate(faults=Faults(**faults, delay=delay)):
        assert run(tmp_path, START + source, revision=revision) == Outcome(0, output, "")
