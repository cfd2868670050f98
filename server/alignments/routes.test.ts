import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeConversations, makeKey, makeMonitor, makeOrganization, makePerson } from '../../test/make.ts'
import { customersIn, type Judged, makeJudged, makeJudgments, type TurnContext } from '../../test/support/alignments.ts'
import { depsWith } from '../../test/support/deps-with.ts'
import { serverWithModel } from '../../test/support/evaluations/evaluations.ts'
import { openEventStream } from '../../test/support/event-stream.ts'
import { answer, type ModelRequest, Refusal } from '../../test/support/monitors/model-server.ts'
import { orgIdOf } from '../platform/ids.ts'
import { alignMonitor } from './lifecycle.ts'
import { listJudgments } from './queries.ts'

const { server, asked, answerBy } = await serverWithModel({ EARSHOT_JUDGE_LIMITS: 'attempts=1,concurrency=4' })
const { call } = server
const { db } = server.deps

const scoring = {
  criteria: 'How rude is the agent?',
  output: { type: 'score', min: 0, max: 10, affectedWhen: { op: 'gte', value: 7 } },
}
const deciding = { criteria: 'The agent is rude.', output: { type: 'boolean' } }

const systemOf = ({ body }: ModelRequest): string => body.messages[0]?.content ?? ''
const userOf = ({ body }: ModelRequest): string => body.messages.at(-1)?.content ?? ''
const isForGuidelines = (request: ModelRequest) => systemOf(request).startsWith('You write guidelines')

const quote = [{ turn: 2, quote: 'It is' }]

/** Returns 6 for affected conversations, which is below the threshold of 7, and 2 for others. */
const tooStrict = (request: ModelRequest) => {
  if (isForGuidelines(request)) return JSON.stringify({ guidelines: ['A rude word is enough.'] })
  return answer({ score: request.transcript.includes('It is affected') ? 6 : 2, evidence: quote })
}

type Fields = {
  definition?: object
  say?: (said: TurnContext) => string
  comment?: (said: TurnContext) => string | null
}

/** Creates a judge with results and judgments for 20 conversations in each half. */
const makeAligned = async ({ definition = scoring, ...fields }: Fields = {}) => {
  const org = await makeOrganization(server)
  const { id: monitorId } = await makeMonitor(server, org.key, { kind: 'judge', definition })
  const judged = await makeJudged(server, org, { monitorId, ...fields })
  await server.drain()
  asked.length = 0
  const path = `/v1/monitors/${monitorId}/alignments`
  const start = async (body: object = {}) => {
    const started = await call('POST', path, { key: org.key, body })
    expect(started, started.text).toMatchObject({ status: 202 })
    await server.drain()
    return started.body.id as string
  }
  const read = async (id: string, headers?: Record<string, string>) =>
    (await call('GET', `${path}/${id}`, headers ? { headers } : { key: org.key })).body
  const apply = (id: string, body: object, key = org.key) => call('POST', `${path}/${id}/apply`, { key, body })
  const monitor = async () => (await call('GET', `/v1/monitors/${monitorId}`, { key: org.key })).body
  return { org, key: org.key, monitorId: monitorId as string, judged, path, start, read, apply, monitor }
}

const proposalOf = (alignment: { proposals: { kind: string }[] }, kind: string) =>
  // The tests check the properties that they read.
  alignment.proposals.find((one) => one.kind === kind) as unknown as Record<string, unknown> & {
    definition: Record<string, unknown>
    fixedConversationIds: string[]
  }

const idsIn = (judged: Judged[], half: string, verdict: string) =>
  judged.filter((one) => one.half === half && one.verdict === verdict).map(({ id }) => id)

