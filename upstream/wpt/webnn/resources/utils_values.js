'use strict';

// Runs graphs and compares their outputs by value: NaN is equal to NaN, an
// infinity only to itself. All other numbers are compared in units in the last
// place ('ULP') or by absolute distance ('ATOL').

const kArrays = {
  float32: Float32Array,
  float16: Float16Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int8: Int8Array,
  uint8: Uint8Array,
};
const kSignedBits = {
  float32: Int32Array,
  float16: Int16Array,
};

const toTypedArray = ({dataType, shape}, data) => {
  const size = shape.reduce((product, dimension) => product * dimension, 1);
  const array = new kArrays[dataType](size);
  return typeof data === 'number' ? array.fill(data) : (array.set(data), array);
};

// Neighbouring numbers have neighbouring integers; both zeros have 0.
const toOrdered = (value, dataType) => {
  if (!(dataType in kSignedBits)) {
    return BigInt(value);
  }
  const Bits = kSignedBits[dataType];
  const bits = new Bits(new kArrays[dataType]([value]).buffer)[0];
  const sign = 2 ** (8 * Bits.BYTES_PER_ELEMENT - 1);
  return BigInt(bits < 0 ? -(bits + sign) : bits);
};

const isNear = (actual, expected, dataType, tolerance) => {
  if (Object.is(actual, expected)) {
    return true;
  }
  if (Number.isNaN(actual) || Number.isNaN(expected)) {
    return false;
  }
  if (actual == expected) {
    // Zeros with different signs.
    return !tolerance.signedZero;
  }
  if (tolerance.metricType === 'ATOL') {
    return Math.abs(Number(actual) - Number(expected)) <= tolerance.value;
  }
  const distance =
      toOrdered(actual, dataType) - toOrdered(expected, dataType);
  return (distance < 0n ? -distance : distance) <= BigInt(tolerance.value);
};

const assertOutput = (name, actual, {descriptor, data}, tolerance) => {
  assert_equals(actual.length, data.length, `length of ${name}`);
  for (let i = 0; i < actual.length; i++) {
    assert_true(
        isNear(actual[i], data[i], descriptor.dataType, tolerance),
        `${name}[${i}] must be ${tolerance.value} ${tolerance.metricType} ` +
            `from ${Object.is(data[i], -0) ? '-0' : data[i]}, got ` +
            `${Object.is(actual[i], -0) ? '-0' : actual[i]}`);
  }
};

const buildValuesGraph = async (builder, graph) => {
  const operands = {};
  for (const [name, {descriptor}] of Object.entries(graph.inputs)) {
    operands[name] = builder.input(name, descriptor);
  }
  const find = (value) => {
    if (Array.isArray(value)) {
      return value.map(find);
    }
    return typeof value === 'string' && operands.hasOwnProperty(value) ?
        operands[value] :
        value;
  };
  for (const operator of graph.operators) {
    const args = operator.arguments.map((argument) => {
      const [[name, value]] = Object.entries(argument);
      return name === 'options' ?
          Object.fromEntries(Object.entries(value).map(
              ([option, each]) => [option, find(each)])) :
          find(value);
    });
    const results = [builder[operator.name](...args)].flat();
    [operator.outputs].flat().forEach(
        (name, index) => operands[name] = results[index]);
  }
  const outputs = {};
  for (const [name, {descriptor}] of Object.entries(graph.expectedOutputs)) {
    outputs[name] = operands[name];
    assert_equals(outputs[name].dataType, descriptor.dataType);
    assert_array_equals(outputs[name].shape, descriptor.shape);
  }
  return builder.build(outputs);
};

const computeValuesGraph = async (context, graph, resources) => {
  const {inputs, expectedOutputs} = resources;
  const tensors = {inputs: {}, outputs: {}};
  for (const [name, {descriptor, data}] of Object.entries(inputs)) {
    tensors.inputs[name] =
        await context.createTensor({...descriptor, writable: true});
    context.writeTensor(tensors.inputs[name], toTypedArray(descriptor, data));
  }
  for (const [name, {descriptor}] of Object.entries(expectedOutputs)) {
    tensors.outputs[name] =
        await context.createTensor({...descriptor, readable: true});
  }
  context.dispatch(graph, tensors.inputs, tensors.outputs);
  const results = {};
  for (const [name, {descriptor}] of Object.entries(expectedOutputs)) {
    results[name] = new kArrays[descriptor.dataType](
        await context.readTensor(tensors.outputs[name]));
  }
  return results;
};

// Data types that a context does not support are optional.
const assertTypesAreSupported = (context, resources) => {
  const {inputs, operators, expectedOutputs} = resources;
  const limits = context.opSupportLimits();
  for (const {name} of operators) {
    assert_implements(name in limits, `${name} is not implemented`);
  }
  const supported = (dataType, member) => assert_implements_optional(
      limits[member].dataTypes.includes(dataType),
      `${dataType} is not supported for ${member}`);
  for (const {descriptor} of Object.values(inputs)) {
    supported(descriptor.dataType, 'input');
  }
  for (const {descriptor} of Object.values(expectedOutputs)) {
    supported(descriptor.dataType, 'output');
  }
  for (const {name, outputs, arguments: given} of operators) {
    for (const output of [outputs].flat()) {
      const types = (limits[name].output ?? limits[name].outputs)?.dataTypes;
      const dataType = expectedOutputs[output]?.descriptor.dataType;
      assert_implements_optional(
          !types || !dataType || types.includes(dataType),
          `${dataType} is not supported for the output of ${name}`);
    }
    for (const argument of given) {
      for (const [key, value] of Object.entries(argument)) {
        const types = limits[name][key]?.dataTypes;
        if (typeof value === 'string' && value in inputs && types) {
          const {dataType} = inputs[value].descriptor;
          assert_implements_optional(
              types.includes(dataType),
              `${dataType} is not supported for ${key} of ${name}`);
        }
      }
    }
  }
};

const webnn_values_test = (tests) => {
  for (const {name, graph} of tests) {
    promise_test(async () => {
      assert_implements(navigator.ml, 'missing navigator.ml');
      const context = await navigator.ml.createContext(
          {deviceType: location.search.substring(1)});
      assertTypesAreSupported(context, graph);
      const mlGraph =
          await buildValuesGraph(new MLGraphBuilder(context), graph);
      const results = await computeValuesGraph(context, mlGraph, graph);
      for (const [output, expected] of Object.entries(graph.expectedOutputs)) {
        assertOutput(output, results[output], expected, graph.tolerance);
      }
    }, name);
  }
};
