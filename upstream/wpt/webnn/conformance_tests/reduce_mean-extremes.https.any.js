// META: title=test WebNN API reduceMean at the limits of its types
// META: global=window
// META: variant=?cpu
// META: variant=?gpu
// META: variant=?npu
// META: script=../resources/utils_values.js
// META: timeout=long

'use strict';

// https://www.w3.org/TR/webnn/#api-mlgraphbuilder-reduce
// Expected values were computed in float64, and rounded to their types.

const reduceMeanExtremesTests = [
  {
    'name': '[reduceMean] float32 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [1], 'descriptor': {shape: [], dataType: 'float32'}}
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[reduceMean] float32 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[reduceMean] float32 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, 1.5],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceMean] float32 NaN',
    'graph': {
      'inputs': {
        'input': {
          'data': [NaN, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, 1.5],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceMean] float32 infinities of both signs',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, -Infinity, -Infinity, -Infinity],
          'descriptor': {shape: [2, 2], dataType: 'float32'}
        }
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, -Infinity],
          'descriptor': {shape: [2], dataType: 'float32'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceMean] float16 a scalar',
    'graph': {
      'inputs': {
        'input': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [{'input': 'input'}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {'data': [1], 'descriptor': {shape: [], dataType: 'float16'}}
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[reduceMean] float16 dimensions of one element',
    'graph': {
      'inputs': {
        'input': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [
          {'input': 'input'},
          {'options': {'axes': [0, 4], 'keepDimensions': true}}
        ],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [2],
          'descriptor': {shape: [1, 1, 1, 1, 1], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 3}
    }
  },
  {
    'name': '[reduceMean] float16 an infinity',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [Infinity, 1.5],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceMean] float16 NaN',
    'graph': {
      'inputs': {
        'input': {
          'data': [NaN, 1, 1, 2],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, 1.5],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  },
  {
    'name': '[reduceMean] float16 infinities of both signs',
    'graph': {
      'inputs': {
        'input': {
          'data': [Infinity, -Infinity, -Infinity, -Infinity],
          'descriptor': {shape: [2, 2], dataType: 'float16'}
        }
      },
      'operators': [{
        'name': 'reduceMean',
        'arguments': [{'input': 'input'}, {'options': {'axes': [1]}}],
        'outputs': 'output'
      }],
      'expectedOutputs': {
        'output': {
          'data': [NaN, -Infinity],
          'descriptor': {shape: [2], dataType: 'float16'}
        }
      },
      'tolerance': {metricType: 'ULP', value: 4}
    }
  }
];

webnn_values_test(reduceMeanExtremesTests);
