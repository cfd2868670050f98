import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeConversation, makeConversations, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { depsWith } from '../../test/support/deps-with.ts'
import { orgIdOf } from '../platform/ids.ts'
import type { Meaning } from '../platform/meanings.ts'
import { embedNew, embedOlder } from './lifecycle.ts'
import { compareAmong, findSimilar } from './search.ts'

const server = await testServer({ EARSHOT_EMBEDDINGS: 'on' })
const { call, deps } = server
const { db, jobs } = deps

const said = (...texts: string[]) => ({
  transcript: texts.map((text, index) => ({ role: index % 2 === 0 ? 'customer' : 'agent', text })),
})

const lost = 'I lost my credit card, please block it'
const stolen = 'my card was stolen and I need to freeze it right away'
const weather = 'what will the weather be like in Paris tomorrow'
const pizza = 'I want to order two large pizzas with extra cheese'

const isOneOf = (ids: string[]) => sql<boolean>`conversations.id = ANY(${ids}::uuid[])`

const open = async () => {
  const { id, key } = await makeOrganization(server)
  const org = orgIdOf(id)
  const find = (meaning: Meaning, options: Partial<Parameters<typeof findSimilar>[3]> = {}) =>
    findSimilar(deps, org, meaning, { minimumSimilarity: 0.5, limit: 10, ...options })
  const idsOf = async (...given: Parameters<typeof find>) => (await find(...given)).map((one) => one.conversationId)
  const make = async (...texts: string[]) => (await makeConversation(server, key, said(...texts))).id as string
  const passages = () => db.selectFrom('conversation_passages').selectAll().where('organization_id', '=', org).execute()
  const progress = async () => (await call('GET', '/v1/embeddings', { key })).body
  return { org, key, find, idsOf, make, passages, progress }
}

const embed = () => jobs.drain([embedNew], deps)
const embedStored = () => jobs.drain([embedNew, embedOlder], deps)

