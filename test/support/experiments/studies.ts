import { randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { countAll } from '../../../server/experiments/observations/counter-loop.ts'
import { generateExport } from '../../../server/exports/lifecycle.ts'
import { orgIdOf } from '../../../server/platform/ids.ts'
import { makeArms, makeConversation, makeExperiment, makeMonitor, makeOrganization } from '../../make.ts'
import { serviceKey, type TestServer } from '../../server.ts'

type Fields = Record<string, unknown>
type Named = { key: string; id: string }

/** Returns functions that create experiments with data to export, and test their exports. */
export const studiesOf = (server: TestServer) => {
  const { call, deps, clock } = server

  /** Creates an experiment with outcomes of all kinds and similar names, and returns its conversations by number. */
  const makeStudy = async (fields: Fields = {}) => {
    const { id: org, key } = await makeOrganization(server)
    const arms = await makeArms(server, key)
    const monitors = [
      await makeMonitor(server, key, { name: 'Refund asked?' }),
      await makeMonitor(server, key, {
        name: 'Refund, asked',
        kind: 'rule',
        definition: { expression: 'true', score: 'double(metadata.effort) / 4.0' },
      }),
      await makeMonitor(server, key, { name: '=Chats', scope: { channels: ['chat'] } }),
    ]
    const outcomes = { outcomeMetricIds: monitors.map(({ id }) => id), primaryMetricId: monitors[1].id }
    const experiment = await makeExperiment(server, key, {
      ...arms,
      ...outcomes,
      armAName: 'Short',
      name: '=Brevity',
      description: 'Is it better?',
      ...fields,
    })
    const converse = async (arm: 'A' | 'B', more: Fields = {}): Promise<string> => {
      const body = { agent: undefined, agentId: arms.agentId, agentVersionId: arms[`arm${arm}VersionId`] }
      return (await makeConversation(server, key, { ...body, startedAt: clock.now().toISOString(), ...more })).id
    }
    const tell = async (conversationId: string, result: string, at = 0, more: Fields = {}) => {
      const results = [{ monitorId: monitors[at].id, conversationId, result, ...more }]
      const { body } = await call('POST', '/v1/monitor-results', { key, body: { results } })
      expect(body.data[0].error).toBeUndefined()
    }
    // Unfinished exports of this organization must not run in later tests.
    onTestFinished(async () => {
      await call('POST', `/v1/organizations/${org}/suspend`, { key: serviceKey })
    })
    return { org: orgIdOf(org), key, id: experiment.id as string, arms, monitors, converse, tell }
  }

  const ask = ({ key, id }: Named, config: object = {}, operationId: string = randomUUID()) =>
    call('POST', `/v1/experiments/${id}/exports`, { key, body: { operationId, config } })

  const read = async ({ key, id }: Named, exportId: string) =>
    (await call('GET', `/v1/experiments/${id}/exports/${exportId}`, { key })).body

  const download = ({ key, id }: Named, exportId: string) =>
    call('GET', `/v1/experiments/${id}/exports/${exportId}/download`, { key })

  /** Downloads the file of a completed export. */
  const fetchFile = async (study: Named, exportId: string) => {
    const { status, headers, text } = await download(study, exportId)
    expect(status, text).toBe(302)
    const file = await fetch(headers.get('location') ?? '')
    return { bytes: Buffer.from(await file.arrayBuffer()), headers: file.headers }
  }

  const make = async (study: Named, config: object = {}) => {
    const { status, body, text } = await ask(study, config)
    expect(status, text).toBe(202)
    await deps.jobs.drain([generateExport], deps)
    return (await fetchFile(study, body.id)).bytes
  }

  /** Creates conversations with every possible result of an outcome. The last two are not evaluated yet. */
  const fillStudy = async (study: Awaited<ReturnType<typeof makeStudy>>) => {
    const { converse, tell } = study
    const ids: string[] = []
    for (const [at, result] of ['affected', 'not_affected', 'unscored', undefined, 'affected', 'affected'].entries()) {
      clock.advance(1_000)
      const id = await converse(at % 2 === 0 ? 'A' : 'B', conversationAt(at))
      if (result) await tell(id, result, 0, { score: at / 8, reasoning: `=Because of "${at}"` })
      if (at === 2) await tell(id, 'affected', 2)
      ids.push(id)
    }
    await server.drain()
    for (const arm of ['A', 'B'] as const) {
      clock.advance(1_000)
      ids.push(await converse(arm, { metadata: { effort: 8 } }))
    }
    await countAll(deps)
    return ids
  }

  return { makeStudy, fillStudy, ask, read, download, fetchFile, make }
}

const conversationAt = (at: number) => ({
  ...(at % 3 === 2 && { channel: 'chat' }),
  ...(at < 3 && { customerId: `=customer ${at}` }),
  metadata: at === 4 ? { effort: 'much' } : { effort: at, plan: 'gold' },
})

export type ExperimentStudy = Awaited<ReturnType<ReturnType<typeof studiesOf>['makeStudy']>>
