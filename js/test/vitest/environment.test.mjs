import {afterEach, expect, test} from 'vitest';
import {emulator, install} from 'webnn-emulator';
import {double} from '../double.mjs';

afterEach(() => emulator().set({faults: {}}));

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
  expect(emulator().counts().refused).toBeGreaterThan(0);
});

test('install() begins anew in the same process', async () => {
  const {pid} = emulator(), own = install({profile: null});
  expect(own.pid).toBe(pid);
  expect(emulator()).toBe(own);
  expect([...await double([3])]).toEqual([6]);
});
