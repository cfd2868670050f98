import { defineConfig } from 'vitest/config'
import { keepTemporaryFilesInMemory } from '../test/temporary-files.ts'

keepTemporaryFilesInMemory()

export default defineConfig({
  test: {
    environment: 'node',
    root: import.meta.dirname,
    include: ['**/*.e2e.ts'],
    globalSetup: 'global-setup.ts',
    pool: 'forks',
    // Beside them run the service, its database and the browsers.
    maxWorkers: 2,
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
  },
})
