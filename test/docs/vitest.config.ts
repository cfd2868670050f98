import { defineConfig } from 'vitest/config'
import { runner } from '../runner.ts'

export default defineConfig({
  test: {
    ...runner,
    root: import.meta.dirname,
    include: ['*.check.ts'],
    globalSetup: 'global-setup.ts',
    maxWorkers: 2,
    testTimeout: 120_000,
  },
})
