import { expect, it } from 'vitest'
import { openConnection } from '../../../test/raw-http.ts'
import { testServer } from '../../../test/server.ts'
import { makeCalled } from '../../../test/support/integrations/signed-webhooks.ts'
import { verifyTwilio } from '../signatures.ts'

const server = await testServer()

const credentials: Record<string, string> = {
  vapi: 'x-signature: ',
  retell: 'x-retell-signature: v=1,d=short',
  elevenlabs: 'elevenlabs-signature: t=1',
  twilio: 'x-twilio-signature: short',
  livekit: 'authorization: a.b.c',
}

/** Sends the head of a request, but not the announced body. */
const announce = async (path: string, ...headers: string[]) => {
  const connection = openConnection(server.deps.listening.port)
  try {
    const lines = [`POST ${path} HTTP/1.1`, 'host: localhost', 'content-length: 33554432', ...headers, '', '']
    const [answer] = await connection.exchange(lines.join('\r\n'))
    return answer?.status
  } finally {
    connection.close()
  }
}

it.each(Object.keys(credentials))('an unsigned call of %s is rejected before its body is read', async (provider) => {
  const { integration } = await makeCalled(server, provider)
  expect(await announce(integration.webhookPath)).toBe(401)
  expect(await announce(integration.webhookPath, credentials[provider] ?? '')).toBe(401)
})

it.each([
  ['secret', 'x-vapi-secret: wrong'],
  ['bearer', 'authorization: Bearer wrong'],
])('a call of Vapi with a wrong %s is rejected before its body is read', async (scheme, header) => {
  const { integration } = await makeCalled(server, 'vapi', { settings: { scheme } })
  expect(await announce(integration.webhookPath, header)).toBe(401)
})

it('a form above 64 KiB is rejected before it is read', async () => {
  const { integration } = await makeCalled(server, 'twilio')
  const signature = `x-twilio-signature: ${Buffer.alloc(20).toString('base64')}`
  expect(await announce(integration.webhookPath, signature)).toBe(413)
  expect(
    await announce(
      `${integration.webhookPath}?bodySHA256=0`,
      signature,
      'content-type: application/x-www-form-urlencoded',
    ),
  ).toBe(413)
})

it('the fields of a form are grouped in linear time', () => {
  const body = Buffer.from(Array.from({ length: 80_000 }, (_, index) => `f${index}=`).join('&'))
  const head = {
    headers: { 'x-twilio-signature': 'x' },
    url: 'https://example.com/',
    secrets: ['secret'],
    now: new Date(),
  }
  const startedAt = performance.now()
  expect(verifyTwilio({ ...head, body })).toBe('invalid')
  // Searching all fields for each name would take 30 seconds.
  expect(performance.now() - startedAt).toBeLessThan(3_000)
})
