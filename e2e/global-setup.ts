// Starts one server with demo data and three members for the whole run, and unpacks the browser.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type Chromium, unpackChromium } from './chromium.ts'
import { startDemo } from './demo.ts'
import { type People, sessionOf } from './people.ts'

declare module 'vitest' {
  interface ProvidedContext {
    origin: string
    key: string
    people: People
    chromium: Chromium
  }
}

const calls = 1_500

const invite = async (origin: string, key: string, role: string, name: string) => {
  const answer = await fetch(`${origin}/v1/members`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${role}@example.com`, name, role }),
  })
  const { invitationUrl } = (await answer.json()) as { invitationUrl: string }
  return invitationUrl.slice(invitationUrl.indexOf('#') + 1)
}

export default async (project: TestProject) => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-e2e-'))
  // If this process runs as root, the database runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o711)
  const [chromium, { child, origin, invitation, key }] = await Promise.all([
    unpackChromium(folder),
    startDemo(join(folder, 'data'), calls),
  ])
  const owner = await sessionOf(origin, invitation, 'Olga Owner')
  const member = await sessionOf(origin, await invite(origin, key, 'member', 'Mira Member'), 'Mira Member')
  const viewer = await sessionOf(origin, await invite(origin, key, 'viewer', 'Vito Viewer'), 'Vito Viewer')
  project.provide('origin', origin)
  project.provide('key', key)
  project.provide('people', { owner, member, viewer })
  project.provide('chromium', chromium)
  return async () => {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('close', resolve))
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}
