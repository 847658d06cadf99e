// META: title=test WebNN API reduceMin at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-reduce
// Expected values were computed in float64, and rounded to their types.

const reduceMinExtremesTests = [
  {
    'name': '[reduceMin] float32 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] float32 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] float32 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] float32 infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            Infinity, -Infinity, 3.4028234663852886e+38, -Infinity, -Infinity,
            -3.4028234663852886e+38, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 0
          ],
          'descriptor': {shape: [3, 3], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-Infinity, -Infinity, -3.4028234663852886e+38],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] float16 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] float16 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] float16 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] float16 infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            Infinity, -Infinity, 65504, -Infinity, -Infinity, -65504, 65504,
            -65504, 0
          ],
          'descriptor': {shape: [3, 3], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-Infinity, -Infinity, -65504],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] int32 limits',
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
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-2147483648, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] uint32 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [2, 4], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0],
          'descriptor': {shape: [2], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] int64 limits',
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
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-9223372036854775808n, 0n],
          'descriptor': {shape: [2], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] uint64 limits',
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
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0n, 0n],
          'descriptor': {shape: [2], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] int8 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [2, 4], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-128, 0],
          'descriptor': {shape: [2], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceMin] uint8 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [2, 4], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'reduceMin',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0],
          'descriptor': {shape: [2], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(reduceMinExtremesTests);
