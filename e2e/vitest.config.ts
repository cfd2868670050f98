import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { runner } from '../test/runner.ts'

/** Runs pages.e2e.ts first: it is small but slow, so at the end it would run on its own. */
class PagesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const isFirst = ({ moduleId }: TestSpecification) => moduleId.endsWith('/pages.e2e.ts')
    const largestFirst = await super.sort(files)
    return [...largestFirst.filter(isFirst), ...largestFirst.filter((file) => !isFirst(file))]
  }
}

export default defineConfig({
  test: {
    ...runner,
    root: import.meta.dirname,
    include: ['**/*.e2e.ts'],
    globalSetup: 'global-setup.ts',
    // Each test has its own browser context, so files can share a process and its browser.
    isolate: false,
    // This is one more than CI has cores, because tests often wait for pages.
    maxWorkers: 3,
    sequence: { sequencer: PagesFirst },
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
