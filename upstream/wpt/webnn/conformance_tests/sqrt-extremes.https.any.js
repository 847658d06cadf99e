// META: title=test WebNN API sqrt at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-unary
// Expected values were computed in float64, and rounded to their types.

const sqrtExtremesTests = [
  {
    'name': '[sqrt] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, 1, -1, 0.25, Infinity, -Infinity, NaN,
            3.4028234663852886e+38
          ],
          'descriptor': {shape: [9], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'sqrt',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, 1, NaN, 0.5, Infinity, NaN, NaN, 1.8446742974197924e+19
          ],
          'descriptor': {shape: [9], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[sqrt] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'sqrt',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[sqrt] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, 1, -1, 0.25, Infinity, -Infinity, NaN, 65504],
          'descriptor': {shape: [9], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'sqrt',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, 1, NaN, 0.5, Infinity, NaN, NaN, 255.875],
          'descriptor': {shape: [9], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[sqrt] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'sqrt',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  }
];

webnn_values_test(sqrtExtremesTests);
