// META: title=opSupportLimits()
// META: script=../resources/helpers.js
// META: script=../resources/tensors.js

'use strict';

function check(value, where) {
  if (Array.isArray(value)) { value.forEach(each => assert_equals(typeof each, 'string', where)); return; }
  if (typeof value !== 'object') { assert_true(['number', 'string'].includes(typeof value), where); return; }
  assert_equals(Object.getPrototypeOf(value), Object.prototype, where);
  const names = Reflect.ownKeys(value);
  assert_array_equals(names, [...names].sort(), `${where}: the members of a dictionary are in the order of their names`);
  for (const name of names) {
    assert_flags(value, name, {writable: true, enumerable: true, configurable: true}, `${where}.${name}`);
    check(value[name], `${where}.${name}`);
  }
}

context_test(async context => {
  const limits = context.opSupportLimits();
  check(limits, 'limits');
  assert_true(Number.isInteger(limits.maxTensorByteLength));
  assert_true(['nchw', 'nhwc'].includes(limits.preferredInputLayout));
  assert_true(limits.input.dataTypes.includes('float32'));
  assert_array_equals(Reflect.ownKeys(limits.conv2d), ['bias', 'filter', 'input', 'output']);
  assert_array_equals(Reflect.ownKeys(limits.conv2d.input), ['dataTypes', 'rankRange']);
  assert_array_equals(Object.values(limits.conv2d.input.rankRange), [4, 4]);
  assert_equals(Object.keys(limits).filter(name => name in MLGraphBuilder.prototype && !['constant', 'input'].includes(name)).length, 95);
}, 'Plain objects, with their members in order');

context_test(async context => {
  const first = context.opSupportLimits(), second = context.opSupportLimits();
  assert_not_equals(first, second);
  assert_not_equals(first.add, second.add);
  assert_not_equals(first.add.a.dataTypes, second.add.a.dataTypes);
  first.add.a.dataTypes.length = 0;
  assert_true(second.add.a.dataTypes.length > 0);
}, 'New objects each time');

context_test(async context => {
  try {
    Object.defineProperty(Object.prototype, 'add', {set() { throw new Error('set'); }, get() { return 5; }, configurable: true});
    assert_own_property(context.opSupportLimits(), 'add');
  } finally {
    delete Object.prototype.add;
  }
}, 'Members are defined, not assigned');
