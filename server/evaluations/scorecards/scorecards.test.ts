import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { makeConversation, makeConversations, makeMonitor, makeOrganization } from '../../../test/make.ts'
import { serviceKey } from '../../../test/server.ts'
import { countWaiting } from '../../../test/support/count-waiting.ts'
import { impolite, serverWithModel, turns } from '../../../test/support/evaluations/evaluations.ts'
import { openExperiments } from '../../../test/support/experiments/experiments.ts'
import { answer } from '../../../test/support/monitors/model-server.ts'
import { writeBatch } from '../../monitor-results/write-results.ts'
import { getMonitor, hasScorecards, hasScorecardsOf } from '../../monitors/queries.ts'
import { batchesOf } from '../../platform/batches.ts'
import type { OrgId } from '../../platform/db/database.ts'
import { newId, orgIdOf } from '../../platform/ids.ts'
import { jobList } from '../../worker.ts'
import { computeScorecards, slicesOf } from './compute.ts'
import { listItemResults, lockScorable } from './queries.ts'

const { server, resultsOf, asked, answerBy, makeRule, makeJudge } = await serverWithModel()
const { call, deps } = server

let org: OrgId
let key: string
let greeting: string
let refund: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  // The API returned this ID, so it is valid.
  org = orgIdOf(made.id)
  key = made.key
  greeting = (await makeMonitor(server, key, { name: `Greeting ${randomUUID()}` })).id
  refund = (await makeMonitor(server, key, { name: `Refund ${randomUUID()}` })).id
})

type Fields = Record<string, unknown>

const item = (monitorId: string, points: number, fields: Fields = {}) => ({ monitorId, points, ...fields })
const bands = [
  { name: 'Fail', from: 0 },
  { name: 'Pass', from: 80 },
]
const definitionOf = (items: Fields[]) => ({ sections: [{ name: 'All', items }], bands, affectedBelow: 80 })

const makeScorecard = (items: Fields[], fields: Fields = {}) =>
  makeMonitor(server, key, { kind: 'scorecard', definition: definitionOf(items), ...fields })

const post = async (...results: Fields[]) => {
  const { body } = await call('POST', '/v1/monitor-results', { key, body: { results } })
  expect(body.data.every(({ error }: { error?: object }) => error === undefined)).toBe(true)
}

const tell = (conversationId: string, results: Record<string, string>, fields: Fields = {}) =>
  post(...Object.entries(results).map(([monitorId, result]) => ({ monitorId, conversationId, result, ...fields })))

type Breakdown = { isShortened: boolean; sections: { items: Fields[] }[] }
type Result = Fields & { monitorId: string; breakdown: Breakdown | null }

const resultOf = async (conversationId: string, monitorId: string): Promise<Result | undefined> =>
  (await resultsOf(key, conversationId)).find((result: Result) => result.monitorId === monitorId)

const outcomesIn = (result: Result | undefined) =>
  result?.breakdown?.sections.flatMap(({ items }) => items.map(({ outcome }) => outcome))

const change = async (monitorId: string, body: Fields) => {
  const { status, text } = await call('PATCH', `/v1/monitors/${monitorId}`, { key, body })
  expect(status, text).toBe(200)
}

