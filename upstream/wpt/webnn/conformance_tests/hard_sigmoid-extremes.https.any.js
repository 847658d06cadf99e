// META: title=test WebNN API hardSigmoid at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-hard-sigmoid
// Expected values were computed in float64, and rounded to their types.

const hardSigmoidExtremesTests = [
  {
    'name': '[hardSigmoid] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, 1, Infinity, -Infinity, 3, -3, 3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [9], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'hardSigmoid',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.5, 0.5, 0.699999988079071, 1, 0, 1, 0, 1, 0],
          'descriptor': {shape: [9], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[hardSigmoid] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'hardSigmoid',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.699999988079071],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[hardSigmoid] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, 1, Infinity, -Infinity, 3, -3, 65504, -65504],
          'descriptor': {shape: [9], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'hardSigmoid',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.5, 0.5, 0.7001953125, 1, 0, 1, 0, 1, 0],
          'descriptor': {shape: [9], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[hardSigmoid] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'hardSigmoid',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.7001953125],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[hardSigmoid] float32 alpha is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [-3.4028234663852886e+38, 0, 3.4028234663852886e+38],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'hardSigmoid',
        'arguments': [
          {'input': 'input'}, {'options': {'alpha': 0, 'beta': 0.5}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.5, 0.5, 0.5],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[hardSigmoid] float16 alpha is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [-65504, 0, 65504],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'hardSigmoid',
        'arguments': [
          {'input': 'input'}, {'options': {'alpha': 0, 'beta': 0.5}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.5, 0.5, 0.5],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  }
];

webnn_values_test(hardSigmoidExtremesTests);
