// META: title=test WebNN API argMin at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-argminmax
// Expected values were computed in float64, and rounded to their types.

const argMinExtremesTests = [
  {
    'name': '[argMin] float32 infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            Infinity, 3.4028234663852886e+38, -Infinity,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'argMin',
        'arguments': [
          {'input': 'input'}, {'axis': 1},
          {'options': {'outputDataType': 'int64'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1n, 0n],
          'descriptor': {shape: [2], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[argMin] float16 infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 65504, -Infinity, -65504],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'argMin',
        'arguments': [
          {'input': 'input'}, {'axis': 1},
          {'options': {'outputDataType': 'int64'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1n, 0n],
          'descriptor': {shape: [2], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[argMin] int32 neighbours at the limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [2147483647, 2147483646, -2147483648, -2147483647],
          'descriptor': {shape: [2, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'argMin',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[argMin] uint32 neighbours at the limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [4294967295, 4294967294, 0, 1],
          'descriptor': {shape: [2, 2], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'argMin',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[argMin] int64 neighbours at the limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            9223372036854775807n, 9223372036854775806n, -9223372036854775808n,
            -9223372036854775807n
          ],
          'descriptor': {shape: [2, 2], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'argMin',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[argMin] uint64 neighbours at the limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [18446744073709551615n, 18446744073709551614n, 0n, 1n],
          'descriptor': {shape: [2, 2], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'argMin',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[argMin] int8 neighbours at the limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [127, 126, -128, -127],
          'descriptor': {shape: [2, 2], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'argMin',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[argMin] uint8 neighbours at the limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [255, 254, 0, 1],
          'descriptor': {shape: [2, 2], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'argMin',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0],
          'descriptor': {shape: [2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[argMin] one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'argMin',
        'arguments': [
          {'input': 'input'}, {'axis': 4},
          {'options': {'keepDimensions': true, 'outputDataType': 'int32'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(argMinExtremesTests);
