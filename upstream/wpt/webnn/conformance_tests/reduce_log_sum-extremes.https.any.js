// META: title=test WebNN API reduceLogSum at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-reduce
// Expected values were computed in float64, and rounded to their types.

const reduceLogSumExtremesTests = [
  {
    'name': '[reduceLogSum] float32 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'reduceLogSum',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [0], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'tolerance': {metricType: 'ULP', value: 19}
    }
  },
  {
    'name': '[reduceLogSum] float32 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceLogSum',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.6931471824645996],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 19}
    }
  },
  {
    'name': '[reduceLogSum] float32 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceLogSum',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, 1.0986123085021973],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 20}
    }
  },
  {
    'name': '[reduceLogSum] float32 a sum of 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 0, 1, -1],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceLogSum',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-Infinity, -Infinity],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 20}
    }
  },
  {
    'name': '[reduceLogSum] float16 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'reduceLogSum',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [0], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'tolerance': {metricType: 'ULP', value: 19}
    }
  },
  {
    'name': '[reduceLogSum] float16 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceLogSum',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.693359375],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 19}
    }
  },
  {
    'name': '[reduceLogSum] float16 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceLogSum',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, 1.0986328125],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 20}
    }
  },
  {
    'name': '[reduceLogSum] float16 a sum of 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 0, 1, -1],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceLogSum',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-Infinity, -Infinity],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 20}
    }
  }
];

webnn_values_test(reduceLogSumExtremesTests);
