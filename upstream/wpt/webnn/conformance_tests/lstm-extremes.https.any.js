// META: title=test WebNN API lstm at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-lstm
// Expected values were computed in float64, and rounded to their types.

const lstmExtremesTests = [
  {
    'name': '[lstm] float32 one step, one unit, no weights',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        },
        'weight': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [1, 4, 1], dataType: 'float32'}
        },
        'recurrentWeight': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [1, 4, 1], dataType: 'float32'}
        },
        'initialHiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'lstm',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'}, {'steps': 1},
          {'hiddenSize': 1},
          {'options': {'initialHiddenState': 'initialHiddenState'}}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        },
        'output1': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[lstm] float32 one step, one unit, saturated gates',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        },
        'weight': {
          'data': [1000, 1000, 1000, 1000],
          'descriptor': {shape: [1, 4, 1], dataType: 'float32'}
        },
        'recurrentWeight': {
          'data': [1000, 1000, 1000, 1000],
          'descriptor': {shape: [1, 4, 1], dataType: 'float32'}
        },
        'initialHiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'lstm',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'}, {'steps': 1},
          {'hiddenSize': 1},
          {'options': {'initialHiddenState': 'initialHiddenState'}}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0.7615941762924194],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        },
        'output1': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[lstm] float32 one step, one unit, gates saturated below',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        },
        'weight': {
          'data': [-1000, -1000, -1000, -1000],
          'descriptor': {shape: [1, 4, 1], dataType: 'float32'}
        },
        'recurrentWeight': {
          'data': [-1000, -1000, -1000, -1000],
          'descriptor': {shape: [1, 4, 1], dataType: 'float32'}
        },
        'initialHiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'lstm',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'}, {'steps': 1},
          {'hiddenSize': 1},
          {'options': {'initialHiddenState': 'initialHiddenState'}}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        },
        'output1': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[lstm] float16 one step, one unit, no weights',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        },
        'weight': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [1, 4, 1], dataType: 'float16'}
        },
        'recurrentWeight': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [1, 4, 1], dataType: 'float16'}
        },
        'initialHiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'lstm',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'}, {'steps': 1},
          {'hiddenSize': 1},
          {'options': {'initialHiddenState': 'initialHiddenState'}}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        },
        'output1': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  },
  {
    'name': '[lstm] float16 one step, one unit, saturated gates',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        },
        'weight': {
          'data': [1000, 1000, 1000, 1000],
          'descriptor': {shape: [1, 4, 1], dataType: 'float16'}
        },
        'recurrentWeight': {
          'data': [1000, 1000, 1000, 1000],
          'descriptor': {shape: [1, 4, 1], dataType: 'float16'}
        },
        'initialHiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'lstm',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'}, {'steps': 1},
          {'hiddenSize': 1},
          {'options': {'initialHiddenState': 'initialHiddenState'}}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0.76171875],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        },
        'output1': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  },
  {
    'name': '[lstm] float16 one step, one unit, gates saturated below',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        },
        'weight': {
          'data': [-1000, -1000, -1000, -1000],
          'descriptor': {shape: [1, 4, 1], dataType: 'float16'}
        },
        'recurrentWeight': {
          'data': [-1000, -1000, -1000, -1000],
          'descriptor': {shape: [1, 4, 1], dataType: 'float16'}
        },
        'initialHiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'lstm',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'}, {'steps': 1},
          {'hiddenSize': 1},
          {'options': {'initialHiddenState': 'initialHiddenState'}}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        },
        'output1': {
          'data': [0],
          'descriptor': {shape: [1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  }
];

webnn_values_test(lstmExtremesTests);
