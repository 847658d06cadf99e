"""bfloat16 and float8e4m3 from JavaScript, in quickjs and in Node: bits go in as typed arrays, and come out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.webnn.javascript.node_support import Outcome, run
from tests.webnn.javascript.test_realm import Page
from tests.webnn.proposals.test_low_precision_values import REVISION
from tests.wpt_runner.clock import Clock

PROGRAM = """
const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
const print = bytes => console.log([...bytes].map(each => each.toString(16)).join());
const half = {dataType: 'bfloat16', shape: [3]}, byte = {dataType: 'float8e4m3', shape: [3]};
const {input, constant} = context.opSupportLimits();
console.log(input.dataTypes.slice(-2).join(), constant.dataTypes.length);

// 1, -2, 300 as bfloat16; 0.5, 1.5, NaN as float8e4m3.
const weight = builder.constant(half, new Uint16Array([0x3f80, 0xc000, 0x4396]));
const packed = builder.constant(byte, new Uint8Array([0x30, 0x3c, 0x7f]));
const same = builder.constant({dataType: 'float16', shape: [1]}, new Uint16Array([0x3c00]));
const one = builder.constant(byte.dataType, 1), x = builder.input('x', half);
const outputs = {
  sum: builder.add(x, weight),
  f8: builder.cast(builder.mul(weight, builder.constant('bfloat16', 2)), 'float8e4m3'),
  f32: builder.dequantizeLinear(packed, builder.reshape(builder.constant('float32', 2), [1]), builder.reshape(one, [1])),
  f16: builder.add(same, same),
};
const graph = await builder.build(outputs);
const make = (operand, usage) => context.createTensor({dataType: operand.dataType, shape: operand.shape, ...usage});
const given = await make(x, {writable: true}), tensors = {};
for (const name in outputs) tensors[name] = await make(outputs[name], {readable: true});
context.writeTensor(given, new Uint16Array([0x3c00, 0x3f80, 0x7fc0]));
context.dispatch(graph, {x: given}, tensors);
print(new Uint16Array(await context.readTensor(tensors.sum)));
print(new Uint8Array(await context.readTensor(tensors.f8)));
console.log([...new Float32Array(await context.readTensor(tensors.f32))].join());
print(new Uint16Array(await context.readTensor(tensors.f16)));

const again = new MLGraphBuilder(context), views = [new Int16Array(3), new Float32Array(3), new Uint16Array(2)];
for (const view of [...views, ...globalThis.Float16Array ? [new Float16Array(3)] : []]) {
  try { again.constant(half, view); console.log('taken'); } catch (error) { console.log(error.name, error.message); }
}
try { again.sin(again.input('y', byte)); } catch (error) { console.log(error.name, error.message); }
"""
LINES = [
    "bfloat16,float8e4m3 10",
    # 1.0078125 is a tie of neither; the sum with NaN is NaN.
    "3f81,bf80,7fc0",
    # 2, -4, and 600, which saturates.
    "40,c8,7e",
    "-1,1,NaN",
    "4000",
    "TypeError constant: bufferView must have elements of bfloat16, got int16",
    "TypeError constant: bufferView must have elements of bfloat16, got float32",
    "TypeError constant: bufferView must have 6 bytes for bfloat16 [3], got 4 (a NumPy array of bfloat16 [2])",
]
HALF = "TypeError constant: bufferView must have elements of bfloat16, got float16"
LAST = "TypeError sin: input must have a data type of ['float32', 'float16', 'bfloat16'], got float8e4m3"


def test_quickjs(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = Page(Clock(monkeypatch), revision=REVISION).run_async(PROGRAM)
    assert [line for line in printed if line != HALF] == [*LINES, LAST]


@pytest.mark.processes
def test_node(tmp_path: Path) -> None:
    outcome = run(tmp_path, PROGRAM, revision=REVISION)
    lines = [line for line in outcome.stdout.splitlines() if line != HALF]
    assert Outcome(outcome.code, "\n".join(lines), outcome.stderr) == Outcome(0, "\n".join([*LINES, LAST]), "")


@pytest.mark.processes
def test_without_the_name(tmp_path: Path) -> None:
    program = """
    const builder = new MLGraphBuilder(await navigator.ml.createContext());
    for (const make of [() => builder.constant('bfloat16', 1), () => builder.input('x', {dataType: 'float8e4m3', shape: [1]})])
      try { make(); console.log('taken'); } catch (error) { console.log(error.name); }
    builder.constant({dataType: 'float16', shape: [1]}, new Uint16Array(1));
    """
    assert run(tmp_path, program, revision="2026-06") == Outcome(0, "TypeError\nTypeError\n", "")
