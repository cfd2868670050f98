import { keepTemporaryFilesInMemory } from './temporary-files.ts'

keepTemporaryFilesInMemory()

/** Settings for all tests: they run like the service, directly in Node, and without retries. */
export const runner = {
  environment: 'node',
  pool: 'forks',
  // A larger young generation reduces garbage collection of objects in use.
  execArgv: ['--max-semi-space-size=64'] as string[],
  experimental: { viteModuleRunner: false, nodeLoader: false },
  retry: 0,
} as const
