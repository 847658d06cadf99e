// META: title=test WebNN API cast at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-cast
// Expected values were computed in float64, and rounded to their types.

const castExtremesTests = [
  {
    'name': '[cast] float32 to int32 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, -1.75, 127.5, -128.5],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, -1, 127, -128],
          'descriptor': {shape: [8], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float32 to int64 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, -1.75, 127.5, -128.5],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int64'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0n, 0n, 0n, 0n, 1n, -1n, 127n, -128n],
          'descriptor': {shape: [8], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float32 to int8 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, -1.75, 127.5, -128.5],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int8'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, -1, 127, -128],
          'descriptor': {shape: [8], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float32 to uint8 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, 255.5],
          'descriptor': {shape: [6], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'uint8'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, 255],
          'descriptor': {shape: [6], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float32 to uint32 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, 255.5],
          'descriptor': {shape: [6], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'uint32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, 255],
          'descriptor': {shape: [6], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float32 to uint64 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, 255.5],
          'descriptor': {shape: [6], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'uint64'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0n, 0n, 0n, 0n, 1n, 255n],
          'descriptor': {shape: [6], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float32 to itself',
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
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'float32'}],
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
      'tolerance': {metricType: 'ULP', value: 1, signedZero: true}
    }
  },
  {
    'name': '[cast] float16 to int32 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, -1.75, 127.5, -128.5],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, -1, 127, -128],
          'descriptor': {shape: [8], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float16 to int64 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, -1.75, 127.5, -128.5],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int64'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0n, 0n, 0n, 0n, 1n, -1n, 127n, -128n],
          'descriptor': {shape: [8], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float16 to int8 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, -1.75, 127.5, -128.5],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int8'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, -1, 127, -128],
          'descriptor': {shape: [8], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float16 to uint8 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, 255.5],
          'descriptor': {shape: [6], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'uint8'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, 255],
          'descriptor': {shape: [6], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float16 to uint32 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, 255.5],
          'descriptor': {shape: [6], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'uint32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0, 1, 255],
          'descriptor': {shape: [6], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float16 to uint64 truncates',
    'graph': {
      'inputs': {
        'input': {
          'data': [0.5, -0.5, 0, -0, 1.75, 255.5],
          'descriptor': {shape: [6], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'uint64'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0n, 0n, 0n, 0n, 1n, 255n],
          'descriptor': {shape: [6], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] float16 to itself',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'float16'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1, signedZero: true}
    }
  },
  {
    'name': '[cast] float32 to float16: ties to even, overflow',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            2049, 2051, -2049, 65519, 65520, -65520, Infinity, -Infinity, NaN,
            0, -0
          ],
          'descriptor': {shape: [11], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'float16'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            2048, 2052, -2048, 65504, Infinity, -Infinity, Infinity, -Infinity,
            NaN, 0, -0
          ],
          'descriptor': {shape: [11], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1, signedZero: true}
    }
  },
  {
    'name': '[cast] float16 to float32 is exact',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 65504, -65504, 6.103515625e-5
          ],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'float32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 65504, -65504, 6.103515625e-5
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1, signedZero: true}
    }
  },
  {
    'name': '[cast] int32 to float32: ties to even',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            16777217, -16777217, 16777219, -2147483648, -2147483647, 2147483647,
            2147483646, 0, 1, 1073741823, 1073741824
          ],
          'descriptor': {shape: [11], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'float32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            16777216, -16777216, 16777220, -2147483648, -2147483648, 2147483648,
            2147483648, 0, 1, 1073741824, 1073741824
          ],
          'descriptor': {shape: [11], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[cast] uint32 to float32',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'float32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 1, 4294967296, 4294967296, 0, 1, 2147483648, 2147483648],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[cast] int64 to float32',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            4611686018427387904n
          ],
          'descriptor': {shape: [8], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'float32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -9.223372036854776e+18, -9.223372036854776e+18,
            9.223372036854776e+18, 9.223372036854776e+18, 0, 1,
            4.611686018427388e+18, 4.611686018427388e+18
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[cast] uint64 to float32',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n
          ],
          'descriptor': {shape: [8], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'float32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 1, 1.8446744073709552e+19, 1.8446744073709552e+19, 0, 1,
            9.223372036854776e+18, 9.223372036854776e+18
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[cast] int8 to int64 is exact',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [8], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int64'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-128n, -127n, 127n, 126n, 0n, 1n, 63n, 64n],
          'descriptor': {shape: [8], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] uint8 to int32 is exact',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int32'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] uint32 to int64 is exact',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int64'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0n, 1n, 4294967295n, 4294967294n, 0n, 1n, 2147483647n, 2147483648n
          ],
          'descriptor': {shape: [8], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] int32 to int64 is exact',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824
          ],
          'descriptor': {shape: [8], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'int64'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -2147483648n, -2147483647n, 2147483647n, 2147483646n, 0n, 1n,
            1073741823n, 1073741824n
          ],
          'descriptor': {shape: [8], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cast] uint32 to uint64 is exact',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'cast',
        'arguments': [{'input': 'input'}, {'dataType': 'uint64'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0n, 1n, 4294967295n, 4294967294n, 0n, 1n, 2147483647n, 2147483648n
          ],
          'descriptor': {shape: [8], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(castExtremesTests);
