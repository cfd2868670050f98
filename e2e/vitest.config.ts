import { defineConfig } from 'vitest/config'
import { runner } from '../test/runner.ts'

export default defineConfig({
  test: {
    ...runner,
    root: import.meta.dirname,
    include: ['**/*.e2e.ts'],
    globalSetup: 'global-setup.ts',
    // Each test has a browser context of its own, so files can share a process and its browser.
    isolate: false,
    // One more than CI has cores: each waits for its pages now and then.
    maxWorkers: 3,
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
