import { defineConfig } from 'vitest/config'
import { runner } from '../runner.ts'

export default defineConfig({
  test: {
    ...runner,
    root: import.meta.dirname,
    include: ['*.check.ts'],
    globalSetup: 'global-setup.ts',
    maxWorkers: 2,
    // Exports have a low priority, so pages with several take minutes while other checks use the cores.
    testTimeout: 300_000,
  },
})
