// META: title=test WebNN API leakyRelu at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-leakyrelu
// Expected values were computed in float64, and rounded to their types.

const leakyReluExtremesTests = [
  {
    'name': '[leakyRelu] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, 1, Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [7], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'leakyRelu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, 1, Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028232762376986e+36
          ],
          'descriptor': {shape: [7], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[leakyRelu] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'leakyRelu',
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
    'name': '[leakyRelu] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, 1, Infinity, -Infinity, 65504, -65504],
          'descriptor': {shape: [7], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'leakyRelu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, 1, Infinity, -Infinity, 65504, -655],
          'descriptor': {shape: [7], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[leakyRelu] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'leakyRelu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[leakyRelu] float32 alpha is negative',
    'graph': {
      'inputs': {
        'input': {
          'data': [-1, 0, 1, 3.4028234663852886e+38],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'leakyRelu',
        'arguments': [{'input': 'input'}, {'options': {'alpha': -2}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2, 0, 1, 3.4028234663852886e+38],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[leakyRelu] float16 alpha is negative',
    'graph': {
      'inputs': {
        'input': {
          'data': [-1, 0, 1, 65504],
          'descriptor': {shape: [4], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'leakyRelu',
        'arguments': [{'input': 'input'}, {'options': {'alpha': -2}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2, 0, 1, 65504],
          'descriptor': {shape: [4], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  }
];

webnn_values_test(leakyReluExtremesTests);
