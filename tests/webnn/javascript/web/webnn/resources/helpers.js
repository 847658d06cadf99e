// What the tests of the binding share.
'use strict';

const FLOATS = {dataType: 'float32', dimensions: [2]};

async function createBuilder(options) {
  const context = await navigator.ml.createContext(options);
  return {context, builder: new MLGraphBuilder(context)};
}

// Run a promise_test with a fresh builder.
const builder_test = (body, name) => promise_test(async t => {
  const {context, builder} = await createBuilder();
  await body(builder, t, context);
}, name);

// A graph that copies its inputs to its outputs, {output: [input, descriptor]}.
async function buildCopies(builder, copies) {
  const outputs = {};
  for (const [output, [input, descriptor]] of Object.entries(copies)) outputs[output] = builder.identity(builder.input(input, descriptor));
  return builder.build(outputs);
}

// Compute the value of an operand that has no inputs.
async function evaluate(context, builder, operand, view) {
  const graph = await builder.build({result: builder.identity(operand)});
  const {outputs} = await context.compute(graph, {}, {result: view});
  return outputs.result;
}

// Assert that a property is as the Web IDL specification says.
function assert_flags(object, name, {writable, enumerable, configurable}, description = String(name)) {
  const property = Object.getOwnPropertyDescriptor(object, name);
  assert_not_equals(property, undefined, description);
  assert_equals(property.writable, writable, `${description}: writable`);
  assert_equals(property.enumerable, enumerable, `${description}: enumerable`);
  assert_equals(property.configurable, configurable, `${description}: configurable`);
}

// An object that writes down which of its properties are read, and how: "get name", "ownKeys", "getOwnPropertyDescriptor name", ...
function spy(target, record) {
  const traps = {};
  for (const trap of ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf']) {
    traps[trap] = (object, ...values) => {
      record.push(values.length && trap !== 'ownKeys' && trap !== 'getPrototypeOf' ? `${trap} ${String(values[0])}` : trap);
      return Reflect[trap](object, ...values);
    };
  }
  return new Proxy(target, traps);
}
