import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { runner } from '../runner.ts'

export default defineConfig({
  test: {
    ...runner,
    root: join(import.meta.dirname, '../..'),
    maxWorkers: 2,
    hookTimeout: 60_000,
    projects: [
      // As many rounds as are asked for.
      {
        extends: true,
        test: {
          name: 'rounds',
          include: ['test/faults/*.faults.ts'],
          globalSetup: 'test/faults/global-setup.ts',
          testTimeout: 3_600_000,
        },
      },
      // One way of ending after the other.
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['server/**/*.faults.ts'],
          globalSetup: 'test/global-setup.ts',
          testTimeout: 60_000,
          expect: { poll: { timeout: 10_000 } },
        },
      },
    ],
  },
})
