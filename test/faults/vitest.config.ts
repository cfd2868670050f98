import { defineConfig } from 'vitest/config'
import { keepTemporaryFilesInMemory } from '../temporary-files.ts'

keepTemporaryFilesInMemory()

export default defineConfig({
  test: {
    environment: 'node',
    root: import.meta.dirname,
    include: ['*.faults.ts'],
    globalSetup: 'global-setup.ts',
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 3_600_000,
    retry: 0,
  },
})
