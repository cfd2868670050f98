import { keepTemporaryFilesInMemory } from './temporary-files.ts'

keepTemporaryFilesInMemory()

/** How tests run, whichever they are: as the service does, by Node with nothing in between, and each of them once. */
export const runner = {
  environment: 'node',
  pool: 'forks',
  experimental: { viteModuleRunner: false, nodeLoader: false },
  retry: 0,
} as const
