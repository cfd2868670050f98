import { defineConfig } from 'vitest/config'
import { runner } from './test/runner.ts'

export default defineConfig({
  test: {
    ...runner,
    include: ['server/**/*.test.ts', 'client/**/*.test.ts', 'console/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/global-setup.ts',
    setupFiles: 'test/statements.ts',
    // Each file has a server and a database of its own, so files can share a process, which imports the service once.
    isolate: false,
    // One more than CI has cores: each waits for its database now and then.
    maxWorkers: 3,
    testTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
  },
})
