import type {PlaywrightTestArgs, PlaywrightTestOptions, PlaywrightWorkerArgs, PlaywrightWorkerOptions, TestType} from '@playwright/test';
import type {Emulator, InstallOptions} from 'webnn-emulator';

export interface WebNNPageOptions extends InstallOptions {
  /** Workers have the emulator, too. Without, large constants travel faster. */
  workers?: boolean;
}
export interface PageEmulator extends Emulator {
  /** Why pages did not get the emulator, and its own errors. With any, the test fails. */
  faults(): string[];
}
export interface WebNNFixtures {
  /** The options of the emulator: `test.use({webnnOptions: {profile: 'coreml'}})`. */
  webnnOptions: WebNNPageOptions;
  /** The emulator of the test's pages. */
  webnn: PageEmulator;
}
export const test: TestType<PlaywrightTestArgs & PlaywrightTestOptions & WebNNFixtures, PlaywrightWorkerArgs & PlaywrightWorkerOptions>;
export {expect} from '@playwright/test';
