// META: title=test WebNN API roundEven at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-unary
// Expected values were computed in float64, and rounded to their types.

const roundEvenExtremesTests = [
  {
    'name': '[roundEven] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.25, -0.25, 0, -0, Infinity,
            -Infinity, NaN, 1023.5, 3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [16], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'roundEven',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, 2, -2, 2, -2, 0, -0, 0, -0, Infinity, -Infinity, NaN, 1024,
            3.4028234663852886e+38, -3.4028234663852886e+38
          ],
          'descriptor': {shape: [16], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[roundEven] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'roundEven',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[roundEven] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.25, -0.25, 0, -0, Infinity,
            -Infinity, NaN, 1023.5, 65504, -65504
          ],
          'descriptor': {shape: [16], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'roundEven',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, 2, -2, 2, -2, 0, -0, 0, -0, Infinity, -Infinity, NaN, 1024,
            65504, -65504
          ],
          'descriptor': {shape: [16], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[roundEven] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'roundEven',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  }
];

webnn_values_test(roundEvenExtremesTests);
