import { defineConfig } from 'vitest/config'
import { keepTemporaryFilesInMemory } from './test/temporary-files.ts'

keepTemporaryFilesInMemory()

export default defineConfig({
  test: {
    environment: 'node',
    include: ['server/**/*.test.ts', 'client/**/*.test.ts', 'console/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/global-setup.ts',
    // Each file has a server and a database of its own, so files can share a process, which imports the service once.
    pool: 'forks',
    isolate: false,
    // Run as the service runs: by Node, with nothing in between.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // One more than CI has cores: each waits for its database now and then.
    maxWorkers: 3,
    testTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
    retry: 0,
  },
})
