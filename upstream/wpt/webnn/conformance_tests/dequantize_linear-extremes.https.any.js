// META: title=test WebNN API dequantizeLinear at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-dequantizelinear
// Expected values were computed in float64, and rounded to their types.

const dequantizeLinearExtremesTests = [
  {
    'name': '[dequantizeLinear] int8 the largest zero point',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, 127, 0, 1],
          'descriptor': {shape: [4], dataType: 'int8'}
        },
        'scale': {
          'data': [0.5],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'zeroPoint': {
          'data': [127],
          'descriptor': {shape: [1], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'dequantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-127.5, 0, -63.5, -63],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[dequantizeLinear] int8 the smallest zero point',
    'graph': {
      'inputs': {
        'input': {
          'data': [-128, 127, 0, 1],
          'descriptor': {shape: [4], dataType: 'int8'}
        },
        'scale': {
          'data': [0.5],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'zeroPoint': {
          'data': [-128],
          'descriptor': {shape: [1], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'dequantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 127.5, 64, 64.5],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[dequantizeLinear] uint8 the largest zero point',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 255, 0, 1],
          'descriptor': {shape: [4], dataType: 'uint8'}
        },
        'scale': {
          'data': [0.5],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'zeroPoint': {
          'data': [255],
          'descriptor': {shape: [1], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'dequantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-127.5, 0, -127.5, -127],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[dequantizeLinear] uint8 the smallest zero point',
    'graph': {
      'inputs': {
        'input': {
          'data': [0, 255, 0, 1],
          'descriptor': {shape: [4], dataType: 'uint8'}
        },
        'scale': {
          'data': [0.5],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'zeroPoint': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'uint8'}
        }
      },
      'operators': [{
        'name': 'dequantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 127.5, 0, 0.5],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[dequantizeLinear] int32 limits',
    'graph': {
      'inputs': {
        'input': {
          'data': [2147483647, -2147483648, 0, 1],
          'descriptor': {shape: [4], dataType: 'int32'}
        },
        'scale': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'zeroPoint': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'int32'}
        }
      },
      'operators': [{
        'name': 'dequantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2147483648, -2147483648, 0, 1],
          'descriptor': {shape: [4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[dequantizeLinear] a scale for each element',
    'graph': {
      'inputs': {
        'input': {
          'data': [127, -128],
          'descriptor': {shape: [1, 2], dataType: 'int8'}
        },
        'scale': {
          'data': [0.5, 2],
          'descriptor': {shape: [1, 2], dataType: 'float32'}
        },
        'zeroPoint': {
          'data': [-128, 127],
          'descriptor': {shape: [1, 2], dataType: 'int8'}
        }
      },
      'operators': [{
        'name': 'dequantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [127.5, -510],
          'descriptor': {shape: [1, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  },
  {
    'name': '[dequantizeLinear] scalars',
    'graph': {
      'inputs': {
        'input': {'data': [2], 'descriptor': {shape: [], dataType: 'int8'}},
        'scale': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}},
        'zeroPoint': {'data': [1], 'descriptor': {shape: [], dataType: 'int8'}}
      },
      'operators': [{
        'name': 'dequantizeLinear',
        'arguments': [
          {'input': 'input'}, {'scale': 'scale'}, {'zeroPoint': 'zeroPoint'}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'tolerance': {metricType: 'ULP', value: 1}
    }
  }
];

webnn_values_test(dequantizeLinearExtremesTests);