describe('a scorecard', () => {
  it('has the points, the band, and the evidence of its items, and follows their results', async () => {
    const { id } = await makeConversation(server, key, { transcript: turns })
    const scorecard = await makeScorecard([item(greeting, 30), item(refund, 10)])
    const evidence = [{ turn: 1, quote: 'I want my money back.' }]
    await post(
      { monitorId: greeting, conversationId: id, result: 'not_affected' },
      { monitorId: refund, conversationId: id, result: 'affected', reasoning: 'It was promised.', evidence },
    )
    await server.drain()
    const stored = {
      monitorId: scorecard.id,
      monitorVersion: 1,
      status: 'scored',
      result: 'affected',
      score: 75,
      reasoning: expect.stringMatching(/^Affected: “Refund .*”\.$/),
      evaluator: 'scorecard',
      tokens: null,
      cost: null,
      breakdown: {
        band: 'Fail',
        autoFailed: [],
        sections: [
          {
            name: 'All',
            earned: 30,
            possible: 40,
            items: [
              {
                monitorId: greeting,
                version: 1,
                points: 30,
                earned: 30,
                outcome: 'passed',
                reasoning: null,
                evidence: [],
              },
              {
                monitorId: refund,
                version: 1,
                points: 10,
                earned: 0,
                outcome: 'affected',
                reasoning: 'It was promised.',
                evidence,
              },
            ],
          },
        ],
      },
    }
    expect(await resultOf(id, scorecard.id)).toMatchObject(stored)
    const { body: listed } = await call('GET', `/v1/monitors/${scorecard.id}/results`, { key })
    expect(listed.data).toMatchObject([stored])
    expect(await resultOf(id, refund)).toMatchObject({ breakdown: null })
    await tell(id, { [refund]: 'not_affected' })
    await server.drain()
    expect(await resultOf(id, scorecard.id)).toMatchObject({
      result: 'not_affected',
      score: 100,
      reasoning: null,
      breakdown: { band: 'Pass' },
    })
  })

  it('is unscored and names the items without a decision, unless one fails it at once', async () => {
    const { id } = await makeConversation(server, key)
    const scorecard = await makeScorecard([item(greeting, 1), item(refund, 1, { autoFail: true })])
    await tell(id, { [greeting]: 'unscored' })
    await server.drain()
    const first = await resultOf(id, scorecard.id)
    expect(first).toMatchObject({ status: 'unscored', result: null, score: null, breakdown: { band: null } })
    expect(first?.reasoning).toMatch(/^No result: “Refund .*”\. Unscored: “Greeting .*”\.$/)
    expect(outcomesIn(first)).toEqual(['unscored', 'missing'])
    await tell(id, { [refund]: 'affected' })
    await server.drain()
    const failed = await resultOf(id, scorecard.id)
    expect(failed).toMatchObject({
      status: 'scored',
      result: 'affected',
      score: 0,
      breakdown: { band: 'Fail', autoFailed: [refund] },
    })
    expect(failed?.reasoning).toMatch(/^Failed because of “Refund /)
  })

  it('counts items that are not applicable by their rules, and is not applicable itself without any other', async () => {
    const { id } = await makeConversation(server, key)
    const excluding = await makeScorecard([item(greeting, 1), item(refund, 3)])
    const full = await makeScorecard([item(greeting, 1), item(refund, 3, { notApplicable: 'full' })])
    const zero = await makeScorecard([item(greeting, 1), item(refund, 3, { notApplicable: 'zero' })])
    const only = await makeScorecard([item(refund, 3)])
    const none = { monitorId: refund, conversationId: id, result: 'unscored', categories: ['not_applicable'] }
    await post({ monitorId: greeting, conversationId: id, result: 'not_affected' }, none)
    await server.drain()
    const scores = await Promise.all([excluding, full, zero].map(async (one) => (await resultOf(id, one.id))?.score))
    expect(scores).toEqual([100, 100, 25])
    expect(await resultOf(id, only.id)).toMatchObject({
      status: 'unscored',
      score: null,
      notApplicable: true,
      reasoning: 'No item applies to the conversation.',
    })
  })

  it('costs no model request, and counts rules and judges as they are stored', async () => {
    answerBy(() => answer({ result: 'not_affected' }))
    const rule = await makeRule(key, 'turns.size() > 2')
    const judge = await makeJudge(key)
    const scorecard = await makeScorecard([item(rule.id, 1), item(judge.id, 3)])
    const { id } = await makeConversation(server, key, { transcript: turns })
    await server.drain()
    expect(asked).toHaveLength(1)
    expect(await resultOf(id, scorecard.id)).toMatchObject({ status: 'scored', score: 75, cost: null, tokens: null })
    expect(outcomesIn(await resultOf(id, scorecard.id))).toEqual(['affected', 'passed'])
  })

  it('only applies within its scope and its sample, and while it is enabled', async () => {
    const outside = await makeScorecard([item(greeting, 1)], { scope: { channels: ['chat'] } })
    const unsampled = await makeScorecard([item(greeting, 1)], { samplePercent: 0 })
    const disabled = await makeScorecard([item(greeting, 1)], { enabled: false })
    const { id } = await makeConversation(server, key)
    await tell(id, { [greeting]: 'affected' })
    await server.drain()
    for (const one of [outside, unsampled, disabled]) expect(await resultOf(id, one.id)).toBeUndefined()
    await change(disabled.id, { enabled: true })
    await tell(id, { [greeting]: 'not_affected' })
    await server.drain()
    expect(await resultOf(id, disabled.id)).toMatchObject({ score: 100 })
  })

  it('waits for a conversation in progress, and uses results that came before its end', async () => {
    const scorecard = await makeScorecard([item(greeting, 1)])
    const fields = { externalId: randomUUID(), status: 'in_progress' }
    const { id } = await makeConversation(server, key, fields)
    await tell(id, { [greeting]: 'affected' })
    await server.drain()
    expect(await resultOf(id, scorecard.id)).toBeUndefined()
    await call('PATCH', `/v1/conversations/${id}`, { key, body: { status: 'completed' } })
    await server.drain()
    expect(await resultOf(id, scorecard.id)).toMatchObject({ score: 0 })
  })

  it('has no result of a conversation if its items have none', async () => {
    const scorecard = await makeScorecard([item(greeting, 1)])
    const { id } = await makeConversation(server, key)
    await server.drain()
    expect(await resultOf(id, scorecard.id)).toBeUndefined()
  })

  it('changes once for each change of its items', async () => {
    const scorecard = await makeScorecard([item(greeting, 1), item(refund, 1)])
    const { id } = await makeConversation(server, key)
    const at = async () => (await resultOf(id, scorecard.id))?.evaluatedAt
    await tell(id, { [greeting]: 'affected', [refund]: 'not_affected' })
    await server.drain()
    const first = await at()
    server.clock.advance(60_000)
    await tell(id, { [greeting]: 'affected', [refund]: 'not_affected' }, { evaluatedAt: '2026-11-20T12:00:00Z' })
    await server.drain()
    expect(await at()).toBe(first)
    await tell(id, { [greeting]: 'not_affected' })
    await server.drain()
    expect(await at()).not.toBe(first)
  })

  it('keeps results of earlier versions, and a run computes those of a new version', async () => {
    const scorecard = await makeScorecard([item(greeting, 1), item(refund, 1)])
    const [first = '', second = ''] = await makeConversations(server, key, [{}, {}])
    await tell(first, { [greeting]: 'affected', [refund]: 'not_affected' })
    await server.drain()
    await change(scorecard.id, { definition: definitionOf([item(greeting, 1), item(refund, 3)]) })
    await server.drain()
    expect(await resultOf(first, scorecard.id)).toMatchObject({ monitorVersion: 1, score: 50 })
    const run = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }
    const path = `/v1/monitors/${scorecard.id}/evaluations`
    const { body: estimate } = await call('POST', path, { key, body: { ...run, dryRun: true } })
    expect(estimate).toMatchObject({ conversations: 2, tokens: null, cost: 0 })
    const { body } = await call('POST', path, { key, body: run })
    await server.drain()
    expect((await call('GET', `${path}/${body.id}`, { key })).body).toMatchObject({
      status: 'completed',
      total: 2,
      scored: 1,
      unscored: 1,
      failed: 0,
    })
    expect(await resultOf(first, scorecard.id)).toMatchObject({ monitorVersion: 2, score: 75 })
    expect(await resultOf(second, scorecard.id)).toMatchObject({ monitorVersion: 2, status: 'unscored' })
    const { body: history } = await call('GET', `/v1/conversations/${first}/results?history=true`, { key })
    const versions = history.data.filter(({ monitorId }: Result) => monitorId === scorecard.id)
    expect(versions.map(({ monitorVersion, score }: Fields) => [monitorVersion, score])).toEqual([
      [2, 75],
      [1, 50],
    ])
  })

  it('follows the newest version of an item, or keeps a pinned one evaluating', async () => {
    const rule = await makeRule(key, 'turns.size() > 2')
    const following = await makeScorecard([item(rule.id, 1)])
    const pinned = await makeScorecard([item(rule.id, 1, { version: 1 })])
    await change(rule.id, { definition: { expression: 'turns.size() > 10' } })
    const { id } = await makeConversation(server, key, { transcript: turns })
    await server.drain()
    expect(await resultOf(id, following.id)).toMatchObject({
      score: 100,
      breakdown: { sections: [{ items: [{ version: 2 }] }] },
    })
    expect(await resultOf(id, pinned.id)).toMatchObject({
      score: 0,
      breakdown: { sections: [{ items: [{ version: 1 }] }] },
    })
    await change(pinned.id, { scope: { channels: ['chat'] } })
    const { id: other } = await makeConversation(server, key, { transcript: turns })
    await server.drain()
    const { body } = await call('GET', `/v1/conversations/${other}/results?history=true`, { key })
    const versions = body.data.filter(({ monitorId }: Result) => monitorId === rule.id)
    expect(versions.map(({ monitorVersion }: Fields) => monitorVersion)).toEqual([2])
  })

  it('of an older version is evaluated by judges, too', async () => {
    answerBy(() => impolite())
    const judge = await makeJudge(key)
    const pinned = await makeScorecard([item(judge.id, 1, { version: 1 })])
    await change(judge.id, { definition: { criteria: 'The agent shouts.', output: { type: 'boolean' } } })
    const { id } = await makeConversation(server, key, { transcript: turns })
    await server.drain()
    expect(asked).toHaveLength(2)
    expect(await resultOf(id, pinned.id)).toMatchObject({ status: 'scored', score: 0 })
  })

  it('counts the failures of judges as unscored', async () => {
    answerBy(() => answer({ nonsense: true }))
    const judge = await makeJudge(key)
    const scorecard = await makeScorecard([item(judge.id, 1)])
    const { id } = await makeConversation(server, key, { transcript: turns })
    await deps.jobs.drain(jobList, deps, { delayed: true })
    expect(outcomesIn(await resultOf(id, scorecard.id))).toEqual(['unscored'])
  })

  it('disappears with an erased conversation, and does not come back', async () => {
    const scorecard = await makeScorecard([item(greeting, 1)])
    const { id } = await makeConversation(server, key)
    await tell(id, { [greeting]: 'affected' })
    await server.drain()
    await tell(id, { [greeting]: 'not_affected' })
    expect((await call('DELETE', `/v1/conversations/${id}`, { key })).status).toBe(204)
    await server.drain()
    expect((await call('GET', `/v1/monitors/${scorecard.id}/results`, { key })).body.data).toEqual([])
    const rows = deps.db
      .selectFrom('monitor_results')
      .select('monitor_id')
      .where('organization_id', '=', org)
      .where('conversation_id', '=', id)
    expect(await rows.execute()).toEqual([])
  })

  it('is not computed without the entitlement', async () => {
    const scorecard = await makeScorecard([item(greeting, 1)])
    const { id } = await makeConversation(server, key)
    await tell(id, { [greeting]: 'affected' })
    const off = { entitlements: { monitors: false } }
    await call('PATCH', `/v1/organizations/${org}`, { key: serviceKey, body: off })
    await server.drain()
    await call('PATCH', `/v1/organizations/${org}`, { key: serviceKey, body: { entitlements: { monitors: true } } })
    expect(await resultOf(id, scorecard.id)).toBeUndefined()
  })

  it('costs other organizations, and other monitors, no job', async () => {
    const { db } = deps
    expect(await hasScorecards(db, org)).toBe(false)
    expect(await hasScorecardsOf(db, org, [greeting])).toBe(false)
    await makeScorecard([item(greeting, 1)])
    expect(await hasScorecards(db, org)).toBe(true)
    expect(await hasScorecardsOf(db, org, [refund, newId()])).toBe(false)
    expect(await hasScorecardsOf(db, org, [refund, greeting])).toBe(true)
  })

  it('costs no job for the items of versions that nothing computes any longer', async () => {
    const scorecard = await makeScorecard([item(greeting, 1)])
    await change(scorecard.id, { definition: definitionOf([item(refund, 1)]) })
    expect(await hasScorecardsOf(deps.db, org, [greeting])).toBe(false)
  })

  it('only reads the newest result of an item, or the one of its version', async () => {
    const rule = await makeRule(key, 'true')
    const { id } = await makeConversation(server, key, { transcript: turns })
    await server.drain()
    await change(rule.id, { definition: { expression: 'false' } })
    const run = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }
    expect((await call('POST', `/v1/monitors/${rule.id}/evaluations`, { key, body: run })).status).toBe(202)
    await server.drain()
    const found = await deps.db.transaction().execute(async (trx) => {
      const conversations = await lockScorable(trx, org, [id])
      const newest = await listItemResults(trx, org, conversations, { followedIds: [rule.id], pins: [] })
      const pins = [{ monitorId: rule.id, version: 1 }]
      return [...newest, ...(await listItemResults(trx, org, conversations, { followedIds: [], pins }))]
    })
    expect(found.map(({ version, outcome }) => [version, outcome])).toEqual([
      [2, 'passed'],
      [1, 'affected'],
    ])
  })

  it('has no reasons of its items once a page has over 2,000,000 characters of them', async () => {
    const scorecard = await makeScorecard([item(greeting, 1)])
    const ids = await makeConversations(
      server,
      key,
      Array.from({ length: 190 }, () => ({})),
    )
    const evidence = Array.from({ length: 5 }, (_, turn) => ({ turn, quote: 'q'.repeat(2_000) }))
    const reasoning = 'r'.repeat(1_000)
    const results = ids.map((conversationId) => {
      return { monitorId: greeting, conversationId, result: 'affected', reasoning, evidence }
    })
    for (const batch of batchesOf(results, 50)) await post(...batch)
    await server.drain()
    const { body } = await call('GET', `/v1/monitors/${scorecard.id}/results?limit=200`, { key })
    const shown = (body.data as Result[]).map(({ breakdown }) => breakdown)
    const complete = { isShortened: false, sections: [{ items: [{ reasoning, evidence }] }] }
    const shortened = {
      isShortened: true,
      sections: [{ items: [{ outcome: 'affected', reasoning: null, evidence: [] }] }],
    }
    expect(shown.filter((breakdown) => breakdown?.isShortened)).toHaveLength(190 - 182)
    expect([shown[0], shown[181], shown[182], shown[189]]).toMatchObject([complete, complete, shortened, shortened])
    const last = body.data.at(-1).conversationId
    expect(await resultOf(last, scorecard.id)).toMatchObject({ breakdown: complete })
  })

  it('is computed in slices of up to 20,000 items, however many there are', async () => {
    const stored = await getMonitor(deps.db, org, (await makeScorecard([item(greeting, 1)])).id)
    const conversation = { id: newId(), startedAt: new Date(), samplePosition: 0 }
    const sizesOf = (scorings: number, items: number) => {
      const monitor = { ...stored, definition: definitionOf(Array.from({ length: items }, () => item(newId(), 1))) }
      return slicesOf(Array.from({ length: scorings }, () => ({ conversation, monitor }))).map(({ length }) => length)
    }
    expect(sizesOf(450, 100)).toEqual([200, 200, 50])
    expect(sizesOf(4_500, 1)).toEqual([2_000, 2_000, 500])
  })
})

