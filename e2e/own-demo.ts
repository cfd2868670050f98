import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { startDemo } from './demo.ts'
import { sessionOf } from './people.ts'

/** Starts another server with a little demo data, for tests that need their own settings. It ends after the tests. */
export const startOwnDemo = async (switches: Record<string, string>) => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-own-demo-'))
  // If this process runs as root, the database runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o711)
  const demo = await startDemo(join(folder, 'data'), 25, switches)
  afterAll(async () => {
    demo.child.kill('SIGTERM')
    await new Promise((resolve) => demo.child.once('close', resolve))
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })
  const elsewhere = { origin: demo.origin, session: await sessionOf(demo.origin, demo.invitation, 'Olga Owner') }
  return { ...demo, elsewhere }
}
