import { expect, it } from 'vitest'
import { sample } from '../../test/samples/ingest/sample.ts'
import { testServer } from '../../test/server.ts'
import { makeCalled, post } from '../../test/support/integrations/signed-webhooks.ts'

const server = await testServer()

/** Returns a Retell call that is like the sample but has the given metadata. */
const withMetadata = (metadata: string): Buffer => {
  const { call } = sample('retell_call_ended.json')
  return Buffer.from(
    JSON.stringify({ event: 'call_ended', call: { ...call, metadata: 0 } }).replace(
      '"metadata":0',
      `"metadata":${metadata}`,
    ),
  )
}

it('numbers that are stored differently change nothing when they are sent again', async () => {
  const { integration } = await makeCalled(server, 'retell')
  const body = withMetadata('{"zero":-0,"beyond":1e999,"deep":[{"zero":-0}]}')
  expect((await post(server, integration, body)).body.status).toBe('applied')
  expect((await post(server, integration, body)).body.status).toBe('unchanged')
})

const tooMuch: [string, object, string][] = [
  ['more keys', Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`key${n}`, n])), 'at most 1000 keys'],
  ['longer keys', { ['k'.repeat(121)]: 1 }, 'a metadata key is longer than 120 characters'],
]

it.each(tooMuch)(
  'metadata with %s than requests allow is rejected, with the reason',
  async (_name, metadata, reason) => {
    const { key, integration } = await makeCalled(server, 'retell')
    const answer = await post(server, integration, withMetadata(JSON.stringify(metadata)))
    expect(answer).toMatchObject({ status: 202, body: { status: 'rejected', conversationId: null } })
    const path = `/v1/integrations/${integration.id}/deliveries/${answer.body.deliveryId}`
    expect((await server.call('GET', path, { key })).body.reason).toContain(reason)
  },
)
