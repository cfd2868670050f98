import { defineConfig } from 'vitest/config'
import { runner } from '../test/runner.ts'

export default defineConfig({
  test: {
    ...runner,
    root: import.meta.dirname,
    include: ['**/*.e2e.ts'],
    globalSetup: 'global-setup.ts',
    // Beside them run the service, its database and the browsers.
    maxWorkers: 2,
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
