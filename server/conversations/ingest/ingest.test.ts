import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { batchesOf, call, leo, lines, say, statuses } from '../../../test/support/conversation-batches.ts'
import { countWaiting } from '../../../test/support/count-waiting.ts'
import { orgIdOf } from '../../platform/ids.ts'
import type { Incoming } from './incoming.ts'
import { ingestConversations } from './ingest.ts'

const server = await testServer({ EARSHOT_LIMITS: 'batchBytes=12000000' })

const { json, stream, countIn } = batchesOf(() => server)

/** Returns the conversations that were queued for evaluation, in the order of their jobs. */
const handedOver = async (org: string) => {
  const { rows } = await sql<{ id: string }>`
    SELECT jsonb_array_elements_text(payload->'conversationIds') AS id FROM jobs
    WHERE name = 'conversation.evaluate' AND organization_id = ${org}`.execute(server.deps.db)
  return rows.map(({ id }) => id)
}

describe('a batch', () => {
  const mixed = [
    call('a'),
    call('b', { agent: undefined }),
    call('a', { customerId: 'x' }),
    call('a', { customerId: 'x' }),
    call('a', { startedAt: '2026-11-20T10:00:00Z' }),
    'no conversation',
    call(null),
    call(null),
  ]
  const expected = ['created', 'rejected', 'updated', 'unchanged', 'rejected', 'rejected', 'created', 'created']

  it.each(['json', 'ndjson'])(
    'as %s returns the outcome of each item, and an invalid one does not affect the others',
    async (form) => {
      const { key, id } = await makeOrganization(server)
      const answer = form === 'json' ? await json(key, mixed) : await stream(key, lines(mixed))
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(statuses(answer)).toEqual(expected)
      expect(answer.body.data.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
      expect(answer.body.data[1].error).toMatchObject({
        error: 'validation failed',
        details: { issues: [{ path: 'agentId' }] },
      })
      expect(answer.body.data[4].error.error).toBe('conflict')
      expect(answer.body.data[0].id).toBe(answer.body.data[3].id)
      expect(await countIn('conversations', id)).toBe(3)
      const stored = await server.call('GET', `/v1/conversations/${answer.body.data[0].id}`, { key })
      expect(stored.body.customerId).toBe('x')
      const again = await json(key, mixed.slice(0, 3))
      expect(statuses(again)).toEqual(['unchanged', 'rejected', 'unchanged'])
    },
  )

  it('as a stream only separates lines by their end, and reports what is wrong with each', async () => {
    const { key } = await makeOrganization(server)
    const good = JSON.stringify(call('a'))
    const tooLong = JSON.stringify(call('b', { metadata: { x: 'x'.repeat(12_000_000) } }))
    const text = `${good}\r\n\n  \n{"broken"\n${tooLong}\n"\\u0000"\n${JSON.stringify(call('c'))}`
    const answer = await stream(key, text)
    expect(statuses(answer)).toEqual(['created', 'rejected', 'rejected', 'rejected', 'created'])
    expect(answer.body.data.map(({ error }: { error?: { error: string } }) => error?.error)).toEqual([
      undefined,
      'validation failed',
      'payload too large',
      'validation failed',
      undefined,
    ])
    const bytes = await stream(key, new Uint8Array([0x22, 0xff, 0x22, 0x0a]))
    expect(statuses(bytes)).toEqual(['rejected'])
  })

  it('reports for each item whether the item changed anything', async () => {
    const { key } = await makeOrganization(server)
    const csat = { metrics: [{ key: 'csat', value: 1 }] }
    const recorded = { recordingUrl: 'https://recordings.example.com/a.wav' }
    const items = [call('a', csat), call('a'), call('a', csat), call('a', recorded), call('a', recorded)]
    expect(statuses(await json(key, items))).toEqual(['created', 'unchanged', 'unchanged', 'updated', 'unchanged'])
    expect(new Set(statuses(await json(key, items)))).toEqual(new Set(['unchanged']))
    const better = call('a', { metrics: [{ key: 'csat', value: 2 }] })
    expect(statuses(await json(key, [call('a'), better, better]))).toEqual(['unchanged', 'updated', 'unchanged'])
  })

  it('with more text than one statement indexes is stored completely', async () => {
    const { key, id } = await makeOrganization(server)
    const items = Array.from({ length: 11 }, (_, at) =>
      call(`t-${at}`, { transcript: say(`word${at} ${'x'.repeat(1_000_000)}`) }),
    )
    expect(new Set(statuses(await stream(key, lines(items))))).toEqual(new Set(['created']))
    expect(await countIn('transcripts', id)).toBe(11)
    expect(statuses(await json(key, items))).toEqual(Array(11).fill('unchanged'))
    const fuller = items.map((item) => ({ ...item, transcript: say('one', 'two', 'x'.repeat(1_000_000)) }))
    expect(statuses(await json(key, fuller))).toEqual(Array(11).fill('updated'))
    const count = (text: string) => server.call('POST', '/v1/conversations/count', { key, body: { filter: { text } } })
    expect((await count('two')).body.count).toBe(11)
    expect((await count('word7')).body.count).toBe(0)
  })

  it('without items gets a response without items', async () => {
    const { key } = await makeOrganization(server)
    expect((await stream(key, '')).body).toEqual({ data: [] })
    expect((await json(key, [])).status).toBe(400)
    expect((await server.call('POST', '/v1/conversations/batch', { key })).status).toBe(415)
    expect(
      (
        await json(
          key,
          Array.from({ length: 1_001 }, () => 1),
        )
      ).status,
    ).toBe(400)
  })

  it('larger than a transaction is stored completely, in order', async () => {
    const { key, id } = await makeOrganization(server)
    const items = Array.from({ length: 1_203 }, (_, index) => call(`n-${index}`, { transcript: say(`word${index}`) }))
    const answer = await stream(key, lines(items))
    expect(new Set(statuses(answer))).toEqual(new Set(['created']))
    expect(answer.body.data).toHaveLength(1_203)
    expect(await countIn('conversations', id)).toBe(1_203)
    expect(await countIn('transcripts', id)).toBe(1_203)
    const { body } = await server.call('GET', `/v1/conversations/${answer.body.data[700].id}`, { key })
    expect(body.externalId).toBe('n-700')
    expect(new Set(await handedOver(id)).size).toBe(1_203)
    expect(statuses(await stream(key, lines(items))).every((status) => status === 'unchanged')).toBe(true)
    expect(await handedOver(id)).toHaveLength(1_203)
  })

  it('creates agents and versions once, whichever item has them', async () => {
    const { key } = await makeOrganization(server)
    const prompts = ['one', 'two', 'one', 'three', 'two']
    const answer = await json(
      key,
      prompts.map((systemPrompt, index) => call(`p-${index}`, { systemPrompt })),
    )
    expect(new Set(statuses(answer))).toEqual(new Set(['created']))
    const agents = await server.call('GET', '/v1/agents', { key })
    expect(agents.body.data).toHaveLength(1)
    const versions = await server.call('GET', `/v1/agents/${agents.body.data[0].id}/versions`, { key })
    expect(versions.body.data).toHaveLength(3)
  })

  it('numbers the versions of each agent in the order of items, and the last is current', async () => {
    const { key } = await makeOrganization(server)
    await json(key, [call('first', { systemPrompt: 'leo 0' })])
    const names = ['leo', 'mia']
    const prompts = Array.from({ length: 120 }, (_, at) => ({
      name: names[at % 2] ?? 'leo',
      systemPrompt: `prompt ${at}`,
    }))
    const items = prompts.map(({ name, systemPrompt }, at) =>
      call(`n-${at}`, { agent: { ...leo, externalId: name }, systemPrompt }),
    )
    expect(new Set(statuses(await json(key, items)))).toEqual(new Set(['created']))
    const agents = await server.call('GET', '/v1/agents', { key })
    for (const [at, name] of names.entries()) {
      const agent = agents.body.data.find(({ externalId }: { externalId: string }) => externalId === name)
      const { body } = await server.call('GET', `/v1/agents/${agent.id}/versions?limit=200`, { key })
      const versions: { id: string; number: number; systemPrompt: string }[] = body.data.toReversed()
      const expected = prompts.filter((prompt) => prompt.name === name).map(({ systemPrompt }) => systemPrompt)
      expect(versions.map(({ systemPrompt }) => systemPrompt)).toEqual(at === 0 ? ['leo 0', ...expected] : expected)
      expect(versions.map(({ number }) => number)).toEqual(versions.map((_, index) => index + 1))
      expect(agent.currentVersionId).toBe(versions.at(-1)?.id)
    }
  })

  it('is rejected as a whole if its envelope is invalid', async () => {
    const { key } = await makeOrganization(server)
    const body = { conversations: [call('a')], extra: 1 }
    expect((await server.call('POST', '/v1/conversations/batch', { key, body })).status).toBe(400)
    const raw = { raw: 'x', headers: { 'content-type': 'text/plain' } }
    expect((await server.call('POST', '/v1/conversations/batch', { key, ...raw })).status).toBe(415)
    const large = { raw: ' '.repeat(12_000_001), headers: { 'content-type': 'application/json' } }
    expect((await server.call('POST', '/v1/conversations/batch', { key, ...large })).status).toBe(413)
  })
})

describe('concurrency', () => {
  it('fifty equal requests create one conversation and one evaluation', async () => {
    const { key, id } = await makeOrganization(server)
    const body = call('once', { systemPrompt: 'You are Leo.', transcript: say('hello') })
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => server.call('POST', '/v1/conversations', { key, body })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(49).fill(200), 201])
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
    expect(await countIn('conversations', id)).toBe(1)
    expect(await countIn('agents', id)).toBe(1)
    expect(await countIn('agent_versions', id)).toBe(1)
    expect(await handedOver(id)).toHaveLength(1)
  })

  it('a conversation that is stored and erased during a batch with it does not return', async () => {
    const { key, id: org } = await makeOrganization(server)
    const seen = await json(key, [call('before', { systemPrompt: 'one' })])
    expect(statuses(seen)).toEqual(['created'])
    const { db } = server.deps
    const { batch } = await db.transaction().execute(async (trx) => {
      await sql`SELECT id FROM agents WHERE organization_id = ${org} FOR NO KEY UPDATE`.execute(trx)
      const batch = json(key, [call('brief', { systemPrompt: 'two' }), call('other')])
      await expect.poll(() => countWaiting(db, 'select "id" from "agents"'), { interval: 5 }).toBe(1)
      const { body } = await server.call('POST', '/v1/conversations', { key, body: call('brief') })
      expect((await server.call('DELETE', `/v1/conversations/${body.id}`, { key })).status).toBe(204)
      return { batch }
    })
    const answer = await batch
    expect(statuses(answer)).toEqual(['rejected', 'created'])
    expect(answer.body.data[0].error.error).toBe('conflict')
    expect(await countIn('conversations', org)).toBe(2)
  })

  it('two prompts with the same label create two versions, and one has the label', async () => {
    const { key, id } = await makeOrganization(server)
    const org = orgIdOf(id)
    await json(key, [call('before')])
    const { db } = server.deps
    const one = (externalId: string, version: Incoming['version']): Incoming => ({
      externalId,
      agent: { externalId: 'leo' },
      version,
      companyId: null,
      channel: 'call',
      direction: null,
      status: null,
      startedAt: new Date('2026-11-20T09:00:00.000Z'),
      endedAt: null,
      durationSeconds: null,
      endReason: null,
      customerId: null,
      metadata: {},
      transcript: null,
      recordingUrl: null,
      metrics: [],
    })
    const { stored } = await db.transaction().execute(async (trx) => {
      await sql`SELECT id FROM agents WHERE organization_id = ${org} FOR NO KEY UPDATE`.execute(trx)
      const stored = Promise.all(
        ['a', 'b'].map((systemPrompt) =>
          ingestConversations(server.deps, org, [one(systemPrompt, { systemPrompt, label: 'v2' })]),
        ),
      )
      await expect.poll(() => countWaiting(db, 'select "id" from "agents"'), { interval: 5 }).toBe(2)
      return { stored }
    })
    expect((await stored).flat().map(({ status }) => status)).toEqual(['created', 'created'])
    const { rows } = await sql<{ label: string | null }>`
      SELECT label FROM agent_versions WHERE organization_id = ${org} ORDER BY label`.execute(db)
    expect(rows.map(({ label }) => label)).toEqual(['v2', null])

    // Without a prompt, a label selects the version with that label, or creates a version that only has the label.
    const { body } = await server.call('GET', '/v1/agents', { key })
    const bare = { systemPrompt: '', config: { version: 'v3' } }
    const made = await server.call('POST', `/v1/agents/${body.data[0].id}/versions`, { key, body: bare })
    const labels = ['v2', 'v3', 'v4', 'v4'].map((label, at) => one(`l-${at}`, { label, make: true }))
    const outcomes = await ingestConversations(server.deps, org, labels)
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('created'))
    const found = await sql<{ label: string | null; id: string }>`
      SELECT v.label, v.id FROM conversations c JOIN agent_versions v
        ON v.organization_id = c.organization_id AND v.id = c.agent_version_id
      WHERE c.organization_id = ${org} AND c.external_id LIKE 'l-%' ORDER BY c.external_id`.execute(db)
    expect(found.rows.map(({ label }) => label)).toEqual(['v2', null, 'v4', 'v4'])
    expect(found.rows[1]?.id).toBe(made.body.id)
  })

  it('batches that overlap in any order store each conversation once', async () => {
    const { key, id } = await makeOrganization(server)
    const names = Array.from({ length: 60 }, (_, index) => `o-${index}`)
    const orders = Array.from({ length: 8 }, (_, turn) =>
      names.toSorted(
        (a, b) => ((a.length * 7 + a.charCodeAt(2) * turn) % 11) - ((b.length * 7 + b.charCodeAt(2)) % 13),
      ),
    )
    const answers = await Promise.all(
      orders.map((order, turn) =>
        json(
          key,
          order.map((name) => call(name, { systemPrompt: `prompt ${turn % 3}`, metadata: { [`m${turn}`]: turn } })),
        ),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(answers.flatMap(statuses).filter((status) => status === 'created')).toHaveLength(60)
    expect(await countIn('conversations', id)).toBe(60)
    const { body } = await server.call('GET', `/v1/conversations/${answers[0]?.body.data[0].id}`, { key })
    expect(Object.keys(body.metadata)).toHaveLength(8)
    expect(await handedOver(id)).toHaveLength(60)
  })
})

