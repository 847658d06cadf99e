// META: title=test WebNN API isNaN at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-logical
// Expected values were computed in float64, and rounded to their types.

const isNaNExtremesTests = [
  {
    'name': '[isNaN] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'isNaN',
        'arguments': [{'a': 'a'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, 0, 0, 0],
          'descriptor': {shape: [8], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[isNaN] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'a': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'isNaN',
        'arguments': [{'a': 'a'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[isNaN] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'isNaN',
        'arguments': [{'a': 'a'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, 0, 0, 0],
          'descriptor': {shape: [8], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[isNaN] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'a': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'isNaN',
        'arguments': [{'a': 'a'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(isNaNExtremesTests);
