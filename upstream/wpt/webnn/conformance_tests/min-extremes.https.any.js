// META: title=test WebNN API min at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-binary
// Expected values were computed in float64, and rounded to their types.

const minExtremesTests = [
  {
    'name': '[min] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [Infinity, -Infinity, Infinity, -1, 3.4028234663852886e+38],
          'descriptor': {shape: [5], dataType: 'float32'}
        },
        'b': {
          'data': [-Infinity, 1, 1, -2, -3.4028234663852886e+38],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-Infinity, -Infinity, 1, -2, -3.4028234663852886e+38],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[min] float32 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
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
    'name': '[min] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [Infinity, -Infinity, Infinity, -1, 65504],
          'descriptor': {shape: [5], dataType: 'float16'}
        },
        'b': {
          'data': [-Infinity, 1, 1, -2, -65504],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-Infinity, -Infinity, 1, -2, -65504],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[min] float16 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
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
    'name': '[min] int32 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [-2147483648, 2147483647, -2147483648, 0],
          'descriptor': {shape: [4], dataType: 'int32'}
        },
        'b': {
          'data': [2147483647, 2147483646, -2147483647, 2147483647],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-2147483648, 2147483646, -2147483648, 0],
          'descriptor': {shape: [4], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[min] uint32 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [0, 4294967295, 0, 0],
          'descriptor': {shape: [4], dataType: 'uint32'}
        },
        'b': {
          'data': [4294967295, 4294967294, 1, 4294967295],
          'descriptor': {shape: [4], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 4294967294, 0, 0],
          'descriptor': {shape: [4], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[min] int64 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            -9223372036854775808n, 9223372036854775807n, -9223372036854775808n,
            0n
          ],
          'descriptor': {shape: [4], dataType: 'int64'}
        },
        'b': {
          'data': [
            9223372036854775807n, 9223372036854775806n, -9223372036854775807n,
            9223372036854775807n
          ],
          'descriptor': {shape: [4], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            -9223372036854775808n, 9223372036854775806n, -9223372036854775808n,
            0n
          ],
          'descriptor': {shape: [4], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[min] uint64 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [0n, 18446744073709551615n, 0n, 0n],
          'descriptor': {shape: [4], dataType: 'uint64'}
        },
        'b': {
          'data': [
            18446744073709551615n, 18446744073709551614n, 1n,
            18446744073709551615n
          ],
          'descriptor': {shape: [4], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0n, 18446744073709551614n, 0n, 0n],
          'descriptor': {shape: [4], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[min] int8 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [-128, 127, -128, 0],
          'descriptor': {shape: [4], dataType: 'int8'}
        },
        'b': {
          'data': [127, 126, -127, 127],
          'descriptor': {shape: [4], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-128, 126, -128, 0],
          'descriptor': {shape: [4], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[min] uint8 limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [0, 255, 0, 0],
          'descriptor': {shape: [4], dataType: 'uint8'}
        },
        'b': {
          'data': [255, 254, 1, 255],
          'descriptor': {shape: [4], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'min',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 254, 0, 0],
          'descriptor': {shape: [4], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(minExtremesTests);