describe('search by meaning', () => {
  it('finds conversations with other words, nearest first', async () => {
    const { find, make } = await open()
    const ids = [await make(lost, 'Sure.', 'Thanks!'), await make(weather), await make('Hello', 'Hi!', pizza)]
    await embed()
    const found = await find({ text: stolen }, { minimumSimilarity: -1 })
    expect(found.map(({ conversationId }) => conversationId)[0]).toBe(ids[0])
    expect(found[0]).toMatchObject({ firstTurn: 0, lastTurn: 0 })
    expect(found.map(({ similarity }) => similarity)).toEqual(
      found.map(({ similarity }) => similarity).toSorted((a, b) => b - a),
    )
    expect((await find({ text: pizza }))[0]).toMatchObject({ conversationId: ids[2], firstTurn: 2, lastTurn: 2 })
    expect((await find({ text: pizza }))[0]?.similarity).toBeCloseTo(1, 2)
  })

  it('finds conversations like another one, without that one', async () => {
    const { idsOf, make } = await open()
    const [first, second] = [await make(lost), await make(stolen)]
    await make(weather)
    await embed()
    expect(await idsOf({ conversationId: first })).toEqual([second])
  })

  it('finds conversations like a turn', async () => {
    const { idsOf, make } = await open()
    const [first, second] = [await make(weather, 'Sunny.', stolen), await make(lost)]
    await embed()
    expect(await idsOf({ conversationId: first, turn: 2 })).toEqual([second])
  })

  it('returns each conversation once, and no more than the limit', async () => {
    const { key, find } = await open()
    const ids = await makeConversations(
      server,
      key,
      Array.from({ length: 5 }, () => said(lost, 'Sure.', stolen, 'OK.', lost)),
    )
    await embed()
    const found = await find({ text: lost })
    expect(found.map(({ conversationId }) => conversationId).toSorted()).toEqual(ids.toSorted())
    expect(await find({ text: lost }, { limit: 2 })).toHaveLength(2)
    expect(await find({ text: lost }, { within: [isOneOf(ids.slice(0, 1))] })).toHaveLength(1)
    expect(await find({ text: lost }, { within: [isOneOf([])] })).toEqual([])
  })

  it('takes the nearest of those that satisfy the conditions', async () => {
    const { idsOf, make } = await open()
    const ids = [await make(lost), await make(stolen), await make(weather)]
    await embed()
    const nearest = { minimumSimilarity: -1, limit: 1 }
    expect(await idsOf({ text: lost }, nearest)).toEqual(ids.slice(0, 1))
    for (const id of ids) expect(await idsOf({ text: lost }, { ...nearest, within: [isOneOf([id])] })).toEqual([id])
    expect(await idsOf({ text: lost }, { ...nearest, within: [isOneOf(ids.slice(1))] })).toEqual(ids.slice(1, 2))
  })

  it('compares texts in other languages only with each other', async () => {
    const { idsOf, make } = await open()
    const german = await make('Ich möchte meinen Termin am Montag absagen')
    const english = await make('I would like to cancel my appointment on Monday')
    await embed()
    const found = { minimumSimilarity: -1 }
    expect(await idsOf({ text: 'Können Sie den Termin am Montag für mich absagen?' }, found)).toEqual([german])
    expect(await idsOf({ text: 'Please cancel the appointment' }, found)).toEqual([english])
  })

  it('returns 404 for unknown conversations and turns, and those of other organizations', async () => {
    const [own, other] = [await open(), await open()]
    const [id, foreign] = [await own.make(lost), await other.make(lost)]
    await embed()
    const notFound = { kind: 'notFound' }
    await expect(own.find({ conversationId: foreign })).rejects.toMatchObject(notFound)
    await expect(own.find({ conversationId: foreign, turn: 0 })).rejects.toMatchObject(notFound)
    await expect(own.find({ conversationId: id, turn: 7 })).rejects.toMatchObject(notFound)
    expect(await own.idsOf({ text: lost })).toEqual([id])
    expect(await own.idsOf({ text: lost }, { within: [isOneOf([foreign])] })).toEqual([])
    expect(await compareAmong(deps, own.org, [foreign])({ text: lost })).toEqual(new Map())
  })

  it('measures conversations that are not embedded yet', async () => {
    const { org, make } = await open()
    const first = await make(lost)
    await embed()
    const [second, third] = [await make(stolen), await make('Hi')]
    const texts: string[][] = []
    const recording = depsWith(deps, {
      embedder: {
        embed: (org, given, terms) => {
          texts.push(given)
          return deps.embedder.embed(org, given, terms)
        },
      },
    })
    const compare = compareAmong(recording, org, [first, second, third])
    const measured = await compare({ text: lost })
    await compare({ text: weather })
    // Each conversation is only embedded once.
    expect(texts.flat().filter((text) => text === stolen)).toHaveLength(1)
    expect(measured.get(first)).toBeCloseTo(1, 2)
    expect(measured.get(second)).toBeGreaterThan(0.5)
    expect((await compareAmong(deps, org, [first])({ conversationId: second })).get(first)).toBeCloseTo(
      measured.get(second) ?? 0,
      2,
    )
    await jobs.drain([embedNew], deps)
  })
})