it('evaluation is queued by completion and by a new transcript, and by nothing else', async () => {
  const { key, id } = await makeOrganization(server)
  const take = async (fields: object) => {
    await server.call('POST', '/v1/conversations', { key, body: call('e', fields) })
    return (await handedOver(id)).length
  }
  expect(await take({ status: 'in_progress' })).toBe(0)
  expect(await take({ status: 'in_progress', transcript: say('a') })).toBe(0)
  expect(await take({ status: 'completed' })).toBe(1)
  expect(await take({ customerId: 'x' })).toBe(1)
  expect(await take({ transcript: say('a', 'b') })).toBe(2)
  expect(await take({ transcript: say('a', 'b') })).toBe(2)
  expect(await take({ transcript: say('c') })).toBe(2)
})

it('metrics from several parts have the same limit as from one', async () => {
  const { key, id } = await makeOrganization(server)
  const metrics = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ key: `k${from + at}`, value: at }))
  const answer = await json(key, [
    call('m', { metrics: metrics(0, 150) }),
    call('m', { metrics: metrics(100, 100) }),
    call('m', { metrics: metrics(150, 51) }),
  ])
  expect(statuses(answer)).toEqual(['created', 'updated', 'rejected'])
  expect(statuses(await json(key, [call('m', { metrics: metrics(200, 1) })]))).toEqual(['rejected'])
  expect(statuses(await json(key, [call('m', { metrics: metrics(0, 1) })]))).toEqual(['unchanged'])
  expect(await countIn('customer_metrics', id)).toBe(200)
})

