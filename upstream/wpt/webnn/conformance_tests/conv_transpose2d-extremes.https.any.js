// META: title=test WebNN API convTranspose2d at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-convtranspose2d
// Expected values were computed in float64, and rounded to their types.

const convTranspose2dExtremesTests = [
  {
    'name': '[convTranspose2d] float32 overflow',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            3.4028234663852886e+38, -3.4028234663852886e+38, Infinity,
            -Infinity, NaN, 0
          ],
          'descriptor': {shape: [1, 1, 2, 3], dataType: 'float32'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [{'input': 'input'}, {'filter': 'filter'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -Infinity, Infinity, -Infinity, NaN, 0],
          'descriptor': {shape: [1, 1, 2, 3], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[convTranspose2d] float32 one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        },
        'bias': {'data': [-4], 'descriptor': {shape: [1], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [
          {'input': 'input'}, {'filter': 'filter'},
          {'options': {'bias': 'bias'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[convTranspose2d] float32 gaps of strides',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2, 3, 4],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float32'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [
          {'input': 'input'}, {'filter': 'filter'},
          {'options': {'strides': [3, 4]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 8],
          'descriptor': {shape: [1, 1, 4, 5], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[convTranspose2d] float32 the largest output padding',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [
          {'input': 'input'}, {'filter': 'filter'},
          {'options': {'strides': [3, 3], 'outputPadding': [2, 2]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4, 0, 0, 0, 0, 0, 0, 0, 0],
          'descriptor': {shape: [1, 1, 3, 3], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[convTranspose2d] float32 the largest dilations of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2, 3, 4],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float32'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [
          {'input': 'input'}, {'filter': 'filter'},
          {'options': {'dilations': [4294967295, 4294967295]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2, 4, 6, 8],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[convTranspose2d] float16 overflow',
    'graph': {
      'inputs': {
        'input': {
          'data': [65504, -65504, Infinity, -Infinity, NaN, 0],
          'descriptor': {shape: [1, 1, 2, 3], dataType: 'float16'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [{'input': 'input'}, {'filter': 'filter'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, -Infinity, Infinity, -Infinity, NaN, 0],
          'descriptor': {shape: [1, 1, 2, 3], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[convTranspose2d] float16 one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        },
        'bias': {'data': [-4], 'descriptor': {shape: [1], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [
          {'input': 'input'}, {'filter': 'filter'},
          {'options': {'bias': 'bias'}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[convTranspose2d] float16 gaps of strides',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2, 3, 4],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float16'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [
          {'input': 'input'}, {'filter': 'filter'},
          {'options': {'strides': [3, 4]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 8],
          'descriptor': {shape: [1, 1, 4, 5], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[convTranspose2d] float16 the largest output padding',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [
          {'input': 'input'}, {'filter': 'filter'},
          {'options': {'strides': [3, 3], 'outputPadding': [2, 2]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [4, 0, 0, 0, 0, 0, 0, 0, 0],
          'descriptor': {shape: [1, 1, 3, 3], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  },
  {
    'name': '[convTranspose2d] float16 the largest dilations of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [1, 2, 3, 4],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float16'}
        },
        'filter': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'convTranspose2d',
        'arguments': [
          {'input': 'input'}, {'filter': 'filter'},
          {'options': {'dilations': [4294967295, 4294967295]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2, 4, 6, 8],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 2}
    }
  }
];

webnn_values_test(convTranspose2dExtremesTests);
