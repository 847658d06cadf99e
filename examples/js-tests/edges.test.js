import {afterEach, beforeEach, expect, test} from 'vitest';
import {emulator} from 'webnn-emulator';
import {EdgeFinder} from '../page/edges.js';

const WIDTH = 4, HEIGHT = 3;
// The right half is white.
const PICTURE = Uint8Array.from({length: WIDTH * HEIGHT}, (_, index) => index % WIDTH < 2 ? 0 : 255);

let notes;
const create = () => EdgeFinder.create(WIDTH, HEIGHT, text => notes.push(text));
beforeEach(() => { notes = []; });
afterEach(() => emulator().set({faults: {}}));

test('the edge is found', async () => {
  const finder = await create(), edges = await finder.find(PICTURE);
  expect([...edges.subarray(WIDTH, WIDTH + 3)]).toEqual([0, 255, 255]);
});

test('pixels are bytes where the device has them', async () => {
  const finder = await create(), hasBytes = process.env.PROFILE !== 'coreml';
  expect(finder.pixels.dataType).toBe(hasBytes ? 'uint8' : 'float32');
  expect(notes).toHaveLength(hasBytes ? 0 : 1);
});

test('a build that fails once is not the end', async () => {
  emulator().set({faults: {failBuild: 1}});
  const finder = await create().catch(error => error);
  if (process.env.PROFILE === 'coreml') {
    // It had only one network left.
    expect(finder.message).toBe('this device takes none of the networks');
  } else {
    expect(finder.pixels.dataType).toBe('float32');
    expect(notes[0]).toMatch(/injected/);
  }
});

test('a context that is lost says so', async () => {
  const finder = await create();
  emulator().set({faults: {loseAfter: 1}});
  await finder.find(PICTURE).catch(() => {});
  expect((await finder.context.lost).message).toMatch(/injected/);
  await expect(finder.find(PICTURE)).rejects.toThrow();
});

test('a device that is not there is an error', async () => {
  emulator().set({faults: {refuse: ['cpu', 'gpu', 'npu']}});
  await expect(create()).rejects.toMatchObject({name: 'NotSupportedError'});
});
