// META: title=test WebNN API batchNormalization at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-batchnorm
// Expected values were computed in float64, and rounded to their types.

const batchNormalizationExtremesTests = [
  {
    'name': '[batchNormalization] float32 variance is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2],
          'descriptor': {shape: [2, 1], dataType: 'float32'}
        },
        'mean': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'variance': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'batchNormalization',
        'arguments': [
          {'input': 'input'}, {'mean': 'mean'}, {'variance': 'variance'},
          {'options': {'epsilon': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 1],
          'descriptor': {shape: [2, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[batchNormalization] float32 epsilon is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2],
          'descriptor': {shape: [2, 1], dataType: 'float32'}
        },
        'mean': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'variance': {
          'data': [4],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'batchNormalization',
        'arguments': [
          {'input': 'input'}, {'mean': 'mean'}, {'variance': 'variance'},
          {'options': {'epsilon': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0.5],
          'descriptor': {shape: [2, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[batchNormalization] float32 scale is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2],
          'descriptor': {shape: [2, 1], dataType: 'float32'}
        },
        'mean': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'variance': {
          'data': [1],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'scale': {'data': [0], 'descriptor': {shape: [1], dataType: 'float32'}},
        'bias': {'data': [5], 'descriptor': {shape: [1], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'batchNormalization',
        'arguments': [
          {'input': 'input'}, {'mean': 'mean'}, {'variance': 'variance'},
          {'options': {'scale': 'scale', 'bias': 'bias'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [5, 5],
          'descriptor': {shape: [2, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[batchNormalization] float32 the only axis',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity],
          'descriptor': {shape: [1], dataType: 'float32'}
        },
        'mean': {'data': [1], 'descriptor': {shape: [1], dataType: 'float32'}},
        'variance': {
          'data': [1],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'batchNormalization',
        'arguments': [
          {'input': 'input'}, {'mean': 'mean'}, {'variance': 'variance'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity],
          'descriptor': {shape: [1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[batchNormalization] float16 variance is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2],
          'descriptor': {shape: [2, 1], dataType: 'float16'}
        },
        'mean': {'data': [1], 'descriptor': {shape: [1], dataType: 'float16'}},
        'variance': {
          'data': [0],
          'descriptor': {shape: [1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'batchNormalization',
        'arguments': [
          {'input': 'input'}, {'mean': 'mean'}, {'variance': 'variance'},
          {'options': {'epsilon': 1}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 1],
          'descriptor': {shape: [2, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[batchNormalization] float16 epsilon is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2],
          'descriptor': {shape: [2, 1], dataType: 'float16'}
        },
        'mean': {'data': [1], 'descriptor': {shape: [1], dataType: 'float16'}},
        'variance': {
          'data': [4],
          'descriptor': {shape: [1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'batchNormalization',
        'arguments': [
          {'input': 'input'}, {'mean': 'mean'}, {'variance': 'variance'},
          {'options': {'epsilon': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0, 0.5],
          'descriptor': {shape: [2, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[batchNormalization] float16 scale is 0',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2],
          'descriptor': {shape: [2, 1], dataType: 'float16'}
        },
        'mean': {'data': [1], 'descriptor': {shape: [1], dataType: 'float16'}},
        'variance': {
          'data': [1],
          'descriptor': {shape: [1], dataType: 'float16'}
        },
        'scale': {'data': [0], 'descriptor': {shape: [1], dataType: 'float16'}},
        'bias': {'data': [5], 'descriptor': {shape: [1], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'batchNormalization',
        'arguments': [
          {'input': 'input'}, {'mean': 'mean'}, {'variance': 'variance'},
          {'options': {'scale': 'scale', 'bias': 'bias'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [5, 5],
          'descriptor': {shape: [2, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[batchNormalization] float16 the only axis',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity],
          'descriptor': {shape: [1], dataType: 'float16'}
        },
        'mean': {'data': [1], 'descriptor': {shape: [1], dataType: 'float16'}},
        'variance': {
          'data': [1],
          'descriptor': {shape: [1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'batchNormalization',
        'arguments': [
          {'input': 'input'}, {'mean': 'mean'}, {'variance': 'variance'},
          {'options': {'axis': 0}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity],
          'descriptor': {shape: [1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  }
];

webnn_values_test(batchNormalizationExtremesTests);
