import { expect, it, onTestFinished } from 'vitest'
import { openOutbound } from '../../platform/outbound/outbound.ts'
import { fetchTranscript } from './fetch-transcript.ts'

it('only sends the token without TLS to networks that the operator allows', async () => {
  const outbound = openOutbound({
    allowedPrivateAddresses: ['10.0.0.0/8'],
    resolve: async () => [{ address: '93.184.216.34', family: 4 }],
  })
  onTestFinished(outbound.close)
  const account = { accountSid: `AC${'0'.repeat(32)}`, token: 'token', baseUrl: 'http://twilio.internal' }
  await expect(fetchTranscript(outbound, account, 'GT1', { maxBytes: 1_000 })).rejects.toThrow(
    'http is only allowed for private networks',
  )
})
