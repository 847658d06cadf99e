// META: title=test WebNN API pow at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-binary
// Expected values were computed in float64, and rounded to their types.

const powExtremesTests = [
  {
    'name': '[pow] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [2, 0, 2, 2, 0.5, -2, 2, 10, 0],
          'descriptor': {shape: [9], dataType: 'float32'}
        },
        'b': {
          'data': [0, 1, Infinity, -Infinity, Infinity, 3, -1, 39, 2],
          'descriptor': {shape: [9], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'pow',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0, Infinity, 0, 0, -8, 0.5, Infinity, 0],
          'descriptor': {shape: [9], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 32}
    }
  },
  {
    'name': '[pow] float32 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'pow',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [8],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 32}
    }
  },
  {
    'name': '[pow] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'a': {
          'data': [2, 0, 2, 2, 0.5, -2, 2, 10, 0],
          'descriptor': {shape: [9], dataType: 'float16'}
        },
        'b': {
          'data': [0, 1, Infinity, -Infinity, Infinity, 3, -1, 39, 2],
          'descriptor': {shape: [9], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'pow',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 0, Infinity, 0, 0, -8, 0.5, Infinity, 0],
          'descriptor': {shape: [9], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[pow] float16 one element of five dimensions and a scalar',
    'graph': {
      'inputs': {
        'a': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        },
        'b': {'data': [3], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'pow',
        'arguments': [{'a': 'a'}, {'b': 'b'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [8],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  }
];

webnn_values_test(powExtremesTests);
