// META: title=test WebNN API quantizeLinear at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-quantizelinear
// Expected values were computed in float64, and rounded to their types.

const quantizeLinearExtremesTests = [
  {
    'name': '[quantizeLinear] int8 ties to even, saturation',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5, 127.5, 300, -300, Infinity,
            -Infinity, 0
          ],
          'descriptor': {shape: [13], dataType: 'float32'}
        },
        'scale': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'zeroPoint': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 2, 2, 0, -2, -2, 126, 127, 127, -128, 127, -128, 0],
          'descriptor': {shape: [13], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[quantizeLinear] int8 the largest zero point',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, -1, -300, 300],
          'descriptor': {shape: [5], dataType: 'float32'}
        },
        'scale': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'zeroPoint': {
          'data': [127],
          'descriptor': {shape: [1], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [127, 127, 126, -128, 127],
          'descriptor': {shape: [5], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[quantizeLinear] int8 the smallest zero point',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, -1, -300, 300],
          'descriptor': {shape: [5], dataType: 'float32'}
        },
        'scale': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'zeroPoint': {
          'data': [-128],
          'descriptor': {shape: [1], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-128, -127, -128, -128, 127],
          'descriptor': {shape: [5], dataType: 'int8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[quantizeLinear] uint8 ties to even, saturation',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5, 127.5, 300, -300, Infinity,
            -Infinity, 0
          ],
          'descriptor': {shape: [13], dataType: 'float32'}
        },
        'scale': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'zeroPoint': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 2, 2, 0, 0, 0, 126, 128, 255, 0, 255, 0, 0],
          'descriptor': {shape: [13], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[quantizeLinear] uint8 the largest zero point',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, -1, -300, 300],
          'descriptor': {shape: [5], dataType: 'float32'}
        },
        'scale': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'zeroPoint': {
          'data': [255],
          'descriptor': {shape: [1], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [255, 255, 254, 0, 255],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[quantizeLinear] uint8 the smallest zero point',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 1, -1, -300, 300],
          'descriptor': {shape: [5], dataType: 'float32'}
        },
        'scale': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'zeroPoint': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 1, 0, 0, 255],
          'descriptor': {shape: [5], dataType: 'uint8'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[quantizeLinear] scalars',
    'graph': {
      'inputs': {
        'input': {'data': [2], 'descriptor': {shape: [], dataType: 'float32'}},
        'scale': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}},
        'zeroPoint': {'data': [1], 'descriptor': {shape: [], dataType: 'int8'}}
      },
      'operators': [{
        'name': 'quantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [3], 'descriptor': {shape: [], dataType: 'int8'}}
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  }
];

webnn_values_test(quantizeLinearExtremesTests);
