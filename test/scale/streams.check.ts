import { expect, it } from 'vitest'
import { testDatabase } from '../database.ts'
import { ask, provision } from '../earshot.ts'
import { afterwards } from '../server.ts'
import { type EventStream, openEventStream } from '../support/event-stream.ts'
import { openCluster } from './cluster.ts'

/**
 * Tests that several processes serve event streams: each learns of the others' changes, and takes over their readers.
 */

const database = await testDatabase({ empty: true })
afterwards(database.drop)
const cluster = await openCluster(database.connection)
const [one, two] = [await cluster.startHttp(), await cluster.startHttp()]
const { key } = await provision(cluster.origin)
const headers = { authorization: `Bearer ${key}` }

let number = 0
const store = async (at: string): Promise<string> => {
  const body = {
    externalId: `call-${++number}`,
    agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
    channel: 'call',
    startedAt: new Date().toISOString(),
  }
  return (await ask(at, 'POST', '/v1/conversations', key, body)).body.id
}

const stored = (stream: EventStream) =>
  stream.events.filter(({ resource }) => resource === 'conversations').map(({ id }) => id)

it('sends changes of any process to the readers of all, and ends streams of a revoked key everywhere', async () => {
  const created = await ask(one.url, 'POST', '/v1/api-keys', key, { name: 'Reader', role: 'viewer' })
  const reader = { authorization: `Bearer ${created.body.key}` }
  const streams = [await openEventStream(one.url, reader), await openEventStream(two.url, reader)]
  for (const stream of streams) await stream.ready()
  const ids = [await store(one.url), await store(two.url)]
  for (const stream of streams) await expect.poll(() => stored(stream)).toEqual(ids)
  await ask(two.url, 'DELETE', `/v1/api-keys/${created.body.id}`, key)
  for (const stream of streams) await stream.ended
})

it('replays missed changes, even in another process, and through the balancer', async () => {
  const [first, witness] = [await openEventStream(one.url, headers), await openEventStream(two.url, headers)]
  await first.ready()
  await witness.ready()
  const seen = await store(one.url)
  await expect.poll(() => stored(first)).toEqual([seen])
  await first.close()
  const missed = await store(one.url)
  await expect.poll(() => stored(witness)).toEqual([seen, missed])
  const again = await openEventStream(two.url, { ...headers, 'last-event-id': first.lastEventId() ?? '' })
  await expect.poll(() => stored(again)).toEqual([missed])
  const proxied = await openEventStream(cluster.origin, headers)
  await proxied.ready()
  const third = await store(two.url)
  await expect.poll(() => stored(proxied)).toEqual([third])
  for (const stream of [witness, again, proxied]) await stream.close()
})

it('ends streams when a process stops, and the next one tells clients what to request again', async () => {
  const stream = await openEventStream(two.url, headers)
  await stream.ready()
  const position = stream.lastEventId() ?? ''
  const stopped = cluster.stop(two)
  await stream.ended
  await stopped
  const three = await cluster.startHttp()
  const again = await openEventStream(three.url, { ...headers, 'last-event-id': position })
  await again.until({ kind: 'resync', resource: 'all' })
  const id = await store(one.url)
  await again.until({ kind: 'created', resource: 'conversations', id })
  await again.close()
})
