import type { Integration } from './queries.ts'

/** The fields of a connection's form. */
export type ConnectionValues = {
  provider: Integration['provider']
  name: string
  secret: string
  agentId: string
  scheme: string
  accountSid: string
  apiKey: string
}

export const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** Returns the settings to save. Keeps settings that the form doesn't show. */
export const settingsOf = (
  { provider, agentId, scheme, accountSid, apiKey }: Omit<ConnectionValues, 'name' | 'secret'>,
  before: Record<string, unknown>,
): Record<string, unknown> => {
  const shown = {
    agentId,
    ...(provider === 'vapi' && { scheme }),
    ...(provider === 'twilio' && { accountSid: accountSid.trim() }),
    ...(provider === 'livekit' && { apiKey: apiKey.trim() }),
  }
  // Settings for one authentication scheme don't apply to another.
  const hidden = provider === 'vapi' && textOf(before.scheme || 'secret') !== scheme ? {} : before
  return Object.fromEntries(Object.entries({ ...hidden, ...shown }).filter(([, value]) => value !== ''))
}
