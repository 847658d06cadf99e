// META: title=test WebNN API sign at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-unary
// Expected values were computed in float64, and rounded to their types.

const signExtremesTests = [
  {
    'name': '[sign] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, 1, -1, Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1.1754943508222875e-38,
            -1.1754943508222875e-38
          ],
          'descriptor': {shape: [10], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'sign',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 1, -1, 1, -1, 1, -1, 1, -1],
          'descriptor': {shape: [10], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[sign] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'sign',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[sign] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, 1, -1, Infinity, -Infinity, 65504, -65504, 6.103515625e-5,
            -6.103515625e-5
          ],
          'descriptor': {shape: [10], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'sign',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 1, -1, 1, -1, 1, -1, 1, -1],
          'descriptor': {shape: [10], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[sign] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'sign',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[sign] int8 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [-127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [7], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'sign',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-1, 1, 1, 0, 1, 1, 1],
          'descriptor': {shape: [7], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[sign] int32 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -2147483647, 2147483647, 2147483646, 0, 1, 1073741823, 1073741824
          ],
          'descriptor': {shape: [7], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'sign',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-1, 1, 1, 0, 1, 1, 1],
          'descriptor': {shape: [7], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[sign] int64 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -9223372036854775807n, 9223372036854775807n, 9223372036854775806n,
            0n, 1n, 4611686018427387903n, 4611686018427387904n
          ],
          'descriptor': {shape: [7], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'sign',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-1n, 1n, 1n, 0n, 1n, 1n, 1n],
          'descriptor': {shape: [7], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(signExtremesTests);
