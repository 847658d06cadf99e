const {emulator, install} = require('webnn-emulator');

async function double(values) {
  const context = await navigator.ml.createContext(), descriptor = {dataType: 'float32', shape: [values.length]};
  const builder = new MLGraphBuilder(context), x = builder.input('x', descriptor), graph = await builder.build({y: builder.add(x, x)});
  const input = await context.createTensor({...descriptor, writable: true}), output = await context.createTensor({...descriptor, readable: true});
  context.writeTensor(input, new Float32Array(values));
  context.dispatch(graph, {x: input}, {y: output});
  return new Float32Array(await context.readTensor(output));
}

test('a graph computes', async () => {
  expect([...await double([1, 2.5])]).toEqual([2, 5]);
});

test('the profile is the one of the options', async () => {
  const {input} = (await navigator.ml.createContext()).opSupportLimits();
  expect(input.dataTypes).not.toContain('int64');
});

test('errors are those of the test', async () => {
  const builder = new MLGraphBuilder(await navigator.ml.createContext());
  expect(() => builder.input('x', {dataType: 'float31', shape: [1]})).toThrow(TypeError);
  emulator().set({faults: {failBuild: 1}});
  const failure = await double([1]).catch(error => error);
  expect(failure).toBeInstanceOf(DOMException);
  expect(failure.name).toBe('OperationError');
});

test('require of register gives the same emulator', () => {
  const found = emulator();
  require('webnn-emulator/register');
  expect(emulator()).toBe(found);
});

test('install() begins anew in the same process', async () => {
  const {pid} = emulator(), own = install();
  expect(own.pid).toBe(pid);
  expect(emulator()).toBe(own);
  const {input} = (await navigator.ml.createContext()).opSupportLimits();
  expect(input.dataTypes).toContain('int64');
});
