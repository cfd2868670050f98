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
      {
        test: {
          name: 'traffic',
          include: ['test/faults/*.faults.ts'],
          globalSetup: 'test/faults/global-setup.ts',
          // This is enough for any number of rounds.
          testTimeout: 3_600_000,
        },
      },
      {
        test: {
          name: 'lifetimes',
          include: ['server/**/*.faults.ts'],
          globalSetup: 'test/global-setup.ts',
          // In CI, other checks use half of the machine meanwhile.
          testTimeout: 120_000,
          expect: { poll: { timeout: 10_000 } },
          // This group runs after the traffic, which would slow down steps with timeouts.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
