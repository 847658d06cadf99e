// META: title=test WebNN API softplus at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-softplus-method
// Expected values were computed in float64, and rounded to their types.

const softplusExtremesTests = [
  {
    'name': '[softplus] float32 far from zero',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, 60, -Infinity, NaN, -3.4028234663852886e+38],
          'descriptor': {shape: [6], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'softplus',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.6931471824645996, 0.6931471824645996, 60, 0, NaN, 0],
          'descriptor': {shape: [6], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[softplus] float32 scalar',
    'graph': {
      'inputs': {
        'input': {'data': [0], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'softplus',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.6931471824645996],
          'descriptor': {shape: [], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[softplus] float16 far from zero',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, -0, 10, -Infinity, NaN, -65504],
          'descriptor': {shape: [6], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'softplus',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.693359375, 0.693359375, 10, 0, NaN, 0],
          'descriptor': {shape: [6], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  },
  {
    'name': '[softplus] float16 scalar',
    'graph': {
      'inputs': {
        'input': {'data': [0], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'softplus',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.693359375],
          'descriptor': {shape: [], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 18}
    }
  }
];

webnn_values_test(softplusExtremesTests);
