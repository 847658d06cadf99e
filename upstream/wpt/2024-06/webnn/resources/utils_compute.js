'use strict';

// Helpers of tests that compute graphs with MLContext.compute().

const kDescriptor = {
  dataType: 'float32',
  dimensions: [2, 2]
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
    const context = await navigator.ml.createContext(
        {deviceType: location.search.substring(1)});
    assert_implements(context.compute, 'missing MLContext.compute()');
    await func(t, context);
  }, name);
};
