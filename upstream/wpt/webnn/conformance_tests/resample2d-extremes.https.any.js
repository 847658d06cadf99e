// META: title=test WebNN API resample2d at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-resample2d-method
// Expected values were computed in float64, and rounded to their types.

const resample2dExtremesTests = [
  {
    'name': '[resample2d] float32 nearest-neighbor of one pixel',
    'graph': {
      'inputs': {
        'input': {
          'data': [3.4028234663852886e+38],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'},
          {'options': {'mode': 'nearest-neighbor', 'sizes': [3, 2]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            3.4028234663852886e+38, 3.4028234663852886e+38,
            3.4028234663852886e+38, 3.4028234663852886e+38,
            3.4028234663852886e+38, 3.4028234663852886e+38
          ],
          'descriptor': {shape: [1, 1, 3, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float32 nearest-neighbor to one pixel',
    'graph': {
      'inputs': {
        'input': {
          'data': [2, 2, 2, 2, 2, 2, 2, 2, 2],
          'descriptor': {shape: [1, 1, 3, 3], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'},
          {'options': {'mode': 'nearest-neighbor', 'sizes': [1, 1]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float32 linear of one pixel',
    'graph': {
      'inputs': {
        'input': {
          'data': [1.7014117331926443e+38],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'}, {'options': {'mode': 'linear', 'sizes': [3, 2]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            1.7014117331926443e+38, 1.7014117331926443e+38,
            1.7014117331926443e+38, 1.7014117331926443e+38,
            1.7014117331926443e+38, 1.7014117331926443e+38
          ],
          'descriptor': {shape: [1, 1, 3, 2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 84, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float32 linear to one pixel',
    'graph': {
      'inputs': {
        'input': {
          'data': [2, 2, 2, 2, 2, 2, 2, 2, 2],
          'descriptor': {shape: [1, 1, 3, 3], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'}, {'options': {'mode': 'linear', 'sizes': [1, 1]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 84, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float32 every pixel twice',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [{'input': 'input'}, {'options': {'scales': [2, 2]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            Infinity, Infinity, -Infinity, -Infinity, Infinity, Infinity,
            -Infinity, -Infinity, 3.4028234663852886e+38,
            3.4028234663852886e+38, -3.4028234663852886e+38,
            -3.4028234663852886e+38, 3.4028234663852886e+38,
            3.4028234663852886e+38, -3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [1, 1, 4, 4], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float32 the first two axes',
    'graph': {
      'inputs': {
        'input': {
          'data': [
            Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [2, 2, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'}, {'options': {'sizes': [4, 2], 'axes': [0, 1]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            Infinity, -Infinity, Infinity, -Infinity, 3.4028234663852886e+38,
            -3.4028234663852886e+38, 3.4028234663852886e+38,
            -3.4028234663852886e+38
          ],
          'descriptor': {shape: [4, 2, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float16 nearest-neighbor of one pixel',
    'graph': {
      'inputs': {
        'input': {
          'data': [65504],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'},
          {'options': {'mode': 'nearest-neighbor', 'sizes': [3, 2]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [65504, 65504, 65504, 65504, 65504, 65504],
          'descriptor': {shape: [1, 1, 3, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float16 nearest-neighbor to one pixel',
    'graph': {
      'inputs': {
        'input': {
          'data': [2, 2, 2, 2, 2, 2, 2, 2, 2],
          'descriptor': {shape: [1, 1, 3, 3], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'},
          {'options': {'mode': 'nearest-neighbor', 'sizes': [1, 1]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float16 linear of one pixel',
    'graph': {
      'inputs': {
        'input': {
          'data': [32752],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'}, {'options': {'mode': 'linear', 'sizes': [3, 2]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [32752, 32752, 32752, 32752, 32752, 32752],
          'descriptor': {shape: [1, 1, 3, 2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 10, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float16 linear to one pixel',
    'graph': {
      'inputs': {
        'input': {
          'data': [2, 2, 2, 2, 2, 2, 2, 2, 2],
          'descriptor': {shape: [1, 1, 3, 3], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'}, {'options': {'mode': 'linear', 'sizes': [1, 1]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 10, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float16 every pixel twice',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, -Infinity, 65504, -65504],
          'descriptor': {shape: [1, 1, 2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [{'input': 'input'}, {'options': {'scales': [2, 2]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            Infinity, Infinity, -Infinity, -Infinity, Infinity, Infinity,
            -Infinity, -Infinity, 65504, 65504, -65504, -65504, 65504, 65504,
            -65504, -65504
          ],
          'descriptor': {shape: [1, 1, 4, 4], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  },
  {
    'name': '[resample2d] float16 the first two axes',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, -Infinity, 65504, -65504],
          'descriptor': {shape: [2, 2, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'resample2d',
        'arguments': [
          {'input': 'input'}, {'options': {'sizes': [4, 2], 'axes': [0, 1]}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [
            Infinity, -Infinity, Infinity, -Infinity, 65504, -65504, 65504,
            -65504
          ],
          'descriptor': {shape: [4, 2, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 0, signedZero: true}
    }
  }
];

webnn_values_test(resample2dExtremesTests);
