// META: title=test WebNN API layerNormalization at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-layernorm
// Expected values were computed in float64, and rounded to their types.

const layerNormalizationExtremesTests = [
  {
    'name': '[layerNormalization] float32 equal numbers',
    'graph': {
      'inputs': {
        'input': {
          'data': [2, 2, 2, 2],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  },
  {
    'name': '[layerNormalization] float32 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [7],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  },
  {
    'name': '[layerNormalization] float32 epsilon is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}, {'options': {'epsilon': 0}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  },
  {
    'name': '[layerNormalization] float32 no axes',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -2],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}, {'options': {'axes': []}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  },
  {
    'name': '[layerNormalization] float32 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [3], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [0], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  },
  {
    'name': '[layerNormalization] float16 equal numbers',
    'graph': {
      'inputs': {
        'input': {
          'data': [2, 2, 2, 2],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  },
  {
    'name': '[layerNormalization] float16 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [7],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  },
  {
    'name': '[layerNormalization] float16 epsilon is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}, {'options': {'epsilon': 0}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  },
  {
    'name': '[layerNormalization] float16 no axes',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -2],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}, {'options': {'axes': []}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  },
  {
    'name': '[layerNormalization] float16 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [3], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'layerNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [0], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'tolerance': {metricType: 'ULP', value: 14}
    }
  }
];

webnn_values_test(layerNormalizationExtremesTests);
