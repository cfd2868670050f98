import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeKey, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { countWaiting } from '../../test/support/count-waiting.ts'

const server = await testServer()
const withModel = await testServer({ EARSHOT_JUDGE_BASE_URL: 'http://127.0.0.1:9/v1', EARSHOT_JUDGE_MODEL: 'large' })
const { call } = server

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

const create = (body: object) => call('POST', '/v1/monitors', { key, body: { name: 'Any', ...body } })
const rule = (expression = 'signals.toolFailures > 0') => ({ kind: 'rule', definition: { expression } })
const patch = (id: string, body: object) => call('PATCH', `/v1/monitors/${id}`, { key, body })
const versions = async (id: string) => (await call('GET', `/v1/monitors/${id}/versions`, { key })).body.data
const paths = (answer: { body: { details?: { issues: { path: string }[] } } }) =>
  answer.body.details?.issues.map(({ path }) => path)

describe('a monitor', () => {
  it('is created, read, listed, changed, and deleted', async () => {
    const made = await create({ name: 'Failures', ...rule(), description: 'Tools that fail' })
    expect(made.status).toBe(201)
    const { id } = made.body
    expect(made.headers.get('location')).toBe(`/v1/monitors/${id}`)
    expect(made.body).toEqual({
      id: expect.any(String),
      name: 'Failures',
      description: 'Tools that fail',
      kind: 'rule',
      enabled: true,
      scope: {},
      samplePercent: 100,
      requireGain: false,
      currentVersion: { number: 1, definition: rule().definition, createdAt: expect.stringMatching(/Z$/) },
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    })
    expect((await call('GET', `/v1/monitors/${id}`, { key })).body).toEqual(made.body)
    const other = await makeMonitor(server, key)
    const list = async (query = '') => (await call('GET', `/v1/monitors${query}`, { key })).body.data
    expect(await list()).toEqual([other, made.body])
    expect(await list('?kind=rule')).toEqual([made.body])

    const changed = await patch(id, { name: 'Broken tools', enabled: false, samplePercent: 12.5, description: null })
    expect(changed.body).toMatchObject({ name: 'Broken tools', enabled: false, samplePercent: 12.5, description: null })
    expect(await list('?enabled=false')).toEqual([changed.body])

    expect((await call('DELETE', `/v1/monitors/${id}`, { key })).status).toBe(204)
    expect(await list()).toEqual([other])
    for (const path of ['', '/versions', '/results']) {
      expect((await call('GET', `/v1/monitors/${id}${path}`, { key })).status).toBe(404)
    }
    expect((await patch(id, { enabled: true })).status).toBe(404)
    expect((await call('DELETE', `/v1/monitors/${id}`, { key })).status).toBe(404)
  })

  it('has a unique name, which is free again after its deletion', async () => {
    const { id } = (await create({ name: 'Tone', ...rule() })).body
    const twin = await create({ name: 'Tone', ...rule() })
    expect(twin).toMatchObject({ status: 409, body: { message: 'Another monitor has this name.' } })
    const other = await makeMonitor(server, key)
    expect((await patch(other.id, { name: 'Tone' })).status).toBe(409)
    await call('DELETE', `/v1/monitors/${id}`, { key })
    expect((await create({ name: 'Tone', ...rule() })).status).toBe(201)
    const stranger = await makeOrganization(server)
    await makeMonitor(server, stranger.key, { name: 'Tone' })
  })

  it('stores its scope in canonical spelling', async () => {
    const { body } = await create({ ...rule(), scope: { channels: ['voicemail', 'call'], metadata: [] } })
    expect(body.scope).toEqual({ channels: ['call', 'voicemail'] })
    expect((await patch(body.id, { scope: {} })).body.scope).toEqual({})
  })

  it('keeps the gate that an admin sets while a member saves it without one', async () => {
    const { id } = (await create(rule())).body
    const member = (await makeKey(server, key, 'member')).key
    const { organization } = (await call('GET', '/v1/me', { key })).body
    const setting = await server.deps.db.startTransaction().execute()
    await sql`UPDATE monitors SET require_gain = true WHERE organization_id = ${organization.id} AND id = ${id}`.execute(
      setting,
    )
    const saving = call('PATCH', `/v1/monitors/${id}`, { key: member, body: { requireGain: false } })
    await expect.poll(() => countWaiting(server.deps.db, 'select "id" from "monitors"')).toBe(1)
    await setting.commit().execute()
    expect((await saving).status).toBe(403)
    expect((await call('GET', `/v1/monitors/${id}`, { key })).body.requireGain).toBe(true)
  })

  it('never changes its kind', async () => {
    const { id } = (await create(rule())).body
    expect((await patch(id, { kind: 'rule', enabled: false })).status).toBe(200)
    expect(paths(await patch(id, { kind: 'external' }))).toEqual(['kind'])
  })
})

