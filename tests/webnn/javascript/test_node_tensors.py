"""Programs since 2026-06 in Node: what quickjs-ng cannot show, and what is the same there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import CURRENT
from tests.webnn.javascript.node_support import Outcome, run

pytestmark = pytest.mark.processes

START = """
const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context), pair = {dataType: 'float32', shape: [2]};
const [x, y] = await Promise.all([1, 2].map(() => context.createTensor({...pair, readable: true, writable: true})));
const graph = await builder.build({y: builder.neg(builder.input('x', pair))});
const show = bytes => console.log([...new Float32Array(bytes.buffer ?? bytes)].join());
const name = async promise => console.log(await promise.then(() => 'fulfilled', error => `${error.name}`));
"""
#: A program and its output.
PROGRAMS: Mapping[str, tuple[str, str]] = {
    "tensors": (
        "context.writeTensor(x, new Float32Array([1, 2])); context.dispatch(graph, {x}, {y}); show(await context.readTensor(y));"
        "const out = new Float32Array(3); console.log(await context.readTensor(y, out)); show(out);",
        "-1,-2\nundefined\n-1,-2,0\n",
    ),
    "shared memory": (
        "const shared = new Float32Array(new SharedArrayBuffer(16), 4, 2); shared.set([3, 4]);"
        "context.writeTensor(x, shared); context.dispatch(graph, {x}, {y}); await context.readTensor(y, shared); show(shared);"
        "context.writeTensor(x, shared.buffer.slice(4, 12)); show(await context.readTensor(x));",
        "0,-3,-4,0\n-3,-4\n",
    ),
    "buffers that grow": (
        "for (const make of [() => new SharedArrayBuffer(8, {maxByteLength: 16}), () => new ArrayBuffer(8, {maxByteLength: 16}),"
        "                   () => new Float32Array(new SharedArrayBuffer(8, {maxByteLength: 16}), 0, 2)]) {"
        "  await name(context.readTensor(x, make()));"
        "  try { context.writeTensor(x, make()); } catch (error) { console.log(error.message); } }",
        "TypeError\nwriteTensor: inputData must not be a resizable buffer\n" * 2
        + "TypeError\nwriteTensor: inputData must not be a view of a resizable buffer\n",
    ),
    "a pending read": (
        "const first = context.readTensor(x), second = context.readTensor(y); x.destroy(); await name(first); await name(second);",
        "InvalidStateError\nfulfilled\n",
    ),
    "a lost context": (
        "const {lost} = context, pending = context.readTensor(x); context.destroy(); await name(pending);"
        "console.log(typeof (await lost).message, lost === context.lost); await name(context.createTensor(pair));",
        "InvalidStateError\nstring true\nInvalidStateError\n",
    ),
    "BigInt": (
        "const big = new MLGraphBuilder(context), value = big.constant('int64', {valueOf: () => 2n ** 62n + 1n});"
        "const z = await context.createTensor({dataType: 'int64', shape: [], readable: true});"
        "context.dispatch(await big.build({z: big.identity(value)}), {}, {z});"
        "console.log(new BigInt64Array(await context.readTensor(z))[0]);",
        "4611686018427387905n\n",
    ),
    "limits": (
        "const {add} = context.opSupportLimits();"
        "console.log(Object.keys(add).join(), Object.keys(add.a).join(), Object.isFrozen(x.shape));",
        "a,b,output dataTypes,rankRange true\n",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(tmp_path: Path, name: str) -> None:
    source, stdout = PROGRAMS[name]
    assert run(tmp_path, START + source, revision=CURRENT) == Outcome(0, stdout, "")


def test_the_profile_of_browsers(tmp_path: Path) -> None:
    source = """
    const context = await navigator.ml.createContext({deviceType: 'cpu'});
    const {READ, WRITE} = MLTensorUsage;
    const tensor = await context.createTensor({dataType: 'int4', dimensions: [3], shape: [3], usage: READ | WRITE});
    context.writeTensor(tensor, new Uint8Array([0x21, 3]));
    console.log(tensor.readable, tensor.dataType, [...new Uint8Array(await context.readTensor(tensor))].join());
    """
    assert run(tmp_path, source, revision=CURRENT, dialect="browsers-2026") == Outcome(0, "true int4 33,3\n", "")
