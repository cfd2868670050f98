import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { runner } from '../runner.ts'

export default defineConfig({
  test: {
    ...runner,
    root: join(import.meta.dirname, '../..'),
    // The contract tests run all operations again, against several processes behind one address.
    include: ['test/contract.test.ts', 'test/scale/*.check.ts'],
    globalSetup: 'test/global-setup.ts',
    provide: { processes: 3 },
    // The service and its database run at the same time as a test.
    maxWorkers: 2,
    testTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 120_000,
  },
})