describe('vectors', () => {
  it('follow changed transcripts', async () => {
    const { key, idsOf, passages } = await open()
    const externalId = 'call-1'
    const { id } = await makeConversation(server, key, { externalId, ...said(lost) })
    await embed()
    await call('PATCH', `/v1/conversations/${id}`, { key, body: said(pizza) })
    expect(await passages()).toEqual([])
    await embed()
    expect(await idsOf({ text: lost })).toEqual([])
    expect(await idsOf({ text: pizza })).toEqual([id])
  })

  it('stay if something else changes', async () => {
    const { key, make, passages } = await open()
    const id = await make(lost)
    await embed()
    const before = await passages()
    await call('PATCH', `/v1/conversations/${id}`, { key, body: { endReason: 'hang up' } })
    expect(await passages()).toEqual(before)
  })

  it('are erased with their conversation', async () => {
    const { org, key, make } = await open()
    const [first, second] = [await make(lost), await make(weather)]
    await embed()
    expect((await call('DELETE', `/v1/conversations/${first}`, { key })).status).toBe(204)
    for (const table of ['conversation_embeddings', 'conversation_passages'] as const) {
      const rows = await db
        .selectFrom(table)
        .select('conversation_id as id')
        .where('organization_id', '=', org)
        .execute()
      expect(rows.map(({ id }) => id)).toEqual([second])
    }
  })

  it('are not stored for a conversation that was erased or changed in the meantime', async () => {
    const { key, make, passages } = await open()
    const [erased, changed] = [await make(lost), await make(weather)]
    const interrupted = depsWith(deps, {
      embedder: {
        embed: async (...given) => {
          const embedded = await deps.embedder.embed(...given)
          await call('DELETE', `/v1/conversations/${erased}`, { key })
          await call('PATCH', `/v1/conversations/${changed}`, { key, body: said(pizza) })
          return embedded
        },
      },
    })
    await jobs.drain([embedNew], interrupted, { allowFailures: true })
    await embed()
    expect((await passages()).map((one) => one.conversation_id)).toEqual([changed])
  })

  it('are made of redacted text', async () => {
    const { key } = await makeOrganization(server, { features: { phiMode: true } })
    await call('PATCH', '/v1/organization', { key, body: { redaction: true } })
    const texts: string[] = []
    const recording = depsWith(deps, {
      embedder: {
        embed: (org, given, terms) => {
          texts.push(...given)
          return deps.embedder.embed(org, given, terms)
        },
      },
    })
    await makeConversation(server, key, said('Please call me at 555 010 0199 about my card'))
    await jobs.drain([embedNew], recording)
    expect(texts.join()).toContain('about my card')
    expect(texts.join()).not.toContain('0199')
  })

  it('are made by one job for everything that arrived, and only of what has a transcript', async () => {
    const { org, key, make, passages } = await open()
    const ids = [await make(lost), await make(weather)]
    const { id: silent } = await makeConversation(server, key, {})
    const marked = () =>
      db
        .selectFrom('conversation_embeddings')
        .select('conversation_id as id')
        .where('organization_id', '=', org)
        .where('model', '=', 0)
        .execute()
    expect((await marked()).map(({ id }) => id)).toEqual([...ids, silent])
    const waiting = db.selectFrom('jobs').select('payload').where('organization_id', '=', org)
    expect(await waiting.where('name', '=', embedNew.name).execute()).toEqual([{ payload: { organizationId: org } }])
    await embed()
    expect(await marked()).toEqual([])
    expect((await passages()).map((one) => one.conversation_id).toSorted()).toEqual(ids)
  })

  it('are made of the others if one conversation cannot be embedded', async () => {
    const { make, passages } = await open()
    const poisonous = await make(lost)
    const id = await make(weather)
    const failing = depsWith(deps, {
      embedder: {
        embed: async (...given) => {
          if (given[1].includes(lost)) throw new Error('cannot be embedded')
          return deps.embedder.embed(...given)
        },
      },
    })
    await jobs.drain([embedNew], failing)
    expect((await passages()).map((one) => one.conversation_id)).toEqual([id])
    // It is not tried again for each new conversation.
    await jobs.drain([embedNew], deps)
    expect((await passages()).map((one) => one.conversation_id)).not.toContain(poisonous)
  })

  it('are made of older conversations in the background', async () => {
    const { org, key, idsOf, progress } = await open()
    const ids = await makeConversations(server, key, [said(lost), said(stolen), said(weather)])
    await makeConversation(server, key, { status: 'in_progress', ...said(lost) })
    await db.deleteFrom('jobs').where('organization_id', '=', org).execute()
    expect(await progress()).toEqual({ enabled: true, model: null, embedded: 0, waiting: 3 })
    await jobs.enqueue(db, embedOlder, {})
    await embedStored()
    expect(await progress()).toEqual({ enabled: true, model: null, embedded: 3, waiting: 0 })
    expect((await idsOf({ text: lost })).toSorted()).toEqual(ids.slice(0, 2).toSorted())
    const { rows } = await sql`SELECT is_done FROM embedding_progress WHERE organization_id = ${org}`.execute(db)
    expect(rows).toEqual([{ is_done: true }])
  })
})

describe('disabled embeddings', () => {
  it('embed nothing and find nothing, but forget old transcripts', async () => {
    const off = await testServer({ EARSHOT_EMBEDDINGS: 'off' })
    const { id, key } = await makeOrganization(off)
    await makeConversation(off, key, said(lost))
    expect(await off.deps.jobs.counts()).not.toContainEqual(expect.objectContaining({ name: embedNew.name }))
    await off.deps.jobs.enqueue(off.deps.db, embedOlder, {})
    await off.drain()
    const { body } = await off.call('GET', '/v1/embeddings', { key })
    expect(body).toEqual({ enabled: false, model: null, embedded: 0, waiting: 1 })
    const options = { minimumSimilarity: 0, limit: 1 }
    await expect(findSimilar(off.deps, orgIdOf(id), { text: lost }, options)).rejects.toMatchObject({
      kind: 'unavailable',
    })
  })
})
