// META: title=test WebNN API l2Pool2d at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-pool2d
// Expected values were computed in float64, and rounded to their types.

const l2Pool2dExtremesTests = [
  {
    'name': '[l2Pool2d] float32 the window is the whole input',
    'graph': {
      'inputs': {
        'input': {
          'data': [3, 4, 0, 0, -3, -4, 0, 5],
          'descriptor': {shape: [1, 2, 2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [5, 7.071067810058594],
          'descriptor': {shape: [1, 2, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[l2Pool2d] float32 the largest dilations of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [3, 4, 0, 0, -3, -4, 0, 5],
          'descriptor': {shape: [1, 2, 2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [
          {'input': 'input'},
          {
            'options': {
              'windowDimensions': [1, 1],
              'dilations': [4294967295, 4294967295]
            }
          }
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [3, 4, 0, 0, 3, 4, 0, 5],
          'descriptor': {shape: [1, 2, 2, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[l2Pool2d] float32 the largest strides',
    'graph': {
      'inputs': {
        'input': {
          'data': [3, 4, 0, 0, -3, -4, 0, 5],
          'descriptor': {shape: [1, 2, 2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [
          {'input': 'input'},
          {
            'options': {
              'windowDimensions': [1, 1],
              'strides': [4294967295, 4294967295]
            }
          }
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [3, 3],
          'descriptor': {shape: [1, 2, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[l2Pool2d] float32 one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[l2Pool2d] float32 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [
          {'input': 'input'}, {'options': {'windowDimensions': [1, 2]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[l2Pool2d] float16 the window is the whole input',
    'graph': {
      'inputs': {
        'input': {
          'data': [3, 4, 0, 0, -3, -4, 0, 5],
          'descriptor': {shape: [1, 2, 2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [5, 7.0703125],
          'descriptor': {shape: [1, 2, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 6}
    }
  },
  {
    'name': '[l2Pool2d] float16 the largest dilations of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [3, 4, 0, 0, -3, -4, 0, 5],
          'descriptor': {shape: [1, 2, 2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [
          {'input': 'input'},
          {
            'options': {
              'windowDimensions': [1, 1],
              'dilations': [4294967295, 4294967295]
            }
          }
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [3, 4, 0, 0, 3, 4, 0, 5],
          'descriptor': {shape: [1, 2, 2, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[l2Pool2d] float16 the largest strides',
    'graph': {
      'inputs': {
        'input': {
          'data': [3, 4, 0, 0, -3, -4, 0, 5],
          'descriptor': {shape: [1, 2, 2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [
          {'input': 'input'},
          {
            'options': {
              'windowDimensions': [1, 1],
              'strides': [4294967295, 4294967295]
            }
          }
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [3, 3],
          'descriptor': {shape: [1, 2, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[l2Pool2d] float16 one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[l2Pool2d] float16 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1],
          'descriptor': {shape: [1, 1, 1, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'l2Pool2d',
        'arguments': [
          {'input': 'input'}, {'options': {'windowDimensions': [1, 2]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  }
];

webnn_values_test(l2Pool2dExtremesTests);
