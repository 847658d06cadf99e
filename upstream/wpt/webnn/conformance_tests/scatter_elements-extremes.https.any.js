// META: title=test WebNN API scatterElements at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-scatterelements
// Expected values were computed in float64, and rounded to their types.

const scatterElementsExtremesTests = [
  {
    'name': '[scatterElements] float32 special elements',
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
          'data': [-1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        },
        'updates': {
          'data': [-0, Infinity],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'scatterElements',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'updates': 'updates'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            Infinity, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, -0
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[scatterElements] float16 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        },
        'indices': {
          'data': [-1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        },
        'updates': {
          'data': [-0, Infinity],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'scatterElements',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'updates': 'updates'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -0, Infinity, -Infinity, NaN, 65504, -65504, -0],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[scatterElements] int32 special elements',
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
          'data': [-1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        },
        'updates': {
          'data': [-2147483647, 2147483647],
          'descriptor': {shape: [2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'scatterElements',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'updates': 'updates'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            2147483647, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            -2147483647
          ],
          'descriptor': {shape: [8], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[scatterElements] uint32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        },
        'indices': {
          'data': [-1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        },
        'updates': {
          'data': [1, 4294967295],
          'descriptor': {shape: [2], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'scatterElements',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'updates': 'updates'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4294967295, 1, 4294967295, 4294967294, 0, 1, 2147483647, 1],
          'descriptor': {shape: [8], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[scatterElements] int64 special elements',
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
          'data': [-1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        },
        'updates': {
          'data': [-9223372036854775807n, 9223372036854775807n],
          'descriptor': {shape: [2], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'scatterElements',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'updates': 'updates'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            9223372036854775807n, -9223372036854775807n, 9223372036854775807n,
            9223372036854775806n, 0n, 1n, 4611686018427387903n,
            -9223372036854775807n
          ],
          'descriptor': {shape: [8], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[scatterElements] uint64 special elements',
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
          'data': [-1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        },
        'updates': {
          'data': [1n, 18446744073709551615n],
          'descriptor': {shape: [2], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'scatterElements',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'updates': 'updates'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            18446744073709551615n, 1n, 18446744073709551615n,
            18446744073709551614n, 0n, 1n, 9223372036854775807n, 1n
          ],
          'descriptor': {shape: [8], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[scatterElements] int8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [8], dataType: 'int8'}
        },
        'indices': {
          'data': [-1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        },
        'updates': {
          'data': [-127, 127],
          'descriptor': {shape: [2], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'scatterElements',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'updates': 'updates'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [127, -127, 127, 126, 0, 1, 63, -127],
          'descriptor': {shape: [8], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[scatterElements] uint8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8], dataType: 'uint8'}
        },
        'indices': {
          'data': [-1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        },
        'updates': {
          'data': [1, 255],
          'descriptor': {shape: [2], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'scatterElements',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'updates': 'updates'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [255, 1, 255, 254, 0, 1, 127, 1],
          'descriptor': {shape: [8], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[scatterElements] the only element',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'indices': {'data': [0], 'descriptor': {shape: [1], dataType: 'int32'}},
        'updates': {
          'data': [NaN],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'scatterElements',
        'arguments': [
          {'input': 'input'}, {'indices': 'indices'}, {'updates': 'updates'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  }
];

webnn_values_test(scatterElementsExtremesTests);
