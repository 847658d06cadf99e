// META: title=test WebNN API softmax at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-softmax-method
// Expected values were computed in float64, and rounded to their types.

const softmaxExtremesTests = [
  {
    'name': '[softmax] float32 numbers far apart',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            3.4028234663852886e+38, -3.4028234663852886e+38, 0,
            3.4028234663852886e+38, -Infinity, 0, -Infinity, 0
          ],
          'descriptor': {shape: [2, 4], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'softmax',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.5, 0, 0, 0.5, 0, 0.5, 0, 0.5],
          'descriptor': {shape: [2, 4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 15}
    }
  },
  {
    'name': '[softmax] float32 one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [3.4028234663852886e+38, -3.4028234663852886e+38, 0],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'softmax',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 1],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[softmax] float32 along the first of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'softmax',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[softmax] float16 numbers far apart',
    'graph': {
      'inputs': {
        'input': {
          'data': [65504, -65504, 0, 65504, -Infinity, 0, -Infinity, 0],
          'descriptor': {shape: [2, 4], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'softmax',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.5, 0, 0, 0.5, 0, 0.5, 0, 0.5],
          'descriptor': {shape: [2, 4], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 15}
    }
  },
  {
    'name': '[softmax] float16 one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [65504, -65504, 0],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'softmax',
        'arguments': [{'input': 'input'}, {'axis': 1}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1, 1],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[softmax] float16 along the first of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'softmax',
        'arguments': [{'input': 'input'}, {'axis': 0}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  }
];

webnn_values_test(softmaxExtremesTests);