describe('a scorecard among monitors', () => {
  it('selects conversations, fills buckets, and is measured by its rate and its mean score', async () => {
    const scorecard = await makeScorecard([item(greeting, 1), item(refund, 3)])
    const filters = { monitors: [{ id: scorecard.id, result: 'affected' }] }
    const bucket = await call('POST', '/v1/buckets', { key, body: { name: 'Failed calls', type: 'dynamic', filters } })
    const [failed = '', passed = '', open = ''] = await makeConversations(server, key, [{}, {}, {}])
    await tell(failed, { [greeting]: 'not_affected', [refund]: 'affected' })
    await tell(passed, { [greeting]: 'not_affected', [refund]: 'not_affected' })
    await tell(open, { [greeting]: 'not_affected' })
    await server.drain()
    const search = async (result: string) => {
      const body = { filter: { monitors: [{ id: scorecard.id, result }] } }
      const { body: found } = await call('POST', '/v1/conversations/search', { key, body })
      return found.data.map(({ id }: { id: string }) => id)
    }
    expect(await search('affected')).toEqual([failed])
    expect(await search('not_affected')).toEqual([passed])
    expect(await search('unscored')).toEqual([open])
    const inBucket = await call('GET', `/v1/buckets/${bucket.body.id}/conversations`, { key })
    expect(inBucket.body.data.map(({ conversationId }: Fields) => conversationId)).toEqual([failed])
    const sorted = await call('POST', '/v1/conversations/search', {
      key,
      body: { filter: {}, sort: { by: `score:${scorecard.id}`, direction: 'asc' } },
    })
    expect(sorted.body.data.slice(0, 2).map(({ id }: { id: string }) => id)).toEqual([failed, passed])
    const measured = async (measure: Fields) => {
      const body = { measure: { monitorId: scorecard.id, ...measure } }
      return (await call('POST', '/v1/analytics/query', { key, body })).body.groups[0]
    }
    expect(await measured({ kind: 'score', statistic: 'mean' })).toMatchObject({ n: 2, value: 62.5 })
    expect(await measured({ kind: 'rate' })).toMatchObject({ n: 2, value: 0.5 })
    const condition = { kind: 'score', monitorId: scorecard.id, statistic: 'mean', direction: 'below', threshold: 80 }
    const rule = { name: 'Quality falls', severity: 'warning', condition, windowMinutes: 60, minimumSample: 50 }
    expect((await call('POST', '/v1/alert-rules', { key, body: rule })).status).toBe(201)
  })
})