describe('a definition', () => {
  it.each([
    [{ kind: 'rule', definition: {} }, ['definition.expression']],
    [
      { kind: 'rule', definition: { expression: ' ', score: 1, extra: 1 } },
      ['definition.extra', 'definition.expression', 'definition.score'],
    ],
    [{ kind: 'external', definition: { expression: 'true' } }, ['definition.expression']],
    [{ kind: 'judge', definition: { criteria: 'Polite?' } }, ['definition.output']],
    [
      { kind: 'judge', definition: { criteria: 'Polite?', output: { type: 'boolean', min: 0 } } },
      ['definition.output.min'],
    ],
    [{ kind: 'judge', definition: { criteria: 'Polite?', output: { type: 'words' } } }, ['definition.output.type']],
    [
      { kind: 'judge', definition: { criteria: 'Polite?', output: { type: 'score', min: 1, max: 5 } } },
      ['definition.output.affectedWhen'],
    ],
    [
      {
        kind: 'judge',
        definition: {
          criteria: 'Polite?',
          output: { type: 'score', min: 5, max: 1, affectedWhen: { op: 'gte', value: 3 } },
        },
      },
      ['definition.output.max'],
    ],
    [
      {
        kind: 'judge',
        definition: {
          criteria: 'Polite?',
          output: { type: 'score', min: 1, max: 5, affectedWhen: { op: 'gte', value: 6 } },
        },
      },
      ['definition.output.affectedWhen.value'],
    ],
    [{ kind: 'rule', definition: null }, ['definition']],
    [{ kind: 'rule' }, ['definition']],
    [{ kind: 'other', definition: {} }, ['kind']],
    [{ ...rule(), samplePercent: 101, scope: { text: 'x' } }, ['scope.text', 'samplePercent']],
    [{ ...rule(), samplePercent: 0.001 }, ['samplePercent']],
    [{ ...rule(), scope: { metadata: [{ key: 'plan', op: 'eq' }] } }, ['scope.metadata[0].value']],
  ])('of %j reports its faults', async (body, at) => {
    const answer = await create(body)
    expect(answer.status).toBe(400)
    expect([...new Set(paths(answer))].sort()).toEqual([...at].sort())
  })

  it('of a rule reports what is wrong in its expressions, and where', async () => {
    const faults = [
      {
        path: 'definition.expression',
        message: 'line 2, column 11: signals has no field tolFailures; did you mean toolFailures?',
      },
      { path: 'definition.score', message: 'line 1, column 1: this is of type bool; it must be a number' },
    ]
    const definition = { expression: 'true &&\n  signals.tolFailures > 0', score: 'true' }
    const answer = await create({ kind: 'rule', definition })
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: faults } } })
    const { id } = (await create(rule())).body
    expect((await patch(id, { definition })).body.details.issues).toEqual(faults)
    expect(await versions(id)).toHaveLength(1)
  })

  it('creates a version when it changes, and none when it is equal', async () => {
    const { id } = (await create(rule('true'))).body
    await patch(id, { name: 'Renamed', scope: { channels: ['call'] }, definition: { expression: 'true' } })
    expect(await versions(id)).toHaveLength(1)
    const second = await patch(id, { definition: { expression: 'false', score: '1' } })
    expect(second.body.currentVersion).toMatchObject({ number: 2, definition: { expression: 'false', score: '1' } })
    expect((await patch(id, { definition: { score: '1', expression: 'false' } })).body.currentVersion.number).toBe(2)
    // Restoring an earlier definition creates a new version.
    expect((await patch(id, { definition: { expression: 'true' } })).body.currentVersion.number).toBe(3)
    const all = await versions(id)
    expect(all.map((version: { number: number }) => version.number)).toEqual([3, 2, 1])
    expect(all[2].definition).toEqual({ expression: 'true' })
  })

  it('gets consecutive numbers with many concurrent changes', async () => {
    const { id } = (await create(rule('turns.size() > 0'))).body
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => patch(id, { definition: { expression: `turns.size() > ${i + 1}` } })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect((await versions(id)).map((version: { number: number }) => version.number)).toEqual([
      9, 8, 7, 6, 5, 4, 3, 2, 1,
    ])
  })

  it('is validated for the kind of the monitor', async () => {
    const { id } = (await create(rule())).body
    expect(paths(await patch(id, { definition: {} }))).toEqual(['definition.expression'])
    expect(paths(await patch(id, { definition: { criteria: 'x' } }))?.sort()).toEqual([
      'definition.criteria',
      'definition.expression',
    ])
    expect(await versions(id)).toHaveLength(1)
  })
})

