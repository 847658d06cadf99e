// META: title=test WebNN API log at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-unary
// Expected values were computed in float64, and rounded to their types.

const logExtremesTests = [
  {
    'name': '[log] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, 1, -1, Infinity, -Infinity, NaN, 3.4028234663852886e+38
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'log',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -Infinity, -Infinity, 0, NaN, Infinity, NaN, NaN, 88.72283935546875
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[log] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'log',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[log] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, 1, -1, Infinity, -Infinity, NaN, 65504],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'log',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-Infinity, -Infinity, 0, NaN, Infinity, NaN, NaN, 11.09375],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[log] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'log',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  }
];

webnn_values_test(logExtremesTests);
