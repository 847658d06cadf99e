"""A small checkout in which written test files run: helpers with the names and the meaning of web-platform-tests' own, written here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.wpt_runner.checkouts import make_checkout
from tests.wpt_runner.clock import PATIENT
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.results import FileStatus, Subtest
from webnn.wpt_runner.settings import Settings

__all__ = ["UTILS", "UTILS_2026", "run_file", "written_checkout"]

#: The interface file by which a checkout shows that it tests `MLTensor`.
_IDL = "interface MLTensor {};\n"

#: As of March 2025: operands are found by name, made for each use, and sequences of operands are not known.
UTILS = r"""'use strict';
const TYPES = {
  float32: Float32Array, float16: Float16Array, int64: BigInt64Array, uint64: BigUint64Array, int32: Int32Array, uint32: Uint32Array,
  int8: Int8Array, uint8: Uint8Array, int4: Uint8Array, uint4: Uint8Array,
};
const BITS = {float32: [Float32Array, Int32Array, 31n], float16: [Float16Array, Int16Array, 15n]};
const isSmall = ({dataType}) => dataType.endsWith('int4');
const sizeOf = shape => shape.reduce((product, size) => product * size, 1);
const own = (object, name) => Object.prototype.hasOwnProperty.call(object, name);

function typed(descriptor, data) {
  const size = sizeOf(descriptor.shape);
  if (typeof data === 'number') return new TYPES[descriptor.dataType](size).fill(data);
  if (data.length !== size) throw new Error(`${data.length} numbers for ${size} elements`);
  if (!isSmall(descriptor)) return new TYPES[descriptor.dataType](data);
  const bytes = new Uint8Array(Math.ceil(size / 2));
  data.forEach((value, index) => { bytes[index >> 1] |= (value & 15) << 4 * (index & 1); });
  return bytes;
}

function unpack(bytes, {dataType, shape}) {
  const bits = Array.from({length: sizeOf(shape)}, (_, index) => bytes[index >> 1] >> 4 * (index & 1) & 15);
  return dataType === 'int4' ? bits.map(value => value << 28 >> 28) : bits;
}

function createOperand(context, builder, name, {descriptor, constant, data}) {
  return constant ? builder.constant(descriptor, typed(descriptor, data)) : builder.input(name, descriptor);
}

function findCompatibleType() { throw new Error('all types are supported here'); }

function assertDescriptorsEquals(operand, {dataType, shape}) {
  assert_equals(operand.dataType, dataType);
  assert_array_equals(operand.shape, shape);
}

async function computeGraph(context, graph, inputs, expected) {
  const given = {}, outputs = {}, result = {};
  for (const [name, {descriptor, constant, data}] of Object.entries(inputs)) {
    if (constant) continue;
    given[name] = await context.createTensor({...descriptor, writable: true});
    context.writeTensor(given[name], typed(descriptor, data));
  }
  for (const [name, {descriptor}] of Object.entries(expected)) outputs[name] = await context.createTensor({...descriptor, readable: true});
  context.dispatch(graph, given, outputs);
  for (const name in outputs) result[name] = new TYPES[expected[name].descriptor.dataType](await context.readTensor(outputs[name]));
  return result;
}

async function buildAndExecuteGraph(context, builder, {inputs, operators, expectedOutputs}) {
  const made = {};
  const find = value => own(inputs, value) ? createOperand(context, builder, value, inputs[value]) : own(made, value) ? made[value] : value;
  for (const {name, arguments: given, outputs} of operators) {
    const values = given.map(argument => {
      const [[key, value]] = Object.entries(argument);
      return key === 'options' ? Object.fromEntries(Object.entries(value).map(([option, each]) => [option, find(each)])) : find(value);
    });
    const results = builder[name](...values);
    assert_equals(Array.isArray(results), Array.isArray(outputs), `the outputs of ${name}`);
    [outputs].flat().forEach((output, index) => { made[output] = [results].flat()[index]; });
  }
  const outputs = Object.fromEntries(Object.keys(expectedOutputs).map(name => [name, made[name]]));
  for (const name in outputs) assertDescriptorsEquals(outputs[name], expectedOutputs[name].descriptor);
  const graph = await builder.build(outputs);
  return {result: await computeGraph(context, graph, inputs, expectedOutputs), intermediateOperands: made};
}

