// META: title=test WebNN API div at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-binary
// Expected values were computed in float64, and rounded to their types.

const divExtremesTests = [
  {
    'name': '[div] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [1, -1, 1, 0, Infinity, 1, NaN, 3.4028234663852886e+38],
          'descriptor': {shape: [8], dataType: 'float32'}
        },
        'b': {
          'data': [0, 0, -0, 0, Infinity, Infinity, 1, 3.4028234663852886e+38],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -Infinity, -Infinity, NaN, NaN, 0, NaN, 1],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[div] float32 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.6666666865348816],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[div] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [1, -1, 1, 0, Infinity, 1, NaN, 65504],
          'descriptor': {shape: [8], dataType: 'float16'}
        },
        'b': {
          'data': [0, 0, -0, 0, Infinity, Infinity, 1, 65504],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -Infinity, -Infinity, NaN, NaN, 0, NaN, 1],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[div] float16 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.66650390625],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[div] int32 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [2147483647, -2147483648, 2147483647, 0, 2147483647],
          'descriptor': {shape: [5], dataType: 'int32'}
        },
        'b': {
          'data': [1, 1, 2147483647, 2147483647, 2],
          'descriptor': {shape: [5], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2147483647, -2147483648, 1, 0, 1073741823],
          'descriptor': {shape: [5], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[div] uint32 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [4294967295, 0, 4294967295, 0, 4294967295],
          'descriptor': {shape: [5], dataType: 'uint32'}
        },
        'b': {
          'data': [1, 1, 4294967295, 4294967295, 2],
          'descriptor': {shape: [5], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4294967295, 0, 1, 0, 2147483647],
          'descriptor': {shape: [5], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[div] int64 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            9223372036854775807n, -9223372036854775808n, 9223372036854775807n,
            0n, 9223372036854775807n
          ],
          'descriptor': {shape: [5], dataType: 'int64'}
        },
        'b': {
          'data': [1n, 1n, 9223372036854775807n, 9223372036854775807n, 2n],
          'descriptor': {shape: [5], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            9223372036854775807n, -9223372036854775808n, 1n, 0n,
            4611686018427387903n
          ],
          'descriptor': {shape: [5], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[div] uint64 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            18446744073709551615n, 0n, 18446744073709551615n, 0n,
            18446744073709551615n
          ],
          'descriptor': {shape: [5], dataType: 'uint64'}
        },
        'b': {
          'data': [1n, 1n, 18446744073709551615n, 18446744073709551615n, 2n],
          'descriptor': {shape: [5], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [18446744073709551615n, 0n, 1n, 0n, 9223372036854775807n],
          'descriptor': {shape: [5], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[div] int8 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [127, -128, 127, 0, 127],
          'descriptor': {shape: [5], dataType: 'int8'}
        },
        'b': {
          'data': [1, 1, 127, 127, 2],
          'descriptor': {shape: [5], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [127, -128, 1, 0, 63],
          'descriptor': {shape: [5], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[div] uint8 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [255, 0, 255, 0, 255],
          'descriptor': {shape: [5], dataType: 'uint8'}
        },
        'b': {
          'data': [1, 1, 255, 255, 2],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'div',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [255, 0, 1, 0, 127],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(divExtremesTests);