describe('a judge', () => {
  const judge = { name: 'Polite', kind: 'judge', definition: { criteria: 'Polite?', output: { type: 'boolean' } } }

  it('is rejected while no model is configured, with what to set', async () => {
    const answer = await create(judge)
    expect(answer.status).toBe(409)
    expect(answer.body.message).toContain('EARSHOT_JUDGE_BASE_URL and EARSHOT_JUDGE_MODEL')
    const own = await create({ ...judge, definition: { ...judge.definition, model: 'own' } })
    expect(own.body.message).not.toContain('EARSHOT_JUDGE_MODEL')
  })

  it('is created if a model is configured', async () => {
    const org = await makeOrganization(withModel)
    const output = { type: 'score', min: 1, max: 5, affectedWhen: { op: 'lt', value: 3 } }
    const definition = { criteria: 'Polite?', output }
    const made = await withModel.call('POST', '/v1/monitors', { key: org.key, body: { ...judge, definition } })
    expect(made).toMatchObject({ status: 201, body: { currentVersion: { definition } } })
  })
})

describe('deleting', () => {
  it('hides the results immediately, and deletes their rows in a job', async () => {
    const monitor = await makeMonitor(server, key)
    const kept = await makeMonitor(server, key)
    const conversations = await Promise.all([1, 2, 3].map(() => makeConversation(server, key)))
    const results = conversations.flatMap(({ id }) =>
      [monitor, kept].map((of) => ({ monitorId: of.id, conversationId: id, result: 'affected' })),
    )
    await call('POST', '/v1/monitor-results', { key, body: { results } })
    await call('DELETE', `/v1/monitors/${monitor.id}`, { key })
    const of = async () =>
      (await call('GET', `/v1/conversations/${conversations[0].id}/results`, { key })).body.data.map(
        ({ monitorId }: { monitorId: string }) => monitorId,
      )
    expect(await of()).toEqual([kept.id])
    const late = { results: [{ monitorId: monitor.id, conversationId: conversations[0].id, result: 'affected' }] }
    expect((await call('POST', '/v1/monitor-results', { key, body: late })).body.data[0].status).toBe('rejected')
    await server.drain()
    const { rows } = await sql<{ left: number }>`
      SELECT (SELECT count(*) FROM monitor_results WHERE monitor_id = ${monitor.id})
        + (SELECT count(*) FROM monitors WHERE id = ${monitor.id})
        + (SELECT count(*) FROM monitor_versions WHERE monitor_id = ${monitor.id}) AS left`.execute(server.deps.db)
    expect(rows).toEqual([{ left: 0 }])
    expect(await of()).toEqual([kept.id])
  })
})
