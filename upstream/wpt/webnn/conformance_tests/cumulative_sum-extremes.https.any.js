// META: title=test WebNN API cumulativeSum at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-cumulativesum
// Expected values were computed in float64, and rounded to their types.

const cumulativeSumExtremesTests = [
  {
    'name': '[cumulativeSum] float32 an infinity stays',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, Infinity, 1],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, Infinity, Infinity],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[cumulativeSum] float32 infinities of both signs',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, -Infinity, 1],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, Infinity, NaN, NaN],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[cumulativeSum] float32 overflow',
    'graph': {
      'inputs': {
        'input': {
          'data': [3.4028234663852886e+38, 3.4028234663852886e+38, 1],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [3.4028234663852886e+38, Infinity, Infinity],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[cumulativeSum] float32 one element, exclusive',
    'graph': {
      'inputs': {
        'input': {
          'data': [3.4028234663852886e+38],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [
          {'input': 'input'}, {'axis': 4}, {'options': {'exclusive': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cumulativeSum] float32 reversed and exclusive',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2, 3.4028234663852886e+38],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [
          {'input': 'input'}, {'axis': 0},
          {'options': {'exclusive': true, 'reversed': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [3.4028234663852886e+38, 3.4028234663852886e+38, 0],
          'descriptor': {shape: [3], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[cumulativeSum] float16 an infinity stays',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, Infinity, 1],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, Infinity, Infinity],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[cumulativeSum] float16 infinities of both signs',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, -Infinity, 1],
          'descriptor': {shape: [4], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, Infinity, NaN, NaN],
          'descriptor': {shape: [4], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[cumulativeSum] float16 overflow',
    'graph': {
      'inputs': {
        'input': {
          'data': [65504, 65504, 1],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [65504, Infinity, Infinity],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[cumulativeSum] float16 one element, exclusive',
    'graph': {
      'inputs': {
        'input': {
          'data': [65504],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [
          {'input': 'input'}, {'axis': 4}, {'options': {'exclusive': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cumulativeSum] float16 reversed and exclusive',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2, 65504],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [
          {'input': 'input'}, {'axis': 0},
          {'options': {'exclusive': true, 'reversed': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [65504, 65504, 0],
          'descriptor': {shape: [3], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[cumulativeSum] int32 up to the limit',
    'graph': {
      'inputs': {
        'input': {
          'data': [2147483645, 1, 1],
          'descriptor': {shape: [3], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2147483645, 2147483646, 2147483647],
          'descriptor': {shape: [3], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cumulativeSum] uint32 up to the limit',
    'graph': {
      'inputs': {
        'input': {
          'data': [4294967293, 1, 1],
          'descriptor': {shape: [3], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4294967293, 4294967294, 4294967295],
          'descriptor': {shape: [3], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cumulativeSum] int64 up to the limit',
    'graph': {
      'inputs': {
        'input': {
          'data': [9223372036854775805n, 1n, 1n],
          'descriptor': {shape: [3], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            9223372036854775805n, 9223372036854775806n, 9223372036854775807n
          ],
          'descriptor': {shape: [3], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[cumulativeSum] uint64 up to the limit',
    'graph': {
      'inputs': {
        'input': {
          'data': [18446744073709551613n, 1n, 1n],
          'descriptor': {shape: [3], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'cumulativeSum',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            18446744073709551613n, 18446744073709551614n, 18446744073709551615n
          ],
          'descriptor': {shape: [3], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(cumulativeSumExtremesTests);
