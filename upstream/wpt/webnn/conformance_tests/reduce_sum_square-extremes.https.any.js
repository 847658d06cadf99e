// META: title=test WebNN API reduceSumSquare at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-reduce
// Expected values were computed in float64, and rounded to their types.

const reduceSumSquareExtremesTests = [
  {
    'name': '[reduceSumSquare] float32 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[reduceSumSquare] float32 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[reduceSumSquare] float32 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, 5],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceSumSquare] float32 NaN',
    'graph': {
      'inputs': {
        'input': {
          'data': [NaN, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, 5],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceSumSquare] float32 overflow',
    'graph': {
      'inputs': {
        'input': {
          'data': [3.4028234663852886e+38, 1, -3.4028234663852886e+38, 0],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, Infinity],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceSumSquare] float16 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[reduceSumSquare] float16 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[reduceSumSquare] float16 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, 5],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceSumSquare] float16 NaN',
    'graph': {
      'inputs': {
        'input': {
          'data': [NaN, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, 5],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceSumSquare] float16 overflow',
    'graph': {
      'inputs': {
        'input': {
          'data': [65504, 1, -65504, 0],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, Infinity],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceSumSquare] int32 near the limit',
    'graph': {
      'inputs': {
        'input': {
          'data': [46340, 0, 0, 1],
          'descriptor': {shape: [2, 2], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2147395600, 1],
          'descriptor': {shape: [2], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceSumSquare] uint32 near the limit',
    'graph': {
      'inputs': {
        'input': {
          'data': [65535, 0, 0, 1],
          'descriptor': {shape: [2, 2], dataType: 'uint32'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4294836225, 1],
          'descriptor': {shape: [2], dataType: 'uint32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceSumSquare] int64 near the limit',
    'graph': {
      'inputs': {
        'input': {
          'data': [65535n, 0n, 0n, 1n],
          'descriptor': {shape: [2, 2], dataType: 'int64'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4294836225n, 1n],
          'descriptor': {shape: [2], dataType: 'int64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[reduceSumSquare] uint64 near the limit',
    'graph': {
      'inputs': {
        'input': {
          'data': [65535n, 0n, 0n, 1n],
          'descriptor': {shape: [2, 2], dataType: 'uint64'}
        }
      },
      'operators': [{
        'name': 'reduceSumSquare',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4294836225n, 1n],
          'descriptor': {shape: [2], dataType: 'uint64'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(reduceSumSquareExtremesTests);
