import type { Static } from 'typebox'
import { ApiError, invalid } from '../platform/errors.ts'
import { type Actor, hasRole } from '../platform/identity/actor.ts'
import type { RecordingPolicy } from './queries.ts'
import type { AgentUpdate } from './schema.ts'

/**
 * Returns the policy in a request. Throws if the caller isn't allowed to set it, or if its days don't match the policy.
 */
export const readPolicy = (
  { role }: Actor,
  { recordings }: Pick<Static<typeof AgentUpdate>, 'recordings'>,
): RecordingPolicy | undefined => {
  if (!recordings) return undefined
  if (!hasRole(role, 'admin')) {
    throw new ApiError('forbidden', `Only admins can set what happens to recordings, but your role is ${role}.`)
  }
  const { keep, days = null, redaction = null } = recordings
  if (keep === 'days' && days === null) throw invalid('recordings.days', 'must be given with `keep: "days"`')
  if (keep !== 'days' && days !== null) throw invalid('recordings.days', 'is only allowed with `keep: "days"`')
  return { keep, days, redaction }
}
