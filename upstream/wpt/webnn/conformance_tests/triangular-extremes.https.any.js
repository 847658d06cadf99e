// META: title=test WebNN API triangular at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-triangular
// Expected values were computed in float64, and rounded to their types.

const triangularExtremesTests = [
  {
    'name': '[triangular] float32 special elements',
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
        'name': 'triangular',
        'arguments': [
          {'input': 'input'}, {'options': {'upper': false, 'diagonal': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, 0, 0, NaN, 3.4028234663852886e+38, -3.4028234663852886e+38,
            0
          ],
          'descriptor': {shape: [2, 4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] float16 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [2, 4], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'}, {'options': {'upper': false, 'diagonal': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, 0, 0, NaN, 65504, -65504, 0],
          'descriptor': {shape: [2, 4], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] int32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824
          ],
          'descriptor': {shape: [2, 4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'}, {'options': {'upper': false, 'diagonal': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-2147483648, -2147483647, 0, 0, 0, 1, 1073741823, 0],
          'descriptor': {shape: [2, 4], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] uint32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [2, 4], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'}, {'options': {'upper': false, 'diagonal': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 1, 0, 0, 0, 1, 2147483647, 0],
          'descriptor': {shape: [2, 4], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] int64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            4611686018427387904n
          ],
          'descriptor': {shape: [2, 4], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'}, {'options': {'upper': false, 'diagonal': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 0n, 0n, 0n, 1n,
            4611686018427387903n, 0n
          ],
          'descriptor': {shape: [2, 4], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] uint64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n
          ],
          'descriptor': {shape: [2, 4], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'}, {'options': {'upper': false, 'diagonal': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0n, 1n, 0n, 0n, 0n, 1n, 9223372036854775807n, 0n],
          'descriptor': {shape: [2, 4], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] int8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [2, 4], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'}, {'options': {'upper': false, 'diagonal': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-128, -127, 0, 0, 0, 1, 63, 0],
          'descriptor': {shape: [2, 4], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] uint8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [2, 4], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'}, {'options': {'upper': false, 'diagonal': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 1, 0, 0, 0, 1, 127, 0],
          'descriptor': {shape: [2, 4], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] upper is true, the diagonal 2147483647',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'},
          {'options': {'upper': true, 'diagonal': 2147483647}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] upper is false, the diagonal 2147483647',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'},
          {'options': {'upper': false, 'diagonal': 2147483647}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, Infinity, -Infinity],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] upper is true, the diagonal -2147483648',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'},
          {'options': {'upper': true, 'diagonal': -2147483648}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, Infinity, -Infinity],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] upper is false, the diagonal -2147483648',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [
          {'input': 'input'},
          {'options': {'upper': false, 'diagonal': -2147483648}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] one row',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [1, 8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [{'input': 'input'}, {'options': {'diagonal': 7}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 0, 0, 0, 1],
          'descriptor': {shape: [1, 8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[triangular] NaN and infinities leave nothing behind',
    'graph': {
      'inputs': {
        'input': {
          'data': [NaN, Infinity, -Infinity, NaN],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'triangular',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, Infinity, 0, NaN],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(triangularExtremesTests);
