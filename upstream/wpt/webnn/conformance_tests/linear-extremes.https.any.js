// META: title=test WebNN API linear at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-linear
// Expected values were computed in float64, and rounded to their types.

const linearExtremesTests = [
  {
    'name': '[linear] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'linear',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[linear] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'linear',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[linear] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'linear',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[linear] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'linear',
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
    'name': '[linear] float32 overflow',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            3.4028234663852886e+38, -3.4028234663852886e+38, Infinity,
            -Infinity, NaN
          ],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'linear',
        'arguments': [
          {'input': 'input'}, {'options': {'alpha': 2, 'beta': -1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -Infinity, Infinity, -Infinity, NaN],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[linear] float32 alpha and beta are 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1, 3.4028234663852886e+38, -3.4028234663852886e+38],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'linear',
        'arguments': [{'input': 'input'}, {'options': {'alpha': 0, 'beta': 0}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[linear] float16 overflow',
    'graph': {
      'inputs': {
        'input': {
          'data': [65504, -65504, Infinity, -Infinity, NaN],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'linear',
        'arguments': [
          {'input': 'input'}, {'options': {'alpha': 2, 'beta': -1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -Infinity, Infinity, -Infinity, NaN],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[linear] float16 alpha and beta are 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1, 65504, -65504],
          'descriptor': {shape: [4], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'linear',
        'arguments': [{'input': 'input'}, {'options': {'alpha': 0, 'beta': 0}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [4], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  }
];

webnn_values_test(linearExtremesTests);
