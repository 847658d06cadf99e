// META: title=test WebNN API concat at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-concat
// Expected values were computed in float64, and rounded to their types.

const concatExtremesTests = [
  {
    'name': '[concat] float32 special elements',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        },
        'inputs2': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'inputs3': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [
          {'inputs': ['inputs1', 'inputs2', 'inputs3']}, {'axis': 0}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1, 0, 0, -0, Infinity, -Infinity, NaN,
            3.4028234663852886e+38, -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [17], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[concat] float16 special elements',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        },
        'inputs2': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'float16'}
        },
        'inputs3': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [
          {'inputs': ['inputs1', 'inputs2', 'inputs3']}, {'axis': 0}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1, 0, 0, -0,
            Infinity, -Infinity, NaN, 65504, -65504, 1
          ],
          'descriptor': {shape: [17], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[concat] int32 special elements',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824
          ],
          'descriptor': {shape: [8], dataType: 'int32'}
        },
        'inputs2': {
          'data': [-2147483648],
          'descriptor': {shape: [1], dataType: 'int32'}
        },
        'inputs3': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824
          ],
          'descriptor': {shape: [8], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [
          {'inputs': ['inputs1', 'inputs2', 'inputs3']}, {'axis': 0}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824, -2147483648, -2147483648, -2147483647, 2147483647,
            2147483646, 0, 1, 1073741823, 1073741824
          ],
          'descriptor': {shape: [17], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[concat] uint32 special elements',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        },
        'inputs2': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'uint32'}
        },
        'inputs3': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [
          {'inputs': ['inputs1', 'inputs2', 'inputs3']}, {'axis': 0}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648, 0, 0, 1,
            4294967295, 4294967294, 0, 1, 2147483647, 2147483648
          ],
          'descriptor': {shape: [17], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[concat] int64 special elements',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            4611686018427387904n
          ],
          'descriptor': {shape: [8], dataType: 'int64'}
        },
        'inputs2': {
          'data': [-9223372036854775808n],
          'descriptor': {shape: [1], dataType: 'int64'}
        },
        'inputs3': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            4611686018427387904n
          ],
          'descriptor': {shape: [8], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [
          {'inputs': ['inputs1', 'inputs2', 'inputs3']}, {'axis': 0}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            4611686018427387904n, -9223372036854775808n, -9223372036854775808n,
            -9223372036854775807n, 9223372036854775807n, 9223372036854775806n,
            0n, 1n, 4611686018427387903n, 4611686018427387904n
          ],
          'descriptor': {shape: [17], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[concat] uint64 special elements',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [
            0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n
          ],
          'descriptor': {shape: [8], dataType: 'uint64'}
        },
        'inputs2': {
          'data': [0n],
          'descriptor': {shape: [1], dataType: 'uint64'}
        },
        'inputs3': {
          'data': [
            0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n
          ],
          'descriptor': {shape: [8], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [
          {'inputs': ['inputs1', 'inputs2', 'inputs3']}, {'axis': 0}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n, 0n, 0n, 1n,
            18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n
          ],
          'descriptor': {shape: [17], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[concat] int8 special elements',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [8], dataType: 'int8'}
        },
        'inputs2': {
          'data': [-128],
          'descriptor': {shape: [1], dataType: 'int8'}
        },
        'inputs3': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [8], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [
          {'inputs': ['inputs1', 'inputs2', 'inputs3']}, {'axis': 0}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -128, -127, 127, 126, 0, 1, 63, 64, -128, -128, -127, 127, 126, 0,
            1, 63, 64
          ],
          'descriptor': {shape: [17], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[concat] uint8 special elements',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8], dataType: 'uint8'}
        },
        'inputs2': {'data': [0], 'descriptor': {shape: [1], dataType: 'uint8'}},
        'inputs3': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [
          {'inputs': ['inputs1', 'inputs2', 'inputs3']}, {'axis': 0}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 1, 255, 254, 0, 1, 127, 128, 0, 0, 1, 255, 254, 0, 1, 127, 128
          ],
          'descriptor': {shape: [17], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[concat] one operand',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [{'inputs': ['inputs1']}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[concat] along the last of five dimensions of one element',
    'graph': {
      'inputs': {
        'inputs1': {
          'data': [NaN],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        },
        'inputs2': {
          'data': [NaN],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        },
        'inputs3': {
          'data': [NaN],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'concat',
        'arguments': [
          {'inputs': ['inputs1', 'inputs2', 'inputs3']}, {'axis': 4}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, NaN, NaN],
          'descriptor': {shape: [1, 1, 1, 1, 3], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  }
];

webnn_values_test(concatExtremesTests);
