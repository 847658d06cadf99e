// META: title=test WebNN API matmul at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-matmul
// Expected values were computed in float64, and rounded to their types.

const matmulExtremesTests = [
  {
    'name': '[matmul] float32 one element',
    'graph': {
      'inputs': {
        'a': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float32'}},
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'matmul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[matmul] float32 overflow',
    'graph': {
      'inputs': {
        'a': {
          'data': [3.4028234663852886e+38, -3.4028234663852886e+38, 1],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        },
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'matmul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -Infinity, 2],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[matmul] float32 infinities and 0',
    'graph': {
      'inputs': {
        'a': {
          'data': [Infinity, -Infinity, NaN],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        },
        'b': {
          'data': [0, 1],
          'descriptor': {shape: [1, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'matmul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, Infinity, NaN, -Infinity, NaN, NaN],
          'descriptor': {shape: [3, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[matmul] float32 batches of one',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        },
        'b': {
          'data': [2, 2, 2],
          'descriptor': {shape: [3, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'matmul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4, 4, 4],
          'descriptor': {shape: [1, 3, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[matmul] float16 one element',
    'graph': {
      'inputs': {
        'a': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float16'}},
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'matmul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[matmul] float16 overflow',
    'graph': {
      'inputs': {
        'a': {
          'data': [65504, -65504, 1],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        },
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'matmul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -Infinity, 2],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[matmul] float16 infinities and 0',
    'graph': {
      'inputs': {
        'a': {
          'data': [Infinity, -Infinity, NaN],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        },
        'b': {
          'data': [0, 1],
          'descriptor': {shape: [1, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'matmul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, Infinity, NaN, -Infinity, NaN, NaN],
          'descriptor': {shape: [3, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[matmul] float16 batches of one',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        },
        'b': {
          'data': [2, 2, 2],
          'descriptor': {shape: [3, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'matmul',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4, 4, 4],
          'descriptor': {shape: [1, 3, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  }
];

webnn_values_test(matmulExtremesTests);
