// META: title=test WebNN API split at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-split
// Expected values were computed in float64, and rounded to their types.

const splitExtremesTests = [
  {
    'name': '[split] float32 special elements',
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
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': [1, 6, 1]}],
        'outputs': ['output0', 'output1', 'output2']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'output1': {
          'data': [
            -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [6], dataType: 'float32'}
        },
        'output2': {
          'data': [1],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[split] float16 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': [1, 6, 1]}],
        'outputs': ['output0', 'output1', 'output2']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'float16'}
        },
        'output1': {
          'data': [-0, Infinity, -Infinity, NaN, 65504, -65504],
          'descriptor': {shape: [6], dataType: 'float16'}
        },
        'output2': {
          'data': [1],
          'descriptor': {shape: [1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[split] int32 special elements',
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
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': [1, 6, 1]}],
        'outputs': ['output0', 'output1', 'output2']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [-2147483648],
          'descriptor': {shape: [1], dataType: 'int32'}
        },
        'output1': {
          'data': [-2147483647, 2147483647, 2147483646, 0, 1, 1073741823],
          'descriptor': {shape: [6], dataType: 'int32'}
        },
        'output2': {
          'data': [1073741824],
          'descriptor': {shape: [1], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[split] uint32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': [1, 6, 1]}],
        'outputs': ['output0', 'output1', 'output2']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'uint32'}
        },
        'output1': {
          'data': [1, 4294967295, 4294967294, 0, 1, 2147483647],
          'descriptor': {shape: [6], dataType: 'uint32'}
        },
        'output2': {
          'data': [2147483648],
          'descriptor': {shape: [1], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[split] int64 special elements',
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
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': [1, 6, 1]}],
        'outputs': ['output0', 'output1', 'output2']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [-9223372036854775808n],
          'descriptor': {shape: [1], dataType: 'int64'}
        },
        'output1': {
          'data': [
            -9223372036854775807n, 9223372036854775807n, 9223372036854775806n,
            0n, 1n, 4611686018427387903n
          ],
          'descriptor': {shape: [6], dataType: 'int64'}
        },
        'output2': {
          'data': [4611686018427387904n],
          'descriptor': {shape: [1], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[split] uint64 special elements',
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
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': [1, 6, 1]}],
        'outputs': ['output0', 'output1', 'output2']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0n],
          'descriptor': {shape: [1], dataType: 'uint64'}
        },
        'output1': {
          'data': [
            1n, 18446744073709551615n, 18446744073709551614n, 0n, 1n,
            9223372036854775807n
          ],
          'descriptor': {shape: [6], dataType: 'uint64'}
        },
        'output2': {
          'data': [9223372036854775808n],
          'descriptor': {shape: [1], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[split] int8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [8], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': [1, 6, 1]}],
        'outputs': ['output0', 'output1', 'output2']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [-128],
          'descriptor': {shape: [1], dataType: 'int8'}
        },
        'output1': {
          'data': [-127, 127, 126, 0, 1, 63],
          'descriptor': {shape: [6], dataType: 'int8'}
        },
        'output2': {'data': [64], 'descriptor': {shape: [1], dataType: 'int8'}}
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[split] uint8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': [1, 6, 1]}],
        'outputs': ['output0', 'output1', 'output2']
      }],
      'expectedOutputs': {
        'output0': {'data': [0], 'descriptor': {shape: [1], dataType: 'uint8'}},
        'output1': {
          'data': [1, 255, 254, 0, 1, 127],
          'descriptor': {shape: [6], dataType: 'uint8'}
        },
        'output2': {
          'data': [128],
          'descriptor': {shape: [1], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[split] one part',
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
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': 1}],
        'outputs': ['output0']
      }],
      'expectedOutputs': {
        'output0': {
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
    'name': '[split] parts of one element',
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
        'name': 'split',
        'arguments': [{'input': 'input'}, {'splits': 8}],
        'outputs': [
          'output0', 'output1', 'output2', 'output3', 'output4', 'output5',
          'output6', 'output7'
        ]
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'output1': {
          'data': [-0],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'output2': {
          'data': [Infinity],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'output3': {
          'data': [-Infinity],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'output4': {
          'data': [NaN],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'output5': {
          'data': [3.4028234663852886e+38],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'output6': {
          'data': [-3.4028234663852886e+38],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'output7': {
          'data': [1],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[split] along the last of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [NaN],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'split',
        'arguments': [
          {'input': 'input'}, {'splits': [1]}, {'options': {'axis': 4}}
        ],
        'outputs': ['output0']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [NaN],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  }
];

webnn_values_test(splitExtremesTests);
