import { randomUUID } from 'node:crypto'
import { makeConversations, makeMonitor, makeOrganization } from '../../make.ts'
import type { TestServer } from '../../server.ts'

/** Returns functions that create and download exports of a kind. */
export const exportsOf = (
  server: TestServer,
  resource: 'monitor-exports' | 'conversation-exports' = 'monitor-exports',
) => {
  const { call } = server

  const store = async (key: string, results: object[]) => {
    const answer = await call('POST', '/v1/monitor-results', { key, body: { results } })
    const rejected = answer.body.data.find(({ status }: { status: string }) => status === 'rejected')
    if (answer.status !== 200 || rejected) throw new Error(`results were not stored: ${answer.text}`)
  }

  /** Creates an organization with a monitor and this many calls in November 2026. Every second call is affected. */
  const makeCalls = async (count: number) => {
    const { id: org, key } = await makeOrganization(server)
    const monitor = await makeMonitor(server, key, { name: 'Refund asked' })
    const each = Array.from({ length: count }, (_, at) => ({
      externalId: `call ${at}`,
      startedAt: new Date(Date.UTC(2026, 10, 2) + at * 60_000).toISOString(),
    }))
    const ids = count > 0 ? await makeConversations(server, key, each) : []
    const results = ids.map((conversationId, at) => ({
      monitorId: monitor.id,
      conversationId,
      score: at / 4,
      reasoning: `Because of ${at}`,
      result: at % 2 === 0 ? 'affected' : 'not_affected',
    }))
    if (count > 0) await store(key, results)
    const config = {
      monitors: [{ id: monitor.id as string }],
      since: '2026-11-01T00:00:00Z',
      until: '2026-12-01T00:00:00Z',
      timezone: 'Europe/Berlin',
    }
    return { org, key, monitor, ids, config }
  }

  const ask = (key: string, config: object, operationId: string = randomUUID()) =>
    call('POST', `/v1/${resource}`, { key, body: { operationId, config } })

  const read = async (key: string, id: string) => (await call('GET', `/v1/${resource}/${id}`, { key })).body

  const download = (key: string, id: string) => call('GET', `/v1/${resource}/${id}/download`, { key })

  /** Downloads a completed export from its link, without the key. */
  const fetchFile = async (key: string, id: string, headers: Record<string, string> = {}) => {
    const { status, text, headers: answered } = await download(key, id)
    const location = answered.get('location')
    if (status !== 302 || !location) throw new Error(`no link: ${status} ${text}`)
    return fetch(location, { headers })
  }

  return { store, makeCalls, ask, read, download, fetchFile }
}
