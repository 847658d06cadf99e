// META: title=test WebNN API floor at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-unary
// Expected values were computed in float64, and rounded to their types.

const floorExtremesTests = [
  {
    'name': '[floor] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.25, -0.25, 0, -0, Infinity,
            -Infinity, NaN, 1023.5, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1.1754943508222875e-38,
            -1.1754943508222875e-38
          ],
          'descriptor': {shape: [18], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'floor',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -1, 1, -2, 2, -3, 0, -1, 0, -0, Infinity, -Infinity, NaN, 1023,
            3.4028234663852886e+38, -3.4028234663852886e+38, 0, -1
          ],
          'descriptor': {shape: [18], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[floor] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'floor',
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
    'name': '[floor] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.25, -0.25, 0, -0, Infinity,
            -Infinity, NaN, 1023.5, 65504, -65504, 6.103515625e-5,
            -6.103515625e-5
          ],
          'descriptor': {shape: [18], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'floor',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -1, 1, -2, 2, -3, 0, -1, 0, -0, Infinity, -Infinity, NaN, 1023,
            65504, -65504, 0, -1
          ],
          'descriptor': {shape: [18], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[floor] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'floor',
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

webnn_values_test(floorExtremesTests);
