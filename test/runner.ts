import { keepTemporaryFilesInMemory } from './temporary-files.ts'

keepTemporaryFilesInMemory()

/** How tests run, whichever they are: as the service does, by Node with nothing in between, and each of them once. */
export const runner = {
  environment: 'node',
  pool: 'forks',
  // Room for what is young: less of it is looked through while it is still in use.
  execArgv: ['--max-semi-space-size=64'] as string[],
  experimental: { viteModuleRunner: false, nodeLoader: false },
  retry: 0,
} as const
