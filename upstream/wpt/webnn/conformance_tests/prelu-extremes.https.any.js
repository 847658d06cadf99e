// META: title=test WebNN API prelu at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-prelu
// Expected values were computed in float64, and rounded to their types.

const preluExtremesTests = [
  {
    'name': '[prelu] float32 slope is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1, Infinity, 3.4028234663852886e+38, 0],
          'descriptor': {shape: [5], dataType: 'float32'}
        },
        'slope': {'data': [0], 'descriptor': {shape: [1], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'prelu',
        'arguments': [{'input': 'input'}, {'slope': 'slope'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, -0, Infinity, 3.4028234663852886e+38, 0],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[prelu] float32 negative slope',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1, Infinity, 3.4028234663852886e+38, 0],
          'descriptor': {shape: [5], dataType: 'float32'}
        },
        'slope': {
          'data': [-1],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'prelu',
        'arguments': [{'input': 'input'}, {'slope': 'slope'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, Infinity, 3.4028234663852886e+38, 0],
          'descriptor': {shape: [5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[prelu] float32 slope with one element of three dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1, Infinity, 3.4028234663852886e+38, 0],
          'descriptor': {shape: [5], dataType: 'float32'}
        },
        'slope': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'prelu',
        'arguments': [{'input': 'input'}, {'slope': 'slope'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, -2, Infinity, 3.4028234663852886e+38, 0],
          'descriptor': {shape: [1, 1, 5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[prelu] float16 slope is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1, Infinity, 65504, 0],
          'descriptor': {shape: [5], dataType: 'float16'}
        },
        'slope': {'data': [0], 'descriptor': {shape: [1], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'prelu',
        'arguments': [{'input': 'input'}, {'slope': 'slope'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, -0, Infinity, 65504, 0],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[prelu] float16 negative slope',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1, Infinity, 65504, 0],
          'descriptor': {shape: [5], dataType: 'float16'}
        },
        'slope': {
          'data': [-1],
          'descriptor': {shape: [1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'prelu',
        'arguments': [{'input': 'input'}, {'slope': 'slope'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, Infinity, 65504, 0],
          'descriptor': {shape: [5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[prelu] float16 slope with one element of three dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1, Infinity, 65504, 0],
          'descriptor': {shape: [5], dataType: 'float16'}
        },
        'slope': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'prelu',
        'arguments': [{'input': 'input'}, {'slope': 'slope'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, -2, Infinity, 65504, 0],
          'descriptor': {shape: [1, 1, 5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  }
];

webnn_values_test(preluExtremesTests);