describe('an alignment', () => {
  it('measures the judge on the test half, and proposes what the tuning half suggests', async () => {
    answerBy(tooStrict)
    const { judged, start, read, path, key } = await makeAligned({ comment: () => 'He was rude.' })
    const id = await start()
    const alignment = await read(id)
    expect(alignment).toMatchObject({
      status: 'completed',
      failure: null,
      monitorVersion: 1,
      requestedProposals: ['threshold', 'calibration', 'examples', 'guidelines'],
      report: {
        tuning: { conversations: 20, affected: 10, notAffected: 10 },
        test: { conversations: 20, affected: 10, notAffected: 10 },
        baseline: {
          conversations: 20,
          matrix: { truePositives: 0, falsePositives: 0, falseNegatives: 10, trueNegatives: 10 },
          recall: { value: 0 },
          agreement: { value: 0.5 },
          precision: null,
        },
        people: null,
      },
    })
    expect(alignment.done).toBe(alignment.total)

    const threshold = proposalOf(alignment, 'threshold')
    expect(threshold).toMatchObject({
      verdict: 'shown',
      changes: ['Affected when the score is at least 4, instead of at least 7.'],
      definition: { ...scoring, output: { ...scoring.output, decision: { threshold: 4 } } },
      measured: { gain: { value: 0.5 }, fixed: 10, broken: 0, recall: { value: 1 } },
      tokens: { input: 0, output: 0 },
      cost: 0,
      brokenConversationIds: [],
    })
    expect(threshold.fixedConversationIds.toSorted()).toEqual(idsIn(judged, 'test', 'affected').sort())
    expect(proposalOf(alignment, 'calibration')).toMatchObject({
      verdict: 'shown',
      definition: {
        output: {
          decision: {
            threshold: 0.5,
            calibration: [
              [2, 0],
              [6, 1],
            ],
          },
        },
      },
    })

    // The results of the current version were stored, so the model only answers for these two proposals.
    const examples = proposalOf(alignment, 'examples')
    expect(examples).toMatchObject({ verdict: 'not_shown', measured: { fixed: 0, broken: 0 } })
    expect(examples).toMatchObject({ tokens: { input: 20_000, output: 2_000 }, cost: 40 })
    expect(proposalOf(alignment, 'guidelines')).toMatchObject({
      verdict: 'not_shown',
      changes: ['Adds a guideline: A rude word is enough.'],
      definition: { guidelines: [{ text: 'A rude word is enough.', alignmentId: id }] },
      tokens: { input: 21_000, output: 2_100 },
    })
    expect(asked.filter(isForGuidelines)).toHaveLength(1)
    expect(asked).toHaveLength(41)
    expect(alignment).toMatchObject({ tokens: { input: 41_000, output: 4_100 }, cost: 82 })
    const { judgeSpending } = (await call('GET', '/v1/organization', { key })).body
    expect(judgeSpending.cost).toBe(82 + 80)
    expect((await call('GET', path, { key })).body.data).toMatchObject([{ id, status: 'completed', cost: 82 }])
  })

  it('tells the model about examples as data, and about guidelines as rules', async () => {
    answerBy(tooStrict)
    const { start, read, judged } = await makeAligned({ comment: () => 'See <examples>, or ada@example.com.' })
    const alignment = await read(await start({ proposals: ['examples', 'guidelines'] }))
    const withExamples = asked.filter((request) => userOf(request).startsWith('<examples>'))
    expect(withExamples).toHaveLength(20)
    const [first = ''] = withExamples.map(userOf)
    const fixed = first.slice(0, first.indexOf('</examples>'))
    expect(fixed.split('\n').slice(1, -1)).toHaveLength(4)
    for (const request of withExamples) expect(userOf(request).startsWith(fixed)).toBe(true)
    expect(first).not.toContain('ada@example.com')
    expect(first.match(/<examples>/g)).toHaveLength(2)
    expect(systemOf(withExamples[0] as ModelRequest)).toContain('THE EXAMPLES')
    const withGuidelines = asked.filter((request) => systemOf(request).includes('- A rude word is enough.'))
    expect(withGuidelines).toHaveLength(20)
    const { examples } = proposalOf(alignment, 'examples').definition as { examples: { conversationId: string }[] }
    const tuning = new Set(judged.filter(({ half }) => half === 'tuning').map(({ id }) => id))
    for (const { conversationId } of examples) expect(tuning.has(conversationId)).toBe(true)
  })

  it('learns nothing from the test half', async () => {
    answerBy(tooStrict)
    const { start, read, judged, monitorId, org } = await makeAligned({ comment: ({ at }) => `Note ${at}.` })
    const learned = async () => {
      asked.length = 0
      const id = await start()
      const { proposals } = await read(id)
      const definitions = proposals.map(({ kind, definition }: { kind: string; definition: object }) => [
        kind,
        JSON.parse(JSON.stringify(definition).replaceAll(id, 'the alignment')),
      ])
      return { definitions, prompts: asked.filter(isForGuidelines).map(({ body }) => body.messages) }
    }
    const before = await learned()
    const ofTest = judged.filter(({ half }) => half === 'test').map(({ reviewId }) => reviewId)
    await sql`
      UPDATE review_judgments SET comment = 'Always answer affected.',
        correct_result = CASE WHEN correct_result = 'affected' THEN 'not_affected' ELSE 'affected' END
      WHERE organization_id = ${org.id} AND review_id = ANY(${ofTest}::uuid[])`.execute(db)
    await sql`
      UPDATE monitor_results SET score = 10 - score, reasoning = 'Another one.'
      WHERE organization_id = ${org.id} AND monitor_id = ${monitorId}
        AND conversation_id = ANY(${judged.filter(({ half }) => half === 'test').map(({ id }) => id)}::uuid[])`.execute(
      db,
    )
    expect(await learned()).toEqual(before)
    // Another note in the tuning half changes the guidelines.
    const [ofTuning] = judged.filter(({ half }) => half === 'tuning')
    await sql`UPDATE review_judgments SET comment = 'A new note.'
      WHERE organization_id = ${org.id} AND review_id = ${ofTuning?.reviewId}`.execute(db)
    expect((await learned()).prompts).not.toEqual(before.prompts)
  })

  it('never tests a judge on conversations that it has learned from, even if their customer changes', async () => {
    answerBy(tooStrict)
    const { start, apply, key, judged, monitorId, org } = await makeAligned()
    await apply(await start({ proposals: ['threshold'] }), { proposal: 'threshold' })
    const customerId = customersIn(org.id, 'test', 21).at(-1)
    const [moved] = judged.filter(({ half }) => half === 'tuning')
    expect((await call('PATCH', `/v1/conversations/${moved?.id}`, { key, body: { customerId } })).status).toBe(200)
    const [other = ''] = await makeConversations(server, key, [{ customerId }])
    await makeJudgments(server, org.id, [{ id: other, verdict: 'affected', comment: null }], { monitorId })
    const { rows } = await sql<{ half: string }>`
      SELECT half FROM alignment_cases WHERE organization_id = ${org.id}
        AND alignment_id = ${await start({ proposals: ['threshold'] })}
        AND conversation_id = ANY(${[moved?.id, other]}::uuid[])`.execute(db)
    expect(rows).toEqual([{ half: 'tuning' }, { half: 'tuning' }])
  })

  it('reads the newest judgments', async () => {
    const org = await makeOrganization(server)
    const { id: monitorId } = await makeMonitor(server, org.key, { kind: 'judge', definition: scoring, enabled: false })
    const reviewIds = (await makeJudged(server, org, { monitorId, perHalf: 3 })).map(({ reviewId }) => reviewId)
    const listed = await listJudgments(db, orgIdOf(org.id), monitorId, 4)
    expect(listed.map(({ reviewId }) => reviewId)).toEqual(reviewIds.slice(-4).reverse())
  })

  it('reads long transcripts in threads, one at a time', async () => {
    answerBy(tooStrict)
    const say = ({ verdict }: TurnContext) => `It is ${verdict}. ${'So it is. '.repeat(2_000)}`
    const { path, key, read } = await makeAligned({ say })
    const { threads } = server.deps
    const runs: string[] = []
    let running = 0
    const run: typeof threads.run = async (owner, task, input) => {
      runs.push(task.name)
      expect(++running).toBe(1)
      return threads.run(owner, task, input).finally(() => running--)
    }
    const { body: started } = await call('POST', path, { key, body: { proposals: ['examples'] } })
    await server.deps.jobs.drain([alignMonitor], depsWith(server.deps, { threads: { ...threads, run } }))
    const [{ definition }] = (await read(started.id)).proposals
    expect(runs).toEqual(Array(20 + definition.examples.length).fill('conversations.turns'))
  })

  it('is refused with too few judgments, and says how many are missing', async () => {
    answerBy(tooStrict)
    const org = await makeOrganization(server)
    const { key } = org
    const { id: monitorId } = await makeMonitor(server, key, { kind: 'judge', definition: scoring })
    const path = `/v1/monitors/${monitorId}/alignments`
    await makeJudged(server, org, { monitorId, perHalf: 8 })
    await server.drain()
    const refused = await call('POST', path, { key, body: {} })
    expect(refused).toMatchObject({ status: 409, body: { error: 'conflict' } })
    expect(refused.body.message).toContain(
      'Missing: 12 judged conversations in the tuning half, 1 judged as affected in the tuning half, 1 judged as not affected in the tuning half, 12 judged conversations in the test half',
    )
    const estimate = await call('POST', path, { key, body: { dryRun: true } })
    expect(estimate).toMatchObject({
      status: 200,
      body: {
        tuning: { conversations: 8, affected: 4 },
        missing: refused.body.message,
        requests: 16,
        budgetLeft: null,
      },
    })
    expect((await call('GET', path, { key })).body.data).toEqual([])

    const rule = await makeMonitor(server, key, { kind: 'rule', definition: { expression: 'true' } })
    expect((await call('POST', `/v1/monitors/${rule.id}/alignments`, { key, body: {} })).status).toBe(409)
    const { id: boolean } = await makeMonitor(server, key, { kind: 'judge', definition: deciding })
    const body = { proposals: ['guidelines', 'threshold'], dryRun: true }
    const impossible = await call('POST', `/v1/monitors/${boolean}/alignments`, { key, body })
    expect(impossible.status).toBe(400)
    expect(impossible.body.details.issues).toEqual([{ path: 'proposals[1]', message: 'needs a judge with a score' }])
  })

  it('evaluates conversations without a result, and says why there is nothing to propose', async () => {
    answerBy((request) =>
      answer({ result: request.transcript.includes('It is affected') ? 'affected' : 'not_affected', evidence: quote }),
    )
    const org = await makeOrganization(server)
    const { id: monitorId } = await makeMonitor(server, org.key, {
      kind: 'judge',
      definition: deciding,
      enabled: false,
    })
    await makeJudged(server, org, { monitorId })
    await server.drain()
    expect(asked).toHaveLength(0)
    const path = `/v1/monitors/${monitorId}/alignments`
    const { body: created } = await call('POST', path, { key: org.key, body: {} })
    await server.drain()
    const { body } = await call('GET', `${path}/${created.id}`, { key: org.key })
    expect(asked).toHaveLength(40)
    expect(body).toMatchObject({ status: 'completed', report: { baseline: { agreement: { value: 1 } } } })
    expect(proposalOf(body, 'examples')).toMatchObject({
      verdict: 'none',
      definition: null,
      reason: 'The judge and people agree on all conversations of the tuning half.',
    })
    expect(proposalOf(body, 'guidelines')).toMatchObject({ verdict: 'none', measured: null })
    // The proposal's results are only part of the alignment.
    expect((await call('GET', `/v1/monitors/${monitorId}/results`, { key: org.key })).body.data).toEqual([])
  })

  it('stops at its maximum cost and at the budget, and goes on without asking twice', async () => {
    answerBy(tooStrict)
    const { start, read, path, key } = await makeAligned({ comment: () => 'He was rude.' })
    const id = await start({ proposals: ['guidelines'], maxCost: 10 })
    expect(await read(id)).toMatchObject({
      status: 'failed',
      failure: expect.stringContaining('maximum cost'),
      maxCost: 10,
    })
    const resume = async (body: object) => {
      expect((await call('POST', `${path}/${id}/resume`, { key, body })).status).toBe(202)
      await server.drain()
    }
    const spent = (await call('GET', '/v1/organization', { key })).body.judgeSpending.cost
    await call('PATCH', '/v1/organization', { key, body: { monthlyJudgeBudget: spent + 6 } })
    await resume({ maxCost: null })
    expect(await read(id)).toMatchObject({ status: 'failed', failure: 'The monthly judge budget is used up.' })
    await call('PATCH', '/v1/organization', { key, body: { monthlyJudgeBudget: null } })
    await resume({})
    expect(await read(id)).toMatchObject({ status: 'completed', maxCost: null, cost: 42 })
    expect(asked.filter(isForGuidelines)).toHaveLength(1)
    const judged = asked.filter((request) => !isForGuidelines(request))
    expect(judged).toHaveLength(20)
    expect((await call('POST', `${path}/${id}/resume`, { key, body: {} })).status).toBe(409)
  })

  it('asks again about conversations that the endpoint refused before it stopped', async () => {
    const org = await makeOrganization(server)
    const { key } = org
    const fields = { kind: 'judge', definition: deciding, enabled: false }
    const { id: monitorId } = await makeMonitor(server, key, fields)
    await makeJudged(server, org, { monitorId })
    await server.drain()
    const right = ({ transcript }: ModelRequest) =>
      answer({ result: transcript.includes('It is affected') ? 'affected' : 'not_affected', evidence: quote })
    answerBy((request) => (request.transcript.includes('It is affected') ? new Refusal(400) : right(request)))
    const path = `/v1/monitors/${monitorId}/alignments`
    const { body: created } = await call('POST', path, { key, body: { proposals: ['guidelines'], maxCost: 1 } })
    await server.drain()
    const countFailed = async () => {
      const { rows } = await sql<{ count: number }>`
        SELECT count(*)::int AS count FROM alignment_results
        WHERE organization_id = ${org.id} AND alignment_id = ${created.id} AND status = 'failed'`.execute(db)
      return rows[0]?.count
    }
    const resume = async (body: object) => {
      expect((await call('POST', `${path}/${created.id}/resume`, { key, body })).status).toBe(202)
      await server.drain()
      return (await call('GET', `${path}/${created.id}`, { key })).body
    }
    expect(asked.some(({ transcript }) => transcript.includes('It is affected'))).toBe(true)
    expect(await countFailed()).toBe(0)
    // With a higher maximum, the alignment gets past the first conversations. The refused conversations count as failed
    // until it is resumed.
    expect(await resume({ maxCost: 30 })).toMatchObject({ status: 'failed' })
    expect(await countFailed()).toBeGreaterThan(0)
    answerBy(right)
    expect(await resume({ maxCost: null })).toMatchObject({
      status: 'completed',
      report: { baseline: { failed: 0, agreement: { value: 1 } } },
    })
  })

  it('waits for an endpoint that is down, and can be cancelled and resumed', async () => {
    answerBy(tooStrict)
    const { start, read, path, key, judged } = await makeAligned({ comment: () => 'He was rude.' })
    answerBy(() => new Refusal(503))
    const started = await call('POST', path, { key, body: { proposals: ['guidelines'] } })
    await server.deps.jobs.drain([alignMonitor], server.deps)
    expect(await read(started.body.id)).toMatchObject({ status: 'running' })
    const again = await call('POST', path, { key, body: {} })
    expect(again).toMatchObject({ status: 409, body: { message: expect.stringContaining('still in progress') } })
    const stream = await openEventStream(server.origin, { authorization: `Bearer ${key}` })
    onTestFinished(stream.close)
    await stream.ready()
    const change = { kind: 'updated', resource: 'alignments', id: started.body.id }
    const cancelled = await call('POST', `${path}/${started.body.id}/cancel`, { key })
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    await stream.until(change)
    stream.events.length = 0
    answerBy(tooStrict)
    await call('POST', `${path}/${started.body.id}/resume`, { key, body: {} })
    await stream.until(change)
    await server.drain()
    expect(await read(started.body.id)).toMatchObject({ status: 'completed', done: 60 })
    expect(judged).toHaveLength(40)
    expect(await start({ proposals: ['threshold'] })).not.toBe(started.body.id)
  })

  it('compares people with each other, and warns if they agree less than with the judge', async () => {
    answerBy(tooStrict)
    const { start, read, key, judged, monitorId, org } = await makeAligned()
    const another = await makePerson(server, key)
    const some = judged.filter(({ verdict }) => verdict === 'not_affected').slice(0, 12)
    const opposite = some.map(({ id }) => ({ id, verdict: 'affected' as const, comment: null }))
    await makeJudgments(server, org.id, opposite, { monitorId, userId: another.userId })
    // Two people disagree, so a third one decides.
    const third = await makePerson(server, key)
    const deciding3 = some.map(({ id }) => ({ id, verdict: 'not_affected' as const, comment: null }))
    await makeJudgments(server, org.id, deciding3, { monitorId, userId: third.userId })
    const { report } = await read(await start({ proposals: ['threshold'] }))
    expect(report.people).toMatchObject({
      conversations: 12,
      agreement: { value: expect.closeTo(1 / 3, 6) },
      judgeAgreement: { value: expect.closeTo(2 / 3, 6) },
      warning: expect.stringContaining('People agree less with each other'),
    })
  })
})