describe('an experiment', () => {
  it('measures the pinned version of a scorecard by its score', async () => {
    const own = await openExperiments(server)
    key = own.key
    const politeness = await makeMonitor(server, key)
    const scorecard = await makeScorecard([item(politeness.id, 1)])
    const metrics = { outcomeMetricIds: [scorecard.id], primaryMetricId: scorecard.id }
    const experiment = await own.launch(metrics)
    await change(scorecard.id, { definition: definitionOf([item(politeness.id, 2)]), enabled: false })
    for (const [arm, result] of [
      ['A', 'affected'],
      ['B', 'not_affected'],
    ] as const) {
      const id = await own.converse(arm)
      await server.drain()
      await tell(id, { [politeness.id]: result })
      await server.drain()
      expect(await resultOf(id, scorecard.id)).toMatchObject({ monitorVersion: 1, score: arm === 'A' ? 0 : 100 })
    }
    const { outcomes } = await own.read(experiment)
    expect(outcomes[0]).toMatchObject({ metricId: scorecard.id, monitorVersion: 1 })
    expect([outcomes[0].arms.a, outcomes[0].arms.b]).toMatchObject([{ mean: 0 }, { mean: 100 }])
  })

  /** Launches an experiment on a scorecard. Its only item is a rule that applies to every conversation. */
  const launchOnRule = async (fields: Fields = {}) => {
    const own = await openExperiments(server)
    key = own.key
    const rule = await makeRule(key, 'turns.size() > 2')
    const scorecard = await makeScorecard([item(rule.id, 1, fields)])
    const experiment = await own.launch({ outcomeMetricIds: [scorecard.id], primaryMetricId: scorecard.id })
    const armsOf = async () => (await own.read(experiment)).outcomes[0].arms
    return { own, rule, scorecard, experiment, armsOf }
  }

  it('keeps evaluating the versions of items that the pinned version of a scorecard uses', async () => {
    const { own, rule, scorecard, armsOf } = await launchOnRule({ version: 1 })
    await change(rule.id, { definition: { expression: 'false' } })
    await change(scorecard.id, { definition: definitionOf([item(rule.id, 1, { version: 2 })]) })
    await own.converse('A', { transcript: turns })
    await own.converse('B', { transcript: turns.slice(2) })
    expect(await armsOf()).toMatchObject({ a: { observed: 1, mean: 0 }, b: { observed: 1, mean: 100 } })
  })

  it('keeps evaluating items that are disabled, but only for its own conversations', async () => {
    for (const fields of [{}, { version: 1 }]) {
      const { own, rule, armsOf } = await launchOnRule(fields)
      await change(rule.id, { enabled: false })
      await own.converse('A', { transcript: turns })
      const { id: other } = await makeConversation(server, key, { transcript: turns })
      expect(await armsOf()).toMatchObject({ a: { observed: 1, mean: 0 } })
      expect(await resultOf(other, rule.id)).toBeUndefined()
    }
  })

  it('evaluates items of a conversation that joins an arm after it completed', async () => {
    const { own, rule, armsOf } = await launchOnRule()
    await change(rule.id, { enabled: false })
    const id = await own.converse('A', { agentVersionId: undefined, transcript: turns })
    await server.drain()
    expect(await resultOf(id, rule.id)).toBeUndefined()
    await own.patch(id, { agentVersionId: own.arms.armAVersionId })
    expect(await armsOf()).toMatchObject({ a: { observed: 1, mean: 0 } })
  })

  it('protects the items of the pinned version against deletion', async () => {
    const { own, rule, scorecard, experiment } = await launchOnRule()
    const other = await makeRule(key, 'false')
    await change(scorecard.id, { definition: definitionOf([item(other.id, 1)]) })
    const remove = () => call('DELETE', `/v1/monitors/${rule.id}`, { key })
    const refused = await remove()
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringMatching(/measures a scorecard version that uses this monitor\. Finish the experiment first\./),
    ])
    await own.read(experiment)
    server.clock.advance(1_000)
    await own.finish(experiment)
    expect((await remove()).status).toBe(204)
  })
})

