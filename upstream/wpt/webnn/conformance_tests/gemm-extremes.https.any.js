// META: title=test WebNN API gemm at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gemm
// Expected values were computed in float64, and rounded to their types.

const gemmExtremesTests = [
  {
    'name': '[gemm] float32 one element',
    'graph': {
      'inputs': {
        'a': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float32'}},
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float32'}},
        'c': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'gemm',
        'arguments': [{'a': 'a'}, {'b': 'b'}, {'options': {'c': 'c'}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [5],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[gemm] float32 overflow',
    'graph': {
      'inputs': {
        'a': {
          'data': [3.4028234663852886e+38, -3.4028234663852886e+38, 1],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        },
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'gemm',
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
    'name': '[gemm] float32 infinities and 0',
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
        'name': 'gemm',
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
    'name': '[gemm] float32 alpha and beta are 0',
    'graph': {
      'inputs': {
        'a': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float32'}},
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float32'}},
        'c': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'gemm',
        'arguments': [
          {'a': 'a'}, {'b': 'b'},
          {'options': {'c': 'c', 'alpha': 0, 'beta': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[gemm] float16 one element',
    'graph': {
      'inputs': {
        'a': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float16'}},
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float16'}},
        'c': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'gemm',
        'arguments': [{'a': 'a'}, {'b': 'b'}, {'options': {'c': 'c'}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [5],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[gemm] float16 overflow',
    'graph': {
      'inputs': {
        'a': {
          'data': [65504, -65504, 1],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        },
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'gemm',
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
    'name': '[gemm] float16 infinities and 0',
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
        'name': 'gemm',
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
    'name': '[gemm] float16 alpha and beta are 0',
    'graph': {
      'inputs': {
        'a': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float16'}},
        'b': {'data': [2], 'descriptor': {shape: [1, 1], dataType: 'float16'}},
        'c': {'data': [1], 'descriptor': {shape: [1], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'gemm',
        'arguments': [
          {'a': 'a'}, {'b': 'b'},
          {'options': {'c': 'c', 'alpha': 0, 'beta': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  }
];

webnn_values_test(gemmExtremesTests);
