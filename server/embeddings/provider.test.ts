import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeModelProvider, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { depsWith } from '../../test/support/deps-with.ts'
import { serveEmbeddings } from '../../test/support/model-providers/embedding-stand-in.ts'
import { Failure } from '../../test/support/model-providers/stand-ins.ts'
import { orgIdOf } from '../platform/ids.ts'
import { embedNew, embedOlder } from './lifecycle.ts'
import { findSimilar } from './search.ts'

const server = await testServer({
  EARSHOT_EMBEDDINGS: 'on',
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
  EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=4',
})
const { call, deps } = server
const { db, jobs } = deps

let [org, key] = ['', '']
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = made.id
  key = made.key
})

type Kind = Parameters<typeof serveEmbeddings>[0]

const openProvider = async (
  options: Parameters<typeof serveEmbeddings>[1] = {},
  { kind = 'openai-compatible' as Kind, ...settings }: { kind?: Kind; apiVersion?: string } = {},
) => {
  const standIn = await serveEmbeddings(kind, options)
  const provider = await makeModelProvider(server, key, {
    kind,
    settings: { ...standIn.settings, ...settings },
    prices: { 'embed-1': { input: 2, output: 0 } },
  })
  return { ...standIn, id: provider.id as string }
}

const choose = (embeddingModel: string | null) => call('PATCH', '/v1/organization', { key, body: { embeddingModel } })

const said = (text: string) => ({ transcript: [{ role: 'customer', text }] })
const lost = 'I lost my credit card'
const pizza = 'two large pizzas please'

const embed = () => jobs.drain([embedNew], deps)
const embedStored = async () => {
  await jobs.enqueue(db, embedOlder, {})
  return jobs.drain([embedOlder], deps)
}
const find = async (text: string) =>
  (await findSimilar(deps, orgIdOf(org), { text }, { minimumSimilarity: 0.5, limit: 10 })).map(
    ({ conversationId }) => conversationId,
  )
const progress = async () => (await call('GET', '/v1/embeddings', { key })).body