/** Stores a result in a transaction that stays open until the returned function commits it. */
const store = async (conversationId: string, monitorId: string, result: string) => {
  const mayCommit = Promise.withResolvers<void>()
  const stored = Promise.withResolvers<void>()
  const done = deps.db.transaction().execute(async (trx) => {
    await writeBatch(deps, trx, org, [{ monitorId, conversationId, result }])
    stored.resolve()
    await mayCommit.promise
  })
  await Promise.race([stored.promise, done])
  return async () => {
    mayCommit.resolve()
    await done
  }
}

describe('two transactions that store results of a conversation at the same time', () => {
  it('lead to a scorecard with both results, whichever commits first', async () => {
    const scorecard = await makeScorecard([item(greeting, 1), item(refund, 3)])
    for (const isReversed of [false, true]) {
      const { id } = await makeConversation(server, key)
      const commits = [await store(id, greeting, 'affected'), await store(id, refund, 'not_affected')]
      const [first, second] = isReversed ? commits.reverse() : commits
      await first?.()
      await server.drain()
      const missing = isReversed ? ['missing', 'passed'] : ['affected', 'missing']
      expect(outcomesIn(await resultOf(id, scorecard.id))).toEqual(missing)
      await second?.()
      await server.drain()
      expect(await resultOf(id, scorecard.id)).toMatchObject({ status: 'scored', score: 75 })
    }
  })

  it('lead to it even if the first computation commits after the second result', async () => {
    const scorecard = await makeScorecard([item(greeting, 1), item(refund, 3)])
    const { id } = await makeConversation(server, key)
    await server.drain()
    await tell(id, { [greeting]: 'affected' })
    const mayCommit = Promise.withResolvers<void>()
    const computed = Promise.withResolvers<void>()
    const slow = deps.db.transaction().execute(async (trx) => {
      const conversations = await lockScorable(trx, org, [id])
      const monitor = await getMonitor(trx, org, scorecard.id)
      const scorings = conversations.map((conversation) => ({ conversation, monitor }))
      await computeScorecards(deps, trx, org, { scorings, skipsEmpty: true })
      computed.resolve()
      await mayCommit.promise
    })
    await computed.promise
    await tell(id, { [refund]: 'not_affected' })
    const drained = server.drain()
    await vi.waitFor(async () => expect(await countWaiting(deps.db, 'select')).toBeGreaterThan(0), { timeout: 10_000 })
    mayCommit.resolve()
    await Promise.all([slow, drained])
    expect(await resultOf(id, scorecard.id)).toMatchObject({ status: 'scored', score: 75 })
  })

  it('lead to the right scorecards of many conversations, with several workers', async () => {
    const third = (await makeMonitor(server, key)).id
    const scorecard = await makeScorecard([item(greeting, 1), item(refund, 2), item(third, 4)])
    const ids = await makeConversations(
      server,
      key,
      Array.from({ length: 30 }, () => ({})),
    )
    const isAffected = (conversation: number, at: number) => (conversation >> at) % 2 === 1
    const sent = [greeting, refund, third].flatMap((monitorId, at) =>
      ids.map((conversationId, index) => ({
        monitorId,
        conversationId,
        result: isAffected(index, at) ? 'affected' : 'not_affected',
      })),
    )
    const queue = sent.sort(() => Math.random() - 0.5).values()
    const send = async () => {
      for (const result of queue) await post(result)
    }
    const work = () => deps.jobs.drain(jobList, deps)
    await Promise.all([send(), send(), send(), send(), work(), work()])
    await Promise.all([work(), work()])
    await server.drain()
    for (const [index, id] of ids.entries()) {
      const earned = [1, 2, 4].reduce((sum, points, at) => sum + (isAffected(index, at) ? 0 : points), 0)
      expect(await resultOf(id, scorecard.id), id).toMatchObject({ status: 'scored', score: (100 * earned) / 7 })
    }
  })
})
