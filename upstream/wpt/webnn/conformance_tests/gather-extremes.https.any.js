// META: title=test WebNN API gather at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gather
// Expected values were computed in float64, and rounded to their types.

const gatherExtremesTests = [
  {
    'name': '[gather] float32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        },
        'indices': {
          'data': [7, -1, 0, -8],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gather',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 0, 0],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gather] float16 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        },
        'indices': {
          'data': [7, -1, 0, -8],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gather',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 0, 0],
          'descriptor': {shape: [4], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gather] int32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824
          ],
          'descriptor': {shape: [8], dataType: 'int32'}
        },
        'indices': {
          'data': [7, -1, 0, -8],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gather',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1073741824, 1073741824, -2147483648, -2147483648],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gather] uint32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        },
        'indices': {
          'data': [7, -1, 0, -8],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gather',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2147483648, 2147483648, 0, 0],
          'descriptor': {shape: [4], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gather] int64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -9223372036854775808n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            4611686018427387904n
          ],
          'descriptor': {shape: [8], dataType: 'int64'}
        },
        'indices': {
          'data': [7, -1, 0, -8],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gather',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            4611686018427387904n, 4611686018427387904n, -9223372036854775808n,
            -9223372036854775808n
          ],
          'descriptor': {shape: [4], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gather] uint64 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n, 9223372036854775808n
          ],
          'descriptor': {shape: [8], dataType: 'uint64'}
        },
        'indices': {
          'data': [7, -1, 0, -8],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gather',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [9223372036854775808n, 9223372036854775808n, 0n, 0n],
          'descriptor': {shape: [4], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gather] int8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [8], dataType: 'int8'}
        },
        'indices': {
          'data': [7, -1, 0, -8],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gather',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [64, 64, -128, -128],
          'descriptor': {shape: [4], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gather] uint8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8], dataType: 'uint8'}
        },
        'indices': {
          'data': [7, -1, 0, -8],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'gather',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [128, 128, 0, 0],
          'descriptor': {shape: [4], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gather] a scalar index',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        },
        'indices': {'data': [-8], 'descriptor': {shape: [], dataType: 'int32'}}
      },
      'operators': [{
        'name': 'gather',
        'arguments': [{'input': 'input'}, {'indices': 'indices'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [0], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[gather] the last axis, dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [NaN],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        },
        'indices': {'data': [0], 'descriptor': {shape: [1], dataType: 'int32'}}
      },
      'operators': [{
        'name': 'gather',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'options': {'axis': 4}}
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
  }
];

webnn_values_test(gatherExtremesTests);
