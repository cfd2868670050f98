// Sets up the environment of a reader of the docs: a running demo, its key, and the installed client.

import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { startDemo } from '../../e2e/demo.ts'
import { serviceKey } from '../server.ts'
import { answer, serveModel } from '../support/monitors/model-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    reader: { url: string; key: string; python: string; folder: string }
  }
}

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** Finds the first Python that has pandas, which one page uses. */
const findPython = async (): Promise<string> => {
  for (const python of ['python3', '/usr/bin/python3']) {
    const found = await run(python, ['-c', 'import pandas']).catch(() => undefined)
    if (found) return python
  }
  throw new Error('no python3 has pandas; on Debian, apt-get install python3-pandas')
}

export default async (project: TestProject) => {
  const python = await findPython()
  await run('jq', ['--version']).catch(() => {
    throw new Error('there is no jq; on Debian, apt-get install jq')
  })
  const folder = await mkdtemp(join(tmpdir(), 'earshot-docs-'))
  // If this process runs as root, the database runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o711)
  // The client is installed like the npm package, but built from this checkout.
  const { stdout: packed } = await run('node', [join(root, 'tools/build-client.ts'), folder])
  await run('tar', ['-xzf', packed.trim(), '-C', folder])
  const certificate = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') }
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '1',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
    '-keyout',
    certificate.key,
    '-out',
    certificate.cert,
  ])
  let closeModel = async () => {}
  const model = await serveModel(
    () => answer(),
    (close) => {
      closeModel = close
    },
  )
  const { child, origin, key } = await startDemo(join(folder, 'data'), 3_000, {
    EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8,::1/128',
    NODE_EXTRA_CA_CERTS: certificate.cert,
    EARSHOT_SERVICE_KEY: serviceKey,
    EARSHOT_JUDGE_BASE_URL: model.url,
    EARSHOT_JUDGE_MODEL: 'a-model',
  })
  project.provide('reader', { url: origin, key, python, folder })
  return async () => {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('close', resolve))
    await closeModel()
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
