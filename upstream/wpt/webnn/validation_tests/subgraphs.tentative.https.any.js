// META: title=test WebNN API subgraphs
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [2]});
  const input2 = builder.input('scale', {dataType: 'float32', shape: [2]});
  const mul1 = builder.mul(input1, input2);
  const relu1 = builder.relu(mul1);
  const buildSubgraph1 = builder.buildSubgraph(
      {product: mul1, positive: relu1},
      {
        name: 'Scaled',
        inputs: {x: input1, scale: input2},
        config: {factor: 2, exact: true}
      });
  const input3 = builder.input('a', {dataType: 'float32', shape: [2]});
  assert_throws_js(
      TypeError, () => builder.subgraph(buildSubgraph1, {x: input3}));
}, 'every input of the subgraph needs an operand');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('a', {dataType: 'float32', shape: [3]});
  const input2 = builder.input('x', {dataType: 'float32', shape: [2]});
  const input3 = builder.input('scale', {dataType: 'float32', shape: [2]});
  const mul1 = builder.mul(input2, input3);
  const relu1 = builder.relu(mul1);
  const buildSubgraph1 = builder.buildSubgraph(
      {product: mul1, positive: relu1},
      {
        name: 'Scaled',
        inputs: {x: input2, scale: input3},
        config: {factor: 2, exact: true}
      });
  assert_throws_js(
      TypeError, () => builder.subgraph(
        buildSubgraph1, {x: input1, scale: input1}));
}, 'operands have the shapes of the inputs');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input('x', {dataType: 'float32', shape: [2]});
  const relu1 = builder.relu(input1);
  assert_throws_js(
      TypeError, () => builder.buildSubgraph(
        {y: relu1}, {name: 'Open', inputs: {}}));
}, 'a subgraph needs no input of the builder that is not its own');
