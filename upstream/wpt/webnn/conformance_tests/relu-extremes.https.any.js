// META: title=test WebNN API relu at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-relu-method
// Expected values were computed in float64, and rounded to their types.

const reluExtremesTests = [
  {
    'name': '[relu] float32 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, 1, -1, Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 1.1754943508222875e-38,
            -1.1754943508222875e-38
          ],
          'descriptor': {shape: [10], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'relu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, -0, 1, 0, Infinity, 0, 3.4028234663852886e+38, 0,
            1.1754943508222875e-38, 0
          ],
          'descriptor': {shape: [10], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[relu] float32 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'relu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[relu] float16 zeros, infinities and limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0, -0, 1, -1, Infinity, -Infinity, 65504, -65504, 6.103515625e-5,
            -6.103515625e-5
          ],
          'descriptor': {shape: [10], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'relu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, -0, 1, 0, Infinity, 0, 65504, 0, 6.103515625e-5, 0],
          'descriptor': {shape: [10], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[relu] float16 one element of five dimensions',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'relu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[relu] int8 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, -127, 127, 126, 0, 1, 63, 64, -1],
          'descriptor': {shape: [9], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'relu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 127, 126, 0, 1, 63, 64, 0],
          'descriptor': {shape: [9], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  },
  {
    'name': '[relu] int32 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            -2147483648, -2147483647, 2147483647, 2147483646, 0, 1, 1073741823,
            1073741824, -1
          ],
          'descriptor': {shape: [9], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'relu',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            0, 0, 2147483647, 2147483646, 0, 1, 1073741823, 1073741824, 0
          ],
          'descriptor': {shape: [9], dataType: 'int32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0}
    }
  }
];

webnn_values_test(reluExtremesTests);