// Numbers in their order: neighbours are 1 apart.
function ordered(value, dataType) {
  if (typeof value === 'bigint' || !(dataType in BITS)) return BigInt(value);
  const [Floats, Integers, sign] = BITS[dataType];
  const bits = BigInt(new Integers(new Floats([value]).buffer)[0]);
  return bits < 0n ? -(bits + (1n << sign)) : bits;
}

function far(actual, expected, {metricType, value}, dataType) {
  if (metricType === 'ATOL') return Math.abs(actual - expected) > value || Number.isNaN(actual - expected);
  if (Number.isNaN(expected)) return !Number.isNaN(actual);
  const distance = ordered(actual, dataType) - ordered(expected, dataType);
  return Number(distance < 0n ? -distance : distance) > value;
}

const KNOWN = {relu: {float32: 0, float16: 0}, sigmoid: {float32: 34, float16: 10}, clamp: {float32: 0, float16: 0}};
const getPrecisionTolerance = ({operators, expectedOutputs}) => {
  const {dataType} = Object.values(expectedOutputs)[0].descriptor;
  return {metricType: 'ULP', value: operators.reduce((sum, {name}) => sum + (KNOWN[name]?.[dataType] ?? 0), 0)};
};

const webnn_conformance_test = (buildAndExecuteGraphFunc, toleranceFunc, {name, graph}) => promise_test(async () => {
  const context = await navigator.ml.createContext({deviceType: location.search.substring(1)});
  const {result, intermediateOperands} = await buildAndExecuteGraphFunc(context, new MLGraphBuilder(context), graph);
  const tolerance = toleranceFunc(graph, intermediateOperands);
  assert_true(tolerance.value >= 0, 'a tolerance');
  for (const [output, {data, descriptor}] of Object.entries(graph.expectedOutputs)) {
    const actual = isSmall(descriptor) ? unpack(result[output], descriptor) : Array.from(result[output]);
    assert_equals(actual.length, data.length, output);
    data.forEach((expected, index) => {
      const says = `${output}[${index}] is ${actual[index]}, expected ${expected}`;
      assert_false(far(actual[index], expected, tolerance, descriptor.dataType), says);
    });
  }
}, name);
"""
#: As of 2026: one call for all tests.
UTILS_2026 = UTILS.replace(
    "const webnn_conformance_test = (buildAndExecuteGraphFunc, toleranceFunc, {name, graph}) => promise_test(",
    "const webnn_conformance_test = (tests, buildAndExecuteGraphFunc, toleranceFunc) => tests.forEach(({name, graph}) => promise_test(",
).replace("}, name);\n", "}, name));\n")
_VALIDATION = "let context;\npromise_test(async () => { context = await navigator.ml.createContext(); }, 'a context');\n"


def written_checkout(root: Path, files: Mapping[str, str], utils: str = UTILS) -> Path:
    """Make a checkout with test files, by their paths below ``webnn``."""
    helpers = {"resources/utils.js": utils, "resources/utils_validation.js": _VALIDATION}
    checkout = make_checkout(root, {**helpers, **files})
    (checkout / "interfaces").mkdir()
    (checkout / "interfaces" / "webnn.idl").write_text(_IDL)
    return checkout


def run_file(root: Path, path: str, text: str, utils: str = UTILS) -> list[Subtest]:
    """Run a test file in its first variant; it must run to its end."""
    checkout = Checkout(written_checkout(root, {path: text}, utils))
    level = LEVELS[-1]
    settings = Settings(revision=level.revision, dialect=level.dialect, timeout_multiplier=PATIENT)
    result = run_test(checkout, checkout.tests([path])[0], settings)
    assert result.status is FileStatus.OK, result.message
    return list(result.subtests)
