// A page's module and its test in the newest draft. Lines that must be refused have a mark.
import 'webnn-emulator/register';
import {emulator, install, type Counts} from 'webnn-emulator';
import {environment} from 'webnn-emulator/vitest';
import {TestEnvironment} from 'webnn-emulator/jest';
import {expect, test} from 'webnn-emulator/playwright';

export async function run(): Promise<Float32Array> {
  const context: MLContext = await navigator.ml.createContext({powerPreference: 'low-power'});
  const builder = new MLGraphBuilder(context), x = builder.input('x', {dataType: 'float32', shape: new Uint32Array([2, 2])});
  const y: MLOperand = builder.clamp(builder.add(x, builder.constant('float32', 1n)), {minValue: 0, label: 'relu'});
  const [first] = builder.split(y, 2, {axis: 1});
  const graph: MLGraph = await builder.build({y: first!});
  const tensor = await context.createTensor({dataType: 'float32', shape: [2, 2], readable: true, writable: true});
  context.writeTensor(tensor, new Float32Array(4));
  context.dispatch(graph, {x: tensor}, {y: tensor});
  const {message} = await context.lost, types: MLOperandDataType[] = context.opSupportLimits().input.dataTypes;
  console.log(message, types, x.shape[0], x instanceof MLOperand);
  // @ts-expect-error: there is no such type
  builder.input('x', {dataType: 'float31', shape: [2]});
  // @ts-expect-error: the shape is required
  builder.input('x', {dataType: 'float32'});
  // @ts-expect-error: there is no such option
  builder.softmax(x, 0, {axis: 1});
  // @ts-expect-error: a graph is not an operand
  builder.relu(graph);
  // @ts-expect-error: only browsers have it
  await navigator.ml.createContext({deviceType: 'gpu'});
  // @ts-expect-error: the interface has no constructor
  new MLContext();
  // @ts-expect-error: only the draft 2024-06 has it
  await context.compute(graph, {}, {});
  return new Float32Array(await context.readTensor(tensor));
}

const counts: Counts = install({profile: 'coreml', faults: {failBuild: [1, 3]}, python: ['uvx', 'webnn']}).counts();
emulator().set({faults: {refuse: 'npu', delay: 0.5}, fallback: 'deny', profile: null});
// @ts-expect-error: there is no such fault
emulator().set({faults: {failBild: 1}});
// @ts-expect-error: the draft cannot be changed
emulator().set({revision: '2024-06'});
console.log(counts.calls['MLGraphBuilder.relu'], environment, TestEnvironment);

test.use({webnnOptions: {profile: 'coreml', workers: false}});
test('a page', async ({page, webnn}) => {
  await page.goto('https://example.test');
  expect(webnn.log()[0]?.refused).toBe(false);
  expect(webnn.faults()).toEqual([]);
});
