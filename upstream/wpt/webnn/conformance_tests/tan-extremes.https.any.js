// META: title=test WebNN API tan at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-unary
// Expected values were computed in float64, and rounded to their types.

const tanExtremesTests = [
  {
    'name': '[tan] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'tan',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, NaN, NaN, NaN],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[tan] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'tan',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1.5574077367782593],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[tan] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'tan',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, NaN, NaN, NaN],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  },
  {
    'name': '[tan] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'tan',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1.5576171875],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  }
];

webnn_values_test(tanExtremesTests);
