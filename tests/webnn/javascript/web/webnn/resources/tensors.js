// What the tests of the current draft share.
'use strict';

const PAIR = {dataType: 'float32', shape: [2]};

// Run a promise_test with a fresh context and builder.
const context_test = (body, name) => promise_test(async t => {
  const context = await navigator.ml.createContext();
  await body(context, new MLGraphBuilder(context), t);
}, name);

const createTensor = (context, {dataType, shape}) => context.createTensor({dataType, shape, readable: true, writable: true});

// Compute the value of an operand that has no inputs; the result is the bytes.
async function evaluate(context, builder, operand) {
  const graph = await builder.build({result: builder.identity(operand)});
  const result = await createTensor(context, operand);
  context.dispatch(graph, {}, {result});
  return context.readTensor(result);
}

// Whether a promise is settled by now: "fulfilled", "rejected" or "pending". Two turns of the queue of jobs are enough.
async function stateOf(promise) {
  let state = 'pending';
  promise.then(() => { state = 'fulfilled'; }, () => { state = 'rejected'; });
  await null;
  await null;
  return state;
}
const nextTask = () => new Promise(resolve => setTimeout(resolve));
