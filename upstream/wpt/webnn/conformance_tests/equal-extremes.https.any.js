// META: title=test WebNN API equal at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-logical
// Expected values were computed in float64, and rounded to their types.

const equalExtremesTests = [
  {
    'name': '[equal] int32 neighbours at the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            2147483647, 2147483646, -2147483648, -2147483648, 2147483647,
            -2147483648
          ],
          'descriptor': {shape: [6], dataType: 'int32'}
        },
        'b': {
          'data': [
            2147483646, 2147483647, -2147483647, -2147483648, 2147483647,
            2147483647
          ],
          'descriptor': {shape: [6], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'equal',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 1, 1, 0],
          'descriptor': {shape: [6], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[equal] uint32 neighbours at the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [4294967295, 4294967294, 0, 0, 4294967295, 0],
          'descriptor': {shape: [6], dataType: 'uint32'}
        },
        'b': {
          'data': [4294967294, 4294967295, 1, 0, 4294967295, 4294967295],
          'descriptor': {shape: [6], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'equal',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 1, 1, 0],
          'descriptor': {shape: [6], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[equal] int64 neighbours at the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            9223372036854775807n, 9223372036854775806n, -9223372036854775808n,
            -9223372036854775808n, 9223372036854775807n, -9223372036854775808n
          ],
          'descriptor': {shape: [6], dataType: 'int64'}
        },
        'b': {
          'data': [
            9223372036854775806n, 9223372036854775807n, -9223372036854775807n,
            -9223372036854775808n, 9223372036854775807n, 9223372036854775807n
          ],
          'descriptor': {shape: [6], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'equal',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 1, 1, 0],
          'descriptor': {shape: [6], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[equal] uint64 neighbours at the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [
            18446744073709551615n, 18446744073709551614n, 0n, 0n,
            18446744073709551615n, 0n
          ],
          'descriptor': {shape: [6], dataType: 'uint64'}
        },
        'b': {
          'data': [
            18446744073709551614n, 18446744073709551615n, 1n, 0n,
            18446744073709551615n, 18446744073709551615n
          ],
          'descriptor': {shape: [6], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'equal',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 1, 1, 0],
          'descriptor': {shape: [6], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[equal] int8 neighbours at the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [127, 126, -128, -128, 127, -128],
          'descriptor': {shape: [6], dataType: 'int8'}
        },
        'b': {
          'data': [126, 127, -127, -128, 127, 127],
          'descriptor': {shape: [6], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'equal',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 1, 1, 0],
          'descriptor': {shape: [6], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[equal] uint8 neighbours at the limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [255, 254, 0, 0, 255, 0],
          'descriptor': {shape: [6], dataType: 'uint8'}
        },
        'b': {
          'data': [254, 255, 1, 0, 255, 255],
          'descriptor': {shape: [6], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'equal',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 1, 1, 0],
          'descriptor': {shape: [6], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[equal] float32 NaN, infinities and zeros',
    'graph': {
      'inputs': {
        'a': {
          'data': [NaN, NaN, Infinity, Infinity, -Infinity, -Infinity, 0],
          'descriptor': {shape: [7], dataType: 'float32'}
        },
        'b': {
          'data': [
            NaN, 1, Infinity, 3.4028234663852886e+38, -3.4028234663852886e+38,
            Infinity, -0
          ],
          'descriptor': {shape: [7], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'equal',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 1, 0, 0, 0, 1],
          'descriptor': {shape: [7], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[equal] float16 NaN, infinities and zeros',
    'graph': {
      'inputs': {
        'a': {
          'data': [NaN, NaN, Infinity, Infinity, -Infinity, -Infinity, 0],
          'descriptor': {shape: [7], dataType: 'float16'}
        },
        'b': {
          'data': [NaN, 1, Infinity, 65504, -65504, Infinity, -0],
          'descriptor': {shape: [7], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'equal',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 1, 0, 0, 0, 1],
          'descriptor': {shape: [7], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(equalExtremesTests);
