import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { placement } from '../../server/platform/db/citus/placement.ts'
import { NamingClient } from '../../server/platform/db/naming-client.ts'
import { makeKey, makeOrganization } from '../make.ts'
import { listOperations, makeIds, type Org, pathWith, preparedCall, type SweptOperation } from '../operations.ts'
import { serviceKey, testServer } from '../server.ts'

// Reads the statements that run on shards for each operation. Citus reports them as notices, whether it sends them to
// another node or runs them on the connected one.

type Sent = { statement: string; shards: Set<string>; nodes: Set<string> }

let sent: Sent[] | undefined

const tablesIn = (text: string): string[] =>
  [...text.matchAll(/\bpublic\.(\w+?)_\d{6,}\b/g)].map(([, name = '']) => name)

const watched = new WeakSet<NamingClient>()
const current = new WeakMap<NamingClient, Sent>()

const watch = (client: NamingClient, query: (text: string) => unknown) => {
  watched.add(client)
  query('SET citus.log_remote_commands = on; SET citus.log_local_commands = on')
  client.on('notice', ({ message = '', detail = '' }) => {
    const statement = current.get(client)
    if (!statement || !/^(issuing|executing the command locally:) /.test(message)) return
    if (!tablesIn(message).some((table) => placement[table] === 'distributed')) return
    for (const [, shard = ''] of message.matchAll(/\bpublic\.\w+?_(\d{6,})\b/g)) statement.shards.add(shard)
    statement.nodes.add(/@\S+:(\d+)/.exec(detail)?.[1] ?? String(client.port))
  })
}

const { query } = NamingClient.prototype
NamingClient.prototype.query = function (this: NamingClient, ...given: Parameters<typeof query>) {
  if (!watched.has(this)) watch(this, (text) => query.call(this, text, undefined, () => {}))
  const [config] = given
  const text: unknown = typeof config === 'string' ? config : config?.text
  const statement: Sent = { statement: String(text), shards: new Set(), nodes: new Set() }
  current.set(this, statement)
  sent?.push(statement)
  return query.apply(this, given)
}

const server = await testServer({
  EARSHOT_TRUST_PROXY: '1',
  EARSHOT_SMTP_URL: 'smtp://127.0.0.1:1',
  EARSHOT_EMBEDDINGS: 'on',
})

/** A person can belong to organizations on any shard. */
const ofPerson = [
  'signIn',
  'forgetPassword',
  'changePassword',
  'confirmEmail',
  'switchOrganization',
  'listJoinedOrganizations',
  'listOwnInvitations',
  'acceptOwnInvitation',
  'declineOwnInvitation',
]

/** Colocated shards of different tables start with the same value. */
const { rows: shards } = await sql<{ id: string; start: string }>`
  SELECT shardid::text AS id, shardminvalue AS start FROM pg_dist_shard WHERE shardminvalue IS NOT NULL`.execute(
  server.deps.db,
)
const startOf = new Map(shards.map(({ id, start }) => [id, start]))

const keyFor = async ({ access }: SweptOperation, org: Org) => {
  if (access === 'service') return serviceKey
  return access === 'public' ? org.key : (await makeKey(server, org.key, access.role)).key
}

const operations = listOperations(server).filter(({ path }) => !path.startsWith('/files/'))

let asked = 0

it.each(operations)('$name queries one shard', async (swept) => {
  const org = await makeOrganization(server)
  const key = await keyFor(swept, org)
  const path = pathWith(swept, await makeIds(server, swept, org))
  const accepted = await preparedCall(server, swept, org)
  sent = []
  const answer = await server.call(swept.method, path, { key, ...accepted })
  const statements = sent
  sent = undefined
  expect(answer.status, answer.text).toBeLessThan(400)
  asked += statements.filter(({ shards }) => shards.size > 0).length
  if (ofPerson.includes(swept.operation.operationId)) return
  const startsOf = (statement: Sent) => new Set([...statement.shards].flatMap((shard) => startOf.get(shard) ?? []))
  const spread = statements.filter((statement) => startsOf(statement).size > 1)
  expect(spread.map(({ statement }) => statement)).toEqual([])
  expect(new Set(statements.flatMap(({ nodes }) => [...nodes])).size).toBeLessThan(2)
})

it('has read the queries of Citus', () => {
  expect(asked).toBeGreaterThan(operations.length)
})
