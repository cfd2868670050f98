import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { runner } from '../runner.ts'

/** Runs the tests of `npm test` on a Citus cluster, and those that only apply to a cluster. */
export default defineConfig({
  test: {
    ...runner,
    root: join(import.meta.dirname, '../..'),
    include: ['server/**/*.test.ts', 'client/**/*.test.ts', 'test/**/*.test.ts', 'test/cluster/*.check.ts'],
    globalSetup: 'test/cluster/setup.ts',
    setupFiles: 'test/statements.ts',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 180_000,
  },
})
