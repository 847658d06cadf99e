// META: title=test WebNN API gatherND at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gathernd
// Expected values were computed in float64, and rounded to their types.

const gatherNDExtremesTests = [
  {
    'name': '[gatherND] float32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [2, 4], dataType: 'float32'}
        },
        'indices': {
          'data': [1, 3, 0, 0, -1, -4],
          'descriptor': {shape: [3, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gatherND',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0, NaN],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gatherND] float16 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [2, 4], dataType: 'float16'}
        },
        'indices': {
          'data': [1, 3, 0, 0, -1, -4],
          'descriptor': {shape: [3, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gatherND',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0, NaN],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gatherND] int32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824
          ],
          'descriptor': {shape: [2, 4], dataType: 'int32'}
        },
        'indices': {
          'data': [1, 3, 0, 0, -1, -4],
          'descriptor': {shape: [3, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gatherND',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1073741824, -2147483648, 0],
          'descriptor': {shape: [3], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gatherND] uint32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [2, 4], dataType: 'uint32'}
        },
        'indices': {
          'data': [1, 3, 0, 0, -1, -4],
          'descriptor': {shape: [3, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gatherND',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2147483648, 0, 0],
          'descriptor': {shape: [3], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gatherND] int64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            4611686018427387904n
          ],
          'descriptor': {shape: [2, 4], dataType: 'int64'}
        },
        'indices': {
          'data': [1, 3, 0, 0, -1, -4],
          'descriptor': {shape: [3, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gatherND',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4611686018427387904n, -9223372036854775808n, 0n],
          'descriptor': {shape: [3], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gatherND] uint64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n
          ],
          'descriptor': {shape: [2, 4], dataType: 'uint64'}
        },
        'indices': {
          'data': [1, 3, 0, 0, -1, -4],
          'descriptor': {shape: [3, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gatherND',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [9223372036854775808n, 0n, 0n],
          'descriptor': {shape: [3], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gatherND] int8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [2, 4], dataType: 'int8'}
        },
        'indices': {
          'data': [1, 3, 0, 0, -1, -4],
          'descriptor': {shape: [3, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gatherND',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [64, -128, 0],
          'descriptor': {shape: [3], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gatherND] uint8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [2, 4], dataType: 'uint8'}
        },
        'indices': {
          'data': [1, 3, 0, 0, -1, -4],
          'descriptor': {shape: [3, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gatherND',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [128, 0, 0],
          'descriptor': {shape: [3], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gatherND] a whole tensor of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [NaN],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        },
        'indices': {
          'data': [0],
          'descriptor': {shape: [1, 1], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gatherND',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
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
  }
];

webnn_values_test(gatherNDExtremesTests);
