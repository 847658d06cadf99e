// META: title=test WebNN API add at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-binary
// Expected values were computed in float64, and rounded to their types.

const addExtremesTests = [
  {
    'name': '[add] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            Infinity, Infinity, 0, NaN, 1, Infinity, 3.4028234663852886e+38,
            3.4028234663852886e+38
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        },
        'b': {
          'data': [
            -Infinity, Infinity, -0, 1, -1, 1, 3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, Infinity, 0, NaN, 0, Infinity, Infinity, 0],
          'descriptor': {shape: [8], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[add] float32 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [5],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[add] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [Infinity, Infinity, 0, NaN, 1, Infinity, 65504, 65504],
          'descriptor': {shape: [8], dataType: 'float16'}
        },
        'b': {
          'data': [-Infinity, Infinity, -0, 1, -1, 1, 65504, -65504],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, Infinity, 0, NaN, 0, Infinity, Infinity, 0],
          'descriptor': {shape: [8], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[add] float16 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [5],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[add] int32 up to the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            2147483647, -2147483648, 2147483646, -2147483647, -2147483648
          ],
          'descriptor': {shape: [5], dataType: 'int32'}
        },
        'b': {
          'data': [0, 0, 1, 0, 2147483647],
          'descriptor': {shape: [5], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2147483647, -2147483648, 2147483647, -2147483647, -1],
          'descriptor': {shape: [5], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[add] uint32 up to the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [4294967295, 0, 4294967294, 1, 0],
          'descriptor': {shape: [5], dataType: 'uint32'}
        },
        'b': {
          'data': [0, 0, 1, 0, 4294967295],
          'descriptor': {shape: [5], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4294967295, 0, 4294967295, 1, 4294967295],
          'descriptor': {shape: [5], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[add] int64 up to the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            9223372036854775807n, -9223372036854775808n, 9223372036854775806n,
            -9223372036854775807n, -9223372036854775808n
          ],
          'descriptor': {shape: [5], dataType: 'int64'}
        },
        'b': {
          'data': [0n, 0n, 1n, 0n, 9223372036854775807n],
          'descriptor': {shape: [5], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            9223372036854775807n, -9223372036854775808n, 9223372036854775807n,
            -9223372036854775807n, -1n
          ],
          'descriptor': {shape: [5], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[add] uint64 up to the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [18446744073709551615n, 0n, 18446744073709551614n, 1n, 0n],
          'descriptor': {shape: [5], dataType: 'uint64'}
        },
        'b': {
          'data': [0n, 0n, 1n, 0n, 18446744073709551615n],
          'descriptor': {shape: [5], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            18446744073709551615n, 0n, 18446744073709551615n, 1n,
            18446744073709551615n
          ],
          'descriptor': {shape: [5], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[add] int8 up to the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [127, -128, 126, -127, -128],
          'descriptor': {shape: [5], dataType: 'int8'}
        },
        'b': {
          'data': [0, 0, 1, 0, 127],
          'descriptor': {shape: [5], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [127, -128, 127, -127, -1],
          'descriptor': {shape: [5], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[add] uint8 up to the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [255, 0, 254, 1, 0],
          'descriptor': {shape: [5], dataType: 'uint8'}
        },
        'b': {
          'data': [0, 0, 1, 0, 255],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'add',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [255, 0, 255, 1, 255],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(addExtremesTests);
