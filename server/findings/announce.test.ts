import { expect, it } from 'vitest'
import {
  makeActiveWebhookEndpoint,
  makeComment,
  makeConversation,
  makeExperiment,
  makeFinding,
  makeOrganization,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { orgIdOf } from '../platform/ids.ts'
import { fileConcern } from './file.ts'

const server = await testServer()
const { call, deps } = server

it('endpoints get each finding as in GET: created, changed, triaged, merged', async () => {
  const { id: org, key } = await makeOrganization(server)
  const events = ['finding.created', 'finding.updated']
  const endpoint = (await makeActiveWebhookEndpoint(server, key, { events })).id
  const other = (await makeActiveWebhookEndpoint(server, key, { events: ['finding.created'] })).id
  const deliveries = `/v1/webhook-endpoints/${endpoint}/deliveries`
  const typesOf = async (path: string): Promise<string[]> =>
    (await call('GET', path, { key })).body.data.map(({ eventType }: { eventType: string }) => eventType).reverse()
  /** Returns the payloads of the last deliveries, oldest first. */
  const last = async (count: number) => {
    const { data } = (await call('GET', `${deliveries}?limit=${count}`, { key })).body
    const told = []
    for (const { id } of data.reverse()) {
      const { body } = (await call('GET', `${deliveries}/${id}`, { key })).body
      const { type, data } = typeof body === 'string' ? JSON.parse(body) : body
      told.push([type, data])
    }
    return told
  }
  const get = async (id: string) => (await call('GET', `/v1/findings/${id}`, { key })).body

  const spike = await makeFinding(server, key)
  expect(await last(1)).toEqual([['finding.created', await get(spike.id)]])
  const experiment = await makeExperiment(server, key)
  const { id: experimentId, agentId } = experiment
  const concern = { experimentId, agentId, title: 'Routing', paragraphs: ['It is off.'], now: deps.clock.now() }
  await deps.db.transaction().execute((trx) => fileConcern(deps, trx, orgIdOf(org), concern))
  const [filed] = (await call('GET', '/v1/findings', { key })).body.data
  expect(filed.source).toEqual({ kind: 'experiment', id: experiment.id })
  expect(await last(1)).toEqual([['finding.created', filed]])
  const { id } = (await call('POST', '/v1/findings', { key, body: { title: 'A' } })).body
  expect(await last(1)).toEqual([['finding.created', await get(id)]])
  await call('PATCH', `/v1/findings/${id}`, { key, body: { title: 'B' } })
  expect(await last(1)).toEqual([['finding.updated', await get(id)]])
  await call('POST', `/v1/findings/${id}/triage`, { key, body: { priority: 'high' } })
  expect(await last(1)).toEqual([['finding.updated', await get(id)]])
  await call('POST', `/v1/findings/${id}/merge`, { key, body: { intoId: spike.id } })
  expect(await last(2)).toEqual([
    ['finding.updated', await get(id)],
    ['finding.updated', await get(spike.id)],
  ])

  // Rejected changes send no event. Neither do changes to attachments.
  await makeComment(server, key, spike.id)
  const conversationId = (await makeConversation(server, key)).id
  await call('POST', `/v1/findings/${spike.id}/conversations`, { key, body: { conversationId } })
  await call('POST', `/v1/findings/${spike.id}/triage`, { key, body: { status: 'open' } })
  expect(await typesOf(deliveries)).toEqual([...Array(3).fill('finding.created'), ...Array(4).fill('finding.updated')])
  expect(await typesOf(`/v1/webhook-endpoints/${other}/deliveries`)).toEqual(Array(3).fill('finding.created'))
})
