/// <reference path="./types/2026-06.d.ts" />
import type {Environment} from 'vitest/runtime';
import type {InstallOptions} from 'webnn-emulator';

/** `environmentOptions.webnn` in the configuration of vitest. */
export interface WebNNEnvironmentOptions extends InstallOptions {
  /** The environment below. */
  base?: 'node' | 'jsdom' | 'happy-dom';
}
/** The file of the environment, for `test.environment`. */
export const environment: string;
declare const webnn: Environment;
export default webnn;
