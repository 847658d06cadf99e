// META: title=test WebNN API expand at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-expand
// Expected values were computed in float64, and rounded to their types.

const expandExtremesTests = [
  {
    'name': '[expand] float32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': [8, 2]}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 0, -0, -0, Infinity, Infinity, -Infinity, -Infinity, NaN, NaN,
            3.4028234663852886e+38, 3.4028234663852886e+38,
            -3.4028234663852886e+38, -3.4028234663852886e+38, 1, 1
          ],
          'descriptor': {shape: [8, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[expand] float16 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': [8, 2]}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 0, -0, -0, Infinity, Infinity, -Infinity, -Infinity, NaN, NaN,
            65504, 65504, -65504, -65504, 1, 1
          ],
          'descriptor': {shape: [8, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[expand] int32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824
          ],
          'descriptor': {shape: [8, 1], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': [8, 2]}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -2147483648, -2147483648, -2147483647, -2147483647, 2147483647,
            2147483647, 2147483646, 2147483646, 0, 0, 1, 1, 1073741823,
            1073741823, 1073741824, 1073741824
          ],
          'descriptor': {shape: [8, 2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[expand] uint32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8, 1], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': [8, 2]}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 0, 1, 1, 4294967295, 4294967295, 4294967294, 4294967294, 0, 0, 1,
            1, 2147483647, 2147483647, 2147483648, 2147483648
          ],
          'descriptor': {shape: [8, 2], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[expand] int64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            4611686018427387904n
          ],
          'descriptor': {shape: [8, 1], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': [8, 2]}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -9223372036854775808n, -9223372036854775808n, -9223372036854775807n,
            -9223372036854775807n, 9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 9223372036854775806n, 0n, 0n, 1n, 1n,
            4611686018427387903n, 4611686018427387903n, 4611686018427387904n,
            4611686018427387904n
          ],
          'descriptor': {shape: [8, 2], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[expand] uint64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n
          ],
          'descriptor': {shape: [8, 1], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': [8, 2]}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0n, 0n, 1n, 1n, 18446744073709551615n, 18446744073709551615n,
            18446744073709551614n, 18446744073709551614n, 0n, 0n, 1n, 1n,
            9223372036854775807n, 9223372036854775807n, 9223372036854775808n,
            9223372036854775808n
          ],
          'descriptor': {shape: [8, 2], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[expand] int8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [8, 1], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': [8, 2]}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -128, -128, -127, -127, 127, 127, 126, 126, 0, 0, 1, 1, 63, 63, 64,
            64
          ],
          'descriptor': {shape: [8, 2], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[expand] uint8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8, 1], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': [8, 2]}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 0, 1, 1, 255, 255, 254, 254, 0, 0, 1, 1, 127, 127, 128, 128
          ],
          'descriptor': {shape: [8, 2], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[expand] a scalar to five dimensions',
    'graph': {
      'inputs': {
        'input': {'data': [-0], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': [2, 1, 1, 1, 2]}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-0, -0, -0, -0],
          'descriptor': {shape: [2, 1, 1, 1, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[expand] a scalar to itself',
    'graph': {
      'inputs': {
        'input': {'data': [-0], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'expand',
        'arguments': [{'input': 'input'}, {'newShape': []}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-0],
          'descriptor': {shape: [], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  }
];

webnn_values_test(expandExtremesTests);