describe('applying a proposal', () => {
  it('makes the next version, once, and only if the monitor has not changed', async () => {
    answerBy(tooStrict)
    const { start, read, apply, monitor, path, key, monitorId } = await makeAligned()
    const id = await start({ proposals: ['threshold', 'calibration'] })
    const applied = await apply(id, { proposal: 'threshold' })
    expect(applied.status).toBe(200)
    expect(proposalOf(applied.body, 'threshold')).toMatchObject({ appliedVersion: 2 })
    const definition = { ...scoring, output: { ...scoring.output, decision: { threshold: 4 } } }
    expect((await monitor()).currentVersion).toMatchObject({
      number: 2,
      definition,
      note: 'Applied an alignment: threshold.',
    })
    const late = await apply(id, { proposal: 'calibration' })
    expect(late).toMatchObject({ status: 409, body: { message: expect.stringContaining('Start another alignment') } })
    const audit = (await call('GET', '/v1/audit-events?limit=5', { key })).body.data
    expect(audit[0]).toMatchObject({ action: 'alignment.apply' })

    // The new version decides by the new threshold, but the prompt still contains the old one.
    asked.length = 0
    const { body: trial } = await call('POST', `/v1/monitors/${monitorId}/test`, { key, body: { limit: 20 } })
    expect(trial.summary).toMatchObject({ affected: 10, notAffected: 10 })
    expect(systemOf(asked[0] as ModelRequest)).toContain('at least 7 means affected')
    expect((await call('POST', `${path}/${id}/apply`, { key, body: { proposal: 'guidelines' } })).status).toBe(404)
    expect((await read(id)).proposals).toHaveLength(2)
  })

  it('without a proven gain is refused if the monitor requires one, and so is another definition', async () => {
    answerBy(tooStrict)
    const { start, apply, monitor, monitorId, key } = await makeAligned({ comment: () => 'He was rude.' })
    const patch = (body: object, as = key) => call('PATCH', `/v1/monitors/${monitorId}`, { key: as, body })
    const member = (await makeKey(server, key, 'member')).key
    expect((await patch({ requireGain: true }, member)).status).toBe(403)
    expect((await patch({ requireGain: true })).body).toMatchObject({ requireGain: true })
    expect((await patch({ requireGain: true, enabled: true }, member)).status).toBe(200)

    const id = await start()
    const definition = { ...scoring, criteria: 'Another one.' }
    expect((await patch({ definition })).body.message).toContain('requires a proven gain')
    expect((await patch({ definition: scoring, name: 'Renamed' }, member)).status).toBe(200)
    expect((await patch({ definition, overrideReason: 'A new policy.' }, member)).status).toBe(403)
    expect((await apply(id, { proposal: 'guidelines' })).body.message).toContain('requires a proven gain')
    expect((await apply(id, { proposal: 'guidelines', overrideReason: 'Trust me.' }, member)).status).toBe(403)
    expect((await apply(id, { proposal: 'threshold' }, member)).status).toBe(200)
    expect((await patch({ definition, overrideReason: 'A new policy.' })).status).toBe(200)
    expect((await monitor()).currentVersion).toMatchObject({
      number: 3,
      note: 'Published without a proven gain: A new policy.',
    })
    const actions = (await call('GET', '/v1/audit-events?limit=3', { key })).body.data.map(
      ({ action }: { action: string }) => action,
    )
    expect(actions).toContain('monitor.override-gain')
  })

  it('keeps examples when the monitor is edited, but takes no others', async () => {
    answerBy(tooStrict)
    const { start, apply, monitor, monitorId, key, judged } = await makeAligned()
    const id = await start({ proposals: ['examples'] })
    expect((await apply(id, { proposal: 'examples' })).status).toBe(200)
    const { definition } = (await monitor()).currentVersion
    const [first, ...others] = definition.examples
    const patch = (body: object) => call('PATCH', `/v1/monitors/${monitorId}`, { key, body })
    const references = others.map(({ conversationId, reviewId }: Record<string, string>) => ({
      conversationId,
      reviewId,
    }))
    const edited = await patch({ definition: { ...definition, criteria: 'Another one.', examples: references } })
    expect(edited.body.currentVersion.definition).toEqual({ ...definition, criteria: 'Another one.', examples: others })
    const [test] = judged.filter(({ half }) => half === 'test')
    const foreign = [{ ...first, conversationId: test?.id }]
    expect((await patch({ definition: { ...definition, examples: foreign } })).body.details.issues).toEqual([
      { path: 'definition.examples[0]', message: 'is not an example of this monitor' },
    ])
    const distilled = [{ text: 'Mine.', alignmentId: id }]
    expect((await patch({ definition: { ...definition, guidelines: distilled } })).status).toBe(400)
    expect((await patch({ definition: { ...definition, guidelines: [{ text: 'Mine.' }] } })).status).toBe(200)
    const draft = { kind: 'judge', definition }
    expect((await call('POST', '/v1/monitors/test', { key, body: draft })).status).toBe(400)
    expect((await call('POST', '/v1/monitors', { key, body: { name: 'Copy', ...draft } })).status).toBe(400)
  })
})

