// META: title=test WebNN API logicalAnd at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-logical
// Expected values were computed in float64, and rounded to their types.

const logicalAndExtremesTests = [
  {
    'name': '[logicalAnd] uint8 every number but 0 is true',
    'graph': {
      'inputs': {
        'a': {
          'data': [0, 0, 255, 1, 128],
          'descriptor': {shape: [5], dataType: 'uint8'}
        },
        'b': {
          'data': [0, 255, 0, 2, 255],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'logicalAnd',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 1, 1],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[logicalAnd] one element of three dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [255],
          'descriptor': {shape: [1, 1, 1], dataType: 'uint8'}
        },
        'b': {'data': [0], 'descriptor': {shape: [], dataType: 'uint8'}}
      },
      'operators': [{
        'name': 'logicalAnd',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(logicalAndExtremesTests);