it('an organization that redacts stores no address, phone number, or card', async () => {
  const { key, id } = await makeOrganization(server, { features: { phiMode: true } })
  await server.call('PATCH', '/v1/organization', { key, body: { redaction: true } })
  const planted = ['ada@example.com', '+1 415 555 0132', '4111 1111 1111 1111']
  const said = say(`I am ${planted[0]}, call ${planted[1]}, my card is ${planted[2]}.`)
  const made = await server.call('POST', '/v1/conversations', {
    key,
    body: call('r', {
      transcript: said,
      metadata: { contact: planted[0] },
      metrics: [{ key: 'note', value: planted[1] }],
    }),
  })
  const shown = await server.call('GET', `/v1/conversations/${made.body.id}/transcript`, { key })
  const { rows } = await sql<{ text: string }>`
    SELECT (SELECT string_agg(t::text, ' ') FROM transcripts t WHERE organization_id = ${id})
      || (SELECT string_agg(c::text, ' ') FROM conversations c WHERE organization_id = ${id})
      || (SELECT string_agg(m::text, ' ') FROM customer_metrics m WHERE organization_id = ${id}) AS text
  `.execute(server.deps.db)
  for (const secret of planted) {
    expect(JSON.stringify(shown.body)).not.toContain(secret)
    expect(rows[0]?.text).not.toContain(secret)
  }
  expect(shown.body.turns[0].text).toContain('I am [email]')
})
