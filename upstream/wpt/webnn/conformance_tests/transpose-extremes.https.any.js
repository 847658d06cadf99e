// META: title=test WebNN API transpose at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-transpose
// Expected values were computed in float64, and rounded to their types.

const transposeExtremesTests = [
  {
    'name': '[transpose] float32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [2, 1, 4], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [
          {'input': 'input'}, {'options': {'permutation': [1, 2, 0]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, NaN, -0, 3.4028234663852886e+38, Infinity,
            -3.4028234663852886e+38, -Infinity, 1
          ],
          'descriptor': {shape: [1, 4, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[transpose] float16 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [2, 1, 4], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [
          {'input': 'input'}, {'options': {'permutation': [1, 2, 0]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, NaN, -0, 65504, Infinity, -65504, -Infinity, 1],
          'descriptor': {shape: [1, 4, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[transpose] int32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824
          ],
          'descriptor': {shape: [2, 1, 4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [
          {'input': 'input'}, {'options': {'permutation': [1, 2, 0]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -2147483648, 0, -2147483647, 1, 2147483647, 1073741823, 2147483646,
            1073741824
          ],
          'descriptor': {shape: [1, 4, 2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[transpose] uint32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [2, 1, 4], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [
          {'input': 'input'}, {'options': {'permutation': [1, 2, 0]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 1, 1, 4294967295, 2147483647, 4294967294, 2147483648],
          'descriptor': {shape: [1, 4, 2], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[transpose] int64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            4611686018427387904n
          ],
          'descriptor': {shape: [2, 1, 4], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [
          {'input': 'input'}, {'options': {'permutation': [1, 2, 0]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -9223372036854775808n, 0n, -9223372036854775807n, 1n,
            9223372036854775807n, 4611686018427387903n, 9223372036854775806n,
            4611686018427387904n
          ],
          'descriptor': {shape: [1, 4, 2], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[transpose] uint64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n
          ],
          'descriptor': {shape: [2, 1, 4], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [
          {'input': 'input'}, {'options': {'permutation': [1, 2, 0]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0n, 0n, 1n, 1n, 18446744073709551615n, 9223372036854775807n,
            18446744073709551614n, 9223372036854775808n
          ],
          'descriptor': {shape: [1, 4, 2], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[transpose] int8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [2, 1, 4], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [
          {'input': 'input'}, {'options': {'permutation': [1, 2, 0]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-128, 0, -127, 1, 127, 63, 126, 64],
          'descriptor': {shape: [1, 4, 2], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[transpose] uint8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [2, 1, 4], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [
          {'input': 'input'}, {'options': {'permutation': [1, 2, 0]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 1, 1, 255, 127, 254, 128],
          'descriptor': {shape: [1, 4, 2], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[transpose] a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [-0], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [{'input': 'input'}, {'options': {'permutation': []}}],
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
  },
  {
    'name': '[transpose] five dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [NaN],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [
          {'input': 'input'}, {'options': {'permutation': [4, 3, 2, 1, 0]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[transpose] the identity',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [2, 4], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'transpose',
        'arguments': [{'input': 'input'}, {'options': {'permutation': [0, 1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [2, 4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  }
];

webnn_values_test(transposeExtremesTests);
