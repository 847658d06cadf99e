// META: title=test WebNN API lstmCell at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-lstmcell
// Expected values were computed in float64, and rounded to their types.

const lstmCellExtremesTests = [
  {
    'name': '[lstmCell] float32 one step, one unit, no weights',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'weight': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [4, 1], dataType: 'float32'}
        },
        'recurrentWeight': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [4, 1], dataType: 'float32'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'cellState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'lstmCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'cellState': 'cellState'},
          {'hiddenSize': 1}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0.23105858266353607],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'output1': {
          'data': [0.5],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[lstmCell] float32 one step, one unit, saturated gates',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'weight': {
          'data': [1000, 1000, 1000, 1000],
          'descriptor': {shape: [4, 1], dataType: 'float32'}
        },
        'recurrentWeight': {
          'data': [1000, 1000, 1000, 1000],
          'descriptor': {shape: [4, 1], dataType: 'float32'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'cellState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'lstmCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'cellState': 'cellState'},
          {'hiddenSize': 1}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0.9640275835990906],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'output1': {
          'data': [2],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[lstmCell] float32 one step, one unit, gates saturated below',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'weight': {
          'data': [-1000, -1000, -1000, -1000],
          'descriptor': {shape: [4, 1], dataType: 'float32'}
        },
        'recurrentWeight': {
          'data': [-1000, -1000, -1000, -1000],
          'descriptor': {shape: [4, 1], dataType: 'float32'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'cellState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'lstmCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'cellState': 'cellState'},
          {'hiddenSize': 1}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'output1': {
          'data': [0],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[lstmCell] float16 one step, one unit, no weights',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'weight': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [4, 1], dataType: 'float16'}
        },
        'recurrentWeight': {
          'data': [0, 0, 0, 0],
          'descriptor': {shape: [4, 1], dataType: 'float16'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'cellState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'lstmCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'cellState': 'cellState'},
          {'hiddenSize': 1}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0.2310791015625],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'output1': {
          'data': [0.5],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  },
  {
    'name': '[lstmCell] float16 one step, one unit, saturated gates',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'weight': {
          'data': [1000, 1000, 1000, 1000],
          'descriptor': {shape: [4, 1], dataType: 'float16'}
        },
        'recurrentWeight': {
          'data': [1000, 1000, 1000, 1000],
          'descriptor': {shape: [4, 1], dataType: 'float16'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'cellState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'lstmCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'cellState': 'cellState'},
          {'hiddenSize': 1}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0.9638671875],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'output1': {
          'data': [2],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  },
  {
    'name': '[lstmCell] float16 one step, one unit, gates saturated below',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'weight': {
          'data': [-1000, -1000, -1000, -1000],
          'descriptor': {shape: [4, 1], dataType: 'float16'}
        },
        'recurrentWeight': {
          'data': [-1000, -1000, -1000, -1000],
          'descriptor': {shape: [4, 1], dataType: 'float16'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'cellState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'lstmCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'cellState': 'cellState'},
          {'hiddenSize': 1}
        ],
        'outputs': ['output0', 'output1']
      }],
      'expectedOutputs': {
        'output0': {
          'data': [0],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'output1': {
          'data': [0],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  }
];

webnn_values_test(lstmCellExtremesTests);
