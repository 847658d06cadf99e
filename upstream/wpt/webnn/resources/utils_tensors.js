'use strict';

// Helpers of tests that read, write and dispatch tensors.

const kDescriptor = {
  dataType: 'float32',
  shape: [2, 2]
};
const kReadWrite = {
  ...kDescriptor,
  readable: true,
  writable: true
};

const createVariantContext = () =>
    navigator.ml.createContext({deviceType: location.search.substring(1)});

const createFilled = async (context, data) => {
  const tensor = await context.createTensor(kReadWrite);
  context.writeTensor(tensor, new Float32Array(data));
  return tensor;
};

const readNumbers = async (context, tensor) =>
    Array.from(new Float32Array(await context.readTensor(tensor)));

// Builds the graph y = a + b.
const buildSum = (context) => {
  const builder = new MLGraphBuilder(context);
  const a = builder.input('a', kDescriptor);
  const b = builder.input('b', kDescriptor);
  return builder.build({y: builder.add(a, b)});
};

// Builds the graph y = 2 * x.
const buildDouble = (context) => {
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', kDescriptor);
  return builder.build({y: builder.add(x, x)});
};

// Like promise_test, with a context for the function.
const context_test = (func, name) => {
  promise_test(async t => {
    assert_implements(navigator.ml, 'missing navigator.ml');
    await func(t, await createVariantContext());
  }, name);
};
