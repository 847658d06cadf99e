// META: title=test WebNN API mul at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-binary
// Expected values were computed in float64, and rounded to their types.

const mulExtremesTests = [
  {
    'name': '[mul] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            Infinity, Infinity, -0, NaN, -1, Infinity, 3.4028234663852886e+38,
            3.4028234663852886e+38
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        },
        'b': {
          'data': [
            0, -Infinity, 1, 0, 0, 1, 3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, -Infinity, -0, NaN, -0, Infinity, Infinity, -Infinity],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[mul] float32 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [6],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[mul] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [Infinity, Infinity, -0, NaN, -1, Infinity, 65504, 65504],
          'descriptor': {shape: [8], dataType: 'float16'}
        },
        'b': {
          'data': [0, -Infinity, 1, 0, 0, 1, 65504, -65504],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, -Infinity, -0, NaN, -0, Infinity, Infinity, -Infinity],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[mul] float16 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [6],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[mul] int32 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [2147483647, -2147483648, 2147483647, 1073741823],
          'descriptor': {shape: [4], dataType: 'int32'}
        },
        'b': {
          'data': [1, 1, 0, 2],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2147483647, -2147483648, 0, 2147483646],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[mul] uint32 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [4294967295, 0, 4294967295, 2147483647],
          'descriptor': {shape: [4], dataType: 'uint32'}
        },
        'b': {
          'data': [1, 1, 0, 2],
          'descriptor': {shape: [4], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4294967295, 0, 0, 4294967294],
          'descriptor': {shape: [4], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[mul] int64 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            9223372036854775807n, -9223372036854775808n, 9223372036854775807n,
            4611686018427387903n
          ],
          'descriptor': {shape: [4], dataType: 'int64'}
        },
        'b': {
          'data': [1n, 1n, 0n, 2n],
          'descriptor': {shape: [4], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            9223372036854775807n, -9223372036854775808n, 0n,
            9223372036854775806n
          ],
          'descriptor': {shape: [4], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[mul] uint64 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            18446744073709551615n, 0n, 18446744073709551615n,
            9223372036854775807n
          ],
          'descriptor': {shape: [4], dataType: 'uint64'}
        },
        'b': {
          'data': [1n, 1n, 0n, 2n],
          'descriptor': {shape: [4], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [18446744073709551615n, 0n, 0n, 18446744073709551614n],
          'descriptor': {shape: [4], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[mul] int8 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [127, -128, 127, 63],
          'descriptor': {shape: [4], dataType: 'int8'}
        },
        'b': {
          'data': [1, 1, 0, 2],
          'descriptor': {shape: [4], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [127, -128, 0, 126],
          'descriptor': {shape: [4], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[mul] uint8 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [255, 0, 255, 127],
          'descriptor': {shape: [4], dataType: 'uint8'}
        },
        'b': {
          'data': [1, 1, 0, 2],
          'descriptor': {shape: [4], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'mul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [255, 0, 0, 254],
          'descriptor': {shape: [4], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(mulExtremesTests);
