import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeConversation, makeExperiment, makeExport, makeKey } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { studiesOf } from '../../../test/support/experiments/studies.ts'
import { readCsv } from '../../../test/support/exports/file-readers.ts'
import { generateExport } from '../../exports/lifecycle.ts'

const server = await testServer()
const { call, deps, clock } = server
const { makeStudy, fillStudy, ask, read, download, fetchFile, make } = studiesOf(server)

describe('creating an export', () => {
  it('is accepted with its defaults, once, and a different configuration creates another one', async () => {
    const study = await makeStudy()
    const operationId = randomUUID()
    const { status, headers, body } = await ask(study, {}, operationId.toUpperCase())
    expect(status).toBe(202)
    expect(body).toEqual({
      id: expect.any(String),
      experimentId: study.id,
      operationId,
      status: 'pending',
      config: { format: 'csv', reasoning: false, timezone: 'UTC' },
      createdAt: clock.now().toISOString(),
      completedAt: null,
      expiresAt: null,
      rowCount: null,
      bytes: null,
      errorCode: null,
      downloadPath: null,
    })
    expect(headers.get('location')).toBe(`/v1/experiments/${study.id}/exports/${body.id}`)
    expect([headers.get('retry-after'), headers.get('idempotent-replayed')]).toEqual(['5', null])
    const again = await ask(study, { timezone: 'UTC', format: 'csv' }, operationId)
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([202, 'true', body])
    const both = { key: study.key, id: study.id.toUpperCase() }
    expect((await ask(both, {}, operationId)).body).toEqual(body)
    expect((await ask(study, { reasoning: true }, operationId)).status).toBe(409)
    const { id: other } = await makeExperiment(server, study.key)
    expect((await ask({ ...study, id: other }, {}, operationId)).status).toBe(409)
  })

  it('rejects what it does not know, and changes nothing', async () => {
    const study = await makeStudy()
    for (const config of [{ format: 'json' }, { timezone: '+02:00' }, { reasoning: 'no' }, { since: 'x' }]) {
      const { status, body } = await ask(study, config)
      expect(status).toBe(400)
      expect(body.details.issues).toEqual([{ path: `config.${Object.keys(config)[0]}`, message: expect.any(String) }])
    }
    expect((await call('GET', `/v1/experiments/${study.id}/exports`, { key: study.key })).body.data).toEqual([])
  })

  it('waits in the same queue as all exports of the organization', async () => {
    const study = await makeStudy()
    for (let at = 0; at < 19; at++) await ask(study)
    await makeExport(server, study.key)
    const refused = await ask(study)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    const { rows } = await deps.db.executeQuery<{ count: number }>({
      sql: `SELECT count(enqueued_at)::int AS count FROM monitor_exports WHERE organization_id = $1`,
      parameters: [study.org],
    } as never)
    expect(rows).toEqual([{ count: 2 }])
  })

  it('is allowed for viewers and audited; ending one requires a member', async () => {
    const study = await makeStudy()
    const viewer = { ...study, key: (await makeKey(server, study.key, 'viewer')).key }
    const { body } = await ask(viewer)
    await server.drain()
    await fetchFile(viewer, body.id)
    const path = `/v1/experiments/${study.id}/exports/${body.id}`
    expect((await call('DELETE', path, { key: viewer.key })).status).toBe(403)
    expect((await call('DELETE', path, { key: study.key })).status).toBe(204)
    expect((await call('DELETE', path, { key: study.key })).status).toBe(409)
    expect((await download(study, body.id)).status).toBe(410)
    expect(await read(study, body.id)).toMatchObject({ status: 'expired', downloadPath: null })
    const { body: events } = await call('GET', '/v1/audit-events', { key: study.key })
    const targets = [{ type: 'experiment-export', id: body.id }]
    expect(events.data.slice(0, 3)).toMatchObject(
      ['delete', 'download', 'create'].map((verb) => ({ action: `experiment-export.${verb}`, targets })),
    )
  })
})

describe('exports of experiments and of monitors', () => {
  it('are never found as each other, or under another experiment', async () => {
    const study = await makeStudy()
    const { key } = study
    const { id: other } = await makeExperiment(server, key)
    const ours = (await ask(study, {})).body
    const theirs = await makeExport(server, key)
    const idsAt = async (path: string) =>
      (await call('GET', path, { key })).body.data.map(({ id }: { id: string }) => id)
    expect(await idsAt('/v1/monitor-exports')).toEqual([theirs.id])
    expect(await idsAt(`/v1/experiments/${study.id}/exports`)).toEqual([ours.id])
    expect(await idsAt(`/v1/experiments/${study.id}/exports?status=failed`)).toEqual([])
    expect(await idsAt(`/v1/experiments/${other}/exports`)).toEqual([])
    await server.drain()
    for (const path of [
      `/v1/monitor-exports/${ours.id}`,
      `/v1/experiments/${other}/exports/${ours.id}`,
      `/v1/experiments/${study.id}/exports/${theirs.id}`,
    ]) {
      for (const [method, at] of [
        ['GET', path],
        ['GET', `${path}/download`],
        ['DELETE', path],
      ] as const) {
        expect((await call(method, at, { key })).status, `${method} ${at}`).toBe(404)
      }
    }
    const body = { operationId: ours.operationId, config: { ...theirs.config, format: 'csv' } }
    expect((await call('POST', '/v1/monitor-exports', { key, body })).status).toBe(409)
  })

  it('only send webhooks for monitors', async () => {
    const study = await makeStudy()
    const events = ['monitor_export.completed', 'monitor_export.expired']
    const endpoint = await makeActiveWebhookEndpoint(server, study.key, { events })
    const { body } = await ask(study)
    await deps.jobs.drain([generateExport], deps)
    await call('DELETE', `/v1/experiments/${study.id}/exports/${body.id}`, { key: study.key })
    const path = `/v1/webhook-endpoints/${endpoint.id}/deliveries`
    expect((await call('GET', path, { key: study.key })).body.data).toEqual([])
  })

  it('expire with a conversation that they can contain, and later ones stay', async () => {
    const study = await makeStudy()
    const [first, second] = await fillStudy(study)
    const { body } = await ask(study)
    await deps.jobs.drain([generateExport], deps)
    expect(await read(study, body.id)).toMatchObject({ status: 'completed', rowCount: 8 })
    const earlier = await study.converse('A', { startedAt: '2026-01-01T00:00:00Z' })
    const { id: elsewhere } = await makeConversation(server, study.key, { startedAt: server.clock.now().toISOString() })
    for (const id of [earlier, elsewhere]) await call('DELETE', `/v1/conversations/${id}`, { key: study.key })
    expect(await read(study, body.id)).toMatchObject({ status: 'completed' })
    await call('DELETE', `/v1/conversations/${first}`, { key: study.key })
    expect(await read(study, body.id)).toMatchObject({ status: 'expired' })
    // The erased conversation still counts until its experiment processes the erasure.
    const { rows } = readCsv(await make(study))
    expect(rows.map(([id]) => id)).toHaveLength(7)
    expect(rows[0]?.[0]).toBe(second)
  })
})
