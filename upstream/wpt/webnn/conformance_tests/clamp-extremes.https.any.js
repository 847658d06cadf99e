// META: title=test WebNN API clamp at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-clamp
// Expected values were computed in float64, and rounded to their types.

const clampExtremesTests = [
  {
    'name': '[clamp] float32 default bounds',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1.1754943508222875e-38,
            -1.1754943508222875e-38
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1.1754943508222875e-38,
            -1.1754943508222875e-38
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] float32 equal bounds',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 0
          ],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [
          {'input': 'input'}, {'options': {'minValue': 1, 'maxValue': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 1, 1, 1],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] float32 infinite bounds',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 0
          ],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [
          {'input': 'input'},
          {'options': {'minValue': -Infinity, 'maxValue': Infinity}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 0
          ],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] float32 only an upper bound',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 0
          ],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [{'input': 'input'}, {'options': {'maxValue': -1}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-1, -Infinity, -1, -3.4028234663852886e+38, -1],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] float16 default bounds',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, Infinity, -Infinity, 65504, -65504, 6.103515625e-5,
            -6.103515625e-5
          ],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, Infinity, -Infinity, 65504, -65504, 6.103515625e-5,
            -6.103515625e-5
          ],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] float16 equal bounds',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, -Infinity, 65504, -65504, 0],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [
          {'input': 'input'}, {'options': {'minValue': 1, 'maxValue': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 1, 1, 1],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] float16 infinite bounds',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, -Infinity, 65504, -65504, 0],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [
          {'input': 'input'},
          {'options': {'minValue': -Infinity, 'maxValue': Infinity}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -Infinity, 65504, -65504, 0],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] float16 only an upper bound',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, -Infinity, 65504, -65504, 0],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [{'input': 'input'}, {'options': {'maxValue': -1}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-1, -Infinity, -1, -65504, -1],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] int32 limits',
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
        'name': 'clamp',
        'arguments': [
          {'input': 'input'}, {'options': {'minValue': 1, 'maxValue': 100}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 100, 100, 1, 1, 100, 100],
          'descriptor': {shape: [8], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] uint32 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 4294967295, 4294967294, 0, 1, 2147483647, 2147483648],
          'descriptor': {shape: [8], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [
          {'input': 'input'}, {'options': {'minValue': 1, 'maxValue': 100}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 100, 100, 1, 1, 100, 100],
          'descriptor': {shape: [8], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] int64 limits',
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
        'name': 'clamp',
        'arguments': [
          {'input': 'input'}, {'options': {'minValue': 1, 'maxValue': 100}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1n, 1n, 100n, 100n, 1n, 1n, 100n, 100n],
          'descriptor': {shape: [8], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] uint64 limits',
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
        'name': 'clamp',
        'arguments': [
          {'input': 'input'}, {'options': {'minValue': 1, 'maxValue': 100}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1n, 1n, 100n, 100n, 1n, 1n, 100n, 100n],
          'descriptor': {shape: [8], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] int8 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64],
          'descriptor': {shape: [8], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [
          {'input': 'input'}, {'options': {'minValue': 1, 'maxValue': 100}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 100, 100, 1, 1, 63, 64],
          'descriptor': {shape: [8], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[clamp] uint8 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, 255, 254, 0, 1, 127, 128],
          'descriptor': {shape: [8], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'clamp',
        'arguments': [
          {'input': 'input'}, {'options': {'minValue': 1, 'maxValue': 100}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 100, 100, 1, 1, 100, 100],
          'descriptor': {shape: [8], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(clampExtremesTests);
