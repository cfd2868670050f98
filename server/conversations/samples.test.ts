import { beforeAll, expect, it } from 'vitest'
import { makeOrganization } from '../../test/make.ts'
import { sample } from '../../test/samples/ingest/sample.ts'
import { testServer } from '../../test/server.ts'

/** Tests the formats of senders without webhooks. A client sends their transcripts in a conversation in our format. */

const server = await testServer()
let key: string
beforeAll(async () => {
  key = (await makeOrganization(server)).key
})

const post = async (body: object) => {
  const made = await server.call('POST', '/v1/conversations', { key, body })
  expect(made.status, made.text).toBe(201)
  const { id, agentId, agentVersionId } = made.body
  const agent = await server.call('GET', `/v1/agents/${agentId}`, { key })
  const { body: shown } = await server.call('GET', `/v1/conversations/${id}/transcript`, { key })
  const version =
    agentVersionId && (await server.call('GET', `/v1/agents/${agentId}/versions/${agentVersionId}`, { key }))
  const said = shown.turns.map(({ role, kind, startMs }: { role: string; kind: string; startMs: number | null }) => [
    role,
    kind,
    startMs,
  ])
  return { conversation: made.body, agent: agent.body, prompt: version?.body.systemPrompt, shown, said }
}

it('Roark', async () => {
  const call = sample('roark_call_create.json')
  const { conversation, agent, prompt, shown, said } = await post({
    agent: { externalId: call.agent.customId, name: 'Nora', channel: 'voice' },
    systemPrompt: call.agent.prompt.resolvedPrompt,
    channel: 'call',
    direction: call.callDirection.toLowerCase(),
    startedAt: call.startedAt,
    endReason: call.endedStatus,
    customerId: call.customer.phoneNumberE164,
    metadata: call.properties,
    transcript: call,
  })
  expect(agent.externalId).toBe('nora')
  expect(prompt).toBe('You are Nora.')
  expect(conversation).toMatchObject({
    direction: 'inbound',
    startedAt: '2026-02-23T09:00:00.000Z',
    endReason: 'CUSTOMER_ENDED_CALL',
    metadata: { company: 'harbor-dental' },
    signals: { turns: { agent: 1, customer: 1 }, toolCalls: 1, firstWordMs: 600 },
  })
  expect(said).toEqual([
    ['agent', 'message', 600],
    ['customer', 'message', 1_500],
    ['agent', 'tool_call', 2_000],
    ['tool', 'tool_result', 2_600],
  ])
  expect(shown.content).toEqual(call)
})

it('Coval', async () => {
  const submitted = sample('coval_conversation_submit.json')
  const { conversation, agent, shown, said } = await post({
    externalId: submitted.external_conversation_id,
    agent: { externalId: submitted.agent_id, name: 'From Coval', channel: 'voice' },
    channel: 'call',
    startedAt: submitted.occurred_at,
    metadata: submitted.metadata,
    transcript: submitted.transcript,
  })
  expect(agent.externalId).toBe(submitted.agent_id)
  expect(conversation).toMatchObject({
    externalId: submitted.external_conversation_id,
    startedAt: new Date(submitted.occurred_at).toISOString(),
    metadata: submitted.metadata,
  })
  expect(said).toEqual([
    ['agent', 'message', 600],
    ['customer', 'message', 1_500],
    ['agent', 'tool_call', null],
    ['tool', 'tool_result', null],
  ])
  expect(shown.content).toEqual(submitted.transcript)
})

it('Pipecat', async () => {
  const session = sample('pipecat_session.json')
  const { conversation, shown, said } = await post({
    externalId: session.conversation_id,
    agent: { externalId: 'clinic-line', name: 'Clinic line', channel: 'voice' },
    channel: 'call',
    startedAt: session.started_at,
    endedAt: session.ended_at,
    transcript: session.transcript,
  })
  const seconds = Math.round((Date.parse(session.ended_at) - Date.parse(session.started_at)) / 1_000)
  expect(conversation).toMatchObject({ externalId: session.conversation_id, durationSeconds: seconds })
  expect(said).toEqual([
    ['agent', 'message', 1_100],
    ['customer', 'message', 4_300],
    ['agent', 'tool_call', null],
    ['tool', 'tool_result', null],
    ['agent', 'message', 9_000],
  ])
  expect(shown.turns.at(-1).interrupted).toBe(true)
  expect(shown.turns[2].tool).toMatchObject({ name: 'refill', arguments: { rx: '881' } })
})
