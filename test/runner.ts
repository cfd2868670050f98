import { getPriority, setPriority } from 'node:os'
import { keepTemporaryFilesInMemory } from './temporary-files.ts'

keepTemporaryFilesInMemory()
// Gives tests the same priority as background work, which would otherwise have to wait for all of them.
setPriority(Math.max(getPriority(), 10))

/** The settings of all tests: they run like the service, directly in Node, and without retries. */
export const runner = {
  environment: 'node',
  pool: 'forks',
  // A larger young generation reduces the work of the garbage collector.
  execArgv: ['--max-semi-space-size=64'] as string[],
  experimental: { viteModuleRunner: false, nodeLoader: false },
  retry: 0,
} as const
