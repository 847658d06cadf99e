// The test of README.md.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {emulator} from 'webnn-emulator';
import 'webnn-emulator/register';

test('1 + 2 is 3', async () => {
  const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context), descriptor = {dataType: 'float32', shape: [1]};
  const graph = await builder.build({sum: builder.add(builder.input('a', descriptor), builder.constant('float32', 2))});
  const a = await context.createTensor({...descriptor, writable: true}), sum = await context.createTensor({...descriptor, readable: true});
  context.writeTensor(a, new Float32Array([1]));
  context.dispatch(graph, {a}, {sum});
  assert.deepEqual(new Float32Array(await context.readTensor(sum)), new Float32Array([3]));
  assert.equal(emulator().counts().builds, 1);
});
