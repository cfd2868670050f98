import { keepTemporaryFilesInMemory } from './temporary-files.ts'

keepTemporaryFilesInMemory()

/** The settings of all tests: they run like the service, directly in Node, and without retries. */
export const runner = {
  environment: 'node',
  pool: 'forks',
  // A larger young generation reduces the work of the garbage collector.
  execArgv: ['--max-semi-space-size=64'] as string[],
  experimental: { viteModuleRunner: false, nodeLoader: false },
  retry: 0,
} as const
