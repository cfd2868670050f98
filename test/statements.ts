// Checks every statement that the service sends in a test, once per process. The test file fails if a cluster would
// reject the statement or send it to every shard.

import { loadModule } from 'libpg-query'
import { afterAll, expect, inject } from 'vitest'
import { NodeClient } from '../server/platform/db/citus/clients.ts'
import { NamingClient } from '../server/platform/db/naming-client.ts'
import { brokenRules } from './statement-rules.ts'

const shared = globalThis as { earshotStatements?: { seen: Set<string>; unread: Set<string> } }

/** Matches an organization's ID. Statements to a node contain one. */
const organization = /'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'/g

const watch = () => {
  const watched = { seen: new Set<string>(), unread: new Set<string>() }
  const { query } = NamingClient.prototype
  NamingClient.prototype.query = function (this: NamingClient, ...given: Parameters<typeof query>) {
    const [config] = given
    const sent: unknown = typeof config === 'string' ? config : config?.text
    const text = typeof sent === 'string' && this instanceof NodeClient ? sent.replace(organization, '$$1') : sent
    if (typeof text === 'string' && !watched.seen.has(text)) {
      watched.seen.add(text)
      watched.unread.add(text)
    }
    return query.apply(this, given)
  }
  return watched
}

shared.earshotStatements ??= watch()
const { unread } = shared.earshotStatements

afterAll(async () => {
  if (unread.size === 0) return
  await loadModule()
  const { changingFunctions } = inject('testServer')
  const isImmutable = (name: string) => !changingFunctions.includes(name)
  const broken = [...unread].flatMap((text) => brokenRules(text, isImmutable).map((rule) => `${rule}: ${text}`))
  unread.clear()
  expect(broken, 'statements that a cluster refuses or sends to every shard; ARCHITECTURE.md, Tenancy').toEqual([])
})
