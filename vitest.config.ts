import { defineConfig } from 'vitest/config'
import { runner } from './test/runner.ts'

export default defineConfig({
  test: {
    ...runner,
    include: ['server/**/*.test.ts', 'client/**/*.test.ts', 'console/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/global-setup.ts',
    setupFiles: 'test/statements.ts',
    // Each file has its own server and database, so files can share a process, which imports the service once.
    isolate: false,
    // This is two more than CI has cores, because files often wait for their databases.
    maxWorkers: 4,
    testTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
  },
})
