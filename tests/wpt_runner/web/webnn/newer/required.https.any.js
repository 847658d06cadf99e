// META: title=required data types and ranks, which a file beside the tests has
// META: global=window,dedicatedworker,sharedworker,serviceworker
// META: script=resources/context.js
'use strict';
let required;
promise_setup(async () => {
  const response = await fetch('/webnn/newer/resources/required.json');
  if (!response.ok) throw new Error(`status ${response.status}`);
  required = JSON.parse((await response.text()).replace(/\/\/.*|\/\*[\s\S]*?\*\//g, ''));
});
promise_test(async () => {
  const limits = context.opSupportLimits();
  let count = 0;
  for (const [operator, operands] of Object.entries(required)) {
    for (const [operand, {dataTypes = [], rankRange}] of Object.entries(operands)) {
      const own = limits[operator][operand], name = `${operator}.${operand}`;
      for (const type of dataTypes) assert_true(own.dataTypes.includes(type), `${name}: ${type}`);
      assert_true(own.rankRange.min <= rankRange.min && own.rankRange.max >= rankRange.max, `${name}: the ranks`);
      count++;
    }
  }
  assert_equals(count, 4);
}, 'opSupportLimits() has at least what is required');
promise_test(async () => {
  assert_equals((await fetch('resources/none.json')).status, 404);
}, 'a file that is missing');
