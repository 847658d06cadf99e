// META: title=test WebNN API gruCell at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-grucell
// Expected values were computed in float64, and rounded to their types.

const gruCellExtremesTests = [
  {
    'name': '[gruCell] float32 one step, one unit, no weights',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'weight': {
          'data': [0, 0, 0],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        },
        'recurrentWeight': {
          'data': [0, 0, 0],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'gruCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'hiddenSize': 1}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.5],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[gruCell] float32 one step, one unit, saturated gates',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'weight': {
          'data': [1000, 1000, 1000],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        },
        'recurrentWeight': {
          'data': [1000, 1000, 1000],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'gruCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'hiddenSize': 1}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[gruCell] float32 one step, one unit, gates saturated below',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        },
        'weight': {
          'data': [-1000, -1000, -1000],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        },
        'recurrentWeight': {
          'data': [-1000, -1000, -1000],
          'descriptor': {shape: [3, 1], dataType: 'float32'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'gruCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'hiddenSize': 1}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-1],
          'descriptor': {shape: [1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.0009765625}
    }
  },
  {
    'name': '[gruCell] float16 one step, one unit, no weights',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'weight': {
          'data': [0, 0, 0],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        },
        'recurrentWeight': {
          'data': [0, 0, 0],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'gruCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'hiddenSize': 1}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [0.5],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  },
  {
    'name': '[gruCell] float16 one step, one unit, saturated gates',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'weight': {
          'data': [1000, 1000, 1000],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        },
        'recurrentWeight': {
          'data': [1000, 1000, 1000],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'gruCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'hiddenSize': 1}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  },
  {
    'name': '[gruCell] float16 one step, one unit, gates saturated below',
    'graph': {
      'inputs': {
        'input': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        },
        'weight': {
          'data': [-1000, -1000, -1000],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        },
        'recurrentWeight': {
          'data': [-1000, -1000, -1000],
          'descriptor': {shape: [3, 1], dataType: 'float16'}
        },
        'hiddenState': {
          'data': [1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'gruCell',
        'arguments': [
          {'input': 'input'}, {'weight': 'weight'},
          {'recurrentWeight': 'recurrentWeight'},
          {'hiddenState': 'hiddenState'}, {'hiddenSize': 1}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [-1],
          'descriptor': {shape: [1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ATOL', value: 0.001953125}
    }
  }
];

webnn_values_test(gruCellExtremesTests);
