// META: title=test WebNN API elu at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-elu
// Expected values were computed in float64, and rounded to their types.

const eluExtremesTests = [
  {
    'name': '[elu] float32 zeros, infinities and limits',
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
        'name': 'elu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 1, Infinity, -1, 3.4028234663852886e+38, -1],
          'descriptor': {shape: [7], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[elu] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'elu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[elu] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, 1, Infinity, -Infinity, 65504, -65504],
          'descriptor': {shape: [7], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'elu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 1, Infinity, -1, 65504, -1],
          'descriptor': {shape: [7], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[elu] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'elu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[elu] float32 alpha is 2',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -Infinity, -3.4028234663852886e+38, 0, Infinity,
            3.4028234663852886e+38
          ],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'elu',
        'arguments': [{'input': 'input'}, {'options': {'alpha': 2}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-2, -2, 0, Infinity, 3.4028234663852886e+38],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[elu] float16 alpha is 2',
    'graph': {
      'inputs': {
        'input': {
          'data': [-Infinity, -65504, 0, Infinity, 65504],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'elu',
        'arguments': [{'input': 'input'}, {'options': {'alpha': 2}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-2, -2, 0, Infinity, 65504],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  }
];

webnn_values_test(eluExtremesTests);