describe('a model of a provider', () => {
  it.each([
    ['openai-compatible', {}],
    ['azure-openai', {}],
    ['azure-openai', { apiVersion: '2024-10-21' }],
  ] satisfies [Kind, object][])('embeds conversations and queries: %s %j', async (kind, settings) => {
    const provider = await openProvider({}, { kind, ...settings })
    expect((await choose(`${provider.id}/embed-1`)).status).toBe(200)
    const { id } = await makeConversation(server, key, said(lost))
    await makeConversation(server, key, said(pizza))
    await embed()
    expect(await find('my lost card')).toEqual([id])
    expect(provider.asked.map(({ model }) => model)).toEqual(['embed-1', 'embed-1'])
    const { body } = await call('GET', '/v1/organization', { key })
    // 5 and 4 words, and 3 of the query, at 2 dollars for a million.
    expect(body.judgeSpending).toMatchObject({ inputTokens: 12, cost: 0.000024 })
  })

  it('embeds everything again, and so does the change back', async () => {
    const { id } = await makeConversation(server, key, said(lost))
    await embed()
    const provider = await openProvider({ dimensions: 3_072 })
    const model = `${provider.id}/embed-1`
    await choose(model)
    expect(await progress()).toEqual({ enabled: true, model, embedded: 0, waiting: 1 })
    // Vectors of different models are not compared.
    expect(await find(lost)).toEqual([])
    await embedStored()
    expect(await progress()).toMatchObject({ embedded: 1, waiting: 0 })
    expect(await find(lost)).toEqual([id])
    await choose(null)
    await embedStored()
    expect(await progress()).toEqual({ enabled: true, model: null, embedded: 1, waiting: 0 })
    expect(await find(lost)).toEqual([id])
    const rows = await db
      .selectFrom('conversation_passages')
      .select('model')
      .where('organization_id', '=', org)
      .execute()
    expect(rows).toEqual([{ model: 1 }])
  })

  it('embeds everything again after its provider has moved to another address', async () => {
    const provider = await openProvider()
    const path = `/v1/model-providers/${provider.id}`
    await choose(`${provider.id}/embed-1`)
    const { id } = await makeConversation(server, key, said(lost))
    await embed()
    await call('PATCH', path, { key, body: { name: 'Renamed', settings: provider.settings } })
    expect(await progress()).toMatchObject({ embedded: 1, waiting: 0 })
    const other = await serveEmbeddings('openai-compatible')
    expect((await call('PATCH', path, { key, body: { settings: other.settings } })).status).toBe(200)
    expect(await progress()).toMatchObject({ embedded: 0, waiting: 1 })
    // Vectors from the previous address are not compared.
    expect(await find(lost)).toEqual([])
    await embedStored()
    expect(await progress()).toMatchObject({ embedded: 1, waiting: 0 })
    expect(await find(lost)).toEqual([id])
    expect(other.asked.map(({ texts }) => texts)).toEqual([[lost], [lost]])
  })

  it('is asked again after a failure', async () => {
    let isDown = true
    const provider = await openProvider({ answering: () => (isDown ? new Failure(500) : undefined) })
    await choose(`${provider.id}/embed-1`)
    const { id } = await makeConversation(server, key, said(lost))
    await embed()
    expect(await progress()).toMatchObject({ embedded: 0, waiting: 1 })
    await expect(find(lost)).rejects.toMatchObject({ kind: 'unavailable' })
    isDown = false
    server.clock.advance(10 * 60_000)
    await embedStored()
    expect(await progress()).toMatchObject({ embedded: 1, waiting: 0 })
    expect(await find(lost)).toEqual([id])
  })

  it('skips a conversation with a text that it refuses', async () => {
    const refusing = ({ texts }: { texts: string[] }) =>
      texts.some((text) => text.includes('pizzas')) ? new Failure(400) : undefined
    const provider = await openProvider({ answering: refusing })
    await choose(`${provider.id}/embed-1`)
    const { id } = await makeConversation(server, key, said(lost))
    await makeConversation(server, key, said(pizza))
    await embed()
    await embedStored()
    expect(await progress()).toMatchObject({ embedded: 2, waiting: 0 })
    expect(await find(lost)).toEqual([id])
  })

  it('skips nothing if it refuses everything', async () => {
    const provider = await openProvider({ answering: () => new Failure(404) })
    await choose(`${provider.id}/embed-1`)
    await makeConversation(server, key, said(lost))
    await embed()
    await embedStored()
    expect(await progress()).toMatchObject({ embedded: 0, waiting: 1 })
  })

  it('does not overwrite the vectors of a model that is chosen in the meantime', async () => {
    const provider = await openProvider()
    const { id } = await makeConversation(server, key, said(lost))
    const slow = depsWith(deps, {
      embedder: {
        embed: async (...given) => {
          const embedded = await deps.embedder.embed(...given)
          await choose(`${provider.id}/embed-1`)
          return embedded
        },
      },
    })
    await jobs.drain([embedNew], slow)
    expect(await progress()).toMatchObject({ embedded: 0, waiting: 1 })
    await embedStored()
    expect(await progress()).toMatchObject({ embedded: 1, waiting: 0 })
    expect(await find(lost)).toEqual([id])
  })

  it('stops at the monthly budget', async () => {
    const provider = await openProvider()
    await choose(`${provider.id}/embed-1`)
    await call('PATCH', '/v1/organization', { key, body: { monthlyJudgeBudget: 0 } })
    await makeConversation(server, key, said(lost))
    await embed()
    expect(provider.asked).toEqual([])
    expect(await progress()).toMatchObject({ embedded: 0, waiting: 1 })
  })

  it('keeps its provider from being deleted', async () => {
    const provider = await openProvider()
    await choose(`${provider.id}/embed-1`)
    const refused = await call('DELETE', `/v1/model-providers/${provider.id}`, { key })
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('embeds conversations')])
    await choose(null)
    expect((await call('DELETE', `/v1/model-providers/${provider.id}`, { key })).status).toBe(204)
  })

  it('must be of a provider that embeds texts', async () => {
    const { id } = await makeModelProvider(server, key)
    for (const providerId of [id, '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f']) {
      const { status, body } = await choose(`${providerId}/embed-1`)
      expect([status, body.details.issues[0].path]).toEqual([400, 'embeddingModel'])
    }
  })
})
