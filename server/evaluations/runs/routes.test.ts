import { describe, expect, it } from 'vitest'
import { makeConversation, makeConversations, makeMonitor, makeOrganization } from '../../../test/make.ts'
import { impolite, serverWithModel, turns } from '../../../test/support/evaluations/evaluations.ts'
import { Refusal } from '../../../test/support/monitors/model-server.ts'
import { jobList } from '../../worker.ts'
import { canMove, runMoves, runStatuses } from './run-status.ts'

const { server, resultsOf, asked, answerBy, makeRule, makeJudge } = await serverWithModel()

const window = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }

const makeCalls = async (key: string, count: number, fields: object = {}) => {
  const each = Array.from({ length: count }, () => ({ transcript: turns, ...fields }))
  const ids = await makeConversations(server, key, each)
  await server.drain()
  return ids
}

const start = (key: string, monitorId: string, body: object = {}) =>
  server.call('POST', `/v1/monitors/${monitorId}/evaluations`, { key, body: { ...window, ...body } })

const read = async (key: string, run: { monitorId: string; id: string }) =>
  (await server.call('GET', `/v1/monitors/${run.monitorId}/evaluations/${run.id}`, { key })).body

const move = (key: string, run: { monitorId: string; id: string }, verb: 'cancel' | 'resume') =>
  server.call('POST', `/v1/monitors/${run.monitorId}/evaluations/${run.id}/${verb}`, { key })

/** Runs all jobs, including those that are due later. */
const drainAll = () => server.deps.jobs.drain(jobList, server.deps, { delayed: true })

