// An optional gate: a judge's definition can only change if an alignment has shown that the new definition agrees
// better with people.

import { ApiError } from '../platform/errors.ts'
import { type Actor, hasRole } from '../platform/identity/actor.ts'
import type { MonitorDefinition } from './definition.ts'
import type { StoredMonitor } from './queries.ts'
import { changesDefinition } from './versions.ts'

type Gate = { requireGain?: boolean | undefined }

/** Returns the gate's new setting, if it changes. Only admins can change it. */
export const changedGate = ({ role }: Actor, locked: Gate, { requireGain }: Gate): { requireGain?: boolean } => {
  if (requireGain === undefined || requireGain === locked.requireGain) return {}
  if (hasRole(role, 'admin')) return { requireGain }
  throw new ApiError('forbidden', 'Only admins can change whether a monitor requires a proven gain.')
}

/**
 * Returns the note for a version that is published although no gain was shown. Only admins can publish such a version.
 */
export const overrideNote = ({ role }: Actor, reason: string): string => {
  if (hasRole(role, 'admin')) return `Published without a proven gain: ${reason.trim()}`
  throw new ApiError('forbidden', 'Only admins can publish a definition without a proven gain.')
}

/**
 * Throws if the monitor requires a proven gain and its definition would change without one, unless an admin gives a
 * reason. Returns the note for the new version.
 */
export const requireGainShown = (
  actor: Actor,
  monitor: Pick<StoredMonitor, 'requireGain' | 'definition'>,
  definition: MonitorDefinition,
  overrideReason: string | undefined,
): string | null => {
  if (!monitor.requireGain || !changesDefinition(monitor, definition)) return null
  if (overrideReason !== undefined) return overrideNote(actor, overrideReason)
  throw new ApiError(
    'conflict',
    'This monitor requires a proven gain. Apply an alignment’s proposal, or have an admin give an overrideReason.',
  )
}
