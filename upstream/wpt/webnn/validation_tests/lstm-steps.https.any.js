// META: title=validation tests for WebNN API lstm, steps that no other file reaches
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_validation.js

'use strict';

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float16', shape: [1, 20]});
  assert_throws_with_label(
      () => builder.lstm(
        input1, input2, input3, 3, 5, {bias: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the data type of options.bias is not that of the input.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', shape: [1, 19]});
  assert_throws_with_label(
      () => builder.lstm(
        input1, input2, input3, 3, 5, {bias: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the shape of options.bias does not fit.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float16', shape: [1, 20]});
  assert_throws_with_label(
      () => builder.lstm(
        input1,
        input2,
        input3,
        3,
        5,
        {recurrentBias: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the data type of options.recurrentBias is not that of the input.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', shape: [1, 19]});
  assert_throws_with_label(
      () => builder.lstm(
        input1,
        input2,
        input3,
        3,
        5,
        {recurrentBias: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the shape of options.recurrentBias does not fit.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float16', shape: [1, 15]});
  assert_throws_with_label(
      () => builder.lstm(
        input1,
        input2,
        input3,
        3,
        5,
        {peepholeWeight: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the data type of options.peepholeWeight is not that of the input.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', shape: [1, 14]});
  assert_throws_with_label(
      () => builder.lstm(
        input1,
        input2,
        input3,
        3,
        5,
        {peepholeWeight: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the shape of options.peepholeWeight does not fit.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float16', shape: [1, 2, 5]});
  assert_throws_with_label(
      () => builder.lstm(
        input1,
        input2,
        input3,
        3,
        5,
        {initialHiddenState: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the data type of options.initialHiddenState is not that of the input.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', shape: [1, 2, 4]});
  assert_throws_with_label(
      () => builder.lstm(
        input1,
        input2,
        input3,
        3,
        5,
        {initialHiddenState: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the shape of options.initialHiddenState does not fit.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float16', shape: [1, 2, 5]});
  assert_throws_with_label(
      () => builder.lstm(
        input1,
        input2,
        input3,
        3,
        5,
        {initialCellState: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the data type of options.initialCellState is not that of the input.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  const input4 = builder.input(
      'input4', {dataType: 'float32', shape: [1, 2, 4]});
  assert_throws_with_label(
      () => builder.lstm(
        input1,
        input2,
        input3,
        3,
        5,
        {initialCellState: input4, label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the shape of options.initialCellState does not fit.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float16', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  assert_throws_with_label(
      () => builder.lstm(
        input1, input2, input3, 3, 5, {label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the weight is of another data type.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 5]});
  assert_throws_with_label(
      () => builder.lstm(
        input1, input2, input3, 4, 5, {label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the sequence has another number of steps.');

promise_test(async t => {
  const builder = new MLGraphBuilder(context);
  const input1 = builder.input(
      'input1', {dataType: 'float32', shape: [3, 2, 4]});
  const input2 = builder.input(
      'input2', {dataType: 'float32', shape: [1, 20, 4]});
  const input3 = builder.input(
      'input3', {dataType: 'float32', shape: [1, 20, 4]});
  assert_throws_with_label(
      () => builder.lstm(
        input1, input2, input3, 3, 5, {label: 'lstm_xxx'}),
      new RegExp('\\[lstm_xxx\\]'));
}, '[lstm] Throw if the recurrent weight has another shape.');
