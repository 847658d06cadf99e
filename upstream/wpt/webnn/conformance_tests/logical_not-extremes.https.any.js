// META: title=test WebNN API logicalNot at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-logical
// Expected values were computed in float64, and rounded to their types.

const logicalNotExtremesTests = [
  {
    'name': '[logicalNot] every number but 0 is true',
    'graph': {
      'inputs': {
        'a': {
          'data': [0, 1, 2, 128, 255],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'logicalNot',
        'arguments': [{'a': 'a'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0, 0, 0, 0],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[logicalNot] scalar',
    'graph': {
      'inputs': {
        'a': {'data': [255], 'descriptor': {shape: [], dataType: 'uint8'}}
      },
      'operators': [{
        'name': 'logicalNot',
        'arguments': [{'a': 'a'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [0], 'descriptor': {shape: [], dataType: 'uint8'}}
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(logicalNotExtremesTests);
