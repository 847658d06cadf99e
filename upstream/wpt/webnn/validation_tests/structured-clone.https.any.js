// META: title=validation tests for WebNN API structuredClone
// META: global=window,dedicatedworker
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_tensors.js

'use strict';

// No interface of WebNN is [Serializable] or [Transferable].
// https://html.spec.whatwg.org/multipage/structured-data.html

const kObjects = {
  ML: () => navigator.ml,
  MLContext: context => context,
  MLGraph: context => buildDouble(context),
  MLGraphBuilder: context => new MLGraphBuilder(context),
  MLOperand: context => new MLGraphBuilder(context).input('x', kDescriptor),
  MLTensor: context => context.createTensor(kReadWrite),
};

for (const [name, create] of Object.entries(kObjects)) {
  context_test(async (t, context) => {
    const object = await create(context);
    assert_throws_dom('DataCloneError', () => structuredClone(object));
    assert_throws_dom(
        'DataCloneError', () => structuredClone({members: [object]}));
  }, `[structuredClone] Throw if the value has an ${name}.`);

  context_test(async (t, context) => {
    const object = await create(context);
    assert_throws_dom(
        'DataCloneError', () => structuredClone(null, {transfer: [object]}));
  }, `[structuredClone] Throw if an ${name} is to be transferred.`);
}
