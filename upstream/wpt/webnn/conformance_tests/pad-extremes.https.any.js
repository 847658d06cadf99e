// META: title=test WebNN API pad at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-pad
// Expected values were computed in float64, and rounded to their types.

const padExtremesTests = [
  {
    'name': '[pad] float32 special elements',
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
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [2]}, {'endingPadding': [1]},
          {'options': {'mode': 'edge'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 0, 0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1, 1
          ],
          'descriptor': {shape: [11], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] float16 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [2]}, {'endingPadding': [1]},
          {'options': {'mode': 'edge'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, -0, Infinity, -Infinity, NaN, 65504, -65504, 1, 1],
          'descriptor': {shape: [11], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] int32 special elements',
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
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [2]}, {'endingPadding': [1]},
          {'options': {'mode': 'edge'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -2147483648, -2147483648, -2147483648, -2147483647, 2147483647,
            2147483646, 0, 1, 1073741823, 1073741824, 1073741824
          ],
          'descriptor': {shape: [11], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] uint32 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [2]}, {'endingPadding': [1]},
          {'options': {'mode': 'edge'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 0, 0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648,
            2147483648
          ],
          'descriptor': {shape: [11], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] int64 special elements',
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
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [2]}, {'endingPadding': [1]},
          {'options': {'mode': 'edge'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -9223372036854775808n, -9223372036854775808n, -9223372036854775808n,
            -9223372036854775807n, 9223372036854775807n, 9223372036854775806n,
            0n, 1n, 4611686018427387903n, 4611686018427387904n,
            4611686018427387904n
          ],
          'descriptor': {shape: [11], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] uint64 special elements',
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
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [2]}, {'endingPadding': [1]},
          {'options': {'mode': 'edge'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0n, 0n, 0n, 1n, 18446744073709551615n, 18446744073709551614n, 0n,
            1n, 9223372036854775807n, 9223372036854775808n,
            9223372036854775808n
          ],
          'descriptor': {shape: [11], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] int8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [8], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [2]}, {'endingPadding': [1]},
          {'options': {'mode': 'edge'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-128, -128, -128, -127, 127, 126, 0, 1, 63, 64, 64],
          'descriptor': {shape: [11], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] uint8 special elements',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [2]}, {'endingPadding': [1]},
          {'options': {'mode': 'edge'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 1, 255, 254, 0, 1, 127, 128, 128],
          'descriptor': {shape: [11], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] nothing',
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
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [0]}, {'endingPadding': [0]}
        ],
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
    'name': '[pad] an infinity',
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
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [2]},
          {'options': {'value': Infinity}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            Infinity, 0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1, Infinity, Infinity
          ],
          'descriptor': {shape: [11], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] NaN',
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
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': NaN}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            NaN, 0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1, NaN
          ],
          'descriptor': {shape: [10], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] negative zero',
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
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': -0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -0, 0, -0, Infinity, -Infinity, NaN, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1, -0
          ],
          'descriptor': {shape: [10], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] float16 overflow of the value',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [1], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': 3.4028234663852886e+38}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, 1, Infinity],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] int32 the largest value',
    'graph': {
      'inputs': {
        'input': {'data': [0], 'descriptor': {shape: [1], dataType: 'int32'}}
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': 2147483647}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2147483647, 0, 2147483647],
          'descriptor': {shape: [3], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] int32 the smallest value',
    'graph': {
      'inputs': {
        'input': {'data': [0], 'descriptor': {shape: [1], dataType: 'int32'}}
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': -2147483648}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-2147483648, 0, -2147483648],
          'descriptor': {shape: [3], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] uint32 the largest value',
    'graph': {
      'inputs': {
        'input': {'data': [0], 'descriptor': {shape: [1], dataType: 'uint32'}}
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': 4294967295}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4294967295, 0, 4294967295],
          'descriptor': {shape: [3], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] int64 the largest value',
    'graph': {
      'inputs': {
        'input': {'data': [0n], 'descriptor': {shape: [1], dataType: 'int64'}}
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': 9007199254740991}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [9007199254740991n, 0n, 9007199254740991n],
          'descriptor': {shape: [3], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] uint64 the largest value',
    'graph': {
      'inputs': {
        'input': {'data': [0n], 'descriptor': {shape: [1], dataType: 'uint64'}}
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': 9007199254740991}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [9007199254740991n, 0n, 9007199254740991n],
          'descriptor': {shape: [3], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] int8 the largest value',
    'graph': {
      'inputs': {
        'input': {'data': [0], 'descriptor': {shape: [1], dataType: 'int8'}}
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': 127}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [127, 0, 127],
          'descriptor': {shape: [3], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] int8 the smallest value',
    'graph': {
      'inputs': {
        'input': {'data': [0], 'descriptor': {shape: [1], dataType: 'int8'}}
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': -128}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-128, 0, -128],
          'descriptor': {shape: [3], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] uint8 the largest value',
    'graph': {
      'inputs': {
        'input': {'data': [0], 'descriptor': {shape: [1], dataType: 'uint8'}}
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [1]}, {'endingPadding': [1]},
          {'options': {'value': 255}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [255, 0, 255],
          'descriptor': {shape: [3], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] the edge of one element, far',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [7]}, {'endingPadding': [9]},
          {'options': {'mode': 'edge'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            Infinity, Infinity, Infinity, Infinity, Infinity, Infinity,
            Infinity, Infinity, Infinity, Infinity, Infinity, Infinity,
            Infinity, Infinity, Infinity, Infinity, Infinity
          ],
          'descriptor': {shape: [17], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[pad] as many reflected elements as there can be',
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
        'name': 'pad',
        'arguments': [
          {'input': 'input'}, {'beginningPadding': [7]}, {'endingPadding': [7]},
          {'options': {'mode': 'reflection'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            1, -3.4028234663852886e+38, 3.4028234663852886e+38, NaN, -Infinity,
            Infinity, -0, 0, -0, Infinity, -Infinity, NaN,
            3.4028234663852886e+38, -3.4028234663852886e+38, 1,
            -3.4028234663852886e+38, 3.4028234663852886e+38, NaN, -Infinity,
            Infinity, -0, 0
          ],
          'descriptor': {shape: [22], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  }
];

webnn_values_test(padExtremesTests);
