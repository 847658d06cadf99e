import {defineConfig} from 'vitest/config';
import {environment} from 'webnn-emulator/vitest';

// The same tests on each device: Core ML, DirectML, and TFLite in Chromium on Linux.
const projects = ['coreml', 'dml', 'tflite-chromium153'].map(profile => ({
  test: {name: profile, environment, environmentOptions: {webnn: {profile}}, env: {PROFILE: profile}},
}));
export default defineConfig({test: {projects}});
