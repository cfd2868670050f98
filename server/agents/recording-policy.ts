import type { Static } from 'typebox'
import { ApiError, invalid } from '../platform/errors.ts'
import { type Actor, hasRole } from '../platform/identity/actor.ts'
import type { RecordingPolicyChange } from './queries.ts'
import type { AgentUpdate } from './schema.ts'

/** Returns a request's changes to the policy. Throws if the caller can't set it, or if its days don't fit. */
export const readPolicy = (
  { role }: Actor,
  { recordings }: Pick<Static<typeof AgentUpdate>, 'recordings'>,
): RecordingPolicyChange | undefined => {
  if (!recordings) return undefined
  if (!hasRole(role, 'admin')) {
    throw new ApiError('forbidden', `Only admins can set what happens to recordings, but your role is ${role}.`)
  }
  const { keep, days = null, redaction } = recordings
  if (keep === 'days' && days === null) throw invalid('recordings.days', 'must be given with `keep: "days"`')
  if (keep !== 'days' && days !== null) throw invalid('recordings.days', 'is only allowed with `keep: "days"`')
  return {
    ...(keep !== undefined && { kept: { keep, days } }),
    ...(redaction !== undefined && { redaction }),
  }
}