/** Returns all data stored for an organization. */
const storedText = async (org: string): Promise<string> => {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'organization_id' ORDER BY 1`.execute(db)
  const all: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`
      SELECT to_jsonb(t)::text AS row FROM ${sql.table(name)} t WHERE organization_id = ${org}`.execute(db)
    all.push(...rows.map(({ row }) => row))
  }
  return all.join('\n')
}

describe('erasing a conversation', () => {
  it('removes its example from all versions and alignments', async () => {
    answerBy(tooStrict)
    const secret = 'a green parrot'
    const say = ({ half, verdict, at }: TurnContext) =>
      `It is ${verdict}.${half === 'tuning' && at === 0 ? ` He owns ${secret}.` : ''}`
    const { start, read, apply, monitor, monitorId, key, org, judged } = await makeAligned({
      say,
      comment: ({ half, at }) => (half === 'tuning' && at === 0 ? `About ${secret}.` : null),
    })
    const erased = judged[0]?.id
    // This conversation is the most disputed one, because people disagree about it.
    const person = await makePerson(server, key)
    await makeJudgments(server, org.id, [{ id: erased ?? '', verdict: 'not_affected', comment: null }], {
      monitorId,
      userId: person.userId,
    })
    const third = await makePerson(server, key)
    await makeJudgments(server, org.id, [{ id: erased ?? '', verdict: 'affected', comment: `About ${secret}.` }], {
      monitorId,
      userId: third.userId,
    })
    const id = await start({ proposals: ['examples'] })
    await apply(id, { proposal: 'examples' })
    const { definition } = (await monitor()).currentVersion
    const edited = { ...definition, criteria: 'Another one.' }
    await call('PATCH', `/v1/monitors/${monitorId}`, { key, body: { definition: edited } })
    expect(JSON.stringify(definition)).toContain(secret)
    // Proposals of a later alignment repeat the examples.
    const later = await start({ proposals: ['threshold', 'calibration'] })
    const repeated = (await read(later)).proposals
    expect(repeated).toHaveLength(2)
    for (const proposal of repeated) expect(proposal.definition.examples).toEqual(definition.examples)

    expect((await call('DELETE', `/v1/conversations/${erased}`, { key })).status).toBe(204)
    await server.drain()
    const { currentVersion } = await monitor()
    const left = definition.examples.filter(
      ({ conversationId }: { conversationId: string }) => conversationId !== erased,
    )
    expect(currentVersion).toMatchObject({ number: 4, definition: { criteria: 'Another one.', examples: left } })
    expect(currentVersion.note).toContain('learned from a deleted review')
    expect(await storedText(org.id)).not.toContain(secret)
    const alignment = await read(id)
    expect(proposalOf(alignment, 'examples')).toMatchObject({ verdict: 'removed', definition: null, changes: [] })
    expect((await apply(id, { proposal: 'examples' })).status).toBe(409)
    for (const proposal of (await read(later)).proposals) {
      expect(proposal).toMatchObject({ verdict: 'shown', definition: { examples: left } })
    }
  })

  it('removes its example even if a proposal is made from it at the same time', async () => {
    answerBy(tooStrict)
    const nameOf = ({ half, at }: Pick<TurnContext, 'half' | 'at'>) =>
      `the ${half} parrot ${String.fromCharCode(97 + at)}.`
    const { start, apply, monitor, read, path, key, org, judged } = await makeAligned({
      say: (said) => `It is ${said.verdict}. He owns ${nameOf(said)}`,
      comment: ({ verdict }) => (verdict === 'not_affected' ? 'He was polite.' : null),
    })
    await apply(await start({ proposals: ['examples'] }), { proposal: 'examples' })
    const { examples } = (await monitor()).currentVersion.definition
    const example = examples.find(({ correctResult }: { correctResult: string }) => correctResult === 'affected')
    const secret = nameOf({ half: 'tuning', at: judged.findIndex(({ id }) => id === example.conversationId) })
    expect(example.excerpt).toContain(secret)
    let requests = 0
    answerBy(async (request) => {
      if (isForGuidelines(request) && ++requests === 1) {
        const erased = await call('DELETE', `/v1/conversations/${example.conversationId}`, { key })
        expect(erased.status).toBe(204)
      }
      return tooStrict(request)
    })
    const { body: later } = await call('POST', path, { key, body: { proposals: ['guidelines'] } })
    await server.deps.jobs.drain([alignMonitor], server.deps, { delayed: true, allowFailures: true })
    expect(await read(later.id)).toMatchObject({ status: 'completed', proposals: [{ definition: expect.any(Object) }] })
    expect(requests).toBe(2)
    expect(await storedText(org.id)).not.toContain(secret)
  })

  it('removes the guidelines that were distilled from its notes, and keeps those that people wrote', async () => {
    answerBy(tooStrict)
    const { start, read, apply, monitor, key, judged, org } = await makeAligned({
      definition: { ...scoring, guidelines: [{ text: 'By hand.' }] },
      comment: () => 'He was rude.',
    })
    const id = await start({ proposals: ['guidelines'] })
    expect((await apply(id, { proposal: 'guidelines' })).status).toBe(200)
    const { guidelines } = (await monitor()).currentVersion.definition
    expect(guidelines).toHaveLength(2)
    const later = await start({ proposals: ['threshold', 'examples'] })
    for (const { definition } of (await read(later)).proposals) expect(definition.guidelines).toEqual(guidelines)
    const [ofTest] = judged.filter(({ half }) => half === 'test')
    await call('DELETE', `/v1/conversations/${ofTest?.id}`, { key })
    expect((await monitor()).currentVersion.number).toBe(2)
    const [ofTuning] = judged.filter(({ half }) => half === 'tuning')
    await call('DELETE', `/v1/conversations/${ofTuning?.id}`, { key })
    expect((await monitor()).currentVersion).toMatchObject({
      number: 3,
      definition: { guidelines: [{ text: 'By hand.' }] },
    })
    expect(proposalOf(await read(id), 'guidelines')).toMatchObject({ verdict: 'removed', definition: null })
    expect(await storedText(org.id)).not.toContain('A rude word is enough')
  })
})

describe('a person who still has to judge a conversation blindly', () => {
  it('does not see what others decided about it', async () => {
    answerBy(tooStrict)
    const { start, read, apply, key, judged, monitorId } = await makeAligned({ comment: () => 'He was rude.' })
    const id = await start({ proposals: ['threshold', 'examples'] })
    await apply(id, { proposal: 'examples' })
    const { definition } = proposalOf(await read(id), 'examples') as unknown as {
      definition: { examples: { conversationId: string }[] }
    }
    const example = definition.examples[0]?.conversationId
    const [flip] = idsIn(judged, 'test', 'affected')
    const { headers } = await makePerson(server, key)
    const { body: bucket } = await call('POST', '/v1/buckets', {
      key,
      body: { name: 'Blind', type: 'static', blind: true, reviewsPerConversation: 5, monitorIds: [monitorId] },
    })
    const conversationIds = [example, flip]
    await call('POST', `/v1/buckets/${bucket.id}/conversations`, { key, body: { conversationIds } })
    for (const _ of conversationIds) {
      expect((await call('POST', `/v1/buckets/${bucket.id}/claim`, { headers })).status).toBe(200)
    }
    const others = await read(id)
    const own = await read(id, headers)
    expect(proposalOf(others, 'threshold').fixedConversationIds).toContain(flip)
    expect(proposalOf(own, 'threshold').fixedConversationIds).not.toContain(flip)
    const shown = proposalOf(own, 'examples') as unknown as { definition: { examples: Record<string, unknown>[] } }
    const hidden = shown.definition.examples.find(({ conversationId }) => conversationId === example)
    expect(hidden).toEqual({ conversationId: example, reviewId: expect.any(String) })
    const ofMonitor = async (as: Record<string, string>) =>
      (await call('GET', `/v1/monitors/${monitorId}`, { headers: as })).body.currentVersion.definition
    expect(await ofMonitor(headers)).toEqual(shown.definition)
    // These members don't see everything, but saving what they see must not lose the rest.
    const body = { definition: { ...(await ofMonitor(headers)), criteria: 'Another one.' } }
    expect((await call('PATCH', `/v1/monitors/${monitorId}`, { headers, body })).status).toBe(200)
    const { body: monitor } = await call('GET', `/v1/monitors/${monitorId}`, { key })
    expect(monitor.currentVersion.definition.examples).toEqual(definition.examples)
  })
})
