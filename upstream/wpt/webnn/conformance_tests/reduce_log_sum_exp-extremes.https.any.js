// META: title=test WebNN API reduceLogSumExp at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-reduce
// Expected values were computed in float64, and rounded to their types.

const reduceLogSumExpExtremesTests = [
  {
    'name': '[reduceLogSumExp] float32 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'reduceLogSumExp',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'tolerance': {metricType: 'ULP', value: 20}
    }
  },
  {
    'name': '[reduceLogSumExp] float32 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceLogSumExp',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 20}
    }
  },
  {
    'name': '[reduceLogSumExp] float32 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceLogSumExp',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, 2.3132617473602295],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 22}
    }
  },
  {
    'name': '[reduceLogSumExp] float32 negative infinities',
    'graph': {
      'inputs': {
        'input': {
          'data': [-Infinity, -Infinity, -Infinity, 0],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceLogSumExp',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-Infinity, 0],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 22}
    }
  },
  {
    'name': '[reduceLogSumExp] float16 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'reduceLogSumExp',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'tolerance': {metricType: 'ULP', value: 20}
    }
  },
  {
    'name': '[reduceLogSumExp] float16 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceLogSumExp',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 20}
    }
  },
  {
    'name': '[reduceLogSumExp] float16 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceLogSumExp',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, 2.3125],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 22}
    }
  },
  {
    'name': '[reduceLogSumExp] float16 negative infinities',
    'graph': {
      'inputs': {
        'input': {
          'data': [-Infinity, -Infinity, -Infinity, 0],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceLogSumExp',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-Infinity, 0],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 22}
    }
  }
];

webnn_values_test(reduceLogSumExpExtremesTests);
