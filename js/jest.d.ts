/// <reference path="./types/2026-06.d.ts" />
import type {JestEnvironment, EnvironmentContext, JestEnvironmentConfig} from '@jest/environment';
import type {InstallOptions} from 'webnn-emulator';

/** `testEnvironmentOptions.webnn` in the configuration of jest. */
export interface WebNNEnvironmentOptions extends InstallOptions {
  /** The environment below: 'node', 'jsdom', or the module of another one. */
  base?: string;
}
export const TestEnvironment: new (config: JestEnvironmentConfig, context: EnvironmentContext) => JestEnvironment;