describe('a run', () => {
  it('evaluates stored conversations, and reports its progress', async () => {
    const { key } = await makeOrganization(server)
    const [first] = await makeCalls(key, 3)
    await makeCalls(key, 1, { channel: 'chat' })
    await makeCalls(key, 1, { startedAt: '2026-10-31T23:59:59.999Z' })
    await makeCalls(key, 1, { status: 'in_progress' })
    const monitor = await makeRule(key, 'turns.size() == 3', { scope: { channels: ['call'] } })
    const { status, body, headers } = await start(key, monitor.id, { filter: { customerId: 'nobody' } })
    expect([status, body.total]).toEqual([202, 0])
    await server.drain()
    const { body: run } = await start(key, monitor.id)
    expect(run).toMatchObject({ kind: 'backfill', status: 'queued', total: 3, scored: 0, startedAt: null, filter: {} })
    expect(run).toMatchObject({
      since: '2026-11-01T00:00:00.000Z',
      until: '2026-12-01T00:00:00.000Z',
      monitorVersion: 1,
    })
    await server.drain()
    expect(await read(key, run)).toMatchObject({ status: 'completed', total: 3, scored: 3, unscored: 0, failed: 0 })
    expect(await resultsOf(key, first as string)).toMatchObject([{ monitorId: monitor.id, result: 'affected' }])
    const { body: list } = await server.call('GET', `/v1/monitors/${monitor.id}/evaluations`, { key })
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual([run.id, body.id])
    expect(headers.get('location')).toBe(`/v1/monitors/${monitor.id}/evaluations/${body.id}`)
  })

  it('only runs a judge on conversations without a result, and on failures', async () => {
    const { key } = await makeOrganization(server)
    const ids = await makeCalls(key, 5)
    const judge = await makeJudge(key)
    answerBy((_, number) => (number === 2 ? new Refusal(400) : impolite()))
    const { body: first } = await start(key, judge.id)
    await server.drain()
    expect(asked).toHaveLength(5)
    expect(await read(key, first)).toMatchObject({ status: 'completed', total: 5, scored: 4, failed: 1 })
    answerBy(() => impolite())
    server.clock.advance(1_000)
    const { body: second } = await start(key, judge.id)
    await server.drain()
    expect(asked).toHaveLength(1)
    expect(await read(key, second)).toMatchObject({ status: 'completed', total: 5, scored: 5, failed: 0 })
    for (const id of ids) expect(await resultsOf(key, id)).toMatchObject([{ status: 'scored', result: 'affected' }])
  })

  it('includes what its filter selects, page by page', async () => {
    const { key } = await makeOrganization(server)
    const short = [{ role: 'customer', text: 'Where is my money?' }]
    await makeCalls(key, 20, { metadata: { plan: 'gold' } })
    await makeCalls(key, 20, { transcript: short, metadata: { plan: 'gold' } })
    await makeCalls(key, 20, { startedAt: '2026-11-21T09:00:00.000Z' })
    const long = await makeRule(key, 'turns.size() > 2')
    await start(key, long.id)
    await server.drain()
    const judge = await makeJudge(key, { scope: { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] } })
    answerBy(() => impolite())
    const filter = { text: 'money', monitors: [{ id: long.id, result: 'affected' }] }
    const { body: run } = await start(key, judge.id, { filter })
    expect(run.total).toBe(20)
    await server.drain()
    expect(await read(key, run)).toMatchObject({ status: 'completed', total: 20, scored: 20 })
    expect(asked).toHaveLength(20)
  })

  it('can be estimated first', async () => {
    const { key } = await makeOrganization(server)
    await server.call('PATCH', '/v1/organization', { key, body: { monthlyJudgeBudget: 50 } })
    await makeCalls(key, 30)
    const judge = await makeJudge(key)
    const dry = () => start(key, judge.id, { dryRun: true })
    const { status, body } = await dry()
    expect(status).toBe(200)
    expect(body).toMatchObject({ conversations: 30, answered: 0, basis: 'lengths', budgetLeft: 50 })
    // There is about one input token for every three characters. Each conversation also needs the instructions.
    expect(body.tokens.input).toBeGreaterThan(30 * 400)
    expect(body.cost).toBeCloseTo((body.tokens.input * 1_000 + body.tokens.output * 10_000) / 1_000_000)
    expect((await server.call('GET', `/v1/monitors/${judge.id}/evaluations`, { key })).body.data).toEqual([])
    answerBy(() => impolite())
    await start(key, judge.id, { filter: { metadata: [] } })
    await server.drain()
    // Each conversation costs two dollars, so the budget is exhausted after 25.
    const stopped = (await server.call('GET', `/v1/monitors/${judge.id}/evaluations`, { key })).body.data[0]
    expect(stopped).toMatchObject({ status: 'failed', failure: 'The monthly judge budget is used up.' })
    expect(asked.length).toBeGreaterThanOrEqual(25)
    expect(asked.length).toBeLessThanOrEqual(28)
    const { body: later } = await dry()
    expect(later).toMatchObject({ answered: asked.length, basis: 'results', budgetLeft: 0 })
    expect(later.tokens).toEqual({ input: (30 - asked.length) * 1_000, output: (30 - asked.length) * 100 })
    const rule = await makeRule(key, 'true')
    expect((await start(key, rule.id, { dryRun: true })).body).toMatchObject({
      conversations: 30,
      tokens: null,
      cost: 0,
    })
    await server.call('PATCH', '/v1/organization', { key, body: { monthlyJudgeBudget: null } })
    expect((await move(key, stopped, 'resume')).status).toBe(202)
    await server.drain()
    expect(await read(key, stopped)).toMatchObject({ status: 'completed', scored: 30, total: 30, failure: null })
    expect(asked).toHaveLength(30)
  })

  it('is cancelled immediately and resumed where it stopped', async () => {
    const { key } = await makeOrganization(server)
    await makeCalls(key, 40)
    const judge = await makeJudge(key)
    let run: { monitorId: string; id: string } | undefined
    let cancelling: ReturnType<typeof move> | undefined
    answerBy(async (_, number) => {
      if (number === 20 && run) cancelling = move(key, run, 'cancel')
      // From now on, requests get no response until the run is cancelled.
      await cancelling
      return impolite()
    })
    run = (await start(key, judge.id)).body as { monitorId: string; id: string }
    expect((await start(key, judge.id)).status).toBe(409)
    await server.drain()
    expect((await cancelling)?.status).toBe(200)
    const cancelled = await read(key, run)
    expect(cancelled).toMatchObject({ status: 'cancelled', total: 40, scored: 16 })
    // The responses that were in flight are stored.
    expect(asked.length).toBeLessThan(24)
    const before = asked.length
    expect((await move(key, run, 'cancel')).status).toBe(409)
    expect((await move(key, run, 'resume')).body).toMatchObject({ status: 'queued', finishedAt: null })
    await server.drain()
    expect(await read(key, run)).toMatchObject({ status: 'completed', total: 40, scored: 40 })
    expect(before).toBeLessThan(40)
    expect(asked).toHaveLength(40)
    expect((await move(key, run, 'resume')).status).toBe(409)
  })

  it('resumed while its old job is still working counts each conversation once', async () => {
    const { key } = await makeOrganization(server)
    await makeCalls(key, 40)
    const judge = await makeJudge(key)
    const { body: run } = await start(key, judge.id)
    const isAhead = Promise.withResolvers<void>()
    const oldIsOver = Promise.withResolvers<void>()
    let meanwhile: Promise<unknown> | undefined
    answerBy(async (_, number) => {
      if (number === 6) {
        await move(key, run, 'cancel')
        await move(key, run, 'resume')
        meanwhile = server.drain()
        await isAhead.promise
      }
      // A page has 16 conversations. The new job has completed its first page and is working when the old job finishes.
      if (number === 28) {
        isAhead.resolve()
        await oldIsOver.promise
      }
      return impolite()
    })
    await server.drain()
    oldIsOver.resolve()
    await meanwhile
    expect(await read(key, run)).toMatchObject({ status: 'completed', total: 40, scored: 40 })
    // The new job can't know which requests of the old job are in flight.
    expect(asked.length).toBeLessThanOrEqual(40 + 4)
  })

  it('waits for an unresponsive endpoint, then fails, and can be resumed', async () => {
    const { key } = await makeOrganization(server)
    await makeCalls(key, 3)
    const judge = await makeJudge(key)
    answerBy(() => new Refusal(503))
    const { body: run } = await start(key, judge.id)
    await server.drain()
    expect(await read(key, run)).toMatchObject({ status: 'running', scored: 0, failed: 0 })
    await drainAll()
    const failed = await read(key, run)
    expect(failed).toMatchObject({ status: 'failed', scored: 0, failed: 0 })
    expect(failed.failure).toMatch(/^The model endpoint is not responding/)
    answerBy(() => impolite())
    server.clock.advance(3_600_000)
    await move(key, run, 'resume')
    // One request detects that the endpoint works again, and the others follow afterwards.
    await drainAll()
    expect(await read(key, run)).toMatchObject({ status: 'completed', scored: 3 })
  })

  it('continues after its worker died in the middle of a page', async () => {
    const { key } = await makeOrganization(server)
    await makeCalls(key, 6)
    const judge = await makeJudge(key)
    const { evaluate } = server.deps.judge
    let calls = 0
    answerBy(() => impolite())
    server.deps.judge.evaluate = async (request) => {
      const answer = await evaluate(request)
      calls += 1
      if (calls === 3) throw new Error('the worker dies')
      return answer
    }
    const { body: run } = await start(key, judge.id)
    await server.deps.jobs.drain(jobList, server.deps, { delayed: true, allowFailures: true })
    server.deps.judge.evaluate = evaluate
    expect(await read(key, run)).toMatchObject({ status: 'completed', total: 6, scored: 6 })
    // Only the request that was in flight was paid for twice.
    expect(asked).toHaveLength(7)
  })

  it.each(['judge', 'rule'] as const)('of a %s skips a conversation that breaks it every time', async (kind) => {
    const { key } = await makeOrganization(server)
    await makeCalls(key, 5)
    const transcript = [{ role: 'agent', text: 'poison' }]
    const { id } = await makeConversation(server, key, { transcript })
    const monitor =
      kind === 'judge' ? await makeJudge(key, { enabled: false }) : await makeRule(key, 'turns.size() == 3')
    answerBy(() => impolite())
    const { judge, rules } = server.deps
    server.deps.judge = {
      ...judge,
      evaluate: async (request) => {
        if (request.turns.some(({ text }) => text === 'poison')) throw new Error('poison')
        return judge.evaluate(request)
      },
    }
    server.deps.rules = {
      ...rules,
      evaluate: async (batch, signal) => {
        if (batch.subjects.some((one) => one.transcript?.content.includes('poison'))) throw new Error('poison')
        return rules.evaluate(batch, signal)
      },
    }
    const { body: run } = await start(key, monitor.id)
    await server.deps.jobs.drain(jobList, server.deps, { delayed: true, allowFailures: true })
    Object.assign(server.deps, { judge, rules })
    expect(await read(key, run)).toMatchObject({ status: 'completed', total: 6, scored: 5, failed: 1 })
    const results = await resultsOf(key, id)
    expect(results).toMatchObject([{ status: 'failed', reasoning: 'the evaluation failed repeatedly' }])
    if (kind === 'judge') expect(asked).toHaveLength(5)
  })

  it('rejected by its endpoint every time stops, and does not store failures by the thousand', async () => {
    const { key } = await makeOrganization(server)
    const [first] = await makeCalls(key, 6)
    const judge = await makeJudge(key)
    answerBy(() => new Refusal(404))
    const { body: run } = await start(key, judge.id)
    await server.drain()
    const stopped = await read(key, run)
    expect(stopped).toMatchObject({ status: 'failed', failed: 0 })
    expect(stopped.failure).toMatch(/^The model endpoint rejects every request: .*404/)
    expect(await resultsOf(key, first as string)).toEqual([])
    answerBy(() => impolite())
    await move(key, run, 'resume')
    await server.drain()
    expect(await read(key, run)).toMatchObject({ status: 'completed', scored: 6, failed: 0, failure: null })
  })

  it('of a deleted monitor ends', async () => {
    const { key } = await makeOrganization(server)
    await makeCalls(key, 2)
    const monitor = await makeRule(key, 'true')
    const { body: run } = await start(key, monitor.id)
    await server.call('DELETE', `/v1/monitors/${monitor.id}`, { key })
    const path = `/v1/monitors/${monitor.id}/evaluations`
    for (const [method, gone] of [
      ['GET', path],
      ['GET', `${path}/${run.id}`],
      ['POST', `${path}/${run.id}/cancel`],
      ['POST', `${path}/${run.id}/resume`],
    ] as const) {
      expect((await server.call(method, gone, { key })).status).toBe(404)
    }
    await server.drain()
    expect((await server.call('GET', path, { key })).status).toBe(404)
  })

  it('of a monitor that is deleted in the middle of a page ends too, and sends no more requests', async () => {
    const { key } = await makeOrganization(server)
    await makeCalls(key, 16)
    const judge = await makeJudge(key)
    answerBy(async (_, number) => {
      if (number === 2) {
        await server.call('DELETE', `/v1/monitors/${judge.id}`, { key })
        await server.drain()
      }
      return impolite()
    })
    await start(key, judge.id)
    await server.drain()
    expect(asked.length).toBeLessThan(16)
  })

  it('of listed conversations evaluates only those in scope, whether or not they are in the sample', async () => {
    const { key } = await makeOrganization(server)
    const [first = '', second = ''] = await makeCalls(key, 3)
    const [chat = ''] = await makeCalls(key, 1, { channel: 'chat', startedAt: '2025-01-01T00:00:00Z' })
    const [open = ''] = await makeCalls(key, 1, { status: 'in_progress' })
    const rule = await makeRule(key, 'true', { scope: { channels: ['call'] }, samplePercent: 0 })
    const list = (conversationIds: string[], body: object = {}) =>
      server.call('POST', `/v1/monitors/${rule.id}/evaluations`, { key, body: { conversationIds, ...body } })
    const estimate = await list([first, chat], { dryRun: true })
    expect(estimate.body).toMatchObject({ conversations: 1, answered: 0 })
    const { status, text, body: run } = await list([first.toUpperCase(), second, chat, open])
    expect(status, text).toBe(202)
    expect(run).toMatchObject({ total: 2, listed: 4, filter: {}, since: '2025-01-01T00:00:00.000Z' })
    await server.drain()
    expect(await read(key, run)).toMatchObject({ status: 'completed', total: 2, scored: 2, listed: 4 })
    const { body: results } = await server.call('GET', `/v1/monitors/${rule.id}/results`, { key })
    expect(results.data.map((each: { conversationId: string }) => each.conversationId).sort()).toEqual([first, second])
    const stranger = await makeOrganization(server)
    const [foreign = ''] = await makeCalls(stranger.key, 1)
    const refused = await list([first, foreign])
    expect(refused.body.details.issues.map(({ path }: { path: string }) => path)).toEqual(['conversationIds[1]'])
    expect((await list([first], { since: window.since })).status).toBe(400)
    const nothing = await server.call('POST', `/v1/monitors/${rule.id}/evaluations`, { key, body: {} })
    expect(nothing.body.details.issues.map(({ path }: { path: string }) => path)).toEqual(['since', 'until'])
  })

  it('is rejected for unsuitable monitors and periods', async () => {
    const { key } = await makeOrganization(server)
    const rule = await makeRule(key, 'true')
    const external = await makeMonitor(server, key)
    expect((await start(key, external.id)).status).toBe(409)
    const faults: [object, string][] = [
      [{ until: window.since }, 'until'],
      [{ since: '1990-01-01T00:00:00Z' }, 'until'],
      [{ since: '2026-11-01' }, 'since'],
      [{ filter: { since: window.since } }, 'filter.since'],
      [{ filter: { colour: 'red' } }, 'filter.colour'],
      [{ dryRun: 'yes' }, 'dryRun'],
    ]
    for (const [body, path] of faults) {
      const { status, body: answer } = await start(key, rule.id, body)
      expect([status, answer.details.issues[0].path]).toEqual([400, path])
    }
    const other = await makeOrganization(server)
    expect((await start(other.key, rule.id)).status).toBe(404)
  })
})

it('a run only changes between these states', () => {
  const moves = runStatuses.flatMap((from) =>
    runStatuses.filter((to) => canMove(from, to)).map((to) => `${from} ${to}`),
  )
  expect(moves).toEqual([
    'queued running',
    'queued failed',
    'queued cancelled',
    'running completed',
    'running failed',
    'running cancelled',
    'failed queued',
    'cancelled queued',
  ])
  expect(Object.keys(runMoves)).toEqual([...runStatuses])
})
