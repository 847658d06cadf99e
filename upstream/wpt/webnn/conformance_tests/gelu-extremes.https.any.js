// META: title=test WebNN API gelu at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gelu-method
// Expected values were computed in float64, and rounded to their types.

const geluExtremesTests = [
  {
    'name': '[gelu] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, 1, Infinity, NaN, 3.4028234663852886e+38],
          'descriptor': {shape: [6], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'gelu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, 0.8413447737693787, Infinity, NaN, 3.4028234663852886e+38
          ],
          'descriptor': {shape: [6], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[gelu] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'gelu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.8413447737693787],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[gelu] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, 1, Infinity, NaN, 65504],
          'descriptor': {shape: [6], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'gelu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, 0.84130859375, Infinity, NaN, 65504],
          'descriptor': {shape: [6], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[gelu] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'gelu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.84130859375],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  }
];

webnn_values_test(geluExtremesTests);
