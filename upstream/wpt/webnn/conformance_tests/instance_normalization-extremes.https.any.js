// META: title=test WebNN API instanceNormalization at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-instancenorm
// Expected values were computed in float64, and rounded to their types.

const instanceNormalizationExtremesTests = [
  {
    'name': '[instanceNormalization] float32 equal numbers',
    'graph': {
      'inputs': {
        'input': {
          'data': [2, 2, 2, 2],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'instanceNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 840}
    }
  },
  {
    'name': '[instanceNormalization] float32 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [7],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'instanceNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 840}
    }
  },
  {
    'name': '[instanceNormalization] float32 epsilon is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'instanceNormalization',
        'arguments': [{'input': 'input'}, {'options': {'epsilon': 0}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 840}
    }
  },
  {
    'name': '[instanceNormalization] float32 scale is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float32'}
        },
        'scale': {'data': [0], 'descriptor': {shape: [1], dataType: 'float32'}},
        'bias': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'instanceNormalization',
        'arguments': [
          {'input': 'input'}, {'options': {'scale': 'scale', 'bias': 'bias'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 840}
    }
  },
  {
    'name': '[instanceNormalization] float16 equal numbers',
    'graph': {
      'inputs': {
        'input': {
          'data': [2, 2, 2, 2],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'instanceNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 8400}
    }
  },
  {
    'name': '[instanceNormalization] float16 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [7],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'instanceNormalization',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 8400}
    }
  },
  {
    'name': '[instanceNormalization] float16 epsilon is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'instanceNormalization',
        'arguments': [{'input': 'input'}, {'options': {'epsilon': 0}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 8400}
    }
  },
  {
    'name': '[instanceNormalization] float16 scale is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, -1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float16'}
        },
        'scale': {'data': [0], 'descriptor': {shape: [1], dataType: 'float16'}},
        'bias': {'data': [1], 'descriptor': {shape: [1], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'instanceNormalization',
        'arguments': [
          {'input': 'input'}, {'options': {'scale': 'scale', 'bias': 'bias'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1, 1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 8400}
    }
  }
];

webnn_values_test(instanceNormalizationExtremesTests);
