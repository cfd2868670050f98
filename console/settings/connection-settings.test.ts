import { describe, expect, it } from 'vitest'
import { settingsOf } from './connection-settings.ts'

const form = { agentId: '', scheme: 'secret', accountSid: '', apiKey: '' }

describe('a connection’s settings', () => {
  it('contain only the provider’s own fields, without empty ones', () => {
    expect(settingsOf({ ...form, provider: 'vapi', accountSid: 'AC1' }, {})).toEqual({ scheme: 'secret' })
    expect(settingsOf({ ...form, provider: 'twilio', accountSid: ' AC1 ' }, {})).toEqual({ accountSid: 'AC1' })
    expect(settingsOf({ ...form, provider: 'livekit', apiKey: '', agentId: 'a' }, {})).toEqual({ agentId: 'a' })
    expect(settingsOf({ ...form, provider: 'retell' }, {})).toEqual({})
  })

  it('keep what the form does not show', () => {
    const before = { scheme: 'hmac', signatureHeader: 'x-signature' }
    expect(settingsOf({ ...form, provider: 'vapi', scheme: 'hmac' }, before)).toEqual(before)
  })

  it('drop the settings of another authentication scheme', () => {
    const before = { scheme: 'hmac', signatureHeader: 'x-signature' }
    expect(settingsOf({ ...form, provider: 'vapi', scheme: 'bearer' }, before)).toEqual({ scheme: 'bearer' })
  })

  it('remove a cleared field', () => {
    expect(settingsOf({ ...form, provider: 'livekit' }, { apiKey: 'k', agentId: 'a' })).toEqual({})
  })
})
